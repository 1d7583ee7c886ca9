"""Operators that make arrays, and those that move elements by their place."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import jax.numpy as jnp
import torch
from jax import lax

from meshwright.torch._operators._apart import (
    find_apart,
    find_batches,
    remember,
)
from meshwright.torch._operators._table import is_array, jax_type, rule


@rule("view", "view_copy", "_unsafe_view", "reshape")
def _view(value: Any, shape: Sequence[int]) -> Any:
    apart = find_apart(value)
    if apart is not None and apart.shape == tuple(shape):
        return apart
    result = jnp.reshape(value, shape)
    return remember(result, value) if result.ndim < value.ndim else result


@rule("unsqueeze", "unsqueeze_copy")
def _unsqueeze(value: Any, dim: int) -> Any:
    return jnp.expand_dims(value, dim)


@rule("squeeze", "squeeze_copy")
def _squeeze(value: Any, dims: int | Sequence[int] | None = None) -> Any:
    if dims is None:
        dims = range(value.ndim)
    elif isinstance(dims, int):
        dims = (dims,)
    chosen = {dim % value.ndim for dim in dims}
    return lax.squeeze(value, [d for d in chosen if value.shape[d] == 1])


@rule("expand", "expand_copy")
def _expand(value: Any, shape: Sequence[int], implicit: bool = False) -> Any:
    added = len(shape) - value.ndim
    return jnp.broadcast_to(
        value,
        [
            value.shape[dim - added] if size == -1 else size
            for dim, size in enumerate(shape)
        ],
    )


@rule("permute", "permute_copy")
def _permute(value: Any, dims: Sequence[int]) -> Any:
    result = jnp.transpose(value, dims)
    batches = find_batches(value)
    if batches is not None and tuple(d % 3 for d in dims) == (0, 2, 1):
        return remember(result, jnp.swapaxes(batches, 2, 3))
    return result


@rule("t", "t_copy")
def _t(value: Any) -> Any:
    return value.T


@rule("transpose", "transpose_copy")
def _transpose(value: Any, first: int, second: int) -> Any:
    dims = list(range(value.ndim))
    dims[first], dims[second] = dims[second], dims[first]
    return _permute(value, dims)


@rule("flip")
def _flip(value: Any, dims: Sequence[int]) -> Any:
    return jnp.flip(value, tuple(dims))


@rule("repeat")
def _repeat(value: Any, repeats: Sequence[int]) -> Any:
    return jnp.tile(value, repeats)


def _slice_of(value: Any, dim: int, start: Any, end: Any, step: int) -> slice:
    return slice(*slice(start, end, step).indices(value.shape[dim]))


@rule("slice", "slice_copy")
def _slice(
    value: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Any:
    cut = _slice_of(value, dim, start, end, step)
    stop = max(cut.stop, cut.start)
    return lax.slice_in_dim(value, cut.start, stop, cut.step, dim % value.ndim)


@rule("slice_scatter")
def _slice_scatter(
    value: Any,
    source: Any,
    dim: int = 0,
    start: Any = None,
    end: Any = None,
    step: int = 1,
) -> Any:
    cut = _slice_of(value, dim, start, end, step)
    source = source.astype(value.dtype)
    dim %= value.ndim
    if source.shape == value.shape:
        return source
    if cut.step == 1:
        return lax.dynamic_update_slice_in_dim(value, source, cut.start, dim)
    return value.at[(slice(None),) * dim + (cut,)].set(source)


@rule("select", "select_copy")
def _select(value: Any, dim: int, index: int) -> Any:
    return lax.index_in_dim(
        value, index % value.shape[dim], dim % value.ndim, keepdims=False
    )


@rule("select_scatter")
def _select_scatter(value: Any, source: Any, dim: int, index: int) -> Any:
    return lax.dynamic_update_index_in_dim(
        value,
        source.astype(value.dtype),
        index % value.shape[dim],
        dim % value.ndim,
    )


@rule("split", "split_copy", "split_with_sizes", "split_with_sizes_copy")
def _split(value: Any, sizes: int | Sequence[int], dim: int = 0) -> list[Any]:
    whole = value.shape[dim]
    if isinstance(sizes, int):
        rest = whole % sizes
        sizes = [sizes] * (whole // sizes) + ([rest] if rest else [])
    ends = list(accumulate(sizes))
    return [
        lax.slice_in_dim(value, end - size, end, 1, dim % value.ndim)
        for size, end in zip(sizes, ends)
    ]


@rule("unbind", "unbind_copy")
def _unbind(value: Any, dim: int = 0) -> list[Any]:
    return [_select(value, dim, i) for i in range(value.shape[dim])]


@rule("cat")
def _cat(values: Sequence[Any], dim: int = 0) -> Any:
    dtype = jnp.result_type(*values)
    # torch leaves out empty vectors, whatever the others' rank is.
    kept = [v for v in values if v.shape != (0,)] or values[:1]
    return jnp.concatenate([v.astype(dtype) for v in kept], dim)


@rule("stack")
def _stack(values: Sequence[Any], dim: int = 0) -> Any:
    return jnp.stack(values, dim)


@rule("constant_pad_nd")
def _pad(value: Any, pad: Sequence[int], fill: Any = 0) -> Any:
    """``pad`` is of the last dimension first, and may be negative."""
    padded = len(pad) // 2
    edges = [(0, 0, 0)] * (value.ndim - padded) + [
        (pad[2 * i], pad[2 * i + 1], 0) for i in reversed(range(padded))
    ]
    return lax.pad(value, jnp.asarray(fill, value.dtype), edges)


@rule("arange.start_step")
def _arange(
    start: Any, end: Any, step: Any = 1, dtype: Any = None, **_: Any
) -> Any:
    if dtype is None:
        whole = all(isinstance(v, int) for v in (start, end, step))
        dtype = torch.int64 if whole else torch.float32
    return jnp.arange(start, end, step, dtype=jax_type(dtype))


@rule("full", "new_full")
def _full(like: Any, shape_or_fill: Any, *rest: Any, **options: Any) -> Any:
    if is_array(like):  # new_full(like, shape, fill)
        shape, fill = shape_or_fill, rest[0]
    else:
        shape, fill = like, shape_or_fill
    dtype = options.get("dtype")
    kind = jax_type(dtype) if dtype is not None else None
    return jnp.full(shape, fill, dtype=kind)


@rule("full_like")
def _full_like(
    like: Any, fill: Any, dtype: Any = None, **_: Any
) -> Any:
    kind = like.dtype if dtype is None else jax_type(dtype)
    return jnp.full(like.shape, fill, dtype=kind)


@rule(
    "empty",
    "empty_like",
    "empty_permuted",
    "empty_strided",
    "new_empty",
    "new_empty_strided",
    "new_zeros",
    "zeros",
    "zeros_like",
)
def _zeros(like: Any, *rest: Any, dtype: Any = None, **_: Any) -> Any:
    shape = like
    if is_array(like):
        shape = rest[0] if rest else like.shape
        kind = like.dtype
    else:
        kind = jnp.float32
    return jnp.zeros(shape, kind if dtype is None else jax_type(dtype))


@rule("ones", "ones_like", "new_ones")
def _ones(like: Any, *rest: Any, dtype: Any = None, **options: Any) -> Any:
    return _zeros(like, *rest, dtype=dtype) + 1


@rule("scalar_tensor")
def _scalar(value: Any, dtype: Any = None, **_: Any) -> Any:
    return jnp.asarray(value, jax_type(dtype or torch.float32))


@rule("tril")
def _tril(value: Any, diagonal: int = 0) -> Any:
    return jnp.tril(value, diagonal)


@rule("triu")
def _triu(value: Any, diagonal: int = 0) -> Any:
    return jnp.triu(value, diagonal)
