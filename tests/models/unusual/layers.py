"""What many kinds share: norms, dense layers, attention, batches, losses.

Shapes: b batch, s and t tokens, m hidden, n heads, d head size, h
feed-forward width, c classes.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import PyTree

_EPSILON = 1e-5
_MASKED_SCORE = -1e9


def weight(*dims: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(dims, jnp.float32)


def integers(*dims: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(dims, jnp.int32)


def norm_params(size: int) -> PyTree:
    return {"scale": weight(size), "shift": weight(size)}


def normalized(x: jax.Array) -> jax.Array:
    """Mean 0 and variance 1 along the last dimension."""
    x = x - jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.mean(jnp.square(x), axis=-1, keepdims=True)
    return x * jax.lax.rsqrt(variance + _EPSILON)


def layer_norm(norm: PyTree, x: jax.Array) -> jax.Array:
    return normalized(x) * norm["scale"] + norm["shift"]


def dense_params(size_in: int, size: int) -> PyTree:
    return {"weight": weight(size_in, size), "bias": weight(size)}


def dense(layer: PyTree, x: jax.Array) -> jax.Array:
    return x @ layer["weight"] + layer["bias"]


def mlp_params(size: int, inner: int, size_out: int | None = None) -> PyTree:
    out = size if size_out is None else size_out
    return {"in": dense_params(size, inner), "out": dense_params(inner, out)}


def mlp(layer: PyTree, x: jax.Array) -> jax.Array:
    return dense(layer["out"], jax.nn.gelu(dense(layer["in"], x)))


def attention_params(size: int, heads: int, read: int | None = None) -> PyTree:
    """Queries of ``size``, keys and values from something ``read`` wide."""
    read = size if read is None else read
    return {
        "query": weight(size, heads, size // heads),
        "key": weight(read, heads, size // heads),
        "value": weight(read, heads, size // heads),
        "output": weight(heads, size // heads, size),
    }


def attend(
    query: jax.Array,
    key: jax.Array,
    value: jax.Array,
    bias: jax.Array | None = None,
) -> jax.Array:
    """All ``[b, s or t, n, d]``; bias fits ``[b, n, s, t]``."""
    scores = jnp.einsum("bsnd,btnd->bnst", query, key)
    scores = scores / math.sqrt(query.shape[-1])
    if bias is not None:
        scores = scores + bias
    weights = jax.nn.softmax(scores, axis=-1)
    return jnp.einsum("bnst,btnd->bsnd", weights, value)


def attention(
    layer: PyTree,
    x: jax.Array,
    read: jax.Array | None = None,
    bias: jax.Array | None = None,
) -> jax.Array:
    """x ``[b, s, m]`` looks at itself, or at ``read`` ``[b, t, ...]``."""
    read = x if read is None else read
    query = jnp.einsum("bsm,mnd->bsnd", x, layer["query"])
    key = jnp.einsum("btm,mnd->btnd", read, layer["key"])
    value = jnp.einsum("btm,mnd->btnd", read, layer["value"])
    context = attend(query, key, value, bias)
    return jnp.einsum("bsnd,ndm->bsm", context, layer["output"])


def causal_bias(seq: int, window: int | None = None) -> jax.Array:
    """0 where a token may look: not ahead, less than ``window`` back."""
    age = jnp.arange(seq)[:, None] - jnp.arange(seq)[None, :]
    seen = age >= 0
    if window is not None:
        seen = seen & (age < window)
    return jnp.where(seen, 0.0, _MASKED_SCORE)


def block_params(shape: ModelShape, size: int | None = None) -> PyTree:
    """A pre-norm transformer block."""
    size = shape.hidden if size is None else size
    return {
        "attention_norm": norm_params(size),
        "attention": attention_params(size, shape.heads),
        "mlp_norm": norm_params(size),
        "mlp": mlp_params(size, shape.ffn),
    }


def block(
    layer: PyTree, x: jax.Array, bias: jax.Array | None = None
) -> jax.Array:
    normed = layer_norm(layer["attention_norm"], x)
    x = x + attention(layer["attention"], normed, bias=bias)
    return x + mlp(layer["mlp"], layer_norm(layer["mlp_norm"], x))


def causal_convolve(x: jax.Array, taps: jax.Array) -> jax.Array:
    """Depthwise over time; x ``[b, s, m]``, taps ``[k, 1, m]``."""
    return jax.lax.conv_general_dilated(
        x,
        taps,
        window_strides=(1,),
        padding=[(taps.shape[0] - 1, 0)],
        dimension_numbers=("NWC", "WIO", "NWC"),
        feature_group_count=x.shape[-1],
    )


def class_loss(logits: jax.Array, labels: jax.Array) -> jax.Array:
    """logits ``[b, c]``, labels ``[b]``."""
    chosen = jax.nn.one_hot(labels, logits.shape[-1], dtype=logits.dtype)
    chosen = chosen * jax.nn.log_softmax(logits)
    return -jnp.sum(chosen) / logits.shape[0]
