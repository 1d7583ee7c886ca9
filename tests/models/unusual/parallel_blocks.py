"""A decoder whose attention and feed-forward stand side by side.

Concept: one norm, and one fused projection from it: queries, one key and one
value head for all of them, gate and up; one fused projection back.

Shapes: b batch, s tokens, m hidden, n heads, d head size, h feed-forward.

Source: Chowdhery et al., "PaLM", section 2; fused as in its public code.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

from meshwright_models import decoder
from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import Model, PyTree
from unusual import language, layers


def build(name: str, shape: ModelShape) -> Model:
    m, n, d, h = shape.hidden, shape.heads, shape.head_dim, shape.ffn
    one = {
        "norm": layers.weight(m),
        "in": layers.weight(m, n * d + 2 * d + 2 * h),
        "out": layers.weight(n * d + h, m),
    }
    cuts = (n * d, n * d + d, n * d + 2 * d, n * d + 2 * d + h)

    def layer(layer: PyTree, x: jax.Array) -> jax.Array:
        fused = (layers.normalized(x) * layer["norm"]) @ layer["in"]
        query, key, value, gate, up = jnp.split(fused, cuts, axis=-1)
        query = decoder.rotary(query.reshape(*x.shape[:2], n, d))
        key = decoder.rotary(key[:, :, None])[:, :, 0]
        scores = jnp.einsum("bsnd,btd->bnst", query, key) / math.sqrt(d)
        scores = scores + layers.causal_bias(x.shape[1])
        weights = jax.nn.softmax(scores, axis=-1)
        context = jnp.einsum("bnst,btd->bsnd", weights, value)
        context = context.reshape(*x.shape[:2], n * d)
        both = jnp.concatenate([context, jax.nn.silu(gate) * up], axis=-1)
        return x + both @ layer["out"]

    return language.build(name, shape, [one] * shape.layers, layer)
