"""The trace of a plan, read with Perfetto's own messages."""

from __future__ import annotations

import collections
import pathlib
import re

import pytest

from conftest import ROOT, Planned, run

perfetto = pytest.importorskip(
    "perfetto.protos.perfetto.trace.perfetto_trace_pb2",
    reason="the package perfetto is not installed")

Event = perfetto.TrackEvent


def read(path: pathlib.Path) -> perfetto.Trace:
    trace = perfetto.Trace()
    trace.ParseFromString(path.read_bytes())
    return trace


def tracks_of(trace: perfetto.Trace) -> dict[str, int]:
    """uuid by "process / thread", "process / counter"."""
    processes, tracks = {}, {}
    for packet in trace.packet:
        if not packet.HasField("track_descriptor"):
            continue
        it = packet.track_descriptor
        if it.HasField("process"):
            processes[it.uuid] = it.process.process_name
        else:
            name = it.thread.thread_name if it.HasField("thread") else it.name
            tracks[f"{processes[it.parent_uuid]} / {name}"] = it.uuid
    return tracks


def slices_of(trace: perfetto.Trace) -> dict[int, list[tuple[int, int, str]]]:
    """By track: begin, end, name; they must not overlap."""
    slices, open_slice = collections.defaultdict(list), {}
    for packet in trace.packet:
        event = packet.track_event
        if event.type == Event.TYPE_SLICE_BEGIN:
            assert event.track_uuid not in open_slice
            open_slice[event.track_uuid] = packet.timestamp, event.name
        elif event.type == Event.TYPE_SLICE_END:
            begin, name = open_slice.pop(event.track_uuid)
            assert begin < packet.timestamp
            slices[event.track_uuid].append((begin, packet.timestamp, name))
    assert not open_slice
    return slices


def test_devices_have_tracks_and_communication_is_apart(
        planned: Planned) -> None:
    path = planned.folder / "plan.pftrace"
    run("trace", planned.plan, "--store", planned.store, "--validate",
        planned.validation, "-o", path)
    trace = read(path)
    tracks, slices = tracks_of(trace), slices_of(read(path))
    for device in (0, 1):
        for lane in ("compute", "communication", "memory"):
            assert f"predicted: device {device} / {lane}" in tracks
        assert f"measured: device {device} / step" in tracks
    names = [name for _, _, name in slices[tracks["predicted: device 0 / compute"]]]
    forward = [int(found[1]) for name in names
               if (found := re.match(r"forward of segment (\d+)", name))]
    # The embedding may take no time once its launch is taken out.
    assert names[0].startswith("forward of segment") and forward[0] <= 1
    assert forward == sorted(forward)
    assert any(name.startswith("backward") for name in names)
    levels = [packet.track_event.counter_value for packet in trace.packet
              if packet.track_event.type == Event.TYPE_COUNTER]
    assert max(levels) > min(levels) > 0


def test_stages_send_to_one_another(
        staged: pathlib.Path, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "staged.pftrace"
    run("trace", staged, "-o", path)
    trace = read(path)
    tracks, slices = tracks_of(trace), slices_of(trace)
    assert "predicted: device 0 of stage 1 / transfers to stage 2" in tracks
    assert "predicted: device 1 of stage 2 / transfers to stage 1" in tracks
    for name, uuid in tracks.items():
        assert slices[uuid] or name.endswith("/ memory"), name


# Our messages are a part of Perfetto's: same names, numbers and types.
def test_our_messages_are_perfettos() -> None:
    text = (ROOT / "proto/perfetto/trace.proto").read_text()
    theirs = perfetto.DESCRIPTOR.message_types_by_name
    checked = 0
    for message, body in re.findall(r"^message (\w+) \{(.*?)^\}", text, re.M | re.S):
        fields = theirs[message].fields_by_name
        for kind, name, number in re.findall(
                r"^ +(?:optional |repeated )?(\w+) (\w+) = (\d+);", body, re.M):
            assert fields[name].number == int(number), name
            assert kind == type_name(fields[name]), f"{message}.{name}"
            checked += 1
        values = {value.name: value.number
                  for enum in theirs[message].enum_types for value in enum.values}
        for name, number in re.findall(r"^ +([A-Z_]+) = (\d+);", body, re.M):
            assert values[name] == int(number), name
            checked += 1
    assert checked > 30


def type_name(field) -> str:
    if field.message_type is not None:
        return field.message_type.name
    if field.enum_type is not None:
        return field.enum_type.name
    names = {field.TYPE_UINT64: "uint64", field.TYPE_INT64: "int64",
             field.TYPE_INT32: "int32", field.TYPE_UINT32: "uint32",
             field.TYPE_STRING: "string", field.TYPE_DOUBLE: "double",
             field.TYPE_BOOL: "bool"}
    return names[field.type]
