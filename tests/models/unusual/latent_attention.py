"""A decoder whose keys and values come from one small latent per token.

Concept: keys and values of all heads are projected from a latent a quarter as
wide as the residual; queries from another. Positions enter by a rotary part
beside: each head's own in the queries, one for all heads in the keys.

Shapes: b batch, s tokens, m hidden, n heads, d head size, r rotary size, c
latent.

Source: DeepSeek-AI, "DeepSeek-V2", section 2.1 (multi-head latent attention).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from meshwright_models import decoder
from meshwright_models.model_shape import ModelShape
from meshwright_models.moe import rms_norm
from meshwright_models.training_step import Model, PyTree
from unusual import language, layers


def latent_attention(layer: PyTree, x: jax.Array) -> jax.Array:
    """x ``[b, s, m]``."""
    latent = rms_norm(x @ layer["shrink"], layer["latent_norm"])
    asked = rms_norm(x @ layer["query_shrink"], layer["query_norm"])
    query = jnp.einsum("bsc,cnd->bsnd", asked, layer["query"])
    turned = jnp.einsum("bsc,cnr->bsnr", asked, layer["query_rotary"])
    turned = decoder.rotary(turned)
    key = jnp.einsum("bsc,cnd->bsnd", latent, layer["key"])
    value = jnp.einsum("bsc,cnd->bsnd", latent, layer["value"])
    shared = decoder.rotary((x @ layer["key_rotary"])[:, :, None])
    shared = jnp.broadcast_to(shared, turned.shape)
    context = layers.attend(
        jnp.concatenate([query, turned], axis=-1),
        jnp.concatenate([key, shared], axis=-1),
        value,
        layers.causal_bias(x.shape[1]),
    )
    return jnp.einsum("bsnd,ndm->bsm", context, layer["output"])


def build(name: str, shape: ModelShape) -> Model:
    m, n, d = shape.hidden, shape.heads, shape.head_dim
    narrow, r = max(1, m // 4), max(2, d // 2)
    ffn = decoder.layer_params(shape)
    one = {name: ffn[name] for name in ("gate", "up", "down", "ffn_norm")}
    one |= {
        "attention_norm": layers.weight(m),
        "shrink": layers.weight(m, narrow),
        "latent_norm": layers.weight(narrow),
        "query_shrink": layers.weight(m, 2 * narrow),
        "query_norm": layers.weight(2 * narrow),
        "query": layers.weight(2 * narrow, n, d),
        "query_rotary": layers.weight(2 * narrow, n, r),
        "key": layers.weight(narrow, n, d),
        "key_rotary": layers.weight(m, r),
        "value": layers.weight(narrow, n, d),
        "output": layers.weight(n, d, m),
    }

    def layer(layer: PyTree, x: jax.Array) -> jax.Array:
        x = x + latent_attention(layer, rms_norm(x, layer["attention_norm"]))
        normed = rms_norm(x, layer["ffn_norm"])
        return x + decoder.feed_forward(layer, normed)

    return language.build(name, shape, [one] * shape.layers, layer)
