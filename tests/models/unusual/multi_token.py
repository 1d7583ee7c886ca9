"""A decoder with further heads for the tokens after the next one.

Concept: each further head joins what the one before it saw with the embedding
of the token it then knew, runs one more layer, and guesses through the same
head one token further ahead; all losses are added.

Source: DeepSeek-AI, "DeepSeek-V3", section 2.2 (multi-token prediction).
"""

from __future__ import annotations

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
from unusual import language, layers

_FURTHER = 2
_WEIGHT = 0.3


def build(name: str, shape: ModelShape) -> Model:
    m = shape.hidden
    layer = language.decoder_layer(shape)
    further = {
        "seen_norm": layers.weight(m),
        "token_norm": layers.weight(m),
        "join": layers.weight(2 * m, m),
        "layer": decoder.layer_params(shape),
    }

    def loss(params: PyTree, batch: Batch) -> jax.Array:
        tokens, labels = batch["input_ids"], batch["labels"]
        x = language.hidden_states(params, tokens, layer)
        total = cross_entropy(language.head_logits(params, x), labels)
        for number, head in enumerate(params["further"], start=1):
            known = params["embedding"][tokens[:, number:]]
            both = [
                rms_norm(x[:, :-1], head["seen_norm"]),
                rms_norm(known, head["token_norm"]),
            ]
            x = layer(
                head["layer"], jnp.concatenate(both, axis=-1) @ head["join"]
            )
            logits = language.head_logits(params, x)
            more = cross_entropy(logits, labels[:, number:])
            total = total + _WEIGHT / _FURTHER * more
        return total

    params = language.decoder_params(shape)
    return Model(
        name=name,
        params=params | {"further": [further] * _FURTHER},
        batch=token_batch(shape, "input_ids", "labels"),
        loss=loss,
    )
