"""Operators over whole dimensions: sums, extremes, orders."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from meshwright.torch._operators._table import jax_type, rule

Dims = int | Sequence[int] | None


def _dims(dims: Dims) -> tuple[int, ...] | None:
    """None and no dimension both mean all."""
    if isinstance(dims, int):
        return (dims,)
    return tuple(dims) if dims else None


def _reduce(
    reduce: Any, value: Any, dims: Dims, keepdim: bool, dtype: Any
) -> Any:
    kind = None if dtype is None else jax_type(dtype)
    return reduce(value, _dims(dims), keepdims=keepdim, dtype=kind)


@rule("sum")
def _sum(
    value: Any, dims: Dims = None, keepdim: bool = False, dtype: Any = None
) -> Any:
    return _reduce(jnp.sum, value, dims, keepdim, dtype)


@rule("mean")
def _mean(
    value: Any, dims: Dims = None, keepdim: bool = False, dtype: Any = None
) -> Any:
    return _reduce(jnp.mean, value, dims, keepdim, dtype)


@rule("prod")
def _prod(
    value: Any, dims: Dims = None, keepdim: bool = False, dtype: Any = None
) -> Any:
    return _reduce(jnp.prod, value, dims, keepdim, dtype)


@rule("var")
def _var(
    value: Any, dims: Dims = None, correction: Any = 1, keepdim: bool = False
) -> Any:
    return _var_mean(value, dims, correction, keepdim)[0]


@rule("var_mean")
def _var_mean(
    value: Any, dims: Dims = None, correction: Any = 1, keepdim: bool = False
) -> tuple[Any, Any]:
    over = _dims(dims) or tuple(range(value.ndim))
    count = math.prod(value.shape[dim] for dim in over)
    mean = jnp.mean(value, over, keepdims=True)
    squares = jnp.sum(jnp.square(value - mean), over, keepdims=keepdim)
    lower = 1 if correction is None else correction
    if not keepdim:
        mean = jnp.squeeze(mean, over)
    return squares / max(count - lower, 0), mean


@rule("amax")
def _amax(value: Any, dims: Dims = None, keepdim: bool = False) -> Any:
    return jnp.max(value, _dims(dims), keepdims=keepdim)


@rule("amin")
def _amin(value: Any, dims: Dims = None, keepdim: bool = False) -> Any:
    return jnp.min(value, _dims(dims), keepdims=keepdim)


@rule("max.dim")
def _max_dim(value: Any, dim: int, keepdim: bool = False) -> tuple[Any, Any]:
    return (
        jnp.max(value, dim, keepdims=keepdim),
        jnp.argmax(value, dim, keepdims=keepdim),
    )


@rule("min.dim")
def _min_dim(value: Any, dim: int, keepdim: bool = False) -> tuple[Any, Any]:
    return (
        jnp.min(value, dim, keepdims=keepdim),
        jnp.argmin(value, dim, keepdims=keepdim),
    )


@rule("max.default")
def _max(value: Any) -> Any:
    return jnp.max(value)


@rule("min.default")
def _min(value: Any) -> Any:
    return jnp.min(value)


@rule("argmax")
def _argmax(value: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    return jnp.argmax(value, dim, keepdims=keepdim)


@rule("argmin")
def _argmin(value: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    return jnp.argmin(value, dim, keepdims=keepdim)


@rule("any")
def _any(value: Any, dims: Dims = None, keepdim: bool = False) -> Any:
    return jnp.any(value, _dims(dims), keepdims=keepdim)


@rule("all")
def _all(value: Any, dims: Dims = None, keepdim: bool = False) -> Any:
    return jnp.all(value, _dims(dims), keepdims=keepdim)


@rule("cumsum")
def _cumsum(value: Any, dim: int, dtype: Any = None) -> Any:
    kind = None if dtype is None else jax_type(dtype)
    return jnp.cumsum(value, dim, dtype=kind)


@rule("linalg_vector_norm")
def _vector_norm(
    value: Any,
    order: Any = 2,
    dims: Dims = None,
    keepdim: bool = False,
    dtype: Any = None,
) -> Any:
    over = _dims(dims)
    if order == 2:
        squares = jnp.sum(jnp.square(value), over, keepdims=keepdim)
        return jnp.sqrt(squares)
    if order == math.inf:
        return jnp.max(jnp.abs(value), over, keepdims=keepdim)
    powers = jnp.sum(jnp.abs(value) ** order, over, keepdims=keepdim)
    return powers ** (1 / order)


@rule("_softmax")
def _softmax(value: Any, dim: int, half_to_float: bool) -> Any:
    return jax.nn.softmax(_widened(value, half_to_float), dim)


@rule("_log_softmax")
def _log_softmax(value: Any, dim: int, half_to_float: bool) -> Any:
    return jax.nn.log_softmax(_widened(value, half_to_float), dim)


def _widened(value: Any, half_to_float: bool) -> Any:
    return value.astype(jnp.float32) if half_to_float else value


@rule("topk")
def _topk(
    value: Any,
    k: int,
    dim: int = -1,
    largest: bool = True,
    is_sorted: bool = True,
) -> tuple[Any, Any]:
    last = jnp.moveaxis(value, dim, -1)
    found, places = jax.lax.top_k(last if largest else -last, k)
    return (
        jnp.moveaxis(found if largest else -found, -1, dim),
        jnp.moveaxis(places, -1, dim),
    )


@rule("sort.default")
def _sort(value: Any, dim: int = -1, descending: bool = False) -> Any:
    places = jnp.argsort(value, dim, stable=True, descending=descending)
    return jnp.take_along_axis(value, places, dim), places


@rule("sort.stable")
def _sort_stable(
    value: Any,
    *,
    stable: Any = None,
    dim: int = -1,
    descending: bool = False,
) -> Any:
    return _sort(value, dim, descending)
