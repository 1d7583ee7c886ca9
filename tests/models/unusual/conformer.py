"""Conformer: attention by relative position and a convolution, for speech.

Concept: a block is half a feed-forward, attention whose scores depend on how
far two frames are apart (keys of sines, shifted into place), a gated
depthwise convolution with a batch norm, and the other half. The loss is CTC's.

Shapes: b batch, s frames, m hidden, n heads, d head size, r distances
(2 s - 1).

Source: Gulati et al., "Conformer"; relative scores as in Dai et al.,
"Transformer-XL", appendix B.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import optax

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import Batch, Model, PyTree
from unusual import layers

_TAPS = 7
_FRAME = 80
_EPSILON = 1e-5


def distances(seq: int, size: int) -> jax.Array:
    """Sines and cosines of s - 1 ... 1 - s, ``[r, m]``."""
    rates = jnp.exp(-math.log(10000.0) * jnp.arange(0, size, 2) / size)
    angles = jnp.arange(seq - 1, -seq, -1.0)[:, None] * rates
    return jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], axis=-1)


def shifted(scores: jax.Array) -> jax.Array:
    """``[b, n, s, r]`` by distance to ``[b, n, s, s]`` by key."""
    batch, heads, seq, count = scores.shape
    padded = jnp.pad(scores, ((0, 0), (0, 0), (0, 0), (1, 0)))
    turned = padded.reshape(batch, heads, count + 1, seq)[:, :, 1:]
    return turned.reshape(batch, heads, seq, count)[..., :seq]


def relative_attention(layer: PyTree, x: jax.Array) -> jax.Array:
    query = jnp.einsum("bsm,mnd->bsnd", x, layer["query"])
    key = jnp.einsum("bsm,mnd->bsnd", x, layer["key"])
    value = jnp.einsum("bsm,mnd->bsnd", x, layer["value"])
    far = distances(x.shape[1], x.shape[2])
    far = jnp.einsum("rm,mnd->rnd", far, layer["distance"])
    by_place = jnp.einsum("bsnd,rnd->bnsr", query + layer["place_bias"], far)
    bias = shifted(by_place) / math.sqrt(query.shape[-1])
    context = layers.attend(query + layer["content_bias"], key, value, bias)
    return jnp.einsum("bsnd,ndm->bsm", context, layer["output"])


def convolution(layer: PyTree, x: jax.Array) -> jax.Array:
    left, right = jnp.split(layers.dense(layer["in"], x), 2, axis=-1)
    x = left * jax.nn.sigmoid(right)
    x = jax.lax.conv_general_dilated(
        x,
        layer["taps"],
        window_strides=(1,),
        padding="SAME",
        dimension_numbers=("NWC", "WIO", "NWC"),
        feature_group_count=x.shape[-1],
    )
    x = x - jnp.mean(x, axis=(0, 1))
    x = x * jax.lax.rsqrt(jnp.mean(jnp.square(x), axis=(0, 1)) + _EPSILON)
    x = x * layer["batch_norm"]["scale"] + layer["batch_norm"]["shift"]
    return layers.dense(layer["out"], jax.nn.silu(x))


def conformer_block(block: PyTree, x: jax.Array) -> jax.Array:
    def normed(part: str) -> jax.Array:
        return layers.layer_norm(block[f"{part}_norm"], x)

    x = x + 0.5 * layers.mlp(block["first"], normed("first"))
    x = x + relative_attention(block["attention"], normed("attention"))
    x = x + convolution(block["convolution"], normed("convolution"))
    x = x + 0.5 * layers.mlp(block["second"], normed("second"))
    return layers.layer_norm(block["norm"], x)


def block_params(shape: ModelShape) -> PyTree:
    m, n = shape.hidden, shape.heads
    names = ("norm", "first_norm", "attention_norm", "convolution_norm")
    attention = layers.attention_params(m, n) | {
        "distance": layers.weight(m, n, m // n),
        "place_bias": layers.weight(n, m // n),
        "content_bias": layers.weight(n, m // n),
    }
    return {name: layers.norm_params(m) for name in names} | {
        "second_norm": layers.norm_params(m),
        "first": layers.mlp_params(m, shape.ffn),
        "second": layers.mlp_params(m, shape.ffn),
        "attention": attention,
        "convolution": {
            "in": layers.dense_params(m, 2 * m),
            "taps": layers.weight(_TAPS, 1, m),
            "batch_norm": layers.norm_params(m),
            "out": layers.dense_params(m, m),
        },
    }


def build(name: str, shape: ModelShape) -> Model:
    """``vocab`` counts the blank; a frame in four has a label."""

    def loss(params: PyTree, batch: Batch) -> jax.Array:
        x = layers.dense(params["stem"], batch["frames"])
        for block in params["blocks"]:
            x = conformer_block(block, x)
        logits = layers.dense(params["head"], x)
        nothing = jnp.zeros_like(logits[..., 0])
        none = jnp.zeros(batch["labels"].shape, x.dtype)
        losses = optax.ctc_loss(logits, nothing, batch["labels"], none)
        return jnp.mean(losses)

    return Model(
        name=name,
        params={
            "stem": layers.dense_params(_FRAME, shape.hidden),
            "blocks": [block_params(shape) for _ in range(shape.layers)],
            "head": layers.dense_params(shape.hidden, shape.vocab),
        },
        batch={
            "frames": layers.weight(shape.batch, shape.seq, _FRAME),
            "labels": layers.integers(shape.batch, max(1, shape.seq // 4)),
        },
        loss=loss,
    )
