"""Whitened views: two pictures of one scene agree once nothing correlates.

Concept: an encoder reads two views; their vectors are whitened over the batch
by the Cholesky factor of their covariance, solved as a triangle, and the loss
is how far the whitened views of a scene are apart. Gradients pass the factor.

Shapes: v vectors of both views, m hidden, z whitened.

Source: Ermolov et al., "Whitening for Self-Supervised Representation
Learning"; Siarohin et al., "Whitening and Coloring" for the triangle.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import Batch, Model, PyTree
from unusual import layers, pictures

_WHITENED = 8
_RIDGE = 1e-2


def whitened(x: jax.Array) -> jax.Array:
    """x ``[v, z]`` to the same with mean 0 and covariance about 1."""
    x = x - jnp.mean(x, axis=0)
    covariance = x.T @ x / (x.shape[0] - 1)
    covariance = covariance + _RIDGE * jnp.eye(x.shape[1])
    factor = jnp.linalg.cholesky(covariance)
    solved = jax.lax.linalg.triangular_solve(
        factor, x.T, left_side=True, lower=True
    )
    return solved.T


def build(name: str, shape: ModelShape) -> Model:
    m = shape.hidden

    def vectors(params: PyTree, image: jax.Array) -> jax.Array:
        x = pictures.patches(image, shape.patch)
        x = layers.dense(params["stem"], x)
        for one in params["layers"]:
            x = layers.block(one, x)
        x = jnp.mean(layers.layer_norm(params["norm"], x), axis=1)
        return layers.dense(params["project"], x)

    def loss(params: PyTree, batch: Batch) -> jax.Array:
        both = jnp.concatenate([batch["first"], batch["second"]])
        first, second = jnp.split(whitened(vectors(params, both)), 2)
        return jnp.mean(jnp.sum(jnp.square(first - second), axis=-1))

    return Model(
        name=name,
        params={
            "stem": layers.dense_params(pictures.patch_size(shape), m),
            "layers": [layers.block_params(shape)] * shape.layers,
            "norm": layers.norm_params(m),
            "project": layers.dense_params(m, _WHITENED),
        },
        batch={
            "first": pictures.pixels(shape),
            "second": pictures.pixels(shape),
        },
        loss=loss,
        platform="tpu",
    )
