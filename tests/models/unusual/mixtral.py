"""A language model of mixtures of experts, routed by index and not by mask.

Concept: each token chooses its two best experts. A choice's slot is how many
choices of the same expert came before it among all tokens; rows are scattered
into ``[e, c, m]``, choices beyond the capacity fall out, and results are
gathered back and weighed by a softmax over the two scores.

Shapes: t tokens of the whole batch, e experts, c capacity, m hidden.

Source: Jiang et al., "Mixtral of Experts", section 2.1.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

from meshwright_models import decoder
from meshwright_models.model_shape import ModelShape
from meshwright_models.moe import rms_norm
from meshwright_models.training_step import Model, PyTree
from unusual import language, layers

_CHOICES = 2


def routed(layer: PyTree, x: jax.Array, capacity: int) -> jax.Array:
    """x ``[t, m]``."""
    tokens, size = x.shape
    experts = layer["router"].shape[-1]
    scores, chosen = jax.lax.top_k(x @ layer["router"], _CHOICES)
    gates = jax.nn.softmax(scores, axis=-1)
    chosen = chosen.reshape(-1)
    mine = jax.nn.one_hot(chosen, experts, dtype=jnp.int32)
    slot = jnp.sum((jnp.cumsum(mine, axis=0) - 1) * mine, axis=-1)
    rows = jnp.repeat(x, _CHOICES, axis=0)
    taken = jnp.zeros((experts, capacity, size), x.dtype)
    taken = taken.at[chosen, slot].set(rows, mode="drop")
    hidden = jax.nn.silu(jnp.einsum("ecm,emh->ech", taken, layer["gate"]))
    hidden = hidden * jnp.einsum("ecm,emh->ech", taken, layer["up"])
    given = jnp.einsum("ech,ehm->ecm", hidden, layer["down"])
    back = given.at[chosen, slot].get(mode="fill", fill_value=0.0)
    back = back.reshape(tokens, _CHOICES, size)
    return jnp.einsum("tkm,tk->tm", back, gates)


def build(name: str, shape: ModelShape) -> Model:
    m, e, h = shape.hidden, shape.experts, shape.ffn
    share = _CHOICES * shape.batch * shape.seq / e
    capacity = max(1, math.ceil(share * shape.capacity_factor))
    own = ("gate", "up", "down")
    attention = {
        key: value
        for key, value in decoder.layer_params(shape).items()
        if key not in own
    }
    experts = {
        "router": layers.weight(m, e),
        "gate": layers.weight(e, m, h),
        "up": layers.weight(e, m, h),
        "down": layers.weight(e, h, m),
    }

    def layer(layer: PyTree, x: jax.Array) -> jax.Array:
        mask = layers.causal_bias(x.shape[1])[None, None, None] == 0
        normed = rms_norm(x, layer["attention_norm"])
        x = x + decoder.attention(layer, normed, mask)
        normed = rms_norm(x, layer["ffn_norm"])
        mixed = routed(layer, normed.reshape(-1, m), capacity)
        return x + mixed.reshape(x.shape)

    each = [attention | experts for _ in range(shape.layers)]
    return language.build(name, shape, each, layer)
