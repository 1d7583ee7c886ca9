"""The links of a mesh's axes, as ``meshwright plan --links`` takes them.

Concept: a link file (docs/formats/links.md), or its object, is read here. Those
of a cluster file are found by the program on this machine.
Units: seconds, seconds per byte.
Errors: InvalidArgument, one sentence that names the file and the field.
"""

from __future__ import annotations

import json
import numbers
import os
import pathlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from meshwright._binary import run
from meshwright.errors import InvalidArgument

Links = str | os.PathLike[str] | Mapping[str, Sequence[float]]
AxisLinks = dict[str, list[float]]  # alpha and beta: one of each per axis


def read_links(links: Links | None, mesh: tuple[int, ...]) -> AxisLinks | None:
    if links is None:
        return None
    if isinstance(links, Mapping):
        return _read_axes(links, mesh, "links")
    path = os.fspath(links)
    where = f"{path} has no links"
    try:
        data = json.loads(pathlib.Path(path).read_bytes())
    except OSError as error:
        raise InvalidArgument(f"links: {error}") from None
    except ValueError as error:
        raise InvalidArgument(f"{where}: it is not JSON: {error}") from None
    if isinstance(data, dict) and "devices" in data:
        data = _find_mesh(path, mesh, where)
    return _read_axes(data, mesh, where)


def _find_mesh(path: str, mesh: tuple[int, ...], where: str) -> Any:
    """The mesh of a cluster's devices, with its alpha and beta."""
    try:
        shown = run("cluster", "show", path, "--mesh", _name(mesh), "--json")
    except InvalidArgument as error:
        said = str(error).removeprefix(f"{path}: ")
        raise InvalidArgument(f"{where}: {said}") from None
    return json.loads(shown)["meshes"][0]


def _read_axes(data: Any, mesh: tuple[int, ...], where: str) -> AxisLinks:
    if not isinstance(data, Mapping):
        raise InvalidArgument(f"{where}: the document is not an object")
    return {
        name: _read_figures(data, name, mesh, where)
        for name in ("alpha", "beta")
    }


def _read_figures(
    data: Mapping[str, Any], name: str, mesh: tuple[int, ...], where: str
) -> list[float]:
    if name not in data:
        raise InvalidArgument(f"{where}: {name} is missing")
    figures = data[name]
    if not isinstance(figures, (list, tuple)):
        raise InvalidArgument(
            f"{where}: {name} is {type(figures).__name__}, not a list"
        )
    if len(figures) != len(mesh):
        raise InvalidArgument(
            f"{where}: {name} has {len(figures)} figures, but mesh "
            f"{_name(mesh)} has {len(mesh)} axes; give one of each"
        )
    for number, figure in enumerate(figures):
        if not _is_figure(figure):
            raise InvalidArgument(
                f"{where}: {name}[{number}] is no number of at least 0, but "
                f"{figure!r}"
            )
    return [float(figure) for figure in figures]


def _is_figure(value: Any) -> bool:
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return is_number and bool(0 <= value <= sys.float_info.max)


def _name(mesh: tuple[int, ...]) -> str:
    return "x".join(map(str, mesh))
