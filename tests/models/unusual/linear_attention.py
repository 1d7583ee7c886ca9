"""A language model of linear attention, computed chunk by chunk.

Concept: within a chunk tokens meet as in softmax attention without softmax;
what came before the chunk is one matrix per head, which a scan carries and
lets decay, each head at its own rate.

Shapes: b batch, s tokens, w tokens of a chunk, n heads, d head size.

Source: Katharopoulos et al., "Transformers are RNNs"; chunks and decay as in
Sun et al., "Retentive Network", section 2.3.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import Model, PyTree
from unusual import language, layers


def feature(x: jax.Array) -> jax.Array:
    return jax.nn.elu(x) + 1.0


def retain(
    query: jax.Array, key: jax.Array, value: jax.Array, chunk: int
) -> jax.Array:
    """All ``[b, s, n, d]``; a sum over the past, decayed by its age."""
    batch, seq, heads, size = query.shape
    decay = 1.0 - 2.0 ** (-3.0 - jnp.arange(heads))
    place = jnp.arange(chunk)
    age = place[:, None] - place[None, :]
    inside = jnp.where(age >= 0, decay[:, None, None] ** jnp.abs(age), 0.0)
    since_start = decay[None] ** (place[:, None] + 1)
    until_end = decay[None] ** (chunk - 1 - place[:, None])

    def chunks(x: jax.Array) -> jax.Array:
        cut = x.reshape(batch, seq // chunk, chunk, heads, size)
        return jnp.moveaxis(cut, 1, 0)

    def run(past: jax.Array, now: tuple) -> tuple[jax.Array, jax.Array]:
        q, k, v = now
        met = jnp.einsum("bsnd,btnd->bnst", q, k) * inside
        near = jnp.einsum("bnst,btnd->bsnd", met, v)
        seen = q * since_start[..., None]
        far = jnp.einsum("bsnd,bnde->bsne", seen, past)
        kept = past * (decay**chunk)[:, None, None]
        added = jnp.einsum("btnd,btne->bnde", k * until_end[..., None], v)
        return kept + added, near + far

    start = jnp.zeros((batch, heads, size, size), query.dtype)
    _, result = jax.lax.scan(
        run, start, (chunks(query), chunks(key), chunks(value))
    )
    return jnp.moveaxis(result, 0, 1).reshape(query.shape)


def build(name: str, shape: ModelShape) -> Model:
    chunk = shape.window or max(1, shape.seq // 4)
    if shape.seq % chunk:
        raise ValueError(f"seq {shape.seq} is no multiple of window {chunk}")

    def layer(layer: PyTree, x: jax.Array) -> jax.Array:
        own = layer["attention"]
        normed = layers.layer_norm(layer["attention_norm"], x)
        query = feature(jnp.einsum("bsm,mnd->bsnd", normed, own["query"]))
        key = feature(jnp.einsum("bsm,mnd->bsnd", normed, own["key"]))
        value = jnp.einsum("bsm,mnd->bsnd", normed, own["value"])
        kept = layers.normalized(retain(query, key, value, chunk))
        x = x + jnp.einsum("bsnd,ndm->bsm", kept, own["output"])
        normed = layers.layer_norm(layer["mlp_norm"], x)
        return x + layers.mlp(layer["mlp"], normed)

    blocks = [layers.block_params(shape) for _ in range(shape.layers)]
    return language.build(name, shape, blocks, layer)
