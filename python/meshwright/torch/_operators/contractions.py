"""Matrix products, convolutions and pooling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from meshwright.torch._operators._apart import find_batches, remember
from meshwright.torch._operators._table import rule


@rule("mm", "mv", "dot")
def _product(a: Any, b: Any) -> Any:
    return jnp.matmul(a, b)


@rule("bmm")
def _batched_product(a: Any, b: Any) -> Any:
    first, second = find_batches(a), find_batches(b)
    if first is None or second is None or first.shape[:2] != second.shape[:2]:
        return jnp.matmul(a, b)
    product = jnp.matmul(first, second)
    return remember(product.reshape(a.shape[0], *product.shape[2:]), product)


@rule("addmm", "baddbmm", "addmv")
def _added_product(
    added: Any, a: Any, b: Any, beta: Any = 1, alpha: Any = 1
) -> Any:
    product = jnp.matmul(a, b)
    if alpha != 1:
        product = product * alpha
    return product + (added if beta == 1 else added * beta)


def _per_dim(sizes: Sequence[int], rank: int) -> list[int]:
    return list(sizes) * rank if len(sizes) == 1 else list(sizes)


def _number_dims(value: Any, kernel: Any) -> lax.ConvDimensionNumbers:
    places = "DHW"[-(value.ndim - 2) :]
    return lax.conv_dimension_numbers(
        value.shape,
        kernel.shape,
        ("NC" + places, "OI" + places, "NC" + places),
    )


def _convolve(
    value: Any,
    weight: Any,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Any:
    rank = value.ndim - 2
    return lax.conv_general_dilated(
        value,
        weight,
        _per_dim(stride, rank),
        [(size, size) for size in _per_dim(padding, rank)],
        rhs_dilation=_per_dim(dilation, rank),
        dimension_numbers=_number_dims(value, weight),
        feature_group_count=groups,
    )


def _convolve_transposed(
    value: Any,
    weight: Any,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    output_padding: Sequence[int],
    groups: int,
) -> Any:
    """The gradient of a convolution by its input, as torch defines it."""
    rank = value.ndim - 2
    grouped = weight.reshape(
        groups, weight.shape[0] // groups, *weight.shape[1:]
    )
    grouped = jnp.swapaxes(grouped, 1, 2)
    kernel = grouped.reshape(-1, *grouped.shape[2:])
    kernel = jnp.flip(kernel, tuple(range(2, kernel.ndim)))
    edges = []
    for size, pad, dilate, extra in zip(
        weight.shape[2:],
        _per_dim(padding, rank),
        _per_dim(dilation, rank),
        _per_dim(output_padding, rank),
    ):
        whole = dilate * (size - 1) - pad
        edges.append((whole, whole + extra))
    return lax.conv_general_dilated(
        value,
        kernel,
        (1,) * rank,
        edges,
        lhs_dilation=_per_dim(stride, rank),
        rhs_dilation=_per_dim(dilation, rank),
        dimension_numbers=_number_dims(value, kernel),
        feature_group_count=groups,
    )


@rule("convolution")
def _convolution(
    value: Any,
    weight: Any,
    bias: Any,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Any:
    if transposed:
        result = _convolve_transposed(
            value, weight, stride, padding, dilation, output_padding, groups
        )
    else:
        result = _convolve(value, weight, stride, padding, dilation, groups)
    if bias is None:
        return result
    return result + bias.reshape((-1,) + (1,) * (value.ndim - 2))


@rule("convolution_backward")
def _convolution_backward(
    gradient: Any,
    value: Any,
    weight: Any,
    bias_sizes: Any,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    mask: Sequence[bool],
) -> tuple[Any, Any, Any]:
    def forward(value: Any, weight: Any) -> Any:
        return _convolution(
            value,
            weight,
            None,
            stride,
            padding,
            dilation,
            transposed,
            output_padding,
            groups,
        )

    _, pull_back = jax.vjp(forward, value, weight)
    of_value, of_weight = pull_back(gradient)
    of_bias = None
    if mask[2]:
        of_bias = jnp.sum(gradient, (0, *range(2, gradient.ndim)))
    return (
        of_value if mask[0] else None,
        of_weight if mask[1] else None,
        of_bias,
    )


def _windows(
    size: Sequence[int], stride: Sequence[int], padding: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...], list[tuple[int, int]]]:
    sizes = _per_dim(size, 2)
    strides = _per_dim(stride, 2) if stride else sizes
    edges = [(0, 0), (0, 0), *((p, p) for p in _per_dim(padding, 2))]
    return (1, 1, *sizes), (1, 1, *strides), edges


def _max_pool(
    value: Any,
    size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> Any:
    if ceil_mode or any(step != 1 for step in dilation):
        raise NotImplementedError("aten.max_pool2d with ceil_mode or dilation")
    window, strides, edges = _windows(size, stride, padding)
    return lax.reduce_window(
        value, -jnp.inf, lax.max, window, strides, edges
    )


@rule("max_pool2d_with_indices")
def _max_pool_with_indices(
    value: Any,
    size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0, 0),
    dilation: Sequence[int] = (1, 1),
    ceil_mode: bool = False,
) -> tuple[Any, None]:
    # The gradient's rule finds the maxima again: nothing reads the indices.
    return _max_pool(value, size, stride, padding, dilation, ceil_mode), None


@rule("max_pool2d_with_indices_backward")
def _max_pool_backward(
    gradient: Any,
    value: Any,
    size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
    indices: None,
) -> Any:
    _, pull_back = jax.vjp(
        lambda v: _max_pool(v, size, stride, padding, dilation, ceil_mode),
        value,
    )
    return pull_back(gradient)[0]


def _average_pool(
    value: Any,
    size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0, 0),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor: int | None = None,
) -> Any:
    if ceil_mode or (any(padding) and not count_include_pad):
        raise NotImplementedError(
            "aten.avg_pool2d with ceil_mode or without its padding"
        )
    window, strides, edges = _windows(size, stride, padding)
    sums = lax.reduce_window(value, 0.0, lax.add, window, strides, edges)
    return sums / (divisor or math.prod(window))


rule("avg_pool2d")(_average_pool)


@rule("avg_pool2d_backward")
def _average_pool_backward(gradient: Any, value: Any, *options: Any) -> Any:
    _, pull_back = jax.vjp(lambda v: _average_pool(v, *options), value)
    return pull_back(gradient)[0]


def _adaptive_average_pool(value: Any, size: Sequence[int]) -> Any:
    height, width = value.shape[-2:]
    if height % size[0] or width % size[1]:
        raise NotImplementedError(
            "aten._adaptive_avg_pool2d to a size that does not divide"
        )
    parts = value.reshape(
        *value.shape[:-2], size[0], height // size[0], size[1], width // size[1]
    )
    return jnp.mean(parts, (-3, -1))


rule("_adaptive_avg_pool2d")(_adaptive_average_pool)


@rule("_adaptive_avg_pool2d_backward")
def _adaptive_average_pool_backward(gradient: Any, value: Any) -> Any:
    size = gradient.shape[-2:]
    _, pull_back = jax.vjp(
        lambda v: _adaptive_average_pool(v, size), value
    )
    return pull_back(gradient)[0]
