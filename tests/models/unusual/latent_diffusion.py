"""A diffusion U-Net that looks at a text: Stable Diffusion in small.

Concept: the blocks of ``meshwright_models.unet``; at every resolution but the
finest each is followed by a transformer block whose pixels look at one
another and then at the tokens of a text, which a small encoder has read.

Shapes: b batch, y and x pixels, c channels, t tokens.

Source: Rombach et al., "High-Resolution Image Synthesis with Latent Diffusion
Models", section 3.3.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from meshwright_models import unet
from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import Batch, Model, PyTree, token_batch
from unusual import layers, pictures


def block_params(shape: ModelShape, size_in: int, level: int) -> PyTree:
    width, time_size = shape.hidden * 2**level, 4 * shape.hidden
    block = {
        "norm1": layers.weight(size_in),
        "shift1": layers.weight(size_in),
        "conv1": layers.weight(3, 3, size_in, width),
        "bias1": layers.weight(width),
        "time": layers.weight(time_size, width),
        "norm2": layers.weight(width),
        "shift2": layers.weight(width),
        "conv2": layers.weight(3, 3, width, width),
        "bias2": layers.weight(width),
    }
    if size_in != width:
        block["match"] = layers.weight(size_in, width)
    whole = {"residual": block}
    if level > 0:
        whole["transformer"] = layers.block_params(shape, width)
        whole["text_norm"] = layers.norm_params(width)
        whole["text"] = layers.attention_params(
            width, shape.heads, shape.hidden
        )
    return whole


def run_block(
    block: PyTree, x: jax.Array, embedding: jax.Array, text: jax.Array
) -> jax.Array:
    x = unet.residual_block(block["residual"], x, embedding)
    if "text" not in block:
        return x
    tokens = x.reshape(x.shape[0], -1, x.shape[-1])
    tokens = layers.block(block["transformer"], tokens)
    normed = layers.layer_norm(block["text_norm"], tokens)
    tokens = tokens + layers.attention(block["text"], normed, text)
    return tokens.reshape(x.shape)


def predict(
    params: PyTree, image: jax.Array, level: jax.Array, text: jax.Array
) -> jax.Array:
    embedding = unet.noise_embedding(level, params["time_in"].shape[0])
    embedding = jax.nn.silu(embedding @ params["time_in"])
    x = pictures.convolve(image, params["stem"])
    skips = []
    for number, blocks in enumerate(params["down"]):
        if number > 0:
            x = pictures.convolve(x, params["shrink"][number - 1], stride=2)
        for block in blocks:
            x = run_block(block, x, embedding, text)
            skips.append(x)
    for number, blocks in enumerate(params["up"]):
        if number > 0:
            x = jnp.repeat(jnp.repeat(x, 2, axis=1), 2, axis=2)
        for block in blocks:
            x = jnp.concatenate([x, skips.pop()], axis=-1)
            x = run_block(block, x, embedding, text)
    return pictures.convolve(jax.nn.silu(x), params["last"])


def build(name: str, shape: ModelShape) -> Model:
    m, k, levels = shape.hidden, pictures.CHANNELS, range(shape.levels)
    down, up = [], []
    for level in levels:
        sizes = [m * 2**level] * shape.layers
        sizes[0] = m * 2 ** max(0, level - 1)
        down.append([block_params(shape, size, level) for size in sizes])
    for level in reversed(levels):
        below = m * 2 ** min(level + 1, levels[-1])
        sizes = [2 * m * 2**level] * shape.layers
        sizes[0] = below + m * 2**level
        up.append([block_params(shape, size, level) for size in sizes])

    def loss(params: PyTree, batch: Batch) -> jax.Array:
        text = params["words"][batch["input_ids"]] + params["places"]
        text = layers.block(params["reader"], text)
        share = jax.nn.sigmoid(batch["level"])[:, None, None, None]
        noisy = jnp.sqrt(1.0 - share) * batch["image"]
        noisy = noisy + jnp.sqrt(share) * batch["noise"]
        guess = predict(params, noisy, batch["level"], text)
        return jnp.mean(jnp.square(guess - batch["noise"]))

    return Model(
        name=name,
        params={
            "words": layers.weight(shape.vocab, m),
            "places": layers.weight(shape.seq, m),
            "reader": layers.block_params(shape),
            "time_in": layers.weight(m, 4 * m),
            "stem": layers.weight(3, 3, k, m),
            "down": down,
            "shrink": [
                layers.weight(3, 3, m * 2**level, m * 2**level)
                for level in levels[:-1]
            ],
            "up": up,
            "last": layers.weight(3, 3, m, k),
        },
        batch=token_batch(shape, "input_ids")
        | dict.fromkeys(("image", "noise"), pictures.pixels(shape))
        | {"level": layers.weight(shape.batch)},
        loss=loss,
    )
