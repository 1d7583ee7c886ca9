"""A radiance field: points along rays, an MLP, and light summed up.

Shapes: b rays (``batch``), s points of a ray (``seq``), m hidden.

Source: Mildenhall et al., "NeRF", sections 4 and 5.1; one network, points
given by the batch.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import Batch, Model, PyTree
from unusual import layers

_POINT_BANDS = 6
_VIEW_BANDS = 4


def encoded(x: jax.Array, bands: int) -> jax.Array:
    """``[..., 3]`` to ``[..., 3 + 6 bands]``."""
    angles = x[..., None] * (2.0 ** jnp.arange(bands)) * math.pi
    angles = angles.reshape(*x.shape[:-1], -1)
    return jnp.concatenate([x, jnp.sin(angles), jnp.cos(angles)], axis=-1)


def render(density: jax.Array, colour: jax.Array, depth: jax.Array):
    """density ``[b, s]``, colour ``[b, s, 3]``, depth ``[b, s]``."""
    gaps = jnp.diff(depth, axis=1, append=depth[:, -1:] + 1.0)
    blocked = density * gaps
    passed = jnp.exp(-(jnp.cumsum(blocked, axis=1) - blocked))
    share = passed * (1.0 - jnp.exp(-blocked))
    return jnp.einsum("bs,bsc->bc", share, colour)


def field(params: PyTree, points: jax.Array, views: jax.Array) -> tuple:
    seen = encoded(points, _POINT_BANDS)
    x = seen
    for number, layer in enumerate(params["trunk"]):
        if number == len(params["trunk"]) // 2:
            x = jnp.concatenate([x, seen], axis=-1)
        x = jax.nn.relu(layers.dense(layer, x))
    density = jax.nn.softplus(layers.dense(params["density"], x)[..., 0])
    views = encoded(views, _VIEW_BANDS)[:, None]
    views = jnp.broadcast_to(views, (*x.shape[:2], views.shape[-1]))
    both = jnp.concatenate([layers.dense(params["feature"], x), views], -1)
    hidden = jax.nn.relu(layers.dense(params["view"], both))
    return density, jax.nn.sigmoid(layers.dense(params["colour"], hidden))


def build(name: str, shape: ModelShape) -> Model:
    """Twice ``layers`` dense layers, the point again before the second half."""
    m, b, s = shape.hidden, shape.batch, shape.seq
    point, view = 3 + 6 * _POINT_BANDS, 3 + 6 * _VIEW_BANDS
    sizes = [point] + [m] * (2 * shape.layers - 1)
    sizes[shape.layers] += point

    def loss(params: PyTree, batch: Batch) -> jax.Array:
        depth = jnp.cumsum(jax.nn.softplus(batch["gaps"]), axis=1) / s
        away = batch["views"][:, None] * depth[..., None]
        points = batch["origins"][:, None] + away
        density, colour = field(params, points, batch["views"])
        painted = render(density, colour, depth)
        return jnp.mean(jnp.square(painted - batch["colours"]))

    return Model(
        name=name,
        params={
            "trunk": [layers.dense_params(size, m) for size in sizes],
            "density": layers.dense_params(m, 1),
            "feature": layers.dense_params(m, m),
            "view": layers.dense_params(m + view, m // 2),
            "colour": layers.dense_params(m // 2, 3),
        },
        batch=dict.fromkeys(
            ("origins", "views", "colours"), layers.weight(b, 3)
        )
        | {"gaps": layers.weight(b, s)},
        loss=loss,
    )
