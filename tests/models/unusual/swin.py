"""Swin: attention within windows, which every other block shifts by a half.

Concept: a picture of patches is cut into windows; attention stays within one
and adds a learned bias per offset between two patches. Odd blocks roll the
picture by half a window first; what the roll brought together from opposite
edges may not meet. Between two resolutions four patches merge into one.

Shapes: b batch, y and x patches, w window, m hidden, n heads.

Source: Liu et al., "Swin Transformer", sections 3.1 and 3.2.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import Batch, Model, PyTree
from unusual import layers, pictures

_MASKED_SCORE = -100.0


def offsets(window: int) -> np.ndarray:
    """Row of the bias table for two patches of a window, ``[w w, w w]``."""
    places = np.stack(np.divmod(np.arange(window**2), window), axis=-1)
    apart = places[:, None] - places[None] + window - 1
    return apart[..., 0] * (2 * window - 1) + apart[..., 1]


def windows(x: jax.Array, window: int) -> jax.Array:
    """``[b, y, x, ...]`` to ``[b windows, w w, ...]``."""
    batch, height, width, size = x.shape
    cut = x.reshape(
        batch, height // window, window, width // window, window, size
    )
    cut = jnp.transpose(cut, (0, 1, 3, 2, 4, 5))
    return cut.reshape(-1, window * window, size)


def whole(x: jax.Array, window: int, batch: int, side: int) -> jax.Array:
    """The way back from ``windows``."""
    count = side // window
    cut = x.reshape(batch, count, count, window, window, x.shape[-1])
    cut = jnp.transpose(cut, (0, 1, 3, 2, 4, 5))
    return cut.reshape(batch, side, side, x.shape[-1])


def shift_mask(side: int, window: int, shift: int) -> np.ndarray:
    """``[windows, w w, w w]``: 0 where two patches were neighbours."""
    edge = np.arange(side)
    part = (edge >= side - window).astype(int) + (edge >= side - shift)
    region = part[:, None] * 3 + part[None]
    count = side // window
    region = region.reshape(count, window, count, window)
    region = region.transpose(0, 2, 1, 3).reshape(count**2, window**2)
    same = region[:, :, None] == region[:, None, :]
    return np.where(same, 0.0, _MASKED_SCORE).astype(np.float32)


def swin_block(
    block: PyTree, x: jax.Array, window: int, shift: int
) -> jax.Array:
    """x ``[b, y, x, m]``, a square."""
    batch, side = x.shape[:2]
    normed = layers.layer_norm(block["attention_norm"], x)
    bias = jnp.moveaxis(block["bias"][offsets(window)], -1, 0)[None]
    if shift:
        normed = jnp.roll(normed, (-shift, -shift), axis=(1, 2))
        mask = shift_mask(side, window, shift)
        bias = bias + jnp.tile(mask, (batch, 1, 1))[:, None]
    mixed = layers.attention(
        block["attention"], windows(normed, window), bias=bias
    )
    mixed = whole(mixed, window, batch, side)
    if shift:
        mixed = jnp.roll(mixed, (shift, shift), axis=(1, 2))
    x = x + mixed
    return x + layers.mlp(
        block["mlp"], layers.layer_norm(block["mlp_norm"], x)
    )


def merge(stage: PyTree, x: jax.Array) -> jax.Array:
    """Four patches to one of twice the width."""
    corners = [x[:, i::2, j::2] for j in (0, 1) for i in (0, 1)]
    x = layers.layer_norm(
        stage["merge_norm"], jnp.concatenate(corners, axis=-1)
    )
    return x @ stage["merge"]


def stage_params(shape: ModelShape, level: int, window: int) -> PyTree:
    width = shape.hidden * 2**level
    block = layers.block_params(shape, width)
    block["bias"] = layers.weight((2 * window - 1) ** 2, shape.heads)
    stage = {"blocks": [block for _ in range(2 * shape.layers)]}
    if level > 0:
        stage["merge_norm"] = layers.norm_params(2 * width)
        stage["merge"] = layers.weight(2 * width, width)
    return stage


def build(name: str, shape: ModelShape) -> Model:
    """Each layer is a pair: a plain block and a shifted one."""
    side, window = shape.image // shape.patch, shape.window or 2
    levels = range(shape.levels)
    if (side >> levels[-1]) % window:
        raise ValueError(
            f"{side} patches a side, halved {levels[-1]} times, are no "
            f"multiple of window {window}"
        )
    width = shape.hidden * 2 ** levels[-1]

    def loss(params: PyTree, batch: Batch) -> jax.Array:
        cut = pictures.patches(batch["image"], shape.patch)
        x = layers.dense(params["stem"], cut)
        x = x.reshape(x.shape[0], side, side, shape.hidden)
        for stage in params["stages"]:
            if "merge" in stage:
                x = merge(stage, x)
            for number, block in enumerate(stage["blocks"]):
                shifted = number % 2 == 1 and x.shape[1] > window
                x = swin_block(block, x, window, window // 2 * shifted)
        x = jnp.mean(layers.layer_norm(params["norm"], x), axis=(1, 2))
        return layers.class_loss(
            layers.dense(params["head"], x), batch["labels"]
        )

    return Model(
        name=name,
        params={
            "stem": layers.dense_params(
                pictures.patch_size(shape), shape.hidden
            ),
            "stages": [stage_params(shape, it, window) for it in levels],
            "norm": layers.norm_params(width),
            "head": layers.dense_params(width, shape.vocab),
        },
        batch=pictures.labelled(shape),
        loss=loss,
    )
