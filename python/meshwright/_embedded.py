"""LocalService: a coordinator and a worker that live as long as a client.

Concept: the program runs ``meshwright up`` on a socket in a private folder. A
shell between the two waits for the end of its standard input, which this
process holds: the service also ends where this process is killed. A process
that is forked from this one uses the service, and does not hold it.
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
import tempfile
import threading
import time
import weakref
from typing import IO

from meshwright._binary import environment, find_binary
from meshwright.errors import FailedPrecondition, Unavailable
from meshwright.settings import ServiceSettings

_START_SECONDS = 60.0
_STOP_SECONDS = 20.0
_CPU_DEVICES = 8
# Another client of this machine plans, and ends.
_PATIENCE_SECONDS = 60.0
_RETRY_SECONDS = 1.0
_STORE_IN_USE = "another coordinator runs the plans"
_GUARD = '"$@" & child=$!; exec >&-; read -r _; kill $child 2>&-; wait $child'


class LocalService:
    def __init__(
        self, platform: str = "cpu", store: str | None = None
    ) -> None:
        self._platform = platform
        self._store = store
        self._lock = threading.Lock()
        self._devices = 0
        self._address = ""
        self._process: subprocess.Popen[bytes] | None = None
        self._end: weakref.finalize[..., LocalService] | None = None
        _services.add(self)

    def settings(
        self, devices: int = 1, until: float | None = None
    ) -> ServiceSettings:
        """How to reach it; it is started where it does not run.

        It is started again where it was killed, or has fewer devices than
        that, which only virtual ones of a CPU can be.
        """
        with self._lock:
            if self._address and (
                devices > self._devices or self._has_ended()
            ):
                self._stop()
            if not self._address:
                self._start(max(devices, _CPU_DEVICES), until)
            return ServiceSettings(address=self._address)

    def stop(self) -> None:
        with self._lock:
            self._stop()

    def leave_to_parent(self) -> None:
        """In a forked process: the service is that of its parent."""
        if self._end is None:
            return
        self._end.detach()
        self._end = None
        assert self._process is not None and self._process.stdin is not None
        self._process.stdin.close()

    def _has_ended(self) -> bool:
        """Whether its output has ended, which the program alone holds open."""
        assert self._process is not None and self._process.stdout is not None
        stream = self._process.stdout
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            while selector.select(0):
                if not os.read(stream.fileno(), 4096):
                    return True
        return False

    def _stop(self) -> None:
        if self._end is not None:
            self._end()
        self._process = None
        self._end = None
        self._address = ""

    def _start(self, devices: int, limit: float | None) -> None:
        """Waits a while for another service of the store to end."""
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
            time.sleep(_RETRY_SECONDS)

    def _start_once(self, devices: int, limit: float | None) -> None:
        # Not in TMPDIR: the path of a socket has room for 107 characters.
        folder = tempfile.mkdtemp(prefix="meshwright-python-", dir="/tmp")
        words = [find_binary(), "up", "--json", "--drain-seconds", "0"]
        words += ["--listen", f"unix:{folder}/service"]
        words += ["--platform", self._platform]
        if self._platform == "cpu":
            words += ["--devices", str(devices)]
        if self._store is not None:
            words += ["--store", self._store]
        log_path = pathlib.Path(folder, "log")
        with log_path.open("wb") as log:
            process = subprocess.Popen(
                ["/bin/sh", "-c", _GUARD, "meshwright", *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment(),
                start_new_session=True,
            )
        self._process = process
        self._end = weakref.finalize(self, _end, process, folder)
        assert process.stdout is not None
        line = _read_line(process.stdout, limit)
        if not line:
            said = log_path.read_text(errors="replace").strip().splitlines()
            self._stop()
            if line is None:
                raise Unavailable(
                    "meshwright up did not start in time; give it more, or "
                    "set MESHWRIGHT_ADDRESS to a service that runs"
                )
            raise FailedPrecondition(
                "meshwright up did not start: "
                + (said[-1] if said else "it said nothing")
            )
        self._address = json.loads(line)["address"]
        self._devices = devices


_services: weakref.WeakSet[LocalService] = weakref.WeakSet()


def _leave_to_parent() -> None:
    for service in list(_services):
        service.leave_to_parent()


os.register_at_fork(after_in_child=_leave_to_parent)


def _read_line(stream: IO[bytes], limit: float | None) -> bytes | None:
    """A line; empty where the stream ends, None where it is late."""
    until = time.monotonic() + _START_SECONDS
    if limit is not None:
        until = min(until, limit)
    found = b""
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while not found.endswith(b"\n"):
            if not selector.select(max(0.0, until - time.monotonic())):
                return None
            piece = os.read(stream.fileno(), 4096)
            if not piece:
                return b""
            found += piece
    return found


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
