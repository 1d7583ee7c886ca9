"""Draws of ``meshwright.torch._random``, from a key that the step is given."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator, Sequence
from typing import Any

import jax

from meshwright.torch._operators._table import jax_type, rule

_key: contextvars.ContextVar[Any] = contextvars.ContextVar("key")


@contextlib.contextmanager
def drawing_from(key: Any) -> Iterator[None]:
    """Rules draw from this key, each draw from a key of its own."""
    token = _key.set(key)
    try:
        yield
    finally:
        _key.reset(token)


def current_key() -> Any:
    """None outside of ``drawing_from``."""
    return _key.get(None)


@rule("meshwright::uniform")
def _uniform(shape: Sequence[int], dtype: Any, draw: int) -> Any:
    key = jax.random.fold_in(_key.get(), draw)
    return jax.random.uniform(key, tuple(shape), jax_type(dtype))


@rule("meshwright::normal")
def _normal(shape: Sequence[int], dtype: Any, draw: int) -> Any:
    key = jax.random.fold_in(_key.get(), draw)
    return jax.random.normal(key, tuple(shape), jax_type(dtype))
