"""A masked autoencoder: three patches of four are hidden and painted again.

Concept: the batch brings noise, whose order says which patches stay. The
encoder sees those alone; a shallow decoder sees them back in their places,
one learned token where the others were; the loss is of the hidden ones.

Shapes: b batch, s patches, k patches that stay, m hidden.

Source: He et al., "Masked Autoencoders Are Scalable Vision Learners".
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import Batch, Model, PyTree
from unusual import layers, pictures


def pick(x: jax.Array, order: jax.Array) -> jax.Array:
    """x ``[b, s, m]``, order ``[b, k]``: the tokens in that order."""
    return jnp.take_along_axis(x, order[..., None], axis=1)


def build(name: str, shape: ModelShape) -> Model:
    count, size = pictures.patch_count(shape), pictures.patch_size(shape)
    kept = max(1, count // 4)
    narrow = shape.hidden // 2

    def loss(params: PyTree, batch: Batch) -> jax.Array:
        target = pictures.patches(batch["image"], shape.patch)
        order = jnp.argsort(batch["noise"], axis=1)
        places = jnp.argsort(order, axis=1)
        x = layers.dense(params["stem"], target) + params["positions"]
        x = pick(x, order[:, :kept])
        for block in params["encoder"]:
            x = layers.block(block, x)
        x = layers.dense(
            params["narrow"], layers.layer_norm(params["norm"], x)
        )
        gaps = (x.shape[0], count - kept, narrow)
        gaps = jnp.broadcast_to(params["gap"], gaps)
        x = pick(jnp.concatenate([x, gaps], axis=1), places)
        x = x + params["decoder_positions"]
        for block in params["decoder"]:
            x = layers.block(block, x)
        painted = layers.dense(params["paint"], x)
        hidden = (places >= kept).astype(x.dtype)
        target = layers.normalized(target)
        error = jnp.mean(jnp.square(painted - target), axis=-1)
        return jnp.sum(error * hidden) / jnp.sum(hidden)

    return Model(
        name=name,
        params={
            "stem": layers.dense_params(size, shape.hidden),
            "positions": layers.weight(count, shape.hidden),
            "encoder": [layers.block_params(shape)] * shape.layers,
            "norm": layers.norm_params(shape.hidden),
            "narrow": layers.dense_params(shape.hidden, narrow),
            "gap": layers.weight(narrow),
            "decoder_positions": layers.weight(count, narrow),
            "decoder": [layers.block_params(shape, narrow)],
            "paint": layers.dense_params(narrow, size),
        },
        batch={
            "image": pictures.pixels(shape),
            "noise": layers.weight(shape.batch, count),
        },
        loss=loss,
    )
