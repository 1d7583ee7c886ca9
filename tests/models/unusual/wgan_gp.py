"""WGAN-GP: a critic whose own gradient is part of its loss.

Concept: two updates of the critic in a loop, then one of the generator. The
critic tells real from made pictures by its mean score, and is punished where
its gradient by a picture between the two is not of length one, so that its
update is made of second derivatives.

Source: Gulrajani et al., "Improved Training of Wasserstein GANs", Algorithm 1.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import optax

from meshwright_models.model_shape import ModelShape
from meshwright_models.own_step import OwnStep, descend, trained
from meshwright_models.training_step import PyTree
from unusual import gan, layers, pictures

_NOISE = 64
_CRITIC_STEPS = 2
_PENALTY = 10.0
_EPSILON = 1e-6


def penalty(critic: PyTree, image: jax.Array) -> jax.Array:
    """How far the gradient by each picture is from length one."""
    slope = jax.grad(lambda it: jnp.sum(gan.judge(critic, it)))(image)
    length = jnp.sqrt(jnp.sum(jnp.square(slope), axis=(1, 2, 3)) + _EPSILON)
    return jnp.mean(jnp.square(length - 1.0))


def critic_loss(
    critic: PyTree, real: jax.Array, made: jax.Array, part: jax.Array
) -> jax.Array:
    """Pictures, and how much of the made one is between, ``[b]``."""
    part = part[:, None, None, None]
    between = part * made + (1.0 - part) * real
    distance = jnp.mean(gan.judge(critic, made)) - jnp.mean(
        gan.judge(critic, real)
    )
    return distance + _PENALTY * penalty(critic, between)


def build(name: str, shape: ModelShape) -> OwnStep:
    c, k, last = shape.hidden, pictures.CHANNELS, shape.levels - 1
    wide, low = c * 2**last, shape.image // 2**last
    optimizer = optax.adam(1e-4, b1=0.0, b2=0.9)
    sizes = [c * 2**level for level in range(last + 1)]
    generator = {
        "seed": layers.weight(_NOISE, low, low, wide),
        "grow": [
            layers.weight(3, 3, coarse, fine)
            for fine, coarse in reversed(list(zip(sizes, sizes[1:])))
        ],
        "paint": layers.weight(3, 3, c, k),
    }
    critic = {
        "stem": layers.weight(3, 3, k, c),
        "shrink": [
            layers.weight(3, 3, fine, coarse)
            for fine, coarse in zip(sizes, sizes[1:])
        ],
        "score": layers.weight(low * low * wide, 1),
    }

    def step(state: PyTree, frozen: PyTree, batch: PyTree) -> tuple:
        params = state["maker"]["params"]

        def improve(own: PyTree, drawn: PyTree) -> tuple:
            made = gan.generate(params, drawn["noise"])
            lost, gradients = jax.value_and_grad(critic_loss)(
                own["params"], batch["image"], made, drawn["part"]
            )
            return descend(own, gradients, optimizer), lost

        drawn = {"noise": batch["noise"], "part": batch["part"]}
        better, lost = jax.lax.scan(improve, state["critic"], drawn)

        def maker_loss(own: PyTree) -> jax.Array:
            made = gan.generate(own, batch["last_noise"])
            return -jnp.mean(gan.judge(better["params"], made))

        missed, gradients = jax.value_and_grad(maker_loss)(params)
        maker = descend(state["maker"], gradients, optimizer)
        losses = {"critic": jnp.mean(lost), "maker": missed}
        return {"critic": better, "maker": maker}, losses

    return OwnStep(
        name=name,
        state={
            "critic": trained(critic, optimizer),
            "maker": trained(generator, optimizer),
        },
        batch={
            "image": pictures.pixels(shape),
            "noise": layers.weight(_CRITIC_STEPS, shape.batch, _NOISE),
            "part": layers.weight(_CRITIC_STEPS, shape.batch),
            "last_noise": layers.weight(shape.batch, _NOISE),
        },
        step=step,
    )
