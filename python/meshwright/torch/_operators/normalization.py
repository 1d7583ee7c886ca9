"""Layer and group norm, which core ATen keeps whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from meshwright.torch._operators._table import rule


def _centred(value: Any, dims: Sequence[int], eps: float) -> tuple[Any, ...]:
    """Normalised over ``dims``; the mean; one over the deviation."""
    whole = value.astype(jnp.float32)
    mean = jnp.mean(whole, dims, keepdims=True)
    rest = whole - mean
    scale = lax.rsqrt(jnp.mean(jnp.square(rest), dims, keepdims=True) + eps)
    return rest * scale, mean, scale


@rule("native_layer_norm")
def _layer_norm(
    value: Any, shape: Sequence[int], weight: Any, bias: Any, eps: float
) -> tuple[Any, ...]:
    dims = tuple(range(value.ndim - len(shape), value.ndim))
    result, mean, scale = _centred(value, dims, eps)
    if weight is not None:
        result = result * weight
    if bias is not None:
        result = result + bias
    return result, mean, scale


@rule("native_group_norm")
def _group_norm(
    value: Any,
    weight: Any,
    bias: Any,
    count: int,
    channels: int,
    size: int,
    groups: int,
    eps: float,
) -> tuple[Any, ...]:
    grouped = value.reshape(count, groups, -1)
    result, mean, scale = _centred(grouped, (2,), eps)
    result = result.reshape(value.shape)
    along = (1, channels) + (1,) * (value.ndim - 2)
    if weight is not None:
        result = result * weight.reshape(along)
    if bias is not None:
        result = result + bias.reshape(along)
    shape = (count, groups)
    return result, mean.reshape(shape), scale.reshape(shape)
