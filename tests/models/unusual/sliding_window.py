"""A decoder that looks a window back in every other layer, its scores capped.

Concept: even layers see ``window`` tokens (a quarter of the sequence if not
given), odd ones all. Attention scores and logits pass a tanh that keeps them
below a cap; every branch is normed before and after; the head is the
embedding.

Source: Gemma Team, "Gemma 2", section 2; windows of Jiang et al., "Mistral
7B".
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

from meshwright_models import decoder
from meshwright_models.model_shape import ModelShape
from meshwright_models.moe import rms_norm
from meshwright_models.training_step import (
    Batch,
    Model,
    PyTree,
    cross_entropy,
    token_batch,
)
from unusual import layers

_SCORE_CAP = 50.0
_LOGIT_CAP = 30.0


def capped(x: jax.Array, cap: float) -> jax.Array:
    return cap * jnp.tanh(x / cap)


def attention(layer: PyTree, x: jax.Array, window: int | None) -> jax.Array:
    """x ``[b, s, m]``; query heads share key heads in groups."""
    query = decoder.rotary(jnp.einsum("bsm,mnd->bsnd", x, layer["query"]))
    key = decoder.rotary(jnp.einsum("bsm,mkd->bskd", x, layer["key"]))
    value = jnp.einsum("bsm,mkd->bskd", x, layer["value"])
    heads = query.shape[2] // key.shape[2]
    key = jnp.repeat(key, heads, axis=2)
    value = jnp.repeat(value, heads, axis=2)
    scores = jnp.einsum("bsnd,btnd->bnst", query, key)
    scores = capped(scores / math.sqrt(query.shape[-1]), _SCORE_CAP)
    scores = scores + layers.causal_bias(x.shape[1], window)
    weights = jax.nn.softmax(scores, axis=-1)
    context = jnp.einsum("bnst,btnd->bsnd", weights, value)
    return jnp.einsum("bsnd,ndm->bsm", context, layer["output"])


def build(name: str, shape: ModelShape) -> Model:
    window = shape.window or max(1, shape.seq // 4)
    layer = decoder.layer_params(shape)
    layer["attention_after"] = layers.weight(shape.hidden)
    layer["ffn_after"] = layers.weight(shape.hidden)

    def loss(params: PyTree, batch: Batch) -> jax.Array:
        x = params["embedding"][batch["input_ids"]] * math.sqrt(shape.hidden)
        for number, one in enumerate(params["layers"]):
            normed = rms_norm(x, one["attention_norm"])
            near = None if number % 2 else window
            mixed = attention(one, normed, near)
            x = x + rms_norm(mixed, one["attention_after"])
            normed = rms_norm(x, one["ffn_norm"])
            mixed = decoder.feed_forward(one, normed)
            x = x + rms_norm(mixed, one["ffn_after"])
        x = rms_norm(x, params["final_norm"])
        logits = jnp.einsum("bsm,vm->bsv", x, params["embedding"])
        return cross_entropy(capped(logits, _LOGIT_CAP), batch["labels"])

    return Model(
        name=name,
        params={
            "embedding": layers.weight(shape.vocab, shape.hidden),
            "layers": [layer] * shape.layers,
            "final_norm": layers.weight(shape.hidden),
        },
        batch=token_batch(shape, "input_ids", "labels"),
        loss=loss,
    )
