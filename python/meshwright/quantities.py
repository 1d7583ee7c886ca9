"""Sizes and durations as people write them: "16GiB", "5m".

Errors: InvalidArgument, one sentence that names the argument.
"""

from __future__ import annotations

import math
import re

from meshwright.errors import InvalidArgument

_BYTES: dict[str, int] = {
    "": 1,
    "b": 1,
    **{u + "b": 1000**p for p, u in enumerate("kmgt", 1)},
    **{u + "ib": 1024**p for p, u in enumerate("kmgt", 1)},
}
_SECONDS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def parse_bytes(size: int | str | None, name: str) -> int:
    """The number of bytes; None is 0, which means no limit."""
    if size is None:
        return 0
    if isinstance(size, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", size)
        if found is None or found.group(2).lower() not in _BYTES:
            raise InvalidArgument(
                f'{name}: "{size}" is no size; write one like 16GiB'
            )
        unit = _BYTES[found.group(2).lower()]
        number: float = float(found.group(1)) * unit
    else:
        number = float(size)
    if number < 1:
        raise InvalidArgument(f"{name} must be positive, not {size}")
    return round(number)


def parse_seconds(duration: float | str | None, name: str) -> float | None:
    """Seconds of 300, "5m" or "1h30m"; None: no limit."""
    if duration is None:
        return None
    if isinstance(duration, str):
        parts = re.findall(r"(\d+(?:\.\d+)?)(ms|[smhd])", duration)
        if not parts or "".join(n + u for n, u in parts) != duration.strip():
            raise InvalidArgument(
                f'{name}: "{duration}" is no duration; write one like 5m'
            )
        duration = sum(float(n) * _SECONDS[u] for n, u in parts)
    if not (math.isfinite(duration) and duration >= 0):
        raise InvalidArgument(f"{name} must be a duration, not {duration}")
    return float(duration)


def parse_mesh(mesh: str | int | tuple[int, ...] | list[int]) -> tuple[int, ...]:
    """Devices per axis, outermost first, of "1x2", 2 or (1, 2)."""
    try:
        if isinstance(mesh, str):
            shape = tuple(int(part) for part in mesh.split("x"))
        elif isinstance(mesh, int):
            shape = (mesh,)
        else:
            shape = tuple(int(part) for part in mesh)
    except (TypeError, ValueError):
        shape = ()
    if not shape or min(shape) < 1:
        raise InvalidArgument(f"mesh: {mesh!r} is no mesh; write one like 1x2")
    return shape


def format_seconds(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if abs(seconds) * scale >= 1:
            return f"{seconds * scale:.1f} {unit}"
    return f"{seconds * 1e9:.0f} ns" if seconds else "0 s"


def format_bytes(size: float) -> str:
    for unit, scale in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if abs(size) >= scale:
            return f"{size / scale:.1f} {unit}"
    return f"{size:.0f} B"
