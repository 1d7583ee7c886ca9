"""A decoder held in bfloat16, beside a float32 average of its weights.

Concept: weights, gradients and moments are bfloat16; the average, which is
what people evaluate, follows in float32. Both are state.
"""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import optax

from meshwright_models.model_shape import ModelShape
from meshwright_models.own_step import OwnStep, descend, trained
from meshwright_models.training_step import (
    PyTree,
    cross_entropy,
    token_batch,
)
from unusual import language

_KEEP = 0.999


def build(name: str, shape: ModelShape) -> OwnStep:
    shape = dataclasses.replace(shape, bfloat16=True)
    optimizer = optax.adamw(1e-3)
    average = language.decoder_params(shape)
    params = jax.tree.map(
        lambda it: jax.ShapeDtypeStruct(it.shape, jnp.bfloat16), average
    )

    def loss(params: PyTree, batch: PyTree) -> jax.Array:
        logits = language.decoder_logits(shape, params, batch["input_ids"])
        return cross_entropy(logits, batch["labels"])

    def step(state: PyTree, frozen: PyTree, batch: PyTree) -> tuple:
        own = state["trained"]
        value, gradients = jax.value_and_grad(loss)(own["params"], batch)
        own = descend(own, gradients, optimizer)

        def follow(old: jax.Array, new: jax.Array) -> jax.Array:
            return _KEEP * old + (1 - _KEEP) * new.astype(old.dtype)

        average = jax.tree.map(follow, state["average"], own["params"])
        return {"average": average, "trained": own}, value

    return OwnStep(
        name=name,
        state={"average": average, "trained": trained(params, optimizer)},
        batch=token_batch(shape, "input_ids", "labels"),
        step=step,
    )
