"""The shell of a causal language model around any kind of layer.

Concept: embedding, ``layers`` of one kind, a root-mean-square norm, a head
that is not tied, mean cross-entropy of the next token. ``build`` takes the
layer; ``decoder`` is the usual one (``meshwright_models.decoder``), for kinds
that change the step and not the model.

Shapes: b batch, s tokens, m hidden, v vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp

from meshwright_models import decoder
from meshwright_models.model_shape import ModelShape
from meshwright_models.moe import rms_norm
from meshwright_models.training_step import (
    Batch,
    Model,
    PyTree,
    cross_entropy,
    token_batch,
)
from unusual.layers import weight

Layer = Callable[[PyTree, jax.Array], jax.Array]


def params_around(shape: ModelShape, layers: PyTree) -> PyTree:
    """The parameter tree as shapes."""
    return {
        "embedding": weight(shape.vocab, shape.hidden),
        "layers": layers,
        "final_norm": weight(shape.hidden),
        "head": weight(shape.hidden, shape.vocab),
    }


def hidden_states(params: PyTree, tokens: jax.Array, layer: Layer) -> jax.Array:
    """tokens ``[b, s]`` to ``[b, s, m]``, before the last norm."""
    x = params["embedding"][tokens]
    for one in params["layers"]:
        x = layer(one, x)
    return x


def head_logits(params: PyTree, x: jax.Array) -> jax.Array:
    x = rms_norm(x, params["final_norm"])
    return jnp.einsum("bsm,mv->bsv", x, params["head"])


def build(
    name: str, shape: ModelShape, layers: list[PyTree], layer: Layer
) -> Model:
    """``layers`` are the parameters of each, ``layer`` runs one."""

    def loss(params: PyTree, batch: Batch) -> jax.Array:
        x = hidden_states(params, batch["input_ids"], layer)
        return cross_entropy(head_logits(params, x), batch["labels"])

    return Model(
        name=name,
        params=params_around(shape, layers),
        batch=token_batch(shape, "input_ids", "labels"),
        loss=loss,
    )


def decoder_params(shape: ModelShape) -> PyTree:
    layers = [decoder.layer_params(shape) for _ in range(shape.layers)]
    return params_around(shape, layers)


def decoder_layer(shape: ModelShape) -> Layer:
    """Causal and without dropout."""

    def run(layer: PyTree, x: jax.Array) -> jax.Array:
        seq = x.shape[1]
        mask = jnp.tril(jnp.ones((seq, seq), dtype=bool))[None, None, None]
        return decoder.decoder_layer(shape, layer, x, mask, None)

    return run


def decoder_logits(
    shape: ModelShape, params: PyTree, tokens: jax.Array
) -> jax.Array:
    return head_logits(
        params, hidden_states(params, tokens, decoder_layer(shape))
    )


def token_log_probabilities(
    logits: jax.Array, labels: jax.Array
) -> jax.Array:
    """Of each label, ``[b, s]``."""
    chosen = jax.nn.one_hot(labels, logits.shape[-1], dtype=logits.dtype)
    return jnp.sum(chosen * jax.nn.log_softmax(logits), axis=-1)
