"""Detection as a set: queries of the best patches, matched one by one.

Concept: an encoder of patches scores each as an object; the best become the
queries of a decoder, each layer of which says a class and a box. Objects and
queries are matched greedily, the cheapest pair first; a query without an
object says so. All decoder layers learn.

Shapes: b batch, s patches, q queries, o objects, m hidden, c classes.

Source: Carion et al., "End-to-End Object Detection with Transformers"; queries
of Zhu et al., "Deformable DETR" (two stages); a greedy matching for theirs.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import Batch, Model, PyTree
from unusual import layers, pictures

_QUERIES = 8
_OBJECTS = 4
_BOX_WEIGHT = 5.0
_TAKEN = 1e6


def greedy_matching(cost: jax.Array) -> jax.Array:
    """cost ``[b, q, o]`` to 1 where a query is matched, each object once."""
    batch, queries, objects = cost.shape

    def match(carry: tuple, _: None) -> tuple:
        cost, pairs = carry
        best = jnp.argmin(cost.reshape(batch, -1), axis=-1)
        query = jax.nn.one_hot(best // objects, queries)[:, :, None]
        object_ = jax.nn.one_hot(best % objects, objects)[:, None, :]
        cost = cost + _TAKEN * jnp.maximum(query, object_)
        return (cost, pairs + query * object_), None

    start = (cost, jnp.zeros_like(cost))
    return jax.lax.scan(match, start, None, length=objects)[0][1]


def set_loss(
    scores: jax.Array, boxes: jax.Array, labels: jax.Array, wanted: jax.Array
) -> jax.Array:
    """scores ``[b, q, c + 1]``, boxes ``[b, q, 4]``; of objects: labels
    ``[b, o]``, boxes ``[b, o, 4]``. The last class is none."""
    spoken = jax.nn.log_softmax(scores)
    classes = jax.nn.one_hot(labels, scores.shape[-1], dtype=scores.dtype)
    said = -jnp.einsum("bqc,boc->bqo", spoken, classes)
    apart = jnp.abs(boxes[:, :, None] - wanted[:, None]).sum(-1)
    cost = said + _BOX_WEIGHT * apart
    pairs = greedy_matching(jax.lax.stop_gradient(cost))
    nothing = -spoken[..., -1] * (1.0 - pairs.sum(-1))
    return (jnp.sum(pairs * cost) + jnp.sum(nothing)) / labels.size


def decode(layer: PyTree, x: jax.Array, memory: jax.Array) -> jax.Array:
    normed = layers.layer_norm(layer["attention_norm"], x)
    x = x + layers.attention(layer["attention"], normed)
    normed = layers.layer_norm(layer["cross_norm"], x)
    x = x + layers.attention(layer["cross"], normed, memory)
    return x + layers.mlp(layer["mlp"], layers.layer_norm(layer["mlp_norm"], x))


def best_patches(memory: jax.Array, objectness: jax.Array) -> jax.Array:
    """memory ``[b, s, m]``, objectness ``[b, s]`` to ``[b, q, m]``."""
    scores, places = jax.lax.top_k(objectness, _QUERIES)
    chosen = jnp.take_along_axis(memory, places[..., None], axis=1)
    return chosen * jax.nn.sigmoid(scores)[..., None]


def build(name: str, shape: ModelShape) -> Model:
    m = shape.hidden
    decoder = layers.block_params(shape) | {
        "cross_norm": layers.norm_params(m),
        "cross": layers.attention_params(m, shape.heads),
    }

    def loss(params: PyTree, batch: Batch) -> jax.Array:
        x = pictures.patches(batch["image"], shape.patch)
        x = layers.dense(params["stem"], x) + params["places"]
        for one in params["encoder"]:
            x = layers.block(one, x)
        memory = layers.layer_norm(params["norm"], x)
        objectness = layers.dense(params["objectness"], memory)[..., 0]
        queries = best_patches(memory, objectness)
        lost = jnp.zeros(())
        for one in params["decoder"]:
            queries = decode(one, queries, memory)
            said = layers.dense(params["class"], queries)
            boxes = jax.nn.sigmoid(layers.mlp(params["box"], queries))
            lost += set_loss(said, boxes, batch["labels"], batch["boxes"])
        return lost

    return Model(
        name=name,
        params={
            "stem": layers.dense_params(pictures.patch_size(shape), m),
            "places": layers.weight(pictures.patch_count(shape), m),
            "encoder": [layers.block_params(shape)] * shape.layers,
            "norm": layers.norm_params(m),
            "objectness": layers.dense_params(m, 1),
            "decoder": [decoder] * shape.layers,
            "class": layers.dense_params(m, shape.vocab + 1),
            "box": layers.mlp_params(m, m, 4),
        },
        batch={
            "image": pictures.pixels(shape),
            "labels": layers.integers(shape.batch, _OBJECTS),
            "boxes": layers.weight(shape.batch, _OBJECTS, 4),
        },
        loss=loss,
    )
