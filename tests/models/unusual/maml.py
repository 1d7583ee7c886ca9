"""Learning to learn: gradient steps within the loss, for many tasks at once.

Concept: each task takes ``layers`` steps of gradient descent on its support
points from the shared parameters, and is judged on its query points; the
update follows the gradient through those steps (second derivatives). Tasks
are the batch, by ``jax.vmap``.

Source: Finn, Abbeel, Levine, "Model-Agnostic Meta-Learning", Algorithm 2.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import Batch, Model, PyTree
from unusual import layers

_INNER_RATE = 0.01
_FEATURES = 16


def network(params: list[PyTree], x: jax.Array) -> jax.Array:
    for step in params[:-1]:
        x = jnp.tanh(layers.dense(step, x))
    return layers.dense(params[-1], x)


def error(params: list[PyTree], x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.mean(jnp.square(network(params, x) - y))


def build(name: str, shape: ModelShape) -> Model:
    """``seq`` points per task; two hidden layers of ``hidden``."""

    def task_loss(params: PyTree, task: Batch) -> jax.Array:
        own = params
        for _ in range(shape.layers):
            slope = jax.grad(error)(own, task["support"], task["values"])
            own = jax.tree.map(lambda p, g: p - _INNER_RATE * g, own, slope)
        return error(own, task["query"], task["wanted"])

    def loss(params: PyTree, batch: Batch) -> jax.Array:
        losses = jax.vmap(task_loss, in_axes=(None, 0))(params, batch)
        return jnp.mean(losses)

    sizes = (_FEATURES, shape.hidden, shape.hidden, _FEATURES)
    points = layers.weight(shape.batch, shape.seq, _FEATURES)
    return Model(
        name=name,
        params=[layers.dense_params(*it) for it in zip(sizes, sizes[1:])],
        batch=dict.fromkeys(
            ("support", "values", "query", "wanted"), points
        ),
        loss=loss,
    )
