"""A GShard-style mixture-of-experts decoder in plain JAX.

Concept: a pre-norm causal decoder whose feed-forward is a top-2 mixture of
experts, in every layer (``moe``) or in every other one (``gshard``). Each
sequence is one *group* of tokens that are routed together; each expert takes
at most ``capacity`` tokens of a group, in order of position, first choices
before second ones, and tokens beyond it pass by on the residual. Routing is
dense: a one-hot *combine* tensor turns dispatch and return into contractions.

Shapes: g groups (the batch), s tokens of a group, m hidden, n heads, d head
size, e experts, c capacity, h expert width, v vocabulary.

Source: Lepikhin et al., "GShard", section 2.2 and Algorithm 1. We differ in
that a second choice is always dispatched where there is room, not at random.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import (
    Batch,
    Model,
    PyTree,
    cross_entropy,
    token_batch,
)

AUX_LOSS_WEIGHT = 0.01
_EPSILON = 1e-6
_MASKED_SCORE = -1e9


def expert_capacity(shape: ModelShape) -> int:
    """Tokens of one group that one expert takes."""
    even_share = 2 * shape.seq / shape.experts
    return max(1, math.ceil(even_share * shape.capacity_factor))


def has_experts(name: str, layer: int) -> bool:
    """GShard's first layer is dense, its second has experts, and so on."""
    return name == "moe" or layer % 2 == 1


def abstract_params(shape: ModelShape, name: str = "moe") -> PyTree:
    """The parameter tree as shapes."""

    def weight(*dims: int) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(dims, jnp.float32)

    m, n, d = shape.hidden, shape.heads, shape.head_dim
    e, h = shape.experts, shape.ffn
    attention_part = {
        "attention_norm": weight(m),
        "query": weight(m, n, d),
        "key": weight(m, n, d),
        "value": weight(m, n, d),
        "output": weight(n, d, m),
    }
    experts = {
        "moe_norm": weight(m),
        "router": weight(m, e),
        "expert_in": weight(e, m, h),
        "expert_out": weight(e, h, m),
    }
    dense = {
        "ffn_norm": weight(m),
        "dense_in": weight(m, h),
        "dense_out": weight(h, m),
    }
    return {
        "embedding": weight(shape.vocab, m),
        "positions": weight(shape.seq, m),
        "layers": [
            attention_part | (experts if has_experts(name, layer) else dense)
            for layer in range(shape.layers)
        ],
        "final_norm": weight(m),
        "head": weight(m, shape.vocab),
    }


def rms_norm(x: jax.Array, scale: jax.Array) -> jax.Array:
    mean_square = jnp.mean(jnp.square(x), axis=-1, keepdims=True)
    return x * jax.lax.rsqrt(mean_square + _EPSILON) * scale


def attention(layer: PyTree, x: jax.Array, mask: jax.Array) -> jax.Array:
    """Causal self-attention; x ``[g, s, m]``, mask ``[g, 1, s, s]``."""
    query = jnp.einsum("gsm,mnd->gsnd", x, layer["query"])
    key = jnp.einsum("gsm,mnd->gsnd", x, layer["key"])
    value = jnp.einsum("gsm,mnd->gsnd", x, layer["value"])
    scores = jnp.einsum("gsnd,gtnd->gnst", query, key)
    scores = scores / math.sqrt(query.shape[-1])
    weights = jax.nn.softmax(jnp.where(mask, scores, _MASKED_SCORE), axis=-1)
    context = jnp.einsum("gnst,gtnd->gsnd", weights, value)
    return jnp.einsum("gsnd,ndm->gsm", context, layer["output"])


