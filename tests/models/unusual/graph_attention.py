"""Graph attention: a softmax over the edges that end in a node.

Concept: one graph of ``batch x seq`` nodes with four edges each. A score per
edge and head of both its ends; largest and sum of the scores that meet in a
node are segment reductions, and so is what it hears.

Shapes: v nodes, e edges, n heads, d head size.

Source: Velickovic et al., "Graph Attention Networks"; scores of Brody et al.,
"How Attentive are Graph Attention Networks?".
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import Batch, Model, PyTree
from unusual import layers

_FEATURES = 16
_EDGES_PER_NODE = 4


def segment_softmax(
    scores: jax.Array, owners: jax.Array, count: int
) -> jax.Array:
    """scores ``[e, n]``: softmax over the edges of each owner, by head."""
    largest = jax.ops.segment_max(scores, owners, count)
    scores = jnp.exp(scores - jax.lax.stop_gradient(largest)[owners])
    return scores / jax.ops.segment_sum(scores, owners, count)[owners]


def attend(
    layer: PyTree, x: jax.Array, senders: jax.Array, receivers: jax.Array
) -> jax.Array:
    """x ``[v, m]``, the ends of edges ``[e]``."""
    sent = jnp.einsum("vm,mnd->vnd", x, layer["send"])
    heard = jnp.einsum("vm,mnd->vnd", x, layer["hear"])
    both = jax.nn.leaky_relu(sent[senders] + heard[receivers], 0.2)
    scores = jnp.einsum("end,nd->en", both, layer["score"])
    weights = segment_softmax(scores, receivers, x.shape[0])
    messages = sent[senders] * weights[..., None]
    received = jax.ops.segment_sum(messages, receivers, x.shape[0])
    return jnp.einsum("vnd,ndm->vm", received, layer["output"])


def build(name: str, shape: ModelShape) -> Model:
    m, n, d = shape.hidden, shape.heads, shape.head_dim
    nodes = shape.batch * shape.seq
    layer = {
        "norm": layers.norm_params(m),
        "send": layers.weight(m, n, d),
        "hear": layers.weight(m, n, d),
        "score": layers.weight(n, d),
        "output": layers.weight(n, d, m),
        "mlp_norm": layers.norm_params(m),
        "mlp": layers.mlp_params(m, shape.ffn),
    }

    def loss(params: PyTree, batch: Batch) -> jax.Array:
        x = layers.dense(params["stem"], batch["nodes"])
        for one in params["layers"]:
            normed = layers.layer_norm(one["norm"], x)
            x = x + attend(one, normed, batch["senders"], batch["receivers"])
            normed = layers.layer_norm(one["mlp_norm"], x)
            x = x + layers.mlp(one["mlp"], normed)
        return layers.class_loss(
            layers.dense(params["head"], x), batch["labels"]
        )

    edges = _EDGES_PER_NODE * nodes
    return Model(
        name=name,
        params={
            "stem": layers.dense_params(_FEATURES, m),
            "layers": [layer] * shape.layers,
            "head": layers.dense_params(m, shape.vocab),
        },
        batch={
            "nodes": layers.weight(nodes, _FEATURES),
            "senders": layers.integers(edges),
            "receivers": layers.integers(edges),
            "labels": layers.integers(nodes),
        },
        loss=loss,
    )
