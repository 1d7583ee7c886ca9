"""A LLaMA-style decoder in plain JAX, unrolled or as a scan over its layers.

Concept: pre-norm, rotary positions, grouped-query attention, gated
feed-forward, no bias. ``llama_plain`` writes the layers one after the other;
``llama_scan`` stacks their parameters along a leading dimension and runs one
layer body in ``jax.lax.scan``, so that forward and backward are one loop each.
Both take ``checkpoint`` (each layer is recomputed in the backward pass),
``dropout`` on the two residual branches, and bfloat16 computation.

Metrics: beside the loss, which includes a penalty on the log of the softmax's
normaliser ("z-loss"), the step gives the cross-entropy, the penalty and the
share of labels that were guessed.

Shapes: b batch, s tokens, m hidden, n heads, k key-value heads, d head size,
h feed-forward width, v vocabulary.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.moe import rms_norm
from meshwright_models.training_step import (
    DROPOUT_KEY,
    IGNORED_LABEL,
    Batch,
    Model,
    PyTree,
    cross_entropy,
    random_key,
    token_batch,
)

Z_LOSS_WEIGHT = 1e-4
_ROTARY_BASE = 10000.0
_MASKED_SCORE = -1e9


def layer_params(shape: ModelShape, *leading: int) -> PyTree:
    """One layer's parameters as shapes, with ``leading`` dimensions."""

    def weight(*dims: int) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct((*leading, *dims), jnp.float32)

    m, n, d = shape.hidden, shape.heads, shape.head_dim
    k, h = shape.num_kv_heads, shape.ffn
    return {
        "attention_norm": weight(m),
        "query": weight(m, n, d),
        "key": weight(m, k, d),
        "value": weight(m, k, d),
        "output": weight(n, d, m),
        "ffn_norm": weight(m),
        "gate": weight(m, h),
        "up": weight(m, h),
        "down": weight(h, m),
    }


def rotary(x: jax.Array) -> jax.Array:
    """x ``[b, s, n, d]``, each pair of channels turned by its position."""
    seq, size = x.shape[1], x.shape[-1]
    rates = _ROTARY_BASE ** (-jnp.arange(0, size, 2) / size)
    angles = jnp.arange(seq)[:, None] * rates[None]
    cos, sin = jnp.cos(angles)[:, None], jnp.sin(angles)[:, None]
    left, right = jnp.split(x.astype(jnp.float32), 2, axis=-1)
    turned = [left * cos - right * sin, right * cos + left * sin]
    return jnp.concatenate(turned, axis=-1).astype(x.dtype)


