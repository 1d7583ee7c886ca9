"""Pictures as batches and as sequences of patches.

Shapes: b batch, y and x pixels, p pixels of a patch's side, s patches, k
channels of a picture.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from unusual.layers import integers, weight

CHANNELS = 4


def pixels(shape: ModelShape) -> jax.ShapeDtypeStruct:
    return weight(shape.batch, shape.image, shape.image, CHANNELS)


def labelled(shape: ModelShape) -> dict[str, jax.ShapeDtypeStruct]:
    """An abstract batch of pictures with their classes."""
    return {"image": pixels(shape), "labels": integers(shape.batch)}


def patch_count(shape: ModelShape) -> int:
    return (shape.image // shape.patch) ** 2


def patch_size(shape: ModelShape) -> int:
    """Values of one patch."""
    return shape.patch**2 * CHANNELS


def patches(image: jax.Array, side: int) -> jax.Array:
    """``[b, y, x, k]`` to ``[b, s, p p k]``, row by row."""
    batch, height, width, channels = image.shape
    rows, columns = height // side, width // side
    cut = image.reshape(batch, rows, side, columns, side, channels)
    cut = jnp.transpose(cut, (0, 1, 3, 2, 4, 5))
    return cut.reshape(batch, rows * columns, side * side * channels)


def convolve(
    x: jax.Array,
    taps: jax.Array,
    stride: int = 1,
    groups: int = 1,
    padding: str = "SAME",
) -> jax.Array:
    """x ``[b, y, x, channels]``, or with one more dimension for time."""
    letters = "DHW"[-(x.ndim - 2) :]
    return jax.lax.conv_general_dilated(
        x,
        taps,
        window_strides=(stride,) * (x.ndim - 2),
        padding=padding,
        dimension_numbers=(f"N{letters}C", f"{letters}IO", f"N{letters}C"),
        feature_group_count=groups,
    )
