"""A language model of switch layers: one expert per token, and some dropped.

Concept: as ``moe``, with one choice: a token goes to its best expert, weighed
by that expert's probability, and beyond the capacity of a sequence it passes
by on the residual. Adds the balance loss and the penalty on large scores.

Shapes: g sequences, s tokens, m hidden, e experts, c capacity.

Source: Fedus, Zoph, Shazeer, "Switch Transformers", section 2; z-loss of Zoph
et al., "ST-MoE".
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

_BALANCE_WEIGHT = 0.01
_SCORE_WEIGHT = 0.001


def top1(scores: jax.Array, capacity: int) -> tuple[jax.Array, jax.Array]:
    """scores ``[g, s, e]`` to combine ``[g, s, e, c]`` and the losses."""
    experts = scores.shape[-1]
    gates = jax.nn.softmax(scores, axis=-1)
    chosen = jax.nn.one_hot(jnp.argmax(gates, axis=-1), experts)
    balance = jnp.mean(chosen, axis=1) * jnp.mean(gates, axis=1)
    balance = jnp.mean(balance) * experts * experts
    large = jnp.mean(jnp.square(jax.nn.logsumexp(scores, axis=-1)))
    slot = (jnp.cumsum(chosen, axis=1) - 1.0) * chosen
    chosen = chosen * (slot < capacity)
    gate = jnp.sum(gates * chosen, axis=-1)
    places = jnp.sum(slot, axis=-1).astype(jnp.int32)
    places = jax.nn.one_hot(places, capacity)
    combine = jnp.einsum("gs,gse,gsc->gsec", gate, chosen, places)
    return combine, _BALANCE_WEIGHT * balance + _SCORE_WEIGHT * large


def switch_ffn(
    layer: PyTree, x: jax.Array, capacity: int
) -> tuple[jax.Array, jax.Array]:
    """x ``[g, s, m]``."""
    scores = jnp.einsum("gsm,me->gse", x, layer["router"])
    combine, loss = top1(scores, capacity)
    dispatch = (combine > 0.0).astype(x.dtype)
    taken = jnp.einsum("gsec,gsm->egcm", dispatch, x)
    hidden = jax.nn.relu(jnp.einsum("egcm,emh->egch", taken, layer["in"]))
    given = jnp.einsum("egch,ehm->egcm", hidden, layer["out"])
    return jnp.einsum("gsec,egcm->gsm", combine, given), loss


def build(name: str, shape: ModelShape) -> Model:
    m, e, h = shape.hidden, shape.experts, shape.ffn
    even_share = shape.seq / e
    capacity = max(1, math.ceil(even_share * shape.capacity_factor))
    layer = {
        "attention_norm": layers.norm_params(m),
        "attention": layers.attention_params(m, shape.heads),
        "experts_norm": layers.norm_params(m),
        "experts": {
            "router": layers.weight(m, e),
            "in": layers.weight(e, m, h),
            "out": layers.weight(e, h, m),
        },
    }

    def loss(params: PyTree, batch: Batch) -> jax.Array:
        x = params["embedding"][batch["input_ids"]]
        bias = layers.causal_bias(shape.seq)
        extra = jnp.zeros((), x.dtype)
        for one in params["layers"]:
            normed = layers.layer_norm(one["attention_norm"], x)
            x = x + layers.attention(one["attention"], normed, bias=bias)
            normed = layers.layer_norm(one["experts_norm"], x)
            mixed, more = switch_ffn(one["experts"], normed, capacity)
            x, extra = x + mixed, extra + more
        logits = language.head_logits(params, x)
        return cross_entropy(logits, batch["labels"]) + extra

    return Model(
        name=name,
        params=language.params_around(shape, [layer] * shape.layers),
        batch=token_batch(shape, "input_ids", "labels"),
        loss=loss,
    )
