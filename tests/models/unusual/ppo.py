"""Proximal policy optimization of a decoder, with a value head beside.

Concept: the batch brings tokens, how likely they were when they were drawn,
values and rewards of that time. Advantages run backwards through the sequence
in a scan and are normalized over the batch; ratio and value are clipped; the
entropy is rewarded.

Source: Schulman et al., "Proximal Policy Optimization", Eqs. 7, 9, 11;
value clipping as in Ouyang et al., "InstructGPT".
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import Batch, Model, PyTree, token_batch
from unusual import language, layers

_DISCOUNT = 0.99
_LAMBDA = 0.95
_CLIP = 0.2
_VALUE_WEIGHT = 0.5
_ENTROPY_WEIGHT = 0.01
_EPSILON = 1e-8


def advantages(rewards: jax.Array, values: jax.Array) -> jax.Array:
    """Both ``[b, s]``; generalized, nothing after the last token."""
    after = jnp.pad(values[:, 1:], ((0, 0), (0, 1)))
    surprise = rewards + _DISCOUNT * after - values

    def back(later: jax.Array, now: jax.Array) -> tuple[jax.Array, jax.Array]:
        later = now + _DISCOUNT * _LAMBDA * later
        return later, later

    zeros = jnp.zeros_like(rewards[:, 0])
    _, result = jax.lax.scan(
        back, zeros, jnp.swapaxes(surprise, 0, 1), reverse=True
    )
    return jnp.swapaxes(result, 0, 1)


def build(name: str, shape: ModelShape) -> Model:
    layer = language.decoder_layer(shape)

    def loss(params: PyTree, batch: Batch) -> jax.Array:
        x = language.hidden_states(params, batch["input_ids"], layer)
        logits = language.head_logits(params, x)
        value = layers.dense(params["value"], x)[..., 0]
        gain = advantages(batch["rewards"], batch["values"])
        wanted = gain + batch["values"]
        gain = gain - jnp.mean(gain)
        gain = gain * jax.lax.rsqrt(jnp.mean(jnp.square(gain)) + _EPSILON)

        now = language.token_log_probabilities(logits, batch["actions"])
        ratio = jnp.exp(now - jax.nn.log_sigmoid(batch["likelihood"]))
        clipped = jnp.clip(ratio, 1.0 - _CLIP, 1.0 + _CLIP)
        policy = -jnp.mean(jnp.minimum(ratio * gain, clipped * gain))

        near = batch["values"] + jnp.clip(
            value - batch["values"], -_CLIP, _CLIP
        )
        error = jnp.square(value - wanted)
        error = jnp.mean(jnp.maximum(error, jnp.square(near - wanted)))

        logs = jax.nn.log_softmax(logits)
        entropy = -jnp.mean(jnp.sum(jnp.exp(logs) * logs, axis=-1))
        return policy + _VALUE_WEIGHT * error - _ENTROPY_WEIGHT * entropy

    params = language.decoder_params(shape)
    weights = layers.weight(shape.batch, shape.seq)
    return Model(
        name=name,
        params=params | {"value": layers.dense_params(shape.hidden, 1)},
        batch=token_batch(shape, "input_ids", "actions")
        | dict.fromkeys(("likelihood", "rewards", "values"), weights),
        loss=loss,
    )
