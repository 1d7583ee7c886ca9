"""The service of a client ends with it, however the client ends."""

from __future__ import annotations

import os
import pathlib
import select
import signal
import subprocess
import sys
import threading
import time

import pytest

pytest.importorskip("grpc", reason="grpcio is not installed")
pytest.importorskip("grpc_tools", reason="grpcio-tools is not installed")

import meshwright  # noqa: E402
from meshwright._embedded import _STOP_SECONDS, LocalService  # noqa: E402

CODE = """
import os, signal, sys
from meshwright._embedded import LocalService
service = LocalService("cpu", sys.argv[1])
print(service.settings().address, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_it_starts_once_and_leaves_nothing(binary, store):
    service = LocalService("cpu", store)
    first = service.settings()
    assert service.settings() == first
    folder = pathlib.Path(first.address.removeprefix("unix:")).parent
    assert folder.exists()
    service.stop()
    assert not folder.exists()


def test_it_starts_again_for_more_devices(binary, store):
    service = LocalService("cpu", store)
    first = service.settings(2)
    assert service.settings(16) != first
    service.stop()


def children_of(parent):
    """The ids of its processes, by their stat files."""
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(fields[1]) == parent:
            yield int(path.parent.name)


def test_it_starts_again_where_it_was_killed(binary, store):
    service = LocalService("cpu", store)
    first = service.settings()
    (program,) = children_of(service._service.process.pid)
    os.kill(program, signal.SIGKILL)
    select.select([service._service.process.stdout], [], [], 60)
    second = service.settings()
    assert second != first
    assert service.settings() == second
    service.stop()


def test_a_forked_process_neither_holds_nor_ends_it(binary, store):
    service = LocalService("cpu", store)
    first = service.settings()
    is_left, leave = os.pipe()
    waits, end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(end)
            service.stop()
            os.write(leave, b"1")
            os.read(waits, 1)
        finally:
            os._exit(0)
    os.close(leave)
    try:
        assert os.read(is_left, 1) == b"1"
        assert service.settings() == first
        began = time.monotonic()
        service.stop()
        assert time.monotonic() - began < _STOP_SECONDS / 2
    finally:
        os.close(end)
        os.waitpid(child, 0)
        os.close(is_left)
        os.close(waits)


def test_a_store_has_one_service_at_a_time(binary, store):
    first, second = LocalService("cpu", store), LocalService("cpu", store)
    first.settings()
    with pytest.raises(
        meshwright.Unavailable, match="MESHWRIGHT_ADDRESS"
    ):
        second.settings(until=time.monotonic() + 3)
    threading.Timer(1.5, first.stop).start()
    second.settings()
    second.stop()


def test_a_client_that_is_killed_takes_its_service_with_it(binary, store):
    done = subprocess.run(
        [sys.executable, "-c", CODE, store],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
        check=False,
    )
    address = done.stdout.strip()
    assert address.startswith("unix:"), done.stderr
    folder = pathlib.Path(address.removeprefix("unix:")).parent
    # The store is free again only when the first service has ended.
    service = LocalService("cpu", store)
    service.settings()
    service.stop()
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()


def test_what_the_program_says_is_the_error(binary, tmp_path):
    with pytest.raises(meshwright.FailedPrecondition, match="did not start"):
        LocalService("cpu", str(tmp_path)).settings()


SLOW = """#!/bin/sh
echo begun >> "$0.log"
read -r _ < "$0.gate"
echo '{"address": "unix:/there"}'
read -r _ < "$0.gate"
"""


@pytest.fixture
def slow(tmp_path, monkeypatch):
    """A program that starts once its gate is written to."""
    program = tmp_path / "slow"
    program.write_text(SLOW)
    program.chmod(0o755)
    os.mkfifo(tmp_path / "slow.gate")
    monkeypatch.setenv("MESHWRIGHT_BINARY", str(program))
    return program


@pytest.mark.parametrize("is_closed", [False, True])
def test_a_start_that_is_late_goes_on(slow, is_closed):
    service = LocalService("cpu", str(slow))
    with pytest.raises(meshwright.Unavailable, match="did not start in time"):
        service.settings(until=time.monotonic())
    if is_closed:
        service.stop()
        service = LocalService("cpu", str(slow))
    pathlib.Path(f"{slow}.gate").write_text("go\n")
    assert service.settings().address == "unix:/there"
    assert pathlib.Path(f"{slow}.log").read_text() == "begun\n"
    service.stop()


# A store of a million rows is brought up to date in one transaction.
def test_a_caller_without_a_limit_ends_no_start_that_is_late(slow, monkeypatch):
    monkeypatch.setattr("meshwright._embedded._START_SECONDS", 0.0)
    service = LocalService("cpu", str(slow))
    with pytest.raises(meshwright.Unavailable, match="`meshwright up` once"):
        service.settings()
    pathlib.Path(f"{slow}.gate").write_text("go\n")
    found = service.settings(until=time.monotonic() + 60)
    assert found.address == "unix:/there"
    assert pathlib.Path(f"{slow}.log").read_text() == "begun\n"
    service.stop()


def test_a_start_may_take_as_long_as_its_caller_waits(slow, monkeypatch):
    monkeypatch.setattr("meshwright._embedded._START_SECONDS", 0.0)
    service = LocalService("cpu", str(slow))
    opened = threading.Thread(
        target=pathlib.Path(f"{slow}.gate").write_text,
        args=("go\n",),
        daemon=True,
    )
    opened.start()
    found = service.settings(until=time.monotonic() + 60)
    assert found.address == "unix:/there"
    opened.join()
    service.stop()


TOLD = """#!/bin/sh
echo "$@" >> "$0.log"
echo '{"address": "unix:/there"}'
read -r _ < "$0.gate"
"""


def test_one_gpu_stands_for_a_mesh_where_that_is_asked_for(
    tmp_path, monkeypatch
):
    program = tmp_path / "told"
    program.write_text(TOLD)
    program.chmod(0o755)
    os.mkfifo(tmp_path / "told.gate")
    monkeypatch.setenv("MESHWRIGHT_BINARY", str(program))
    service = LocalService("cuda", "kept")
    for devices, solo in (
        (1, None),  # of a call that plans nothing
        (4, True),
        (16, True),
        (1, None),
    ):
        service.settings(devices, solo=solo)
    with pytest.raises(meshwright.FailedPrecondition, match="have solo=True"):
        service.settings(16, solo=False)
    service.stop()
    service = LocalService("cuda", "kept")
    for devices in (16, 64):  # real ones do not become more
        service.settings(devices, solo=False)
    service.stop()
    told = pathlib.Path(f"{program}.log").read_text().splitlines()
    assert [line.partition("--platform ")[2] for line in told] == [
        "cuda --store kept",
        "cuda --devices 8 --solo --store kept",
        "cuda --devices 16 --solo --store kept",
        "cuda --store kept",
    ]


def test_who_stops_waits_for_no_start(slow):
    service = LocalService("cpu", str(slow))
    caught: list[Exception] = []

    def ask():
        try:
            service.settings(until=time.monotonic() + 600)
        except meshwright.Unavailable as error:
            caught.append(error)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    while service._service is None:
        time.sleep(0.01)
    service.stop()
    asking.join(timeout=60)
    assert not asking.is_alive() and len(caught) == 1
    again = LocalService("cpu", str(slow))  # takes it over, and lets it begin
    pathlib.Path(f"{slow}.gate").write_text("go\n")
    assert again.settings().address == "unix:/there"
    again.stop()


BUSY = """#!/bin/sh
echo "another coordinator runs the plans of this store" >&2
exit 1
"""


def test_who_stops_waits_for_no_other_service(tmp_path, monkeypatch):
    program = tmp_path / "busy"
    program.write_text(BUSY)
    program.chmod(0o755)
    monkeypatch.setenv("MESHWRIGHT_BINARY", str(program))
    monkeypatch.setattr("meshwright._embedded._RETRY_SECONDS", 30.0)
    service = LocalService("cpu", str(tmp_path))
    start_once = service._start_once
    is_refused = threading.Event()
    caught: list[Exception] = []

    def start(devices, limit):
        try:
            start_once(devices, limit)
        except meshwright.FailedPrecondition:
            is_refused.set()
            raise

    def ask():
        try:
            service.settings()
        except meshwright.Unavailable as error:
            caught.append(error)

    monkeypatch.setattr(service, "_start_once", start)
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    assert is_refused.wait(60)
    began = time.monotonic()
    service.stop()
    assert time.monotonic() - began < 10
    asking.join(timeout=60)
    assert len(caught) == 1


def test_a_start_that_nobody_takes_over_ends(slow, monkeypatch):
    monkeypatch.setattr("meshwright._embedded._START_SECONDS", 0.0)
    service = LocalService("cpu", str(slow))
    with pytest.raises(meshwright.Unavailable):
        service.settings(until=time.monotonic() - 1)
    started = service._service
    assert started is not None and started.end.alive
    others = set(threading.enumerate())
    service.stop()
    for thread in set(threading.enumerate()) - others:
        thread.join()
    assert not started.end.alive
