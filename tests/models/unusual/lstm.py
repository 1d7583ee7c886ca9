"""A language model of LSTM layers, each a scan over the tokens.

Shapes: b batch, s tokens, m hidden; gates i, f, g, o side by side.

Source: Zaremba, Sutskever, Vinyals, "Recurrent Neural Network Regularization",
with residual connections as in Google's translator.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import Model, PyTree
from unusual import language, layers


def lstm_layer(layer: PyTree, x: jax.Array) -> jax.Array:
    """x ``[b, s, m]``; what the gates see of it is computed beforehand."""
    seen = layers.dense(layer["input"], x)

    def tick(carry: Any, now: jax.Array) -> tuple[Any, jax.Array]:
        state, cell = carry
        gates = now + state @ layer["recurrent"]
        take, keep, new, give = jnp.split(gates, 4, axis=-1)
        cell = jax.nn.sigmoid(keep + 1.0) * cell
        cell = cell + jax.nn.sigmoid(take) * jnp.tanh(new)
        state = jax.nn.sigmoid(give) * jnp.tanh(cell)
        return (state, cell), state

    zeros = jnp.zeros_like(x[:, 0])
    _, states = jax.lax.scan(tick, (zeros, zeros), jnp.swapaxes(seen, 0, 1))
    return x + jnp.swapaxes(states, 0, 1)


def build(name: str, shape: ModelShape) -> Model:
    m = shape.hidden
    layer = {
        "input": layers.dense_params(m, 4 * m),
        "recurrent": layers.weight(m, 4 * m),
    }
    return language.build(name, shape, [layer] * shape.layers, lstm_layer)
