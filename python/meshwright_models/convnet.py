"""A residual network of every kind of convolution, in plain JAX.

Concept: a strided stem, then ``layers`` residual blocks of a 1x1 convolution to
twice the channels, a batch norm over the batch at hand, a 3x3 convolution in
``heads`` groups, a depthwise 3x3 convolution and a 1x1 convolution back; the
mean over the pixels and a dense head give the logits. The loss is the mean
cross entropy.

Shapes: b batch, y and x pixels, c channels (``hidden``).

Source: blocks as in MobileNetV2 (Sandler et al.) and RegNet (Radosavovic et
al.), both kinds of groups in one.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import Batch, Model, PyTree

IMAGE_CHANNELS = 4
_EPSILON = 1e-5


def convolve(
    x: jax.Array, weight: jax.Array, stride: int = 1, groups: int = 1
) -> jax.Array:
    return jax.lax.conv_general_dilated(
        x,
        weight,
        window_strides=(stride, stride),
        padding="SAME",
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
        feature_group_count=groups,
    )


def batch_norm(x: jax.Array, scale: jax.Array, bias: jax.Array) -> jax.Array:
    mean = jnp.mean(x, axis=(0, 1, 2))
    variance = jnp.mean(jnp.square(x - mean), axis=(0, 1, 2))
    return (x - mean) * jax.lax.rsqrt(variance + _EPSILON) * scale + bias


def residual_block(block: PyTree, x: jax.Array, groups: int) -> jax.Array:
    hidden = convolve(x, block["expand"])
    hidden = batch_norm(hidden, block["scale"], block["shift"])
    hidden = jnp.tanh(hidden)
    hidden = jnp.tanh(convolve(hidden, block["grouped"], groups=groups))
    channels = hidden.shape[-1]
    hidden = jnp.tanh(convolve(hidden, block["depthwise"], groups=channels))
    return x + convolve(hidden, block["project"])


def _weight(*dims: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(dims, jnp.float32)


def abstract_params(shape: ModelShape) -> PyTree:
    """The parameter tree as shapes."""
    channels, inner = shape.hidden, 2 * shape.hidden
    block = {
        "expand": _weight(1, 1, channels, inner),
        "scale": _weight(inner),
        "shift": _weight(inner),
        "grouped": _weight(3, 3, inner // shape.heads, inner),
        "depthwise": _weight(3, 3, 1, inner),
        "project": _weight(1, 1, inner, channels),
    }
    return {
        "stem": _weight(3, 3, IMAGE_CHANNELS, channels),
        "blocks": [block for _ in range(shape.layers)],
        "head": _weight(channels, shape.vocab),
    }


def classify(params: PyTree, image: jax.Array, groups: int) -> jax.Array:
    """image ``[b, y, x, IMAGE_CHANNELS]`` to logits ``[b, classes]``."""
    x = convolve(image, params["stem"], stride=2)
    for block in params["blocks"]:
        x = residual_block(block, x, groups)
    return jnp.mean(x, axis=(1, 2)) @ params["head"]


def build(shape: ModelShape) -> Model:
    """The network in the given sizes."""
    pixels = (shape.batch, shape.image, shape.image, IMAGE_CHANNELS)

    def loss(params: PyTree, batch: Batch) -> jax.Array:
        logits = classify(params, batch["image"], shape.heads)
        chosen = jax.nn.log_softmax(logits) * batch["labels"]
        return -jnp.sum(chosen) / shape.batch

    return Model(
        name="convnet",
        params=abstract_params(shape),
        batch={
            "image": jax.ShapeDtypeStruct(pixels, jnp.float32),
            "labels": jax.ShapeDtypeStruct(
                (shape.batch, shape.vocab), jnp.float32
            ),
        },
        loss=loss,
    )
