"""Direct preference optimization: a policy beside its frozen reference.

Concept: both decoders read the answers that people chose and rejected, one
below the other in one batch; the loss compares how much more likely than the
reference the policy finds each.

Source: Rafailov et al., "Direct Preference Optimization", Eq. 7.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import optax

from meshwright_models.model_shape import ModelShape
from meshwright_models.own_step import OwnStep, descend, trained
from meshwright_models.training_step import PyTree, token_batch
from unusual import language

_BETA = 0.1


def build(name: str, shape: ModelShape) -> OwnStep:
    optimizer = optax.adamw(1e-3)

    def likelihood(params: PyTree, batch: PyTree) -> jax.Array:
        """Of each answer, chosen ones first, ``[2 b]``."""
        tokens = jnp.concatenate([batch["chosen"], batch["rejected"]])
        logits = language.decoder_logits(shape, params, tokens[:, :-1])
        each = language.token_log_probabilities(logits, tokens[:, 1:])
        return jnp.sum(each, axis=-1)

    def loss(params: PyTree, reference: PyTree, batch: PyTree) -> tuple:
        gain = likelihood(params, batch)
        gain = gain - jax.lax.stop_gradient(likelihood(reference, batch))
        chosen, rejected = jnp.split(_BETA * gain, 2)
        right = jnp.mean((chosen > rejected).astype(jnp.float32))
        return -jnp.mean(jax.nn.log_sigmoid(chosen - rejected)), right

    def step(state: PyTree, frozen: PyTree, batch: PyTree) -> tuple:
        (value, right), gradients = jax.value_and_grad(loss, has_aux=True)(
            state["params"], frozen, batch
        )
        losses = {"accuracy": right, "loss": value}
        return descend(state, gradients, optimizer), losses

    params = language.decoder_params(shape)
    return OwnStep(
        name=name,
        state=trained(params, optimizer),
        frozen=params,
        batch=token_batch(shape, "chosen", "rejected"),
        step=step,
    )
