"""A language model of Mamba layers: a state space that its input selects.

Shapes: b batch, s tokens, m hidden, i inner width (twice m), n states of a
channel, r rank of the step size.

Source: Gu and Dao, "Mamba", section 3, Algorithm 2; the selective scan is
``jax.lax.associative_scan`` over pairs of decay and gain.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.moe import rms_norm
from meshwright_models.training_step import Model, PyTree
from unusual import language, layers

STATES = 8
_TAPS = 4


def selective_scan(
    x: jax.Array,
    step: jax.Array,
    decay: jax.Array,
    into: jax.Array,
    out: jax.Array,
) -> jax.Array:
    """The recurrence h = exp(step decay) h + step into x, y = out h.

    x and step ``[b, s, i]``, decay ``[i, n]``, into and out ``[b, s, n]``.
    """
    kept = jnp.exp(step[..., None] * decay)
    gained = (step * x)[..., None] * into[:, :, None, :]

    def after(first: tuple, second: tuple) -> tuple:
        return second[0] * first[0], second[0] * first[1] + second[1]

    _, states = jax.lax.associative_scan(after, (kept, gained), axis=1)
    return jnp.einsum("bsin,bsn->bsi", states, out)


def mamba_layer(layer: PyTree, x: jax.Array) -> jax.Array:
    """x ``[b, s, m]``."""
    normed = rms_norm(x, layer["norm"])
    inner, gate = jnp.split(normed @ layer["in"], 2, axis=-1)
    inner = layers.causal_convolve(inner, layer["taps"])
    inner = jax.nn.silu(inner + layer["tap_bias"])
    rank = layer["step"]["weight"].shape[0]
    chosen = inner @ layer["select"]
    step, into, out = jnp.split(chosen, [rank, rank + STATES], axis=-1)
    step = jax.nn.softplus(layers.dense(layer["step"], step))
    decay = -jnp.exp(layer["log_decay"])
    y = selective_scan(inner, step, decay, into, out)
    y = (y + layer["pass"] * inner) * jax.nn.silu(gate)
    return x + y @ layer["out"]


def build(name: str, shape: ModelShape) -> Model:
    m, inner, rank = shape.hidden, 2 * shape.hidden, max(1, shape.hidden // 16)
    layer = {
        "norm": layers.weight(m),
        "in": layers.weight(m, 2 * inner),
        "taps": layers.weight(_TAPS, 1, inner),
        "tap_bias": layers.weight(inner),
        "select": layers.weight(inner, rank + 2 * STATES),
        "step": layers.dense_params(rank, inner),
        "log_decay": layers.weight(inner, STATES),
        "pass": layers.weight(inner),
        "out": layers.weight(inner, m),
    }
    return language.build(name, shape, [layer] * shape.layers, mamba_layer)
