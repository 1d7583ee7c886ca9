"""One whole training step: forward, loss, backward, AdamW, donated state.

Concept: every model becomes the same function

    (params, opt_state, batch) -> (params, opt_state, loss)

whose first two arguments are donated, so the lowered module carries an
``input_output_alias`` for every tensor of the state. The loss is the only
output that is neither state nor a descendant of a gradient.

Shapes: ``params`` is the model's own tree; ``opt_state`` is optax's (a step
count and two moments shaped as ``params``); ``batch`` is a dict of int32
``[batch, seq]`` arrays. JAX flattens arguments in this order, dict keys sorted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax

from meshwright_models.model_shape import ModelShape

PyTree = Any
Batch = dict[str, jax.Array]

IGNORED_LABEL = -100
"""A position with this label adds nothing to the loss (Hugging Face's rule)."""


@dataclasses.dataclass(frozen=True)
class Model:
    """A loss over abstract inputs; no array behind it."""

    name: str
    params: PyTree
    """Tree of ``jax.ShapeDtypeStruct``."""
    batch: dict[str, jax.ShapeDtypeStruct]
    loss: Callable[[PyTree, Batch], jax.Array]
    """Parameters and batch to one float32 scalar."""


def token_batch(
    shape: ModelShape, *names: str
) -> dict[str, jax.ShapeDtypeStruct]:
    """An abstract batch: one int32 ``[batch, seq]`` array per name."""
    tokens = jax.ShapeDtypeStruct((shape.batch, shape.seq), jnp.int32)
    return {name: tokens for name in names}


def cross_entropy(logits: jax.Array, labels: jax.Array) -> jax.Array:
    """Mean cross-entropy over the labels that are not ``IGNORED_LABEL``.

    Shapes: logits ``[batch, seq, vocab]``, labels ``[batch, seq]``, already
    aligned with the logits: a causal model's labels are its inputs shifted by
    one, which is the data loader's work. One-hot labels as in Hugging Face's
    flax training scripts, so that the vocabulary may be split.
    """
    weights = (labels != IGNORED_LABEL).astype(logits.dtype)
    targets = jax.nn.one_hot(labels, logits.shape[-1], dtype=logits.dtype)
    losses = optax.softmax_cross_entropy(logits, targets)
    return jnp.sum(losses * weights) / jnp.sum(weights)


def lower_training_step(
    model: Model, learning_rate: float = 1e-3
) -> jax.stages.Lowered:
    """Lowers one AdamW step of ``model``, its state donated."""
    optimizer = optax.adamw(learning_rate)

    def train_step(
        params: PyTree, opt_state: PyTree, batch: Batch
    ) -> tuple[PyTree, PyTree, jax.Array]:
        loss, gradients = jax.value_and_grad(model.loss)(params, batch)
        updates, opt_state = optimizer.update(gradients, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    train_step.__name__ = f"{model.name}_train_step"
    opt_state = jax.eval_shape(optimizer.init, model.params)
    jitted = jax.jit(train_step, donate_argnums=(0, 1))
    return jitted.lower(model.params, opt_state, model.batch)
