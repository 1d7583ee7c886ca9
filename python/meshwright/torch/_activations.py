"""How the modules' outputs are laid out in a plan.

Concept: the annotated module has a sharding at every instruction, and its
``op_name`` says which node of the traced step that computes. So the sharding
of a submodule's output is read there. Nothing is added to the step for it: an
additional output would change what the planner searches.
Shapes: a sharding is written as in a plan file, "[1,-]".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from meshwright.plan import Activation
from meshwright.torch._lowering import LoweredStep, scopes_of

_INSTRUCTION = re.compile(
    r"= \w+\[(?P<shape>[\d,]*)\]\S* [\w\-]+\(.*"
    r"sharding=\{(?P<sharding>[^{}]*)\}.*"
    r'metadata=\{.*?op_name="(?P<op_name>[^"]*)"'
)
_TILES = re.compile(
    r"devices=\[(?P<tiles>[\d,]+)\](?P<devices>[\d,]+)?"
    r"(?:<=\[(?P<iota>[\d,]+)\](?:T\((?P<order>[\d,]+)\))?)?"
)


def read_activations(
    annotated: bytes, lowered: LoweredStep, mesh: Sequence[int]
) -> list[Activation]:
    """Per submodule whose output is a value of the module."""
    found: dict[tuple[str, tuple[int, ...]], str] = {}
    for shape, text, op_name in _instructions(_read_text(annotated)):
        for scope in scopes_of(op_name):
            # The last instruction of a node that has its shape is its value.
            found[scope, shape] = text
    activations = []
    for name, places in lowered.marks.items():
        shape = places[0].shape
        for place in places:
            sharding = found.get((place.scope, place.shape))
            if sharding is None:
                continue
            entries = read_sharding(sharding, len(place.shape), mesh)
            seen = through_view(entries, place.shape, shape, mesh)
            if seen is not None:
                activations.append(Activation(name, shape, seen))
            break
    return activations


def through_view(
    entries: Sequence[str],
    source: tuple[int, ...],
    target: tuple[int, ...],
    mesh: Sequence[int],
) -> str | None:
    """The sharding of a view; None where it has no tiles for it."""
    moved = [""] * len(target)
    for dim, entry in enumerate(entries):
        if not entry:
            continue
        # The outermost dimension of more than one that begins at this place.
        before = math.prod(source[:dim])
        parts = math.prod(mesh[int(axis)] for axis in entry)
        for place, size in enumerate(target):
            if math.prod(target[:place]) == before and size > 1:
                if size % parts:
                    return None
                moved[place] += entry
                break
        else:
            return None
    return _write(moved)


def read_sharding(
    sharding: str, rank: int, mesh: Sequence[int]
) -> list[str]:
    """The axes that cut each dimension: "devices=[2,1]0,1" is ["1", ""]."""
    entries = [""] * rank
    tiled = _TILES.search(sharding)
    if tiled is not None:
        owner = _devices(tiled, mesh)
        numbers = np.arange(owner.size).reshape(mesh)
        first = np.argwhere(owner == 0)[0]
        for axis, size in enumerate(mesh):
            if size == 1:
                continue
            step = [0] * len(mesh)
            step[axis] = 1
            moved = np.argwhere(owner == numbers[tuple(step)])[0]
            for dim in range(rank):
                if moved[dim] != first[dim]:
                    entries[dim] += str(axis)
    return entries


def _write(entries: Sequence[str]) -> str:
    return "[" + ",".join(entry or "-" for entry in entries) + "]"


def _devices(tiled: re.Match[str], mesh: Sequence[int]) -> Any:
    """The device of every tile."""
    tiles = [int(n) for n in tiled["tiles"].split(",")]
    if tiled["devices"]:
        devices = np.array([int(n) for n in tiled["devices"].split(",")])
    else:
        shape = [int(n) for n in tiled["iota"].split(",")]
        devices = np.arange(np.prod(mesh)).reshape(shape)
        if tiled["order"]:
            order = [int(n) for n in tiled["order"].split(",")]
            devices = devices.transpose(order)
    return devices.reshape(tiles)


def _read_text(annotated: bytes) -> str:
    from jaxlib import xla_client

    client: Any = xla_client
    hlo = client._xla if hasattr(client._xla, "HloModule") else client.hlo
    module = hlo.HloModule.from_serialized_hlo_module_proto(annotated)
    return str(module.to_string())


def _instructions(text: str) -> Iterator[tuple[tuple[int, ...], str, str]]:
    for line in text.splitlines():
        if (found := _INSTRUCTION.search(line)) is not None:
            shape = tuple(int(n) for n in found["shape"].split(",") if n)
            yield shape, found["sharding"], found["op_name"]
