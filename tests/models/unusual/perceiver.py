"""Perceiver: a few latents look at all pixels, over and over, with one weight.

Shapes: b batch, s pixels, l latents (``seq``), m hidden.

Source: Jaegle et al., "Perceiver", section 3: cross-attention and latent
blocks share their weights over all repeats but the first.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import Batch, Model, PyTree
from unusual import layers, pictures

_BANDS = 8
_REPEATS = 2


def fourier_places(side: int) -> jax.Array:
    """Sines and cosines of both coordinates, ``[s, 4 bands]``."""
    line = jnp.linspace(-1.0, 1.0, side)
    angles = line[:, None] * jnp.linspace(1.0, side / 2, _BANDS) * math.pi
    wave = jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], axis=-1)
    size = (side, side, 2 * _BANDS)
    both = [
        jnp.broadcast_to(wave[:, None], size),
        jnp.broadcast_to(wave[None], size),
    ]
    return jnp.concatenate(both, axis=-1).reshape(side * side, -1)


def look(cross: PyTree, latents: jax.Array, seen: jax.Array) -> jax.Array:
    normed = layers.layer_norm(cross["norm"], latents)
    latents = latents + layers.attention(cross["attention"], normed, seen)
    normed = layers.layer_norm(cross["mlp_norm"], latents)
    return latents + layers.mlp(cross["mlp"], normed)


def build(name: str, shape: ModelShape) -> Model:
    m, read = shape.hidden, pictures.CHANNELS + 4 * _BANDS
    cross = {
        "norm": layers.norm_params(m),
        "attention": layers.attention_params(m, shape.heads, read),
        "mlp_norm": layers.norm_params(m),
        "mlp": layers.mlp_params(m, shape.ffn),
    }
    turn = {
        "cross": cross,
        "blocks": [layers.block_params(shape) for _ in range(shape.layers)],
    }

    def loss(params: PyTree, batch: Batch) -> jax.Array:
        image = batch["image"]
        flat = image.reshape(image.shape[0], -1, pictures.CHANNELS)
        places = fourier_places(shape.image)
        places = jnp.broadcast_to(places, (*flat.shape[:2], 4 * _BANDS))
        seen = jnp.concatenate([flat, places], axis=-1)
        x = jnp.broadcast_to(
            params["latents"], (image.shape[0], shape.seq, m)
        )
        for one in (params["first"], *[params["again"]] * _REPEATS):
            x = look(one["cross"], x, seen)
            for block in one["blocks"]:
                x = layers.block(block, x)
        x = layers.layer_norm(params["norm"], jnp.mean(x, axis=1))
        return layers.class_loss(
            layers.dense(params["head"], x), batch["labels"]
        )

    return Model(
        name=name,
        params={
            "latents": layers.weight(shape.seq, m),
            "first": turn,
            "again": turn,
            "norm": layers.norm_params(m),
            "head": layers.dense_params(m, shape.vocab),
        },
        batch=pictures.labelled(shape),
        loss=loss,
    )
