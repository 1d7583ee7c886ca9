"""Parts of unusual kinds that choose, match, sort, cache and factor."""

from __future__ import annotations

import pytest

jax = pytest.importorskip("jax", reason="jax is not installed")
pytest.importorskip("optax", reason="optax is not installed")

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

from meshwright_models.model_shape import ModelShape  # noqa: E402
from unusual import (  # noqa: E402
    detr,
    graph_attention,
    layers,
    mixture_of_depths,
    ring_cache,
    sorted_experts,
    vq_vae,
    wgan_gp,
    whitening,
)


def normal(seed, *dims):
    return jax.random.normal(jax.random.key(seed), dims)


def assert_close(value, expected):
    np.testing.assert_allclose(value, expected, rtol=2e-4, atol=1e-5)


def test_every_object_is_matched_once_the_cheapest_pair_first():
    cost = np.asarray(normal(0, 2, 5, 3))
    pairs = np.asarray(detr.greedy_matching(jnp.asarray(cost)))
    for one, matched in zip(cost, pairs):
        free, expected = one.copy(), np.zeros_like(one)
        for _ in range(3):
            query, object_ = np.unravel_index(np.argmin(free), free.shape)
            expected[query, object_] = 1
            free[query, :] = free[:, object_] = np.inf
        assert_close(matched, expected)


def test_edges_of_a_node_share_one_softmax():
    scores, owners = normal(0, 9, 2), np.array([0, 2, 0, 0, 2, 3, 3, 3, 3])
    result = graph_attention.segment_softmax(scores, jnp.asarray(owners), 4)
    for node in (0, 2, 3):
        mine = owners == node
        assert_close(result[mine], jax.nn.softmax(scores[mine], axis=0))


def test_tokens_that_do_not_enter_stay_as_they_are():
    shape = ModelShape(layers=1, ffn=8, hidden=8, heads=2)
    dims = layers.block_params(shape)
    leaves, tree = jax.tree.flatten(dims)
    block = jax.tree.unflatten(
        tree, [normal(i, *leaf.shape) for i, leaf in enumerate(leaves)]
    )
    layer = {"router": normal(20, 8), "block": block}
    x = normal(21, 2, 6, 8)
    result = mixture_of_depths.through_the_best(layer, x, 3)
    for row, out in zip(x, result):
        entered = np.sort(np.argsort(-(row @ layer["router"]))[:3])
        stay = np.setdiff1d(np.arange(6), entered)
        assert_close(out[stay], row[stay])
        taken = row[entered][None]
        change = layers.block(block, taken, layers.causal_bias(3)) - taken
        gate = jax.nn.sigmoid(row[entered] @ layer["router"])[:, None]
        assert_close(out[entered], row[entered] + gate * change[0])


def test_sorted_tokens_come_back_to_their_places():
    x = normal(0, 10, 4)
    layer = {
        "router": normal(1, 4, 3),
        "in": normal(2, 3, 4, 5),
        "out": normal(3, 3, 5, 4),
    }
    gates = jax.nn.softmax(x @ layer["router"], axis=-1)
    expected = np.zeros((10, 4))
    for token in range(10):
        best = np.argsort(-gates[token])[:2]
        for e in best:
            hidden = jax.nn.relu(x[token] @ layer["in"][e])
            share = gates[token, e] / gates[token, best].sum()
            expected[token] += share * (hidden @ layer["out"][e])
    assert_close(sorted_experts.mixed(layer, x, capacity=20)[0], expected)


def test_a_ring_remembers_its_window():
    layer = {
        "query": normal(0, 6, 2, 3),
        "keys": normal(1, 6, 3),
        "values": normal(2, 6, 3),
        "output": normal(3, 2, 3, 6),
    }
    x, window = normal(4, 2, 7, 6), 4
    cache = {"keys": jnp.zeros((2, window, 3)), "values": normal(5, 2, 4, 3)}
    for t in range(7):
        seen, cache = ring_cache.look_back(layer, cache, x[:, t], t)
        past = x[:, max(0, t - window + 1) : t + 1]
        query = jnp.einsum("bm,mnd->bnd", x[:, t], layer["query"])
        scores = jnp.einsum("bnd,btd->bnt", query, past @ layer["keys"])
        weights = jax.nn.softmax(scores / np.sqrt(3), axis=-1)
        context = jnp.einsum("bnt,btd->bnd", weights, past @ layer["values"])
        assert_close(seen, jnp.einsum("bnd,ndm->bm", context, layer["output"]))


def test_vectors_choose_the_nearest_entry_and_move_it():
    book, x = normal(0, 5, 3), normal(1, 11, 3)
    apart = np.linalg.norm(x[:, None] - book[None], axis=-1)
    chosen = vq_vae.nearest(book, x)
    assert chosen.tolist() == apart.argmin(axis=1).tolist()
    books = {"sizes": jnp.ones(5), "sums": book}
    moved = vq_vae.followed(books, x, chosen)
    for entry in range(5):
        mine = np.asarray(x)[np.asarray(chosen) == entry]
        assert_close(moved["sizes"][entry], 0.99 + 0.01 * len(mine))
        expected = 0.99 * book[entry] + 0.01 * mine.sum(axis=0)
        assert_close(moved["sums"][entry], expected)


def test_a_critic_of_slope_one_is_not_punished(monkeypatch):
    monkeypatch.setattr(
        wgan_gp.gan, "judge", lambda scale, image: scale * image[:, 0, 0, 0]
    )
    image = normal(0, 3, 2, 2, 1)
    assert_close(wgan_gp.penalty(1.0, image), 0.0)
    assert_close(wgan_gp.penalty(3.0, image), 4.0)


def test_whitened_vectors_do_not_correlate():
    x = normal(0, 400, 4) @ (10.0 * jnp.eye(4) + normal(1, 4, 4))
    result = whitening.whitened(x)
    assert_close(np.mean(result, axis=0), np.zeros(4))
    np.testing.assert_allclose(np.cov(result.T), np.eye(4), atol=0.02)
