"""A decoder with dropout, whose keys are split one from the other.

Concept: before every dropout the key is split again, and nothing is rolled
into a loop, as where the compiler has no loop for the generator: the last
layer's bits hang on all rounds of all splits before, and every round reads
both halves of the one before twice.

Shapes: b batch, s tokens, m hidden; a key is two words.

Source: Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3" (Threefry
2x32, 20 rounds); keys split as ``jax.random.split`` does.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import (
    Batch,
    Model,
    PyTree,
    cross_entropy,
    token_batch,
)
from unusual import language, layers

_RATE = 0.1
_SPLITS_A_LAYER = 4
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA


def threefry(key: jax.Array, counts: jax.Array) -> jax.Array:
    """As many words as ``counts`` has, an even number of them."""
    keys = (key[0], key[1], key[0] ^ key[1] ^ jnp.uint32(_PARITY))
    left, right = jnp.split(counts, 2)
    left, right = left + keys[0], right + keys[1]
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            left = left + right
            turned = right << jnp.uint32(rotation)
            turned = turned | right >> jnp.uint32(32 - rotation)
            right = left ^ turned
        left = left + keys[(group + 1) % 3]
        right = right + keys[(group + 2) % 3] + jnp.uint32(group + 1)
    return jnp.concatenate([left, right])


def split(key: jax.Array) -> tuple[jax.Array, jax.Array]:
    words = threefry(key, jnp.arange(4, dtype=jnp.uint32))
    return words[:2], words[2:]


def dropout(key: jax.Array, x: jax.Array) -> jax.Array:
    words = threefry(key, jnp.arange(x.size, dtype=jnp.uint32))
    kept = words.reshape(x.shape) >= jnp.uint32(int(_RATE * 2**32))
    return jnp.where(kept, x / (1 - _RATE), 0)


def build(name: str, shape: ModelShape) -> Model:
    def loss(params: PyTree, batch: Batch) -> jax.Array:
        key = jnp.array([0, 42], dtype=jnp.uint32)
        x = params["embedding"][batch["input_ids"]]
        for layer in params["layers"]:
            used = []
            for _ in range(_SPLITS_A_LAYER):
                key, subkey = split(key)
                used.append(subkey)
            x = dropout(used[0], x)
            normed = layers.layer_norm(layer["attention_norm"], x)
            bias = layers.causal_bias(x.shape[1])
            mixed = layers.attention(layer["attention"], normed, bias=bias)
            x = x + dropout(used[1], mixed)
            normed = layers.layer_norm(layer["mlp_norm"], x)
            inner = layers.dense(layer["mlp"]["in"], normed)
            inner = dropout(used[2], jax.nn.gelu(inner))
            mixed = layers.dense(layer["mlp"]["out"], inner)
            x = x + dropout(used[3], mixed)
        return cross_entropy(language.head_logits(params, x), batch["labels"])

    blocks = [layers.block_params(shape)] * shape.layers
    return Model(
        name=name,
        params=language.params_around(shape, blocks),
        batch=token_batch(shape, "input_ids", "labels"),
        loss=loss,
    )
