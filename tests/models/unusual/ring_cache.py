"""Decoding: tokens one by one, with keys and values in a ring of places.

Concept: no training. A loop feeds the likeliest token back; each layer writes
its one key and one value, shared by all heads, over the oldest of a window,
and looks at those that were written. Caches and the place are the state, the
model is only read.

Shapes: b batch, m hidden, n heads, d head size, w places of the ring.

Source: Shazeer, "Fast Transformer Decoding"; window of Beltagy et al.,
"Longformer".
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.moe import rms_norm
from meshwright_models.own_step import OwnStep
from meshwright_models.training_step import PyTree
from unusual import language, layers


def look_back(
    layer: PyTree, cache: PyTree, x: jax.Array, place: jax.Array
) -> tuple[jax.Array, PyTree]:
    """x ``[b, m]``; cache keys and values ``[b, w, d]``."""
    window = cache["keys"].shape[1]
    query = jnp.einsum("bm,mnd->bnd", x, layer["query"])
    at = (0, place % window, 0)
    cache = {
        kind: jax.lax.dynamic_update_slice(
            cache[kind], (x @ layer[kind])[:, None], at
        )
        for kind in ("keys", "values")
    }
    scores = jnp.einsum("bnd,bwd->bnw", query, cache["keys"])
    scores = scores / math.sqrt(query.shape[-1])
    scores = jnp.where(jnp.arange(window) <= place, scores, -jnp.inf)
    weights = jax.nn.softmax(scores, axis=-1)
    context = jnp.einsum("bnw,bwd->bnd", weights, cache["values"])
    return jnp.einsum("bnd,ndm->bm", context, layer["output"]), cache


def next_logits(
    params: PyTree, caches: PyTree, token: jax.Array, place: jax.Array
) -> tuple[jax.Array, PyTree]:
    """Of the token behind ``token`` ``[b]`` at ``place``."""
    x, new = params["embedding"][token], []
    for layer, cache in zip(params["layers"], caches):
        normed = rms_norm(x, layer["attention_norm"])
        seen, cache = look_back(layer, cache, normed, place)
        x = x + seen
        x = x + layers.mlp(layer["mlp"], rms_norm(x, layer["mlp_norm"]))
        new.append(cache)
    return rms_norm(x, params["final_norm"]) @ params["head"], new


def build(name: str, shape: ModelShape) -> OwnStep:
    m, n, d = shape.hidden, shape.heads, shape.head_dim
    window = shape.window or max(1, shape.seq // 2)
    layer = {
        "attention_norm": layers.weight(m),
        "query": layers.weight(m, n, d),
        "keys": layers.weight(m, d),
        "values": layers.weight(m, d),
        "output": layers.weight(n, d, m),
        "mlp_norm": layers.weight(m),
        "mlp": layers.mlp_params(m, shape.ffn),
    }
    ring = layers.weight(shape.batch, window, d)

    def step(state: PyTree, frozen: PyTree, batch: PyTree) -> tuple:
        def speak(carry: tuple, _: None) -> tuple:
            caches, place, token = carry
            logits, caches = next_logits(frozen, caches, token, place)
            token = jnp.argmax(logits, axis=-1).astype(token.dtype)
            sure = jnp.max(jax.nn.log_softmax(logits), axis=-1)
            return (caches, place + 1, token), (token, sure)

        start = (state["caches"], state["place"], batch["first"])
        (caches, place, _), (tokens, sure) = jax.lax.scan(
            speak, start, None, length=shape.seq
        )
        return {"caches": caches, "place": place}, {
            "tokens": tokens.T,
            "sure": jnp.mean(sure, axis=0),
        }

    return OwnStep(
        name=name,
        state={
            "caches": [{"keys": ring, "values": ring}] * shape.layers,
            "place": jax.ShapeDtypeStruct((), jnp.int32),
        },
        frozen=language.params_around(shape, [layer] * shape.layers),
        batch={"first": layers.integers(shape.batch)},
        step=step,
    )