def top2_gating(
    gates: jax.Array, capacity: int
) -> tuple[jax.Array, jax.Array]:
    """Chooses two experts per token.

    gates ``[g, s, e]``, a distribution over the experts. Returns the combine
    tensor ``[g, s, e, c]``, the weight with which a token's result comes back
    from its slot of its expert (0 almost everywhere), and the load-balancing
    loss, least where the experts are used evenly.
    """
    experts = gates.shape[-1]
    first = jax.nn.one_hot(jnp.argmax(gates, axis=-1), experts)
    others = gates * (1.0 - first)
    second = jax.nn.one_hot(jnp.argmax(others, axis=-1), experts)

    used = jnp.mean(first, axis=1)
    wanted = jnp.mean(gates, axis=1)
    balance_loss = jnp.mean(used * wanted) * experts * experts

    # A token's slot is how many tokens chose its expert before it.
    first_slot = (jnp.cumsum(first, axis=1) - first) * first
    first_total = jnp.sum(first, axis=1, keepdims=True)
    second_slot = jnp.cumsum(second, axis=1) - second + first_total
    second_slot = second_slot * second
    first = first * (first_slot < capacity)
    second = second * (second_slot < capacity)

    first_gate = jnp.sum(gates * first, axis=-1)
    second_gate = jnp.sum(gates * second, axis=-1)
    total = first_gate + second_gate + _EPSILON

    def spread(gate: jax.Array, chosen: jax.Array, slot: jax.Array):
        slots = jnp.sum(slot, axis=-1).astype(jnp.int32)
        slot_one_hot = jax.nn.one_hot(slots, capacity)
        weighted = (gate / total)[..., None] * chosen
        return weighted[..., None] * slot_one_hot[:, :, None, :]

    combine = spread(first_gate, first, first_slot)
    combine = combine + spread(second_gate, second, second_slot)
    return combine, balance_loss


def moe_ffn(
    layer: PyTree, x: jax.Array, capacity: int
) -> tuple[jax.Array, jax.Array]:
    """The mixture of experts; x and the result ``[g, s, m]``, and its loss."""
    router = jnp.einsum("gsm,me->gse", x, layer["router"])
    combine, balance_loss = top2_gating(jax.nn.softmax(router), capacity)
    dispatch = (combine > 0.0).astype(x.dtype)
    expert_inputs = jnp.einsum("gsec,gsm->egcm", dispatch, x)
    hidden = jnp.einsum("egcm,emh->egch", expert_inputs, layer["expert_in"])
    hidden = jax.nn.gelu(hidden)
    outputs = jnp.einsum("egch,ehm->egcm", hidden, layer["expert_out"])
    return jnp.einsum("gsec,egcm->gsm", combine, outputs), balance_loss


def dense_ffn(layer: PyTree, x: jax.Array) -> jax.Array:
    hidden = jax.nn.gelu(jnp.einsum("gsm,mh->gsh", x, layer["dense_in"]))
    return jnp.einsum("gsh,hm->gsm", hidden, layer["dense_out"])


def build(shape: ModelShape, name: str = "moe") -> Model:
    """``moe`` or ``gshard`` in the given sizes; its head is not tied."""
    capacity = expert_capacity(shape)

    def loss(params: PyTree, batch: Batch) -> jax.Array:
        x = params["embedding"][batch["input_ids"]] + params["positions"]
        causal = jnp.tril(jnp.ones((shape.seq, shape.seq), dtype=bool))
        padding = batch["attention_mask"].astype(bool)
        mask = causal[None, None] & padding[:, None, None, :]
        balance_loss = jnp.zeros((), x.dtype)
        for layer in params["layers"]:
            normed = rms_norm(x, layer["attention_norm"])
            x = x + attention(layer, normed, mask)
            if "router" not in layer:
                normed = rms_norm(x, layer["ffn_norm"])
                x = x + dense_ffn(layer, normed)
                continue
            normed = rms_norm(x, layer["moe_norm"])
            mixed, layer_loss = moe_ffn(layer, normed, capacity)
            x = x + mixed
            balance_loss = balance_loss + layer_loss
        x = rms_norm(x, params["final_norm"])
        logits = jnp.einsum("gsm,mv->gsv", x, params["head"])
        token_loss = cross_entropy(logits, batch["labels"])
        return token_loss + AUX_LOSS_WEIGHT * balance_loss

    return Model(
        name=name,
        params=abstract_params(shape, name),
        batch=token_batch(shape, "input_ids", "attention_mask", "labels"),
        loss=loss,
    )
