"""Small training steps of the kinds that launchers meet."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 64
HIDDEN = 128
WORDS = 128
SEQUENCE = 16
BATCH = 4
LAYERS = 2


def norm(x, gain):
    return x * jax.lax.rsqrt((x**2).mean(-1, keepdims=True) + 1e-6) * gain


def layer(weights, x):
    heads = 4
    batch, sequence, width = x.shape
    h = norm(x, weights["n1"])
    q, k, v = (
        (h @ weights[name]).reshape(batch, sequence, heads, width // heads)
        for name in "qkv"
    )
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (width // heads) ** -0.5
    mask = np.tril(np.ones((sequence, sequence), bool))
    mixed = jax.nn.softmax(jnp.where(mask, scores, -1e9))
    h = jnp.einsum("bhqk,bkhd->bqhd", mixed, v).reshape(x.shape)
    x = x + h @ weights["o"]
    h = norm(x, weights["n2"])
    gate = jax.nn.silu(h @ weights["gate"])
    return x + (gate * (h @ weights["up"])) @ weights["down"]


def init(key):
    shapes = {name: (WIDTH, WIDTH) for name in "qkvo"} | {
        "n1": (WIDTH,),
        "n2": (WIDTH,),
        "gate": (WIDTH, HIDDEN),
        "up": (WIDTH, HIDDEN),
        "down": (HIDDEN, WIDTH),
    }
    tree = {
        "embed": (WORDS, WIDTH),
        "norm": (WIDTH,),
        "layers": [dict(shapes) for _ in range(LAYERS)],
    }
    leaves, structure = jax.tree.flatten(
        tree, is_leaf=lambda shape: isinstance(shape, tuple)
    )
    keys = jax.random.split(key, len(leaves))
    return structure.unflatten(
        [
            jnp.ones(shape)
            if len(shape) == 1
            else jax.random.normal(key, shape) * shape[0] ** -0.5
            for key, shape in zip(keys, leaves)
        ]
    )


def loss_of(params, batch, keep=None, wrap=lambda f: f, scan=False):
    h = params["embed"][batch["x"]]
    if keep is not None:
        h = h * keep
    if scan:
        stacked = jax.tree.map(lambda *each: jnp.stack(each), *params["layers"])
        h, _ = jax.lax.scan(
            lambda h, weights: (wrap(layer)(weights, h), None), h, stacked
        )
    else:
        for weights in params["layers"]:
            h = wrap(layer)(weights, h)
    logits = jax.nn.log_softmax(norm(h, params["norm"]) @ params["embed"].T)
    return -jnp.take_along_axis(logits, batch["y"][..., None], -1).mean()


def make_state():
    params = init(jax.random.key(0))
    return {
        "params": params,
        "momentum": jax.tree.map(jnp.zeros_like, params),
        "count": jnp.zeros((), jnp.int32),
    }


def make_batch(size=BATCH):
    kx, ky = jax.random.split(jax.random.key(1))
    shape = (size, SEQUENCE)
    return {
        "x": jax.random.randint(kx, shape, 0, WORDS),
        "y": jax.random.randint(ky, shape, 0, WORDS),
        "unused": jnp.ones(shape),
    }


def make_step(loss=loss_of):
    """Momentum; ``rate`` is a Python number, and the batch has a leaf that
    nothing reads."""

    def step(state, batch, rate):
        value, grads = jax.value_and_grad(loss)(state["params"], batch)
        momentum = jax.tree.map(
            lambda m, g: 0.9 * m + g, state["momentum"], grads
        )
        params = jax.tree.map(
            lambda p, m: p - rate * m, state["params"], momentum
        )
        count = state["count"] + 1
        return {"params": params, "momentum": momentum, "count": count}, value

    return step


def dropout_step(state, batch, key):
    """The state holds a typed random key, too."""
    keep = jax.random.bernoulli(key, 0.9, (BATCH, SEQUENCE, 1))
    value, grads = jax.value_and_grad(loss_of)(state["params"], batch, keep)
    params = jax.tree.map(lambda p, g: p - 0.1 * g, state["params"], grads)
    new_key = jax.random.fold_in(state["key"], 1)
    return {"params": params, "key": new_key}, value


def count_aliases(planned):
    """How many outputs of the compiled step take an argument's memory."""
    compiled = planned.lower(*planned.abstract).compile()
    head = compiled.as_text().split("\n")[0]
    return head.count("may-alias") + head.count("must-alias")


def largest_difference(got, wanted):
    def numbers(leaf):
        if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            leaf = jax.random.key_data(leaf)
        return np.asarray(leaf, np.float64)

    pairs = zip(jax.tree.leaves(got), jax.tree.leaves(wanted), strict=True)
    return max(np.abs(numbers(a) - numbers(b)).max() for a, b in pairs)
