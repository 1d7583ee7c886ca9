"""Frozen dataclasses from JSON objects, by the names of their fields.

Concept: fields are only ever added to the formats, so what a class does not
name is left out, and what an object lacks takes the field's default. Integers
may come as strings, as protobuf's JSON writes those of 64 bits.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

T = TypeVar("T")


@functools.cache
def _hints(cls: Any) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def decode(cls: type[T], data: Mapping[str, Any]) -> T:
    """An instance of a dataclass."""
    hints = _hints(cls)  # type: ignore[arg-type]
    values = {
        field.name: _value(hints[field.name], data[field.name])
        for field in dataclasses.fields(cls)  # type: ignore[arg-type]
        if field.init and data.get(field.name) is not None
    }
    return cls(**values)


def _value(hint: Any, value: Any) -> Any:
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        (inner,) = (h for h in typing.get_args(hint) if h is not type(None))
        return None if value is None else _value(inner, value)
    if origin is tuple:
        inner = typing.get_args(hint)[0]
        return tuple(_value(inner, item) for item in value)
    if dataclasses.is_dataclass(hint):
        return decode(hint, value)  # type: ignore[arg-type]
    if hint in (int, float, str, bool):
        return hint(value)
    return value
