"""FNet: tokens mixed by a Fourier transform instead of attention.

Concept: the real part of a transform over tokens and hidden stands where
attention would; nothing in it is learned. Every token is predicted.

Source: Lee-Thorp et al., "FNet: Mixing Tokens with Fourier Transforms".
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import Model, PyTree
from unusual import language, layers


def fourier_block(layer: PyTree, x: jax.Array) -> jax.Array:
    """x ``[b, s, m]``."""
    mixed = jnp.real(jnp.fft.fft2(x, axes=(1, 2), norm="ortho"))
    x = layers.layer_norm(layer["mixing_norm"], x + mixed)
    return layers.layer_norm(layer["mlp_norm"], x + layers.mlp(layer["mlp"], x))


def build(name: str, shape: ModelShape) -> Model:
    layer = {
        "mixing_norm": layers.norm_params(shape.hidden),
        "mlp_norm": layers.norm_params(shape.hidden),
        "mlp": layers.mlp_params(shape.hidden, shape.ffn),
    }
    return language.build(
        name, shape, [layer] * shape.layers, fourier_block
    )
