"""Language models that mix tokens by convolutions as long as the sequence.

Concept: a causal convolution of every channel with a filter of its own, by
Fourier transforms of twice the length. ``s4``: the filter is the impulse
response of a diagonal state space. ``hyena``: filters come from an MLP over
positions under a decaying window, and products with the input stand between
two of them.

Shapes: b batch, s tokens, m hidden, n states of a channel.

Source: Gu, Gupta, Goel, Ré, "S4D", section 3 (lin); Poli et al., "Hyena
Hierarchy", section 3.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import Model, PyTree
from unusual import language, layers

_STATES = 8
_BANDS = 8
_FILTER_WIDTH = 32
_TAPS = 3


def long_convolve(x: jax.Array, taps: jax.Array) -> jax.Array:
    """Causal, channel by channel; x ``[b, s, m]``, taps ``[s, m]``."""
    seq = x.shape[1]
    spectrum = jnp.fft.rfft(x, n=2 * seq, axis=1)
    spectrum = spectrum * jnp.fft.rfft(taps, n=2 * seq, axis=0)
    return jnp.fft.irfft(spectrum, n=2 * seq, axis=1)[:, :seq]


def s4_filter(layer: PyTree, seq: int) -> jax.Array:
    """Impulse responses ``[s, m]``; complex numbers as cosines and sines."""
    step = jnp.exp(layer["log_step"])[:, None]
    decay = -jnp.exp(layer["log_decay"]) * step
    turn = math.pi * jnp.arange(_STATES) * step
    time = jnp.arange(seq, dtype=step.dtype)[:, None, None]
    size = jnp.exp(decay * time)
    real = layer["out_real"] * jnp.cos(turn * time)
    imaginary = layer["out_imaginary"] * jnp.sin(turn * time)
    return 2 * jnp.sum(size * step * (real - imaginary), axis=-1)


def s4_params(shape: ModelShape) -> PyTree:
    m = shape.hidden
    return {
        "norm": layers.norm_params(m),
        "log_step": layers.weight(m),
        "log_decay": layers.weight(m, _STATES),
        "out_real": layers.weight(m, _STATES),
        "out_imaginary": layers.weight(m, _STATES),
        "pass": layers.weight(m),
        "mix": layers.dense_params(m, 2 * m),
    }


def s4_layer(layer: PyTree, x: jax.Array) -> jax.Array:
    normed = layers.layer_norm(layer["norm"], x)
    y = long_convolve(normed, s4_filter(layer, x.shape[1]))
    y = jax.nn.gelu(y + layer["pass"] * normed)
    left, right = jnp.split(layers.dense(layer["mix"], y), 2, axis=-1)
    return x + left * jax.nn.sigmoid(right)


def hyena_filters(layer: PyTree, seq: int) -> jax.Array:
    """Both filters, ``[s, 2, m]``."""
    line = jnp.linspace(0.0, 1.0, seq)[:, None]
    angles = 2 * math.pi * line * jnp.arange(1, _BANDS + 1)
    places = [line, jnp.sin(angles), jnp.cos(angles)]
    hidden = layers.dense(layer["in"], jnp.concatenate(places, axis=-1))
    taps = jnp.sin(hidden) @ layer["out"]
    size = taps.shape[-1] // 2
    rates = jnp.linspace(1.0, 8.0, size)
    return taps.reshape(seq, 2, size) * jnp.exp(-line * rates)[:, None]


def hyena_params(shape: ModelShape) -> PyTree:
    m = shape.hidden
    return {
        "norm": layers.norm_params(m),
        "in": layers.weight(m, 3 * m),
        "taps": layers.weight(_TAPS, 1, 3 * m),
        "filters": {
            "in": layers.dense_params(1 + 2 * _BANDS, _FILTER_WIDTH),
            "out": layers.weight(_FILTER_WIDTH, 2 * m),
        },
        "filter_bias": layers.weight(2, m),
        "out": layers.weight(m, m),
        "mlp_norm": layers.norm_params(m),
        "mlp": layers.mlp_params(m, shape.ffn),
    }


def hyena_layer(layer: PyTree, x: jax.Array) -> jax.Array:
    normed = layers.layer_norm(layer["norm"], x)
    mixed = layers.causal_convolve(normed @ layer["in"], layer["taps"])
    first, second, value = jnp.split(mixed, 3, axis=-1)
    filters = hyena_filters(layer["filters"], x.shape[1])
    for number, gate in enumerate((first, second)):
        bias = layer["filter_bias"][number] * value
        value = gate * (long_convolve(value, filters[:, number]) + bias)
    x = x + value @ layer["out"]
    return x + layers.mlp(
        layer["mlp"], layers.layer_norm(layer["mlp_norm"], x)
    )


def build(name: str, shape: ModelShape) -> Model:
    params, layer = {
        "s4": (s4_params, s4_layer),
        "hyena": (hyena_params, hyena_layer),
    }[name]
    return language.build(name, shape, [params(shape)] * shape.layers, layer)
