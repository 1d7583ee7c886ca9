"""Operators that compute each element by itself."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from meshwright.torch._operators._table import (
    Rule,
    is_array,
    jax_type,
    promoted,
    rule,
    rules,
)


def _same(value: Any, *_: Any, **__: Any) -> Any:
    return value


def _binary(function: Rule) -> Rule:
    return lambda a, b: function(*promoted(a, b))


def _floating(value: Any) -> Any:
    """Integers as torch takes them where the result has fractions."""
    is_floating = jnp.issubdtype(value.dtype, jnp.floating)
    return value if is_floating else value.astype(jnp.float32)


def _unary(function: Rule) -> Rule:
    return lambda value: function(value)


_BINARY: dict[str, Rule] = {
    "mul": jnp.multiply,
    "maximum": jnp.maximum,
    "minimum": jnp.minimum,
    "bitwise_and": jnp.bitwise_and,
    "bitwise_or": jnp.bitwise_or,
    "bitwise_xor": jnp.bitwise_xor,
    "bitwise_left_shift": jnp.left_shift,
    "bitwise_right_shift": jnp.right_shift,
    "logical_and": jnp.logical_and,
    "logical_or": jnp.logical_or,
    "logical_xor": jnp.logical_xor,
    "eq": jnp.equal,
    "ne": jnp.not_equal,
    "lt": jnp.less,
    "le": jnp.less_equal,
    "gt": jnp.greater,
    "ge": jnp.greater_equal,
    "atan2": jnp.arctan2,
    "fmod": jnp.fmod,
    "remainder": jnp.remainder,
}
_UNARY: dict[str, Rule] = {
    "abs": jnp.abs,
    "acos": jnp.arccos,
    "asin": jnp.arcsin,
    "atan": jnp.arctan,
    "bitwise_not": jnp.bitwise_not,
    "ceil": jnp.ceil,
    "cos": jnp.cos,
    "cosh": jnp.cosh,
    "erf": lambda value: lax.erf(_floating(value)),
    "exp": jnp.exp,
    "expm1": jnp.expm1,
    "floor": jnp.floor,
    "isinf": jnp.isinf,
    "isnan": jnp.isnan,
    "log": jnp.log,
    "log10": jnp.log10,
    "log1p": jnp.log1p,
    "log2": jnp.log2,
    "logical_not": jnp.logical_not,
    "neg": jnp.negative,
    "reciprocal": lambda value: 1.0 / value,
    "relu": jax.nn.relu,
    "round": jnp.round,
    "rsqrt": lambda value: lax.rsqrt(_floating(value)),
    "sigmoid": lambda value: jax.nn.sigmoid(_floating(value)),
    "sign": jnp.sign,
    "sin": jnp.sin,
    "sinh": jnp.sinh,
    "sqrt": jnp.sqrt,
    "tan": jnp.tan,
    "tanh": jnp.tanh,
    "trunc": jnp.trunc,
}
rules({name: _binary(function) for name, function in _BINARY.items()})
rules({name: _unary(function) for name, function in _UNARY.items()})
rules(
    dict.fromkeys(
        (
            "alias",
            "alias_copy",
            "clone",
            "contiguous",
            "detach",
            "detach_copy",
            "lift_fresh",
            "lift_fresh_copy",
        ),
        _same,
    )
)


@rule("add")
def _add(a: Any, b: Any, alpha: Any = 1) -> Any:
    a, b = promoted(a, b)
    return a + (b if alpha == 1 else b * alpha)


@rule("sub")
def _sub(a: Any, b: Any, alpha: Any = 1) -> Any:
    a, b = promoted(a, b)
    return a - (b if alpha == 1 else b * alpha)


@rule("rsub")
def _rsub(a: Any, b: Any, alpha: Any = 1) -> Any:
    return b - (a if alpha == 1 else a * alpha)


@rule("div")
def _div(a: Any, b: Any, rounding_mode: str | None = None) -> Any:
    a, b = promoted(a, b)
    if rounding_mode == "floor":
        return jnp.floor_divide(a, b)
    if rounding_mode == "trunc":
        if jnp.issubdtype(jnp.result_type(a, b), jnp.integer):
            return lax.div(*jnp.broadcast_arrays(a, b))
        return jnp.trunc(jnp.true_divide(a, b))
    return jnp.true_divide(a, b)


@rule("floor_divide")
def _floor_divide(a: Any, b: Any) -> Any:
    return jnp.floor_divide(*promoted(a, b))


@rule("pow")
def _pow(base: Any, exponent: Any) -> Any:
    if is_array(exponent):
        return jnp.power(*promoted(base, exponent))
    if isinstance(exponent, float):
        base = _floating(base)
    if exponent == 2:
        return jnp.square(base)
    if float(exponent).is_integer():
        return lax.integer_pow(base, int(exponent))
    return jnp.power(base, jnp.asarray(exponent, base.dtype))


@rule("round.decimals")
def _round_decimals(value: Any, *, decimals: int) -> Any:
    scale = 10.0 ** abs(decimals)
    if decimals < 0:
        return jnp.round(value / scale) * scale
    return jnp.round(value * scale) / scale


@rule("gelu")
def _gelu(value: Any, approximate: str = "none") -> Any:
    return jax.nn.gelu(value, approximate=approximate == "tanh")


@rule("leaky_relu")
def _leaky_relu(value: Any, slope: float = 0.01) -> Any:
    return jnp.where(value > 0, value, value * slope)


@rule("elu")
def _elu(value: Any, alpha: Any = 1, scale: Any = 1, inner: Any = 1) -> Any:
    low = jnp.expm1(jnp.minimum(value, 0) * inner) * alpha
    return jnp.where(value > 0, value, low) * scale


@rule("hardtanh")
def _hardtanh(value: Any, low: Any = -1, high: Any = 1) -> Any:
    return jnp.clip(value, low, high)


@rule("clamp", "clamp_min.default")
def _clamp(value: Any, min: Any = None, max: Any = None) -> Any:
    if min is not None:
        value = jnp.maximum(value, min)
    return value if max is None else jnp.minimum(value, max)


@rule("clamp_max.default")
def _clamp_max(value: Any, max: Any) -> Any:
    return jnp.minimum(value, max)


@rule("where")
def _where(condition: Any, a: Any, b: Any) -> Any:
    return jnp.where(condition, *promoted(a, b))


@rule("_to_copy")
def _to_copy(value: Any, dtype: Any = None, **_: Any) -> Any:
    return value if dtype is None else value.astype(jax_type(dtype))


@rule("copy")
def _copy(target: Any, source: Any, *_: Any) -> Any:
    return jnp.broadcast_to(source, target.shape).astype(target.dtype)
