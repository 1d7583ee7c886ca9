"""A classifier under K-FAC: gradients divided by two Cholesky factors.

Concept: per dense layer, running covariances of what enters it and of the
gradients that leave it, damped, are factored and solved against the layer's
gradient from both sides. Gradients of what a layer computes come from zeros
that are added to it.

Shapes: b batch, i and o a layer's width in and out.

Source: Martens and Grosse, "K-FAC", section 4; damping of its section 6.3 is
one constant. The Cholesky factor is ours, column by column in a loop: JAX's
calls LAPACK on a CPU, which is no part of a module.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.own_step import OwnStep
from meshwright_models.training_step import PyTree
from unusual import layers

_KEEP = 0.95
_DAMPING = 0.1
_RATE = 1e-2


def cholesky(matrix: jax.Array) -> jax.Array:
    """The lower factor L of a positive matrix, L L^T."""
    rows = jnp.arange(matrix.shape[0])

    def column(index: jax.Array, factor: jax.Array) -> jax.Array:
        own = jax.lax.dynamic_slice_in_dim(matrix, index, 1, 1)[:, 0]
        row = jax.lax.dynamic_slice_in_dim(factor, index, 1, 0)[0]
        left = own - factor @ row
        pivot = jax.lax.dynamic_slice_in_dim(left, index, 1)[0]
        new = jnp.where(rows >= index, left * jax.lax.rsqrt(pivot), 0.0)
        return jax.lax.dynamic_update_slice_in_dim(
            factor, new[:, None], index, 1
        )

    zeros = jnp.zeros_like(matrix)
    return jax.lax.fori_loop(0, matrix.shape[0], column, zeros)


def substitute(factor: jax.Array, wanted: jax.Array, last: bool) -> jax.Array:
    """Solves L x = wanted, or L^T x = wanted from the last row on."""
    size = factor.shape[0]
    matrix = factor.T if last else factor

    def line(index: jax.Array, solved: jax.Array) -> jax.Array:
        at = size - 1 - index if last else index
        row = jax.lax.dynamic_slice_in_dim(matrix, at, 1, 0)
        pivot = jax.lax.dynamic_slice_in_dim(row, at, 1, 1)
        left = jax.lax.dynamic_slice_in_dim(wanted, at, 1, 0) - row @ solved
        return jax.lax.dynamic_update_slice_in_dim(
            solved, left / pivot, at, 0
        )

    return jax.lax.fori_loop(0, size, line, jnp.zeros_like(wanted))


def divided(gradient: jax.Array, covariance: jax.Array) -> jax.Array:
    """Damped covariance^-1 gradient."""
    damped = covariance + _DAMPING * jnp.eye(covariance.shape[0])
    factor = cholesky(damped)
    return substitute(factor, substitute(factor, gradient, False), True)


def forward(
    params: list, zeros: list, x: jax.Array
) -> tuple[jax.Array, list[jax.Array]]:
    """Logits, and what enters each layer."""
    entered = []
    for number, (layer, zero) in enumerate(zip(params, zeros)):
        entered.append(x)
        x = layers.dense(layer, x) + zero
        if number + 1 < len(params):
            x = jnp.tanh(x)
    return x, entered


def build(name: str, shape: ModelShape) -> OwnStep:
    """A perceptron of ``layers`` dense layers and a head over ``vocab``."""
    m, b = shape.hidden, shape.batch * shape.seq
    sizes = [m] * (shape.layers + 1) + [shape.vocab]
    pairs = list(zip(sizes, sizes[1:]))

    def loss(params: list, zeros: list, batch: PyTree) -> tuple:
        logits, entered = forward(params, zeros, batch["features"])
        return layers.class_loss(logits, batch["labels"]), entered

    def updated(layer: PyTree, slope: PyTree, old: PyTree, seen: tuple):
        entered, left = seen
        into = entered.T @ entered / b
        out = left.T @ left * b
        kept = {
            "in": _KEEP * old["in"] + (1 - _KEEP) * into,
            "out": _KEEP * old["out"] + (1 - _KEEP) * out,
        }
        turned = divided(slope["weight"], kept["in"])
        turned = divided(turned.T, kept["out"]).T
        new = {
            "weight": layer["weight"] - _RATE * turned,
            "bias": layer["bias"] - _RATE * slope["bias"],
        }
        return new, kept

    def step(state: PyTree, frozen: PyTree, batch: PyTree) -> tuple:
        zeros = [jnp.zeros((b, size)) for _, size in pairs]
        (value, entered), (slopes, left) = jax.value_and_grad(
            loss, argnums=(0, 1), has_aux=True
        )(state["params"], zeros, batch)
        seen = list(zip(entered, left))
        both = list(
            map(updated, state["params"], slopes, state["factors"], seen)
        )
        new = {
            "factors": [it[1] for it in both],
            "params": [it[0] for it in both],
        }
        return new, value

    factors = [
        {"in": layers.weight(i, i), "out": layers.weight(o, o)}
        for i, o in pairs
    ]
    return OwnStep(
        name=name,
        state={
            "factors": factors,
            "params": [layers.dense_params(*pair) for pair in pairs],
        },
        batch={"features": layers.weight(b, m), "labels": layers.integers(b)},
        step=step,
    )
