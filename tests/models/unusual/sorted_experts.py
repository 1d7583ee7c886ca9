"""A language model of mixtures of experts that sorts tokens by their expert.

Concept: each token chooses two experts. All choices are sorted by expert,
stably, so that an expert's are neighbours; a choice's slot is its place less
that of its expert's first. Those beyond the capacity fall out. Adds the
balance loss and the penalty on large scores.

Shapes: t tokens of the whole batch, e experts, c capacity, m hidden.

Source: Gale et al., "MegaBlocks", section 5; losses of Zoph et al., "ST-MoE".
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import (
    Batch,
    Model,
    PyTree,
    cross_entropy,
    token_batch,
)
from unusual import language, layers

_CHOICES = 2
_BALANCE_WEIGHT = 0.01
_SCORE_WEIGHT = 0.001


def mixed(
    layer: PyTree, x: jax.Array, capacity: int
) -> tuple[jax.Array, jax.Array]:
    """x ``[t, m]`` to the same, and the losses."""
    experts = layer["router"].shape[-1]
    scores = x @ layer["router"]
    gates = jax.nn.softmax(scores, axis=-1)
    weights, chosen = jax.lax.top_k(gates, _CHOICES)
    weights = weights / jnp.sum(weights, axis=-1, keepdims=True)
    chosen = chosen.reshape(-1)
    order = jnp.argsort(chosen, stable=True)
    expert, token = chosen[order], order // _CHOICES
    counts = jnp.bincount(chosen, length=experts)
    slot = jnp.arange(chosen.size) - (jnp.cumsum(counts) - counts)[expert]
    taken = jnp.zeros((experts, capacity, x.shape[-1]), x.dtype)
    taken = taken.at[expert, slot].set(x[token], mode="drop")
    hidden = jax.nn.relu(jnp.einsum("ecm,emh->ech", taken, layer["in"]))
    given = jnp.einsum("ech,ehm->ecm", hidden, layer["out"])
    back = given.at[expert, slot].get(mode="fill", fill_value=0.0)
    back = back * weights.reshape(-1)[order, None]
    share = counts / chosen.size
    balance = experts * jnp.sum(share * jnp.mean(gates, axis=0))
    large = jnp.mean(jnp.square(jax.nn.logsumexp(scores, axis=-1)))
    losses = _BALANCE_WEIGHT * balance + _SCORE_WEIGHT * large
    return jnp.zeros_like(x).at[token].add(back), losses


def build(name: str, shape: ModelShape) -> Model:
    m, e, h = shape.hidden, shape.experts, shape.ffn
    share = _CHOICES * shape.batch * shape.seq / e
    capacity = max(1, math.ceil(share * shape.capacity_factor))
    layer = {
        "attention_norm": layers.norm_params(m),
        "attention": layers.attention_params(m, shape.heads),
        "experts_norm": layers.norm_params(m),
        "router": layers.weight(m, e),
        "in": layers.weight(e, m, h),
        "out": layers.weight(e, h, m),
    }

    def loss(params: PyTree, batch: Batch) -> jax.Array:
        x = params["embedding"][batch["input_ids"]]
        bias = layers.causal_bias(shape.seq)
        extra = jnp.zeros((), x.dtype)
        for one in params["layers"]:
            normed = layers.layer_norm(one["attention_norm"], x)
            x = x + layers.attention(one["attention"], normed, bias=bias)
            normed = layers.layer_norm(one["experts_norm"], x)
            given, more = mixed(one, normed.reshape(-1, m), capacity)
            x, extra = x + given.reshape(x.shape), extra + more
        logits = language.head_logits(params, x)
        return cross_entropy(logits, batch["labels"]) + extra

    return Model(
        name=name,
        params=language.params_around(shape, [layer] * shape.layers),
        batch=token_batch(shape, "input_ids", "labels"),
        loss=loss,
    )
