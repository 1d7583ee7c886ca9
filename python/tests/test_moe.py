"""Top-2 gating keeps its promises, and the whole step learns."""

from __future__ import annotations

import pytest

jax = pytest.importorskip("jax", reason="jax is not installed")
pytest.importorskip("optax", reason="optax is not installed")

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import optax  # noqa: E402

from meshwright_models import moe  # noqa: E402
from meshwright_models.model_shape import ModelShape  # noqa: E402
from meshwright_models.training_step import cross_entropy  # noqa: E402

GROUPS, TOKENS, EXPERTS = 3, 16, 4


def random_gates() -> jax.Array:
    logits = jax.random.normal(jax.random.key(0), (GROUPS, TOKENS, EXPERTS))
    return jax.nn.softmax(logits)


def test_with_room_every_token_reaches_its_two_best_experts():
    gates = random_gates()
    combine, _ = moe.top2_gating(gates, capacity=2 * TOKENS)
    by_expert = np.asarray(combine.sum(axis=-1))
    best = np.sort(np.asarray(gates), axis=-1)[..., -2:]
    expected = np.sort(best / best.sum(axis=-1, keepdims=True), axis=-1)
    np.testing.assert_allclose(
        np.sort(by_expert, axis=-1)[..., -2:], expected, rtol=1e-5
    )
    assert np.all((by_expert > 0).sum(axis=-1) == 2)


@pytest.mark.parametrize("capacity", [1, 3, 2 * TOKENS])
def test_a_slot_holds_at_most_one_token(capacity):
    combine, _ = moe.top2_gating(random_gates(), capacity)
    assert combine.shape == (GROUPS, TOKENS, EXPERTS, capacity)
    assert np.all((np.asarray(combine) > 0).sum(axis=1) <= 1)


def test_first_choices_come_before_second_ones():
    # Everyone prefers expert 0, then 1, so a room of 2 takes tokens 0 and 1.
    gates = jnp.broadcast_to(jnp.array([0.6, 0.3, 0.1]), (1, 5, 3))
    combine, _ = moe.top2_gating(gates, capacity=2)
    taken = np.asarray(combine.sum(axis=-1))[0] > 0
    assert taken[:, 0].tolist() == [True, True, False, False, False]
    assert taken[:, 1].tolist() == [True, True, False, False, False]
    assert not taken[:, 2].any()


def test_balance_loss_is_least_for_even_use():
    even = jnp.tile(0.9 * jnp.eye(EXPERTS) + 0.025, (1, 4, 1))
    one_sided = jnp.tile(even[:, :1], (1, TOKENS, 1))
    _, even_loss = moe.top2_gating(even, TOKENS)
    _, one_sided_loss = moe.top2_gating(one_sided, TOKENS)
    np.testing.assert_allclose(even_loss, 1.0, rtol=1e-5)
    assert one_sided_loss > even_loss


def test_ignored_labels_add_nothing():
    logits = jax.random.normal(jax.random.key(1), (1, 4, 8))
    labels = jnp.array([[3, -100, 5, -100]])
    kept = cross_entropy(logits[:, ::2], labels[:, ::2])
    np.testing.assert_allclose(cross_entropy(logits, labels), kept, rtol=1e-6)


def test_the_decoder_learns_its_batch():
    shape = ModelShape(
        layers=2, ffn=64, hidden=32, heads=4, vocab=64, batch=4, seq=8
    )
    model = moe.build(shape)
    leaves, tree = jax.tree.flatten(model.params)
    keys = jax.random.split(jax.random.key(2), len(leaves))
    weights = [
        0.1 * jax.random.normal(key, leaf.shape)
        for key, leaf in zip(keys, leaves)
    ]
    params = jax.tree.unflatten(tree, weights)
    tokens = jax.random.randint(jax.random.key(3), (4, 8), 0, shape.vocab)
    batch = {
        "input_ids": tokens,
        "attention_mask": jnp.ones_like(tokens),
        "labels": jnp.roll(tokens, -1, axis=1),
    }
    optimizer = optax.adamw(1e-2)

    @jax.jit
    def step(params, opt_state):
        loss, gradients = jax.value_and_grad(model.loss)(params, batch)
        updates, opt_state = optimizer.update(gradients, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    opt_state = optimizer.init(params)
    losses = []
    for _ in range(30):
        params, opt_state, loss = step(params, opt_state)
        losses.append(float(loss))
    assert losses[-1] < 0.5 * losses[0]
