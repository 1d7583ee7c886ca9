"""LocalService: a coordinator and a worker that live as long as a client.

Concept: the program runs ``meshwright up`` on a socket in a private folder. A
shell between the two waits for the end of its standard input, which this
process holds: the service also ends where this process is killed. A process
that is forked from this one uses the service, and does not hold it.

A start may take longer than its caller waits, where a large store is checked
or brought up to date; a caller without a limit waits a minute. It goes on, so
that the next call finds it further: of the same client, or for a minute of
another one of this process.

Threads: any; one start at a time.
Errors: FailedPrecondition with the program's own sentence; Unavailable where
another service holds the store, or this one does not start in time.
"""

from __future__ import annotations

import json
import os
import pathlib
import selectors
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import weakref

from meshwright._binary import environment, find_binary
from meshwright.errors import FailedPrecondition, Unavailable
from meshwright.settings import ServiceSettings

_START_SECONDS = 60.0
_STOP_SECONDS = 20.0
_CPU_DEVICES = 8
# Another client of this machine plans, and ends.
_PATIENCE_SECONDS = 60.0
_RETRY_SECONDS = 1.0
_LOOK_SECONDS = 0.5
_STORE_IN_USE = "another coordinator runs the plans"
_GUARD = '"$@" & child=$!; exec >&-; read -r _; kill $child 2>&-; wait $child'


class LocalService:
    def __init__(
        self, platform: str = "cpu", store: str | None = None
    ) -> None:
        self._platform = platform
        self._store = store
        self._solo: bool | None = None  # of its plans, once there are some
        self._lock = threading.Lock()
        self._closing = threading.Event()  # nobody waits for a start then
        self._service: _Service | None = None
        self._address = ""  # once it has started

    def settings(
        self,
        devices: int = 1,
        until: float | None = None,
        solo: bool | None = None,
    ) -> ServiceSettings:
        """How to reach it; it is started where it does not run.

        ``solo``: of a plan that follows: whether one GPU is to stand for all
        devices. It is started again where it was killed, or has fewer virtual
        devices than that. Real ones are as many as there are.

        Raises FailedPrecondition for a plan with solo behind one without it,
        or the reverse: a service is of one kind, and the other would wait.
        """
        with self._lock:
            if self._solo is not None and solo not in (None, self._solo):
                raise FailedPrecondition(
                    f"solo: plans of this Client have solo={self._solo}, and "
                    "its own service measures no others; make another Client"
                )
            if solo is not None:
                self._solo = solo
            if self._service is not None and (
                not self._service.serves(devices, bool(self._solo))
                or (self._address and self._service.has_ended())
            ):
                self._end_service()
            if not self._address:
                self._start(max(devices, _CPU_DEVICES), until)
            return ServiceSettings(address=self._address)

    def stop(self) -> None:
        self._closing.set()
        with self._lock:
            self._closing.clear()
            if self._service is not None and not self._address:
                _leave(self._platform, self._store, self._service)
                self._service = None
            self._end_service()

    def _end_service(self) -> None:
        if self._service is not None:
            self._service.end()
        self._service = None
        self._address = ""

    def _start(self, devices: int, limit: float | None) -> None:
        """Waits a while for another service of the store, or for a stop."""
        until = time.monotonic() + _PATIENCE_SECONDS
        if limit is not None:
            until = min(until, limit)
        while True:
            try:
                self._start_once(devices, limit)
                return
            except FailedPrecondition as error:
                if _STORE_IN_USE not in str(error):
                    raise
                if time.monotonic() > until:
                    raise Unavailable(
                        "another meshwright on this machine uses the same "
                        "store; set MESHWRIGHT_ADDRESS to where it listens, "
                        "or give Client another store"
                    ) from None
            if self._closing.wait(_RETRY_SECONDS):
                raise Unavailable(
                    "this client was closed while another meshwright on this "
                    "machine used the same store; make a new Client"
                )

    def _start_once(self, devices: int, limit: float | None) -> None:
        if self._service is not None and not self._service.end.alive:
            self._service = None  # it starts for the parent of this process
        if self._service is None:
            self._service = _take_over(
                self._platform, self._store, devices, bool(self._solo)
            )
        if self._service is None:
            self._service = _Service(
                self._platform, self._store, devices, bool(self._solo)
            )
        until = limit
        if until is None:
            until = time.monotonic() + _START_SECONDS
        try:
            address = self._service.read_address(until, self._closing)
        except FailedPrecondition:
            self._end_service()
            raise
        if address is None:
            # It goes on, for the next call.
            raise Unavailable(
                "meshwright up did not start in time; give a longer wait, run "
                "`meshwright up` once to bring a large store up to date, or "
                "set MESHWRIGHT_ADDRESS to a service that runs"
            )
        self._address = address


