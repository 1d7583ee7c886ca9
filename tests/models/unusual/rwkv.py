"""RWKV: attention as a recurrence per channel, and tokens mixed with the last.

Shapes: b batch, s tokens, m hidden, h feed-forward width.

Source: Peng et al., "RWKV", section 3 (version 4); the weighted mean carries
its largest exponent, as its appendix on stability says.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import Model, PyTree
from unusual import language, layers

_LOWEST = -1e30


def previous(x: jax.Array) -> jax.Array:
    """Every token's predecessor, zeros for the first; x ``[b, s, m]``."""
    return jnp.pad(x, ((0, 0), (1, 0), (0, 0)))[:, :-1]


def weighted_past(
    key: jax.Array, value: jax.Array, decay: jax.Array, bonus: jax.Array
) -> jax.Array:
    """Means of the values so far under exp(key), fading; ``[b, s, m]``."""

    def tick(carry: Any, now: Any) -> tuple[Any, jax.Array]:
        top, bottom, most = carry
        k, v = now
        peak = jnp.maximum(most, bonus + k)
        old, new = jnp.exp(most - peak), jnp.exp(bonus + k - peak)
        mean = (old * top + new * v) / (old * bottom + new)
        peak = jnp.maximum(most + decay, k)
        old, new = jnp.exp(most + decay - peak), jnp.exp(k - peak)
        return (old * top + new * v, old * bottom + new, peak), mean

    zeros = jnp.zeros_like(key[:, 0])
    start = (zeros, zeros, jnp.full_like(zeros, _LOWEST))
    turned = (jnp.swapaxes(key, 0, 1), jnp.swapaxes(value, 0, 1))
    _, means = jax.lax.scan(tick, start, turned)
    return jnp.swapaxes(means, 0, 1)


def rwkv_layer(layer: PyTree, x: jax.Array) -> jax.Array:
    """x ``[b, s, m]``."""

    def mixed(normed: jax.Array, share: jax.Array) -> jax.Array:
        return normed * share + previous(normed) * (1.0 - share)

    time, channel = layer["time"], layer["channel"]
    normed = layers.layer_norm(layer["time_norm"], x)
    key = mixed(normed, time["key_share"]) @ time["key"]
    value = mixed(normed, time["value_share"]) @ time["value"]
    gate = mixed(normed, time["gate_share"]) @ time["gate"]
    decay = -jnp.exp(time["log_decay"])
    means = weighted_past(key, value, decay, time["bonus"])
    x = x + (jax.nn.sigmoid(gate) * means) @ time["output"]

    normed = layers.layer_norm(layer["channel_norm"], x)
    key = mixed(normed, channel["key_share"]) @ channel["key"]
    gate = mixed(normed, channel["gate_share"]) @ channel["gate"]
    hidden = jnp.square(jax.nn.relu(key))
    return x + jax.nn.sigmoid(gate) * (hidden @ channel["value"])


def build(name: str, shape: ModelShape) -> Model:
    m, h = shape.hidden, shape.ffn
    vector, square = layers.weight(m), layers.weight(m, m)
    time = dict.fromkeys(("key", "value", "gate", "output"), square)
    time |= dict.fromkeys(
        ("key_share", "value_share", "gate_share", "log_decay", "bonus"),
        vector,
    )
    layer = {
        "time_norm": layers.norm_params(m),
        "time": time,
        "channel_norm": layers.norm_params(m),
        "channel": {
            "key_share": vector,
            "gate_share": vector,
            "key": layers.weight(m, h),
            "value": layers.weight(h, m),
            "gate": square,
        },
    }
    return language.build(name, shape, [layer] * shape.layers, rwkv_layer)
