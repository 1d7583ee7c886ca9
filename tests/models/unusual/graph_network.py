"""A graph network: edges read both ends, nodes read the sum of their edges.

Concept: one large graph of ``batch x seq`` nodes with four edges each. Every
layer updates edges, then nodes; the loss is a squared error per node.

Shapes: v nodes, e edges, m hidden.

Source: Battaglia et al., "Relational inductive biases", Algorithm 1, without
a global part.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import Batch, Model, PyTree
from unusual import layers

_FEATURES = 16
_EDGES_PER_NODE = 4


def pass_messages(
    layer: PyTree,
    nodes: jax.Array,
    edges: jax.Array,
    senders: jax.Array,
    receivers: jax.Array,
) -> tuple[jax.Array, jax.Array]:
    """nodes ``[v, m]``, edges ``[e, m]``, the ends ``[e]``."""
    ends = [edges, nodes[senders], nodes[receivers]]
    edges = edges + layers.mlp(layer["edge"], jnp.concatenate(ends, axis=-1))
    heard = jax.ops.segment_sum(edges, receivers, nodes.shape[0])
    sent = layers.layer_norm(layer["norm"], heard)
    update = layers.mlp(layer["node"], jnp.concatenate([nodes, sent], -1))
    return nodes + update, edges


def build(name: str, shape: ModelShape) -> Model:
    m, nodes = shape.hidden, shape.batch * shape.seq
    edges = _EDGES_PER_NODE * nodes
    layer = {
        "edge": layers.mlp_params(3 * m, shape.ffn, m),
        "norm": layers.norm_params(m),
        "node": layers.mlp_params(2 * m, shape.ffn, m),
    }

    def loss(params: PyTree, batch: Batch) -> jax.Array:
        x = layers.dense(params["node_stem"], batch["nodes"])
        e = layers.dense(params["edge_stem"], batch["edges"])
        for one in params["layers"]:
            x, e = pass_messages(
                one, x, e, batch["senders"], batch["receivers"]
            )
        guess = layers.dense(params["head"], x)
        return jnp.mean(jnp.square(guess - batch["target"]))

    return Model(
        name=name,
        params={
            "node_stem": layers.dense_params(_FEATURES, m),
            "edge_stem": layers.dense_params(_FEATURES, m),
            "layers": [layer for _ in range(shape.layers)],
            "head": layers.dense_params(m, _FEATURES),
        },
        batch={
            "nodes": layers.weight(nodes, _FEATURES),
            "edges": layers.weight(edges, _FEATURES),
            "senders": layers.integers(edges),
            "receivers": layers.integers(edges),
            "target": layers.weight(nodes, _FEATURES),
        },
        loss=loss,
    )
