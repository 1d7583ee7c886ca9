"""A decoder under Muon: the momentum of a matrix, made orthogonal.

Concept: five Newton-Schulz iterations bring all singular values of a matrix'
momentum near 1; weights with heads are flattened to a matrix first. Embedding,
head and norms keep Adam.

Source: Jordan et al., "Muon", coefficients and scaling of its public code.
"""

from __future__ import annotations

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

_COEFFICIENTS = (3.4445, -4.7750, 2.0315)
_ITERATIONS = 5
_RATE = 0.02
_MOMENTUM = 0.95
_EPSILON = 1e-7
_TO_ROWS = ("query", "key", "value")


def orthogonal(x: jax.Array) -> jax.Array:
    """A matrix of the same shape, its singular values near 1."""
    a, b, c = _COEFFICIENTS
    tall = x.shape[0] > x.shape[1]
    x = x.T if tall else x
    x = x / (jnp.sqrt(jnp.sum(jnp.square(x))) + _EPSILON)
    for _ in range(_ITERATIONS):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.T if tall else x


def as_matrix(name: str, x: jax.Array) -> jax.Array:
    """A layer's weight with hidden first, or for the output last."""
    if x.ndim == 2:
        return x
    rows = x.shape[0] if name in _TO_ROWS else x.shape[0] * x.shape[1]
    return x.reshape(rows, -1)


def muon(layer: PyTree, slopes: PyTree, momenta: PyTree) -> tuple:
    """The matrices of one layer and their momenta after an update."""
    new, kept = {}, {}
    for name, momentum in momenta.items():
        kept[name] = _MOMENTUM * momentum + slopes[name]
        ahead = slopes[name] + _MOMENTUM * kept[name]
        matrix = as_matrix(name, ahead)
        scale = max(1.0, matrix.shape[0] / matrix.shape[1]) ** 0.5
        turned = orthogonal(matrix).reshape(ahead.shape)
        new[name] = layer[name] - _RATE * scale * turned
    return new, kept


def build(name: str, shape: ModelShape) -> OwnStep:
    optimizer = optax.adam(1e-3)
    whole = language.decoder_params(shape)
    matrices = [
        {key: it for key, it in layer.items() if len(it.shape) > 1}
        for layer in whole["layers"]
    ]
    rest = whole | {
        "layers": [
            {key: it for key, it in layer.items() if len(it.shape) == 1}
            for layer in whole["layers"]
        ]
    }

    def loss(matrices: list, rest: PyTree, batch: PyTree) -> jax.Array:
        both = [one | two for one, two in zip(matrices, rest["layers"])]
        params = rest | {"layers": both}
        logits = language.decoder_logits(shape, params, batch["input_ids"])
        return cross_entropy(logits, batch["labels"])

    def step(state: PyTree, frozen: PyTree, batch: PyTree) -> tuple:
        value, (slopes, others) = jax.value_and_grad(loss, argnums=(0, 1))(
            state["matrices"], state["rest"]["params"], batch
        )
        pairs = list(map(muon, state["matrices"], slopes, state["momenta"]))
        new = {
            "matrices": [pair[0] for pair in pairs],
            "momenta": [pair[1] for pair in pairs],
            "rest": descend(state["rest"], others, optimizer),
        }
        return new, value

    return OwnStep(
        name=name,
        state={
            "matrices": matrices,
            "momenta": matrices,
            "rest": trained(rest, optimizer),
        },
        batch=token_batch(shape, "input_ids", "labels"),
        step=step,
    )
