"""A network of 3-D convolutions over short videos.

Concept: residual blocks of a spatial and a temporal convolution (the 3x3x3
one taken apart) with a whole 3x3x3 one between resolutions; norms over groups
of channels; the mean over time and pixels gives the logits.

Shapes: b batch, t frames (``seq``), y and x pixels, c channels (``hidden``).

Source: Tran et al., "A Closer Look at Spatiotemporal Convolutions" (R(2+1)D).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import Batch, Model, PyTree
from unusual import layers, pictures

_GROUPS = 4
_EPSILON = 1e-5


def group_norm(norm: PyTree, x: jax.Array) -> jax.Array:
    """x ``[b, t, y, x, c]``."""
    cut = x.reshape(*x.shape[:-1], _GROUPS, -1)
    axes = (1, 2, 3, 5)
    cut = cut - jnp.mean(cut, axis=axes, keepdims=True)
    variance = jnp.mean(jnp.square(cut), axis=axes, keepdims=True)
    cut = cut * jax.lax.rsqrt(variance + _EPSILON)
    return cut.reshape(x.shape) * norm["scale"] + norm["shift"]


def video_block(block: PyTree, x: jax.Array) -> jax.Array:
    hidden = jax.nn.silu(group_norm(block["first_norm"], x))
    hidden = pictures.convolve(hidden, block["space"])
    hidden = jax.nn.silu(group_norm(block["second_norm"], hidden))
    return x + pictures.convolve(hidden, block["time"])


def stage_params(shape: ModelShape, level: int) -> PyTree:
    width = shape.hidden * 2**level
    block = {
        "first_norm": layers.norm_params(width),
        "space": layers.weight(1, 3, 3, width, width),
        "second_norm": layers.norm_params(width),
        "time": layers.weight(3, 1, 1, width, width),
    }
    stage = {"blocks": [block for _ in range(shape.layers)]}
    if level > 0:
        stage["shrink"] = layers.weight(3, 3, 3, width // 2, width)
    return stage


def build(name: str, shape: ModelShape) -> Model:
    width = shape.hidden * 2 ** (shape.levels - 1)
    side, k = shape.image, pictures.CHANNELS

    def loss(params: PyTree, batch: Batch) -> jax.Array:
        x = pictures.convolve(batch["video"], params["stem"])
        for stage in params["stages"]:
            if "shrink" in stage:
                x = pictures.convolve(x, stage["shrink"], stride=2)
            for block in stage["blocks"]:
                x = video_block(block, x)
        x = jnp.mean(jax.nn.silu(x), axis=(1, 2, 3))
        return layers.class_loss(
            layers.dense(params["head"], x), batch["labels"]
        )

    return Model(
        name=name,
        params={
            "stem": layers.weight(3, 3, 3, k, shape.hidden),
            "stages": [
                stage_params(shape, level) for level in range(shape.levels)
            ],
            "head": layers.dense_params(width, shape.vocab),
        },
        batch={
            "video": layers.weight(shape.batch, shape.seq, side, side, k),
            "labels": layers.integers(shape.batch),
        },
        loss=loss,
    )
