"""Mixture of depths: half of the tokens of a sequence enter a layer.

Concept: a router scores the tokens; the best half, in their order, are
gathered, go through the block as a shorter causal sequence, and are added back
where they were, weighed by their score. The others pass by.

Shapes: b batch, s tokens, k tokens that enter, m hidden.

Source: Raposo et al., "Mixture-of-Depths".
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import Model, PyTree
from unusual import language, layers


def through_the_best(
    layer: PyTree, x: jax.Array, count: int
) -> jax.Array:
    """x ``[b, s, m]``; ``count`` tokens of each sequence enter."""
    scores = x @ layer["router"]
    _, places = jax.lax.top_k(scores, count)
    places = jnp.sort(places, axis=-1)
    taken = jnp.take_along_axis(x, places[..., None], axis=1)
    weights = jnp.take_along_axis(scores, places, axis=1)
    bias = layers.causal_bias(count)
    change = layers.block(layer["block"], taken, bias) - taken
    change = change * jax.nn.sigmoid(weights)[..., None]
    rows = jnp.arange(x.shape[0])[:, None]
    return x.at[rows, places].add(change)


def build(name: str, shape: ModelShape) -> Model:
    layer = {
        "router": layers.weight(shape.hidden),
        "block": layers.block_params(shape),
    }
    count = max(1, shape.seq // 2)

    def run(layer: PyTree, x: jax.Array) -> jax.Array:
        return through_the_best(layer, x, count)

    return language.build(name, shape, [layer] * shape.layers, run)
