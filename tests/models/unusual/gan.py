"""Two adversaries, each with an optimizer of its own, in one step.

Concept: the generator grows a picture from noise by copies and convolutions;
the discriminator shrinks one to a score. The step makes pictures once: the
discriminator learns from them and from real ones, the generator from the
scores of the discriminator as it was.

Source: Radford, Metz, Chintala, "DCGAN"; losses that do not saturate, of
Goodfellow et al.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import optax

from meshwright_models.model_shape import ModelShape
from meshwright_models.own_step import OwnStep, descend, trained
from meshwright_models.training_step import PyTree
from unusual import layers, pictures

_NOISE = 64


def double(x: jax.Array) -> jax.Array:
    return jnp.repeat(jnp.repeat(x, 2, axis=1), 2, axis=2)


def generate(params: PyTree, noise: jax.Array) -> jax.Array:
    """noise ``[b, ...]`` to pictures."""
    x = jnp.einsum("bz,zyxc->byxc", noise, params["seed"])
    for taps in params["grow"]:
        x = pictures.convolve(double(jax.nn.silu(layers.normalized(x))), taps)
    return jnp.tanh(pictures.convolve(jax.nn.silu(x), params["paint"]))


def judge(params: PyTree, image: jax.Array) -> jax.Array:
    """pictures to scores ``[b]``, high where they look real."""
    x = pictures.convolve(image, params["stem"])
    for taps in params["shrink"]:
        x = pictures.convolve(jax.nn.leaky_relu(x, 0.2), taps, stride=2)
    flat = jax.nn.leaky_relu(x, 0.2).reshape(x.shape[0], -1)
    return (flat @ params["score"])[:, 0]


def build(name: str, shape: ModelShape) -> OwnStep:
    c, k, last = shape.hidden, pictures.CHANNELS, shape.levels - 1
    wide, low = c * 2**last, shape.image // 2**last
    maker, critic = optax.adam(2e-4, b1=0.5), optax.adam(4e-4, b1=0.5)
    generator = {
        "seed": layers.weight(_NOISE, low, low, wide),
        "grow": [
            layers.weight(3, 3, c * 2**level, c * 2 ** (level - 1))
            for level in range(last, 0, -1)
        ],
        "paint": layers.weight(3, 3, c, k),
    }
    discriminator = {
        "stem": layers.weight(3, 3, k, c),
        "shrink": [
            layers.weight(3, 3, c * 2**level, c * 2 ** (level + 1))
            for level in range(last)
        ],
        "score": layers.weight(low * low * wide, 1),
    }

    def step(state: PyTree, frozen: PyTree, batch: PyTree) -> tuple:
        params, rival = state["maker"]["params"], state["critic"]["params"]
        made, back = jax.vjp(lambda it: generate(it, batch["noise"]), params)

        def critic_loss(own: PyTree) -> jax.Array:
            both = judge(own, jnp.concatenate([batch["image"], made]))
            real, fake = jnp.split(both, 2)
            return jnp.mean(jax.nn.softplus(-real) + jax.nn.softplus(fake))

        def maker_loss(image: jax.Array) -> jax.Array:
            return jnp.mean(jax.nn.softplus(-judge(rival, image)))

        worse, wanted = jax.value_and_grad(critic_loss)(rival)
        better, seen = jax.value_and_grad(maker_loss)(made)
        new = {
            "critic": descend(state["critic"], wanted, critic),
            "maker": descend(state["maker"], back(seen)[0], maker),
        }
        return new, {"critic": worse, "maker": better}

    return OwnStep(
        name=name,
        state={
            "critic": trained(discriminator, critic),
            "maker": trained(generator, maker),
        },
        batch={
            "image": pictures.pixels(shape),
            "noise": layers.weight(shape.batch, _NOISE),
        },
        step=step,
    )
