"""Low-rank adapters beside the frozen weights of a decoder.

Concept: queries and values each get the product of two thin matrices added;
only these are trained and have optimizer state. The base is read and never
donated.

Source: Hu et al., "LoRA", sections 4.1 and 4.2.
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
from unusual import language, layers

_RANK = 8
_SCALE = 2.0
_ADAPTED = ("query", "value")


def adapted(base: PyTree, adapters: list[PyTree]) -> PyTree:
    """The base with every adapter's product added to its weight."""

    def layer(weights: PyTree, own: PyTree) -> PyTree:
        changed = dict(weights)
        for name in _ADAPTED:
            more = jnp.einsum("mr,rnd->mnd", own[name]["a"], own[name]["b"])
            changed[name] = weights[name] + _SCALE * more
        return changed

    return base | {"layers": list(map(layer, base["layers"], adapters))}


def build(name: str, shape: ModelShape) -> OwnStep:
    optimizer = optax.adamw(1e-3)
    heads = {"query": shape.heads, "value": shape.num_kv_heads}
    adapter = {
        name: {
            "a": layers.weight(shape.hidden, _RANK),
            "b": layers.weight(_RANK, heads[name], shape.head_dim),
        }
        for name in _ADAPTED
    }

    def loss(adapters: PyTree, base: PyTree, batch: PyTree) -> jax.Array:
        whole = adapted(base, adapters)
        logits = language.decoder_logits(shape, whole, batch["input_ids"])
        return cross_entropy(logits, batch["labels"])

    def step(state: PyTree, frozen: PyTree, batch: PyTree) -> tuple:
        value, gradients = jax.value_and_grad(loss)(
            state["params"], frozen, batch
        )
        return descend(state, gradients, optimizer), value

    return OwnStep(
        name=name,
        state=trained([adapter] * shape.layers, optimizer),
        frozen=language.decoder_params(shape),
        batch=token_batch(shape, "input_ids", "labels"),
        step=step,
    )