class _Service:
    """The process of one, from its begin on; it ends with this object."""

    def __init__(
        self, platform: str, store: str | None, devices: int, solo: bool
    ) -> None:
        # Not in TMPDIR: the path of a socket has room for 107 characters.
        folder = tempfile.mkdtemp(prefix="meshwright-python-", dir="/tmp")
        words = [find_binary(), "up", "--json", "--drain-seconds", "0"]
        words += ["--listen", f"unix:{folder}/service"]
        words += ["--platform", platform]
        has_virtual = platform == "cpu" or solo
        if has_virtual:
            words += ["--devices", str(devices)]
        if solo:
            words.append("--solo")
        if store is not None:
            words += ["--store", store]
        self._solo = solo
        self._devices = devices if has_virtual else sys.maxsize
        self._log_path = pathlib.Path(folder, "log")
        with self._log_path.open("wb") as log:
            process = subprocess.Popen(
                ["/bin/sh", "-c", _GUARD, "meshwright", *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment(),
                start_new_session=True,
            )
        self.end = weakref.finalize(self, _end, process, folder)
        self.process = process
        assert process.stdout is not None
        self._stdout = process.stdout
        self._line = b""  # so far
        _services.add(self)

    def read_address(
        self, until: float, closing: threading.Event
    ) -> str | None:
        """Where it listens; None if it is late, or nobody waits any more."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdout, selectors.EVENT_READ)
            while not self._line.endswith(b"\n"):
                left = max(0.0, until - time.monotonic())
                if not selector.select(min(left, _LOOK_SECONDS)):
                    if left == 0 or closing.is_set():
                        return None
                    continue
                piece = os.read(self._stdout.fileno(), 4096)
                if not piece:
                    raise FailedPrecondition(
                        f"meshwright up did not start: {self._last_words()}"
                    )
                self._line += piece
        return str(json.loads(self._line)["address"])

    def serves(self, devices: int, solo: bool) -> bool:
        """Whether it is worth asking; how many are real it says itself."""
        return solo == self._solo and devices <= self._devices

    def has_ended(self) -> bool:
        """Whether its output has ended, which the program alone holds open."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdout, selectors.EVENT_READ)
            while selector.select(0):
                if not os.read(self._stdout.fileno(), 4096):
                    return True
        return False

    def leave_to_parent(self) -> None:
        """In a forked process: it is that of its parent."""
        if self.end.detach() is not None:
            assert self.process.stdin is not None
            self.process.stdin.close()

    def _last_words(self) -> str:
        said = self._log_path.read_text(errors="replace").strip().splitlines()
        return said[-1] if said else "it said nothing"


_services: weakref.WeakSet[_Service] = weakref.WeakSet()
# Those that clients left while they started, by platform and store.
_left: dict[tuple[str, str | None], _Service] = {}
_left_lock = threading.Lock()


def _leave_to_parent() -> None:
    for service in list(_services):
        service.leave_to_parent()
    _left.clear()


os.register_at_fork(after_in_child=_leave_to_parent)


def _leave(platform: str, store: str | None, service: _Service) -> None:
    """It has a while to start, and ends unless a client takes it over."""
    key = (platform, store)

    def end() -> None:
        with _left_lock:
            if _left.get(key) is not service:
                return
            del _left[key]
        service.end()

    with _left_lock:
        older = _left.pop(key, None)
        _left[key] = service
    if older is not None:
        older.end()
    timer = threading.Timer(_START_SECONDS, end)
    timer.daemon = True
    timer.start()


def _take_over(
    platform: str, store: str | None, devices: int, solo: bool
) -> _Service | None:
    with _left_lock:
        service = _left.pop((platform, store), None)
    if service is not None and not service.serves(devices, solo):
        service.end()
        return None
    return service


def _end(process: subprocess.Popen[bytes], folder: str) -> None:
    if process.stdin is not None:
        process.stdin.close()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
    shutil.rmtree(folder, ignore_errors=True)
