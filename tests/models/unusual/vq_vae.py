"""VQ-VAE: pictures through a codebook that follows what is read from it.

Concept: convolutions shrink a picture to vectors, each is replaced by the
nearest of the codebook, and transposed convolutions grow it again. Gradients
pass the codebook as if it were not there; the codebook is a moving average of
the vectors that chose each entry, and no gradient reaches it.

Shapes: b batch, y and x pixels, v vectors of the batch, m hidden, k entries.

Source: van den Oord et al., "Neural Discrete Representation Learning", 3.2 and
appendix A.1.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import optax

from meshwright_models.model_shape import ModelShape
from meshwright_models.own_step import OwnStep, descend, trained
from meshwright_models.training_step import PyTree
from unusual import layers, pictures

_COMMITMENT = 0.25
_DECAY = 0.99
_EPSILON = 1e-5


def nearest(book: jax.Array, x: jax.Array) -> jax.Array:
    """book ``[k, m]``, x ``[v, m]`` to the entry of each, ``[v]``."""
    apart = jnp.sum(jnp.square(book), axis=-1) - 2.0 * x @ book.T
    return jnp.argmin(apart, axis=-1)


def followed(books: PyTree, x: jax.Array, chosen: jax.Array) -> PyTree:
    """The moving averages after vectors ``[v, m]`` chose entries ``[v]``."""
    count = books["sizes"].shape[0]
    sizes = jax.ops.segment_sum(jnp.ones(chosen.shape), chosen, count)
    sums = jax.ops.segment_sum(x, chosen, count)
    return {
        "sizes": _DECAY * books["sizes"] + (1.0 - _DECAY) * sizes,
        "sums": _DECAY * books["sums"] + (1.0 - _DECAY) * sums,
    }


def entries(books: PyTree) -> jax.Array:
    sizes = jnp.square(books["sizes"]) + _EPSILON
    return books["sums"] * (books["sizes"] / sizes)[:, None]


def residual(layer: PyTree, x: jax.Array) -> jax.Array:
    inner = pictures.convolve(jax.nn.relu(x), layer["wide"])
    return x + pictures.convolve(jax.nn.relu(inner), layer["narrow"])


def encode(params: PyTree, image: jax.Array) -> jax.Array:
    x = pictures.convolve(image, params["stem"], stride=2)
    x = pictures.convolve(jax.nn.relu(x), params["shrink"], stride=2)
    for layer in params["layers"]:
        x = residual(layer, x)
    return x


def decode(params: PyTree, x: jax.Array) -> jax.Array:
    for layer in params["layers"]:
        x = residual(layer, x)
    for taps in (params["grow"], params["paint"]):
        x = jax.lax.conv_transpose(jax.nn.relu(x), taps, (2, 2), "SAME")
    return x


def build(name: str, shape: ModelShape) -> OwnStep:
    m, k = shape.hidden, pictures.CHANNELS
    optimizer = optax.adam(1e-3)
    layer = {
        "wide": layers.weight(3, 3, m, m),
        "narrow": layers.weight(1, 1, m, m),
    }
    params = {
        "encoder": {
            "stem": layers.weight(4, 4, k, m),
            "shrink": layers.weight(4, 4, m, m),
            "layers": [layer] * shape.layers,
        },
        "decoder": {
            "layers": [layer] * shape.layers,
            "grow": layers.weight(4, 4, m, m),
            "paint": layers.weight(4, 4, m, k),
        },
    }

    def step(state: PyTree, frozen: PyTree, batch: PyTree) -> tuple:
        image, books = batch["image"], state["books"]

        def loss(params: PyTree) -> tuple:
            x = encode(params["encoder"], image)
            flat = x.reshape(-1, m)
            book = entries(books)
            chosen = nearest(book, jax.lax.stop_gradient(flat))
            coded = book[chosen].reshape(x.shape)
            missed = jnp.mean(jnp.square(x - coded))
            through = x + jax.lax.stop_gradient(coded - x)
            made = decode(params["decoder"], through)
            lost = jnp.mean(jnp.square(made - image))
            return lost + _COMMITMENT * missed, (flat, chosen)

        (lost, read), gradients = jax.value_and_grad(loss, has_aux=True)(
            state["model"]["params"]
        )
        new = {
            "model": descend(state["model"], gradients, optimizer),
            "books": followed(books, *read),
        }
        return new, lost

    return OwnStep(
        name=name,
        state={
            "model": trained(params, optimizer),
            "books": {
                "sizes": layers.weight(shape.vocab),
                "sums": layers.weight(shape.vocab, m),
            },
        },
        batch={"image": pictures.pixels(shape)},
        step=step,
    )
