"""ConvNeXt: depthwise 7x7 convolutions inside blocks built as transformers.

Shapes: b batch, y and x pixels, c channels (``hidden`` at the finest of
``levels`` resolutions, twice as many at each one below).

Source: Liu et al., "A ConvNet for the 2020s"; no stochastic depth.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import Batch, Model, PyTree
from unusual import layers, pictures

_TAPS = 7


def convnext_block(block: PyTree, x: jax.Array) -> jax.Array:
    mixed = pictures.convolve(x, block["depthwise"], groups=x.shape[-1])
    mixed = layers.layer_norm(block["norm"], mixed)
    return x + layers.mlp(block["mlp"], mixed) * block["layer_scale"]


def stage_params(shape: ModelShape, level: int) -> PyTree:
    width = shape.hidden * 2**level
    block = {
        "depthwise": layers.weight(_TAPS, _TAPS, 1, width),
        "norm": layers.norm_params(width),
        "mlp": layers.mlp_params(width, 4 * width),
        "layer_scale": layers.weight(width),
    }
    stage = {"blocks": [block for _ in range(shape.layers)]}
    if level > 0:
        stage["shrink_norm"] = layers.norm_params(width // 2)
        stage["shrink"] = layers.weight(2, 2, width // 2, width)
    return stage


def build(name: str, shape: ModelShape) -> Model:
    width = shape.hidden * 2 ** (shape.levels - 1)

    def loss(params: PyTree, batch: Batch) -> jax.Array:
        x = pictures.convolve(batch["image"], params["stem"], stride=2)
        x = layers.layer_norm(params["stem_norm"], x)
        for stage in params["stages"]:
            if "shrink" in stage:
                x = layers.layer_norm(stage["shrink_norm"], x)
                x = pictures.convolve(x, stage["shrink"], stride=2)
            for block in stage["blocks"]:
                x = convnext_block(block, x)
        x = layers.layer_norm(params["norm"], jnp.mean(x, axis=(1, 2)))
        return layers.class_loss(
            layers.dense(params["head"], x), batch["labels"]
        )

    return Model(
        name=name,
        params={
            "stem": layers.weight(2, 2, pictures.CHANNELS, shape.hidden),
            "stem_norm": layers.norm_params(shape.hidden),
            "stages": [
                stage_params(shape, level) for level in range(shape.levels)
            ],
            "norm": layers.norm_params(width),
            "head": layers.dense_params(width, shape.vocab),
        },
        batch=pictures.labelled(shape),
        loss=loss,
    )
