"""Products of rows with the weights of their group: mixtures of experts.

Concept: the groups of rows are as long as the values say, and a plan holds for
all values. So every row is multiplied with every group's weight, and those of
other groups count as zeros. The group is a batch dimension then, by which a
plan can split the experts. The operations are as many times more as there are
groups to a row.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from meshwright.torch._operators._table import rule


@rule("_grouped_mm")
def _grouped_product(
    a: Any, b: Any, ends: Any = None, bias: Any = None, dtype: Any = None
) -> Any:
    """Rows of ``a`` up to ends[0] times b[0], up to ends[1] times b[1] ..."""
    if ends is None:
        return jnp.matmul(a, b)
    if a.ndim == 2 and b.ndim == 3:
        return _rows_by_groups(a, b, ends)
    if a.ndim == 2 and b.ndim == 2:  # the gradient of the weights
        chosen = _choose(ends, a.shape[1], a.dtype)
        return jnp.matmul(a[None] * chosen[:, None, :], b)
    raise NotImplementedError("aten._grouped_mm of these ranks")


@rule("transformers::grouped_mm_fallback")
def _fallback(rows: Any, weights: Any, ends: Any) -> Any:
    """An operator of transformers."""
    return _rows_by_groups(rows, weights, ends)


@rule("transformers::grouped_mm_fallback_backward")
def _fallback_backward(
    rows: Any, weights: Any, ends: Any, gradient: Any
) -> Any:
    _, pull_back = jax.vjp(
        lambda r, w: _rows_by_groups(r, w, ends), rows, weights
    )
    return pull_back(gradient)


@rule("histc")
def _histogram(
    value: Any, bins: int = 100, min: float = 0, max: float = 0
) -> Any:
    if min == max:
        raise NotImplementedError("aten.histc over the range of its values")
    place = jnp.floor((value - min) * (bins / (max - min)))
    place = jnp.where(value == max, bins - 1, place).reshape(-1, 1)
    bin_numbers = jnp.arange(bins, dtype=place.dtype)
    return jnp.sum((place == bin_numbers).astype(value.dtype), 0)


def _rows_by_groups(rows: Any, weights: Any, ends: Any) -> Any:
    chosen = _choose(ends, rows.shape[0], rows.dtype)
    by_group = jnp.matmul(rows[None] * chosen[:, :, None], weights)
    return jnp.sum(by_group, 0)


def _choose(ends: Any, rows: int, dtype: Any) -> Any:
    """[groups, rows]: one where the row is of the group."""
    starts = jnp.concatenate([jnp.zeros((1,), ends.dtype), ends[:-1]])
    row = lax.broadcasted_iota(ends.dtype, (ends.shape[0], rows), 1)
    return ((row >= starts[:, None]) & (row < ends[:, None])).astype(dtype)
