"""A decoder trained for eight bits: rounded forwards, straight through back.

Concept: every matrix and what enters it are rounded to 127 steps of their
largest value (a weight per output channel, an activation per token); the
gradient passes as if nothing were rounded.

Source: Jacob et al., "Quantization and Training of Neural Networks"; straight
through of Bengio, Léonard, Courville.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import Model, PyTree
from unusual import language, layers

_STEPS = 127.0
_EPSILON = 1e-6


def rounded(x: jax.Array, axis: int) -> jax.Array:
    """Steps are as large as the largest value along ``axis`` asks for."""
    most = jnp.max(jnp.abs(x), axis=axis, keepdims=True)
    step = jax.lax.stop_gradient(most) / _STEPS + _EPSILON
    return x + jax.lax.stop_gradient(jnp.round(x / step) * step - x)


def product(x: jax.Array, weight: jax.Array) -> jax.Array:
    return rounded(x, -1) @ rounded(weight, 0)


def build(name: str, shape: ModelShape) -> Model:
    m, n, h = shape.hidden, shape.heads, shape.ffn
    one = {
        "attention_norm": layers.norm_params(m),
        "qkv": layers.weight(m, 3 * m),
        "output": layers.weight(m, m),
        "mlp_norm": layers.norm_params(m),
        "in": layers.weight(m, h),
        "out": layers.weight(h, m),
    }

    def layer(layer: PyTree, x: jax.Array) -> jax.Array:
        batch, seq, _ = x.shape
        normed = layers.layer_norm(layer["attention_norm"], x)
        qkv = product(normed, layer["qkv"])
        qkv = qkv.reshape(batch, seq, 3, n, m // n)
        query, key, value = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
        bias = layers.causal_bias(seq)
        context = layers.attend(query, key, value, bias)
        x = x + product(context.reshape(x.shape), layer["output"])
        normed = layers.layer_norm(layer["mlp_norm"], x)
        hidden = jax.nn.gelu(product(normed, layer["in"]))
        return x + product(hidden, layer["out"])

    return language.build(name, shape, [one] * shape.layers, layer)
