"""DLRM: embedding tables beside dense features, crossed pair by pair.

Shapes: b batch, f tables (``experts`` times two), v rows of a table, m hidden.

Source: Naumov et al., "Deep Learning Recommendation Model".
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import optax

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import Batch, Model, PyTree
from unusual import layers

_DENSE_FEATURES = 16


def tower_params(*sizes: int) -> list[PyTree]:
    return [layers.dense_params(*pair) for pair in zip(sizes, sizes[1:])]


def tower(steps: list[PyTree], x: jax.Array) -> jax.Array:
    for number, step in enumerate(steps):
        x = layers.dense(step, x)
        if number + 1 < len(steps):
            x = jax.nn.relu(x)
    return x


def interact(rows: jax.Array) -> jax.Array:
    """rows ``[b, f, m]`` to the products of all pairs, ``[b, pairs]``."""
    met = jnp.einsum("bfm,bgm->bfg", rows, rows)
    left, right = np.tril_indices(rows.shape[1], -1)
    return met[:, left, right]


def build(name: str, shape: ModelShape) -> Model:
    tables, m = 2 * shape.experts, shape.hidden
    pairs = (tables + 1) * tables // 2
    inner = [shape.ffn] * shape.layers

    def loss(params: PyTree, batch: Batch) -> jax.Array:
        dense = tower(params["bottom"], batch["dense"])
        rows = [
            table[batch["ids"][:, number]]
            for number, table in enumerate(params["tables"])
        ]
        met = interact(jnp.stack([dense, *rows], axis=1))
        crossed = jnp.concatenate([dense, met], axis=-1)
        clicks = (batch["clicked"] > 0).astype(dense.dtype)
        logits = tower(params["top"], crossed)[:, 0]
        return jnp.mean(optax.sigmoid_binary_cross_entropy(logits, clicks))

    return Model(
        name=name,
        params={
            "bottom": tower_params(_DENSE_FEATURES, *inner, m),
            "tables": [layers.weight(shape.vocab, m)] * tables,
            "top": tower_params(m + pairs, *inner, 1),
        },
        batch={
            "dense": layers.weight(shape.batch, _DENSE_FEATURES),
            "ids": layers.integers(shape.batch, tables),
            "clicked": layers.weight(shape.batch),
        },
        loss=loss,
    )
