"""Dimensions that torch merges, kept apart for matrix products.

Concept: ``torch.matmul`` merges batch and heads into one dimension before its
product and takes them apart behind it. A plan cannot cut heads inside of a
merged dimension. So a view that merges remembers what it merged, a product of
two such views is computed on that, and a view that takes it apart finds it.
"""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator
from typing import Any

# id of a merged array -> itself, which keeps the id taken, and the other.
_table: contextvars.ContextVar[dict[int, tuple[Any, Any]]] = (
    contextvars.ContextVar("apart")
)


@contextlib.contextmanager
def kept_apart() -> Iterator[None]:
    """The time of one run of a graph."""
    token = _table.set({})
    try:
        yield
    finally:
        _table.reset(token)


def remember(merged: Any, apart: Any) -> Any:
    _table.get()[id(merged)] = (merged, apart)
    return merged


def find_apart(merged: Any) -> Any:
    """What ``merged`` was merged from, or None."""
    entry = _table.get().get(id(merged))
    return None if entry is None else entry[1]


def find_batches(merged: Any) -> Any:
    """[batch, heads, rows, columns] of [batch * heads, rows, columns]."""
    apart = find_apart(merged)
    if apart is None or merged.ndim != 3 or apart.ndim != 4:
        return None
    return apart if apart.shape[2:] == merged.shape[1:] else None
