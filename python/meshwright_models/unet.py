"""A U-Net with long skip connections in plain JAX, as diffusion models use.

Concept: ``levels`` resolutions. On the way down each resolution has ``layers``
residual blocks of two 3x3 convolutions, whose outputs are kept; on the way up
as many, each of which takes one of those outputs back by concatenation. The
lowest resolution has attention after each block. Every block adds an embedding
of the noise level, by a dense layer. The loss is the mean squared error of the
noise.

Shapes: b batch, y and x pixels, c channels (``hidden`` at the full resolution,
twice as many at each one below), n heads, d head size.

Source: Ho, Jain, Abbeel, "Denoising Diffusion Probabilistic Models", appendix
B; strided convolutions down, nearest-neighbour copies up.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import Batch, Model, PyTree

IMAGE_CHANNELS = 4
_GROUPS = 4
_EPSILON = 1e-5


def convolve(
    x: jax.Array, weight: jax.Array, bias: jax.Array, stride: int = 1
) -> jax.Array:
    result = jax.lax.conv_general_dilated(
        x,
        weight,
        window_strides=(stride, stride),
        padding="SAME",
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    )
    return result + bias


def group_norm(x: jax.Array, scale: jax.Array, bias: jax.Array) -> jax.Array:
    batch, height, width, channels = x.shape
    grouped = x.reshape(batch, height, width, _GROUPS, channels // _GROUPS)
    mean = jnp.mean(grouped, axis=(1, 2, 4), keepdims=True)
    variance = jnp.var(grouped, axis=(1, 2, 4), keepdims=True)
    normed = (grouped - mean) * jax.lax.rsqrt(variance + _EPSILON)
    return normed.reshape(x.shape) * scale + bias


def noise_embedding(level: jax.Array, size: int) -> jax.Array:
    """level ``[b]`` to sines and cosines ``[b, size]``."""
    half = size // 2
    rates = jnp.exp(-math.log(10000.0) * jnp.arange(half) / half)
    angles = level[:, None] * rates[None]
    return jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], axis=-1)


def residual_block(
    block: PyTree, x: jax.Array, embedding: jax.Array
) -> jax.Array:
    hidden = jax.nn.silu(group_norm(x, block["norm1"], block["shift1"]))
    hidden = convolve(hidden, block["conv1"], block["bias1"])
    hidden = hidden + (embedding @ block["time"])[:, None, None, :]
    hidden = jax.nn.silu(group_norm(hidden, block["norm2"], block["shift2"]))
    hidden = convolve(hidden, block["conv2"], block["bias2"])
    if "match" in block:
        x = jnp.einsum("byxc,cd->byxd", x, block["match"])
    return x + hidden


def attention_block(block: PyTree, x: jax.Array) -> jax.Array:
    batch, height, width, channels = x.shape
    normed = group_norm(x, block["norm"], block["shift"])
    tokens = normed.reshape(batch, height * width, channels)
    query = jnp.einsum("bsc,cnd->bsnd", tokens, block["query"])
    key = jnp.einsum("bsc,cnd->bsnd", tokens, block["key"])
    value = jnp.einsum("bsc,cnd->bsnd", tokens, block["value"])
    scores = jnp.einsum("bsnd,btnd->bnst", query, key)
    weights = jax.nn.softmax(scores / math.sqrt(query.shape[-1]), axis=-1)
    context = jnp.einsum("bnst,btnd->bsnd", weights, value)
    mixed = jnp.einsum("bsnd,ndc->bsc", context, block["output"])
    return x + mixed.reshape(x.shape)


def _weight(*dims: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(dims, jnp.float32)


def _convolution(size: int, channels_in: int, channels: int) -> PyTree:
    return {
        "weight": _weight(size, size, channels_in, channels),
        "bias": _weight(channels),
    }


def _block_params(channels_in: int, channels: int, time_size: int) -> PyTree:
    block = {
        "norm1": _weight(channels_in),
        "shift1": _weight(channels_in),
        "conv1": _weight(3, 3, channels_in, channels),
        "bias1": _weight(channels),
        "time": _weight(time_size, channels),
        "norm2": _weight(channels),
        "shift2": _weight(channels),
        "conv2": _weight(3, 3, channels, channels),
        "bias2": _weight(channels),
    }
    if channels_in != channels:
        block["match"] = _weight(channels_in, channels)
    return block


def _attention_params(channels: int, heads: int) -> PyTree:
    size = channels // heads
    return {
        "norm": _weight(channels),
        "shift": _weight(channels),
        "query": _weight(channels, heads, size),
        "key": _weight(channels, heads, size),
        "value": _weight(channels, heads, size),
        "output": _weight(heads, size, channels),
    }


def abstract_params(shape: ModelShape) -> PyTree:
    """The parameter tree as shapes."""
    time_size = 4 * shape.hidden
    widths = [shape.hidden * 2**level for level in range(shape.levels)]
    down, up, skips = [], [], []
    channels = shape.hidden
    for level, width in enumerate(widths):
        blocks = []
        for _ in range(shape.layers):
            blocks.append(_block_params(channels, width, time_size))
            channels = width
            skips.append(channels)
        stage = {"blocks": blocks}
        if level + 1 < len(widths):
            stage["shrink"] = _convolution(3, width, width)
        else:
            stage["attention"] = [
                _attention_params(width, shape.heads) for _ in blocks
            ]
        down.append(stage)
    for level, width in reversed(list(enumerate(widths))):
        blocks = []
        for _ in range(shape.layers):
            blocks.append(
                _block_params(channels + skips.pop(), width, time_size)
            )
            channels = width
        stage = {"blocks": blocks}
        if level > 0:
            stage["grow"] = _convolution(3, width, width)
        if level + 1 == len(widths):
            stage["attention"] = [
                _attention_params(width, shape.heads) for _ in blocks
            ]
        up.append(stage)
    return {
        "stem": _convolution(3, IMAGE_CHANNELS, shape.hidden),
        "time_in": _weight(shape.hidden, time_size),
        "time_out": _weight(time_size, time_size),
        "down": down,
        "up": up,
        "last_norm": _weight(shape.hidden),
        "last_shift": _weight(shape.hidden),
        "last": _convolution(3, shape.hidden, IMAGE_CHANNELS),
    }


def _run_stage(
    stage: PyTree,
    x: jax.Array,
    embedding: jax.Array,
    skips: list,
    down: bool,
) -> jax.Array:
    for number, block in enumerate(stage["blocks"]):
        if not down:
            x = jnp.concatenate([x, skips.pop()], axis=-1)
        x = residual_block(block, x, embedding)
        if "attention" in stage:
            x = attention_block(stage["attention"][number], x)
        if down:
            skips.append(x)
    return x


def predict_noise(
    params: PyTree, image: jax.Array, level: jax.Array
) -> jax.Array:
    """image ``[b, y, x, IMAGE_CHANNELS]``, level ``[b]``."""
    embedding = noise_embedding(level, params["time_in"].shape[0])
    embedding = jax.nn.silu(embedding @ params["time_in"])
    embedding = jax.nn.silu(embedding @ params["time_out"])
    x = convolve(image, params["stem"]["weight"], params["stem"]["bias"])
    skips: list[jax.Array] = []
    for stage in params["down"]:
        x = _run_stage(stage, x, embedding, skips, down=True)
        if "shrink" in stage:
            shrink = stage["shrink"]
            x = convolve(x, shrink["weight"], shrink["bias"], stride=2)
    for stage in params["up"]:
        x = _run_stage(stage, x, embedding, skips, down=False)
        if "grow" in stage:
            x = jnp.repeat(jnp.repeat(x, 2, axis=1), 2, axis=2)
            x = convolve(x, stage["grow"]["weight"], stage["grow"]["bias"])
    x = jax.nn.silu(group_norm(x, params["last_norm"], params["last_shift"]))
    return convolve(x, params["last"]["weight"], params["last"]["bias"])


def build(shape: ModelShape) -> Model:
    """The network in the given sizes."""
    pixels = (shape.batch, shape.image, shape.image, IMAGE_CHANNELS)

    def loss(params: PyTree, batch: Batch) -> jax.Array:
        share = jax.nn.sigmoid(batch["level"])[:, None, None, None]
        noisy = jnp.sqrt(1 - share) * batch["image"]
        noisy = noisy + jnp.sqrt(share) * batch["noise"]
        predicted = predict_noise(params, noisy, batch["level"])
        return jnp.mean(jnp.square(predicted - batch["noise"]))

    return Model(
        name="unet",
        params=abstract_params(shape),
        batch={
            "image": jax.ShapeDtypeStruct(pixels, jnp.float32),
            "level": jax.ShapeDtypeStruct((shape.batch,), jnp.float32),
            "noise": jax.ShapeDtypeStruct(pixels, jnp.float32),
        },
        loss=loss,
    )
