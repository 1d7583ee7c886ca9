"""Operators whose places are values of another array.

torch refuses an index that is out of range, so these clip: no index wraps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from meshwright.torch._operators._table import is_array, rule


@rule("embedding")
def _embedding(weight: Any, indices: Any, *_: Any) -> Any:
    return jnp.take(weight, indices, axis=0, mode="clip")


@rule("index_select")
def _index_select(value: Any, dim: int, indices: Any) -> Any:
    return jnp.take(value, indices, axis=dim, mode="clip")


# As torch has it, eight bits in place of an index are a mask, too.
_MASKS = (jnp.bool_, jnp.uint8)


def _places(indices: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(slice(None) if i is None else i for i in indices)


@rule("index", "_unsafe_index")
def _index(value: Any, indices: Sequence[Any]) -> Any:
    return value[_places(indices)]


@rule("index_put", "_unsafe_index_put")
def _index_put(
    value: Any, indices: Sequence[Any], source: Any, accumulate: bool = False
) -> Any:
    source = source.astype(value.dtype)
    if any(i is not None and i.dtype in _MASKS for i in indices):
        return _put_where(value, indices, source, accumulate)
    places = value.at[_places(indices)]
    return places.add(source) if accumulate else places.set(source)


def _put_where(
    value: Any, indices: Sequence[Any], source: Any, accumulate: bool
) -> Any:
    """A choice of elements, as a mask's count of places is no constant.

    The source counts these places in one dimension, in front of those behind
    the mask. Only a length of one is the same for all masks.
    """
    before = next(n for n, i in enumerate(indices) if i is not None)
    mask, *others = (i for i in indices if i is not None)
    after = value.ndim - before - mask.ndim
    front = source.ndim - after
    if others or (front > 0 and source.shape[front - 1] != 1):
        raise NotImplementedError(
            "aten.index_put with a mask and a value for each of its places"
        )
    if front > 0:
        source = source.reshape(
            source.shape[: front - 1]
            + (1,) * mask.ndim
            + source.shape[front:]
        )
    mask = mask.astype(jnp.bool_).reshape(mask.shape + (1,) * after)
    return jnp.where(mask, value + source if accumulate else source, value)


@rule("index_add")
def _index_add(
    value: Any, dim: int, indices: Any, source: Any, alpha: Any = 1
) -> Any:
    places = (slice(None),) * (dim % value.ndim) + (indices,)
    return value.at[places].add(source if alpha == 1 else source * alpha)


@rule("gather")
def _gather(
    value: Any, dim: int, indices: Any, sparse_grad: bool = False
) -> Any:
    # Other dimensions of the indices may be shorter than those of the value.
    value = value[
        tuple(
            slice(None) if axis == dim % value.ndim else slice(size)
            for axis, size in enumerate(indices.shape)
        )
    ]
    return jnp.take_along_axis(value, indices, dim, mode="clip")


def _lines(value: Any, dim: int, indices: Any) -> tuple[Any, ...]:
    """The place of every element of ``indices`` in ``value``."""
    return tuple(
        indices
        if axis == dim % value.ndim
        else lax.broadcasted_iota(jnp.int32, indices.shape, axis)
        for axis in range(value.ndim)
    )


@rule("scatter.src", "scatter.value")
def _scatter(value: Any, dim: int, indices: Any, source: Any) -> Any:
    dim %= value.ndim
    line = (*value.shape[:dim], 1, *value.shape[dim + 1 :])
    if indices.shape == line and not is_array(source):
        # A comparison in place of a scatter can be split along ``dim``.
        places = lax.broadcasted_iota(indices.dtype, value.shape, dim)
        fill = jnp.asarray(source, value.dtype)
        return jnp.where(places == indices, fill, value)
    if is_array(source):
        source = source[tuple(slice(n) for n in indices.shape)]
    return value.at[_lines(value, dim, indices)].set(source)


@rule("scatter_add")
def _scatter_add(value: Any, dim: int, indices: Any, source: Any) -> Any:
    source = source[tuple(slice(n) for n in indices.shape)]
    return value.at[_lines(value, dim, indices)].add(source)
