"""A diffusion transformer: blocks that the noise level scales and shifts.

Shapes: b batch, s patches, m hidden.

Source: Peebles and Xie, "Scalable Diffusion Models with Transformers",
section 3.2 (adaLN-Zero); velocity as the target.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import Batch, Model, PyTree
from meshwright_models.unet import noise_embedding
from unusual import layers, pictures


def modulated(x: jax.Array, shift: jax.Array, scale: jax.Array) -> jax.Array:
    return layers.normalized(x) * (1.0 + scale) + shift


def dit_block(block: PyTree, x: jax.Array, embedding: jax.Array) -> jax.Array:
    """x ``[b, s, m]``, embedding ``[b, m]``."""
    six = layers.dense(block["time"], embedding)[:, None]
    six = jnp.split(six, 6, axis=-1)
    seen = modulated(x, six[0], six[1])
    x = x + six[2] * layers.attention(block["attention"], seen)
    seen = modulated(x, six[3], six[4])
    return x + six[5] * layers.mlp(block["mlp"], seen)


def build(name: str, shape: ModelShape) -> Model:
    m, size = shape.hidden, pictures.patch_size(shape)
    block = {
        "time": layers.dense_params(m, 6 * m),
        "attention": layers.attention_params(m, shape.heads),
        "mlp": layers.mlp_params(m, shape.ffn),
    }

    def loss(params: PyTree, batch: Batch) -> jax.Array:
        level = jax.nn.sigmoid(batch["level"])
        share = level[:, None, None]
        image = pictures.patches(batch["image"], shape.patch)
        noise = pictures.patches(batch["noise"], shape.patch)
        noisy = (1.0 - share) * image + share * noise
        embedding = layers.mlp(params["level"], noise_embedding(level, m))
        embedding = embedding + params["classes"][batch["labels"]]
        embedding = jax.nn.silu(embedding)
        x = layers.dense(params["stem"], noisy) + params["positions"]
        for one in params["blocks"]:
            x = dit_block(one, x, embedding)
        last = layers.dense(params["time"], embedding)[:, None]
        shift, scale = jnp.split(last, 2, axis=-1)
        guess = layers.dense(params["paint"], modulated(x, shift, scale))
        return jnp.mean(jnp.square(guess - (noise - image)))

    return Model(
        name=name,
        params={
            "level": layers.mlp_params(m, m),
            "classes": layers.weight(shape.vocab, m),
            "stem": layers.dense_params(size, m),
            "positions": layers.weight(pictures.patch_count(shape), m),
            "blocks": [block for _ in range(shape.layers)],
            "time": layers.dense_params(m, 2 * m),
            "paint": layers.dense_params(m, size),
        },
        batch=pictures.labelled(shape)
        | {
            "noise": pictures.pixels(shape),
            "level": layers.weight(shape.batch),
        },
        loss=loss,
    )
