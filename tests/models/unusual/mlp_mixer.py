"""MLP-Mixer: patches mixed by one MLP across tokens, one across channels.

Shapes: b batch, s patches, m hidden.

Source: Tolstikhin et al., "MLP-Mixer".
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import Batch, Model, PyTree
from unusual import layers, pictures


def mixer_block(block: PyTree, x: jax.Array) -> jax.Array:
    """x ``[b, s, m]``."""
    turned = jnp.swapaxes(layers.layer_norm(block["token_norm"], x), 1, 2)
    x = x + jnp.swapaxes(layers.mlp(block["tokens"], turned), 1, 2)
    normed = layers.layer_norm(block["channel_norm"], x)
    return x + layers.mlp(block["channels"], normed)


def build(name: str, shape: ModelShape) -> Model:
    count = pictures.patch_count(shape)
    block = {
        "token_norm": layers.norm_params(shape.hidden),
        "tokens": layers.mlp_params(count, shape.ffn // 2),
        "channel_norm": layers.norm_params(shape.hidden),
        "channels": layers.mlp_params(shape.hidden, shape.ffn),
    }

    def loss(params: PyTree, batch: Batch) -> jax.Array:
        cut = pictures.patches(batch["image"], shape.patch)
        x = layers.dense(params["stem"], cut)
        for one in params["blocks"]:
            x = mixer_block(one, x)
        x = jnp.mean(layers.layer_norm(params["norm"], x), axis=1)
        return layers.class_loss(
            layers.dense(params["head"], x), batch["labels"]
        )

    return Model(
        name=name,
        params={
            "stem": layers.dense_params(
                pictures.patch_size(shape), shape.hidden
            ),
            "blocks": [block for _ in range(shape.layers)],
            "norm": layers.norm_params(shape.hidden),
            "head": layers.dense_params(shape.hidden, shape.vocab),
        },
        batch=pictures.labelled(shape),
        loss=loss,
    )
