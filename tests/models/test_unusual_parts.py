"""The parts of unusual kinds, each beside its definition written plainly."""

from __future__ import annotations

import pytest

jax = pytest.importorskip("jax", reason="jax is not installed")
pytest.importorskip("optax", reason="optax is not installed")

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

from unusual import (  # noqa: E402
    conformer,
    kfac,
    layers,
    linear_attention,
    long_convolution,
    lora,
    mamba,
    mixtral,
    muon,
    ppo,
    quantized,
    rwkv,
    switch,
)


def normal(seed, *dims):
    return jax.random.normal(jax.random.key(seed), dims)


def assert_close(value, expected):
    np.testing.assert_allclose(value, expected, rtol=2e-4, atol=1e-5)


def test_the_selective_scan_is_its_recurrence():
    x, into, out = normal(0, 2, 7, 3), normal(1, 2, 7, 4), normal(2, 2, 7, 4)
    step = jax.nn.softplus(normal(3, 2, 7, 3))
    decay = -jnp.exp(normal(4, 3, 4))
    state, expected = np.zeros((2, 3, 4)), []
    for t in range(7):
        state = state * np.exp(step[:, t, :, None] * decay)
        state += (step * x)[:, t, :, None] * into[:, t, None]
        expected.append(np.einsum("bin,bn->bi", state, out[:, t]))
    result = mamba.selective_scan(x, step, decay, into, out)
    assert_close(result, np.stack(expected, axis=1))


@pytest.mark.parametrize("chunk", [1, 3, 12])
def test_chunks_do_not_change_linear_attention(chunk):
    query, key, value = (normal(seed, 2, 12, 3, 4) for seed in range(3))
    age = np.arange(12)[:, None] - np.arange(12)[None]
    decay = (1 - 2.0 ** (-3.0 - np.arange(3)))[:, None, None]
    seen = np.where(age >= 0, decay ** np.abs(age), 0)
    met = np.einsum("bsnd,btnd->bnst", query, key) * seen
    expected = np.einsum("bnst,btnd->bsnd", met, value)
    result = linear_attention.retain(query, key, value, chunk)
    assert_close(result, expected)


def test_the_long_convolution_is_a_causal_one():
    x, taps = normal(0, 1, 9, 2), normal(1, 9, 2)
    result = long_convolution.long_convolve(x, taps)
    for channel in range(2):
        expected = np.convolve(x[0, :, channel], taps[:, channel])[:9]
        assert_close(result[0, :, channel], expected)


def test_relative_scores_stand_at_their_distance():
    by_place = normal(0, 1, 1, 5, 9)
    result = conformer.shifted(by_place)
    for query in range(5):
        for key in range(5):
            # Column 0 is the farthest key behind, 4 is the query itself.
            assert result[0, 0, query, key] == by_place[
                0, 0, query, 4 - query + key
            ]


def test_recurrent_attention_is_a_weighted_mean_of_the_past():
    key, value = normal(0, 2, 6, 3), normal(1, 2, 6, 3)
    decay, bonus = -jnp.exp(normal(2, 3)), normal(3, 3)
    result = rwkv.weighted_past(key, value, decay, bonus)
    for t in range(6):
        ages = np.arange(t - 1, -1, -1)[:, None]
        old = np.exp(key[:, :t] + ages * decay)
        new = np.exp(key[:, t] + bonus)
        top = (old * value[:, :t]).sum(1) + new * value[:, t]
        assert_close(result[:, t], top / (old.sum(1) + new))


def test_with_room_every_token_reaches_its_two_experts():
    x = normal(0, 10, 4)
    layer = {
        "router": normal(1, 4, 3),
        "gate": normal(2, 3, 4, 5),
        "up": normal(3, 3, 4, 5),
        "down": normal(4, 3, 5, 4),
    }
    scores = np.asarray(x @ layer["router"])
    expected = np.zeros((10, 4))
    for token in range(10):
        best = np.argsort(-scores[token])[:2]
        gates = jax.nn.softmax(scores[token, best])
        for gate, e in zip(gates, best):
            hidden = jax.nn.silu(x[token] @ layer["gate"][e])
            hidden = hidden * (x[token] @ layer["up"][e])
            expected[token] += gate * (hidden @ layer["down"][e])
    assert_close(mixtral.routed(layer, x, capacity=20), expected)


def test_a_switch_drops_what_comes_after_its_capacity():
    scores = jnp.broadcast_to(jnp.array([2.0, 0.0, 1.0]), (1, 5, 3))
    combine, _ = switch.top1(scores, capacity=2)
    taken = np.asarray(combine > 0)
    assert taken.any(axis=(2, 3))[0].tolist() == [True, True] + 3 * [False]
    assert taken[0, :, 0].sum() == taken.sum() == 2


def test_factors_and_substitutions_solve():
    half = normal(0, 6, 6)
    matrix, wanted = half @ half.T + jnp.eye(6), normal(1, 6, 3)
    factor = kfac.cholesky(matrix)
    assert_close(factor, np.linalg.cholesky(matrix))
    assert_close(
        kfac.divided(wanted, matrix - kfac._DAMPING * jnp.eye(6)),
        np.linalg.solve(matrix, wanted),
    )


@pytest.mark.parametrize("dims", [(8, 8), (4, 12), (12, 4)])
def test_singular_values_come_near_one(dims):
    values = np.linalg.svd(muon.orthogonal(normal(0, *dims)))[1]
    assert np.all((values > 0.5) & (values < 1.3))


def test_an_adapter_of_nothing_is_the_base():
    weights = {"query": normal(0, 4, 2, 2), "value": normal(1, 4, 2, 2)}
    base = {"layers": [weights]}
    nothing = {"a": normal(2, 4, 3), "b": jnp.zeros((3, 2, 2))}
    whole = lora.adapted(base, [{"query": nothing, "value": nothing}])
    jax.tree.map(assert_close, whole, base)


def test_rounding_lets_gradients_through():
    x = normal(0, 4, 8)
    value, back = jax.vjp(lambda it: quantized.rounded(it, -1), x)
    steps = value / jnp.max(jnp.abs(x), axis=-1, keepdims=True) * 127
    assert_close(steps / 127, np.round(steps) / 127)
    assert not np.allclose(value, x, rtol=1e-4)
    assert_close(back(jnp.ones_like(x))[0], np.ones((4, 8)))


def test_advantages_are_discounted_surprises():
    rewards, values = normal(0, 1, 4), normal(1, 1, 4)
    after = np.append(values[0, 1:], 0.0)
    surprise = rewards[0] + 0.99 * after - values[0]
    expected = [
        sum((0.99 * 0.95) ** k * surprise[t + k] for k in range(4 - t))
        for t in range(4)
    ]
    assert_close(ppo.advantages(rewards, values)[0], expected)


def test_a_window_looks_only_so_far_back():
    seen = np.asarray(layers.causal_bias(5, 2)) == 0
    expected = [[0 <= s - t < 2 for t in range(5)] for s in range(5)]
    np.testing.assert_array_equal(seen, expected)