def attention(layer: PyTree, x: jax.Array, mask: jax.Array) -> jax.Array:
    """Grouped-query attention; x ``[b, s, m]``, mask ``[b, 1, 1, s, s]``."""
    query = rotary(jnp.einsum("bsm,mnd->bsnd", x, layer["query"]))
    key = rotary(jnp.einsum("bsm,mkd->bskd", x, layer["key"]))
    value = jnp.einsum("bsm,mkd->bskd", x, layer["value"])
    groups = key.shape[2]
    batch, seq, heads, size = query.shape
    query = query.reshape(batch, seq, groups, heads // groups, size)
    scores = jnp.einsum("bskgd,btkd->bkgst", query, key) / math.sqrt(size)
    scores = jnp.where(mask, scores.astype(jnp.float32), _MASKED_SCORE)
    weights = jax.nn.softmax(scores, axis=-1).astype(x.dtype)
    context = jnp.einsum("bkgst,btkd->bskgd", weights, value)
    context = context.reshape(batch, seq, heads, size)
    return jnp.einsum("bsnd,ndm->bsm", context, layer["output"])


def feed_forward(layer: PyTree, x: jax.Array) -> jax.Array:
    gate = jnp.einsum("bsm,mh->bsh", x, layer["gate"])
    up = jnp.einsum("bsm,mh->bsh", x, layer["up"])
    return jnp.einsum("bsh,hm->bsm", jax.nn.silu(gate) * up, layer["down"])


def drop(x: jax.Array, key: jax.Array | None, rate: float) -> jax.Array:
    if key is None:
        return x
    kept = jax.random.bernoulli(key, 1.0 - rate, x.shape)
    return jnp.where(kept, x / (1.0 - rate), jnp.zeros_like(x))


def decoder_layer(
    shape: ModelShape,
    layer: PyTree,
    x: jax.Array,
    mask: jax.Array,
    key: jax.Array | None,
) -> jax.Array:
    layer = jax.tree.map(lambda weight: weight.astype(x.dtype), layer)
    keys = (None, None) if key is None else jax.random.split(key)
    mixed = attention(layer, rms_norm(x, layer["attention_norm"]), mask)
    x = x + drop(mixed, keys[0], shape.dropout)
    mixed = feed_forward(layer, rms_norm(x, layer["ffn_norm"]))
    return x + drop(mixed, keys[1], shape.dropout)


def _run_layers(
    shape: ModelShape, scan: bool, layers: PyTree, x: Any, mask: Any, key: Any
) -> jax.Array:
    def run(x: jax.Array, layer: PyTree, key: jax.Array | None) -> jax.Array:
        return decoder_layer(shape, layer, x, mask, key)

    if shape.checkpoint:
        run = jax.checkpoint(run)
    keys = None if key is None else jax.random.split(key, shape.layers)
    if scan:

        def body(x: jax.Array, given: Any) -> tuple[jax.Array, None]:
            return run(x, *given), None

        return jax.lax.scan(body, x, (layers, keys))[0]
    for number, layer in enumerate(layers):
        x = run(x, layer, None if keys is None else keys[number])
    return x


def build(name: str, shape: ModelShape, metrics: bool = False) -> Model:
    """``llama_plain`` or ``llama_scan`` in the given sizes; head not tied."""
    scan = name == "llama_scan"
    dtype = jnp.bfloat16 if shape.bfloat16 else jnp.float32

    def weight(*dims: int) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(dims, jnp.float32)

    layers: PyTree = [layer_params(shape) for _ in range(shape.layers)]
    if scan:
        layers = layer_params(shape, shape.layers)
    params = {
        "embedding": weight(shape.vocab, shape.hidden),
        "layers": layers,
        "final_norm": weight(shape.hidden),
        "head": weight(shape.hidden, shape.vocab),
    }

    def loss(params: PyTree, batch: Batch) -> Any:
        x = params["embedding"].astype(dtype)[batch["input_ids"]]
        causal = jnp.tril(jnp.ones((shape.seq, shape.seq), dtype=bool))
        padding = batch["attention_mask"].astype(bool)
        mask = causal[None, None, None] & padding[:, None, None, None, :]
        x = _run_layers(
            shape, scan, params["layers"], x, mask, batch.get(DROPOUT_KEY)
        )
        x = rms_norm(x, params["final_norm"].astype(dtype))
        logits = jnp.einsum("bsm,mv->bsv", x, params["head"].astype(dtype))
        logits, labels = logits.astype(jnp.float32), batch["labels"]
        token_loss = cross_entropy(logits, labels)
        if not metrics:
            return token_loss
        known = (labels != IGNORED_LABEL).astype(jnp.float32)
        log_z = jax.nn.logsumexp(logits, axis=-1)
        penalty = jnp.sum(jnp.square(log_z) * known) / jnp.sum(known)
        right = (jnp.argmax(logits, axis=-1) == labels).astype(jnp.float32)
        return token_loss + Z_LOSS_WEIGHT * penalty, {
            "accuracy": jnp.sum(right * known) / jnp.sum(known),
            "cross_entropy": token_loss,
            "z_loss": penalty,
        }

    return Model(
        name=name,
        params=params,
        batch=token_batch(shape, "input_ids", "attention_mask", "labels")
        | random_key(shape),
        loss=loss,
        metrics=metrics,
    )
