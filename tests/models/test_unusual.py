"""Every unusual kind exports a step that donates its state and learns."""

from __future__ import annotations

import re

import pytest

jax = pytest.importorskip("jax", reason="jax is not installed")
pytest.importorskip("optax", reason="optax is not installed")
xla_client = pytest.importorskip("jaxlib.xla_client")

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import unusual  # noqa: E402
from meshwright_models import own_step, training_step  # noqa: E402
from meshwright_models.model_shape import ModelShape  # noqa: E402
from meshwright_models.step_options import StepOptions  # noqa: E402
from unusual import __main__ as command_line  # noqa: E402

SHAPE = ModelShape(
    layers=1,
    ffn=32,
    hidden=16,
    heads=2,
    vocab=32,
    batch=4,
    seq=8,
    image=16,
    patch=4,
    levels=2,
)
# An adversary gains where the other loses, answers to the policy change, and
# who only decodes is no better for it.
NOT_LEARNING = ("gan", "ppo", "ring_cache", "wgan_gp")


def whole_step(name):
    """Abstract state, abstract batch, and (state, batch) -> (state, loss)."""
    model = unusual.build(name, SHAPE)
    if isinstance(model, own_step.OwnStep):
        state = (model.state, model.frozen)

        def own(state, batch):
            new, losses = model.step(*state, batch)
            return (new, state[1]), losses

        return state, model.batch, own
    options = StepOptions()
    optimizer = training_step.make_optimizer(options)
    step = training_step.make_train_step(model, options)
    state = own_step.trained(model.params, optimizer)

    def usual(state, batch):
        params, inner, _, _, loss, _ = step(
            state["params"], state["optimizer"], None, None, batch
        )
        return {"params": params, "optimizer": inner}, loss

    return state, model.batch, usual


def filled(tree, seed):
    """Small weights, moments of zero, identities, and tokens in range."""
    leaves, structure = jax.tree.flatten_with_path(tree)
    keys = jax.random.split(jax.random.key(seed), len(leaves))

    def value(path, leaf, key):
        words = jax.tree_util.keystr(path)
        if "optimizer" in words or "momenta" in words:
            return jnp.zeros(leaf.shape, leaf.dtype)
        if "factors" in words:
            return jnp.eye(leaf.shape[0])
        if leaf.dtype == jnp.int32:
            return jax.random.randint(key, leaf.shape, 0, SHAPE.batch)
        value = 0.2 * jax.random.normal(key, leaf.shape)
        if leaf.dtype == jnp.bfloat16:  # near 1 a small step is rounded off
            return value.astype(leaf.dtype)
        return value + ("norm" in words and "shift" not in words)

    return jax.tree.unflatten(
        structure, [value(*it, key) for it, key in zip(leaves, keys)]
    )


def total(losses):
    return float(sum(map(jnp.sum, jax.tree.leaves(losses))))


@pytest.mark.parametrize("name", unusual.KINDS)
def test_a_step_moves_its_state_and_learns_its_batch(name):
    abstract, batch, step = whole_step(name)
    start, batch = filled(abstract, 0), filled(batch, 1)
    step = jax.jit(step)
    state, first = step(start, batch)
    first = total(first["loss"] if name == "dpo" else first)
    for _ in range(5):
        state, last = step(state, batch)
    last = total(last["loss"] if name == "dpo" else last)
    for leaf in jax.tree.leaves(state):
        assert np.all(np.isfinite(np.asarray(leaf, np.float32)))
    if name not in NOT_LEARNING:
        assert last < first
    own = state if isinstance(state, dict) else state[0]
    before = start if isinstance(start, dict) else start[0]
    same = [
        jax.tree_util.keystr(path)
        for (path, new), old in zip(
            jax.tree.leaves_with_path(own), jax.tree.leaves(before)
        )
        if new.size > 2 and np.array_equal(new, old)
    ]
    assert not same


@pytest.mark.parametrize("name", unusual.KINDS)
def test_the_exported_step_donates_all_of_its_state(
    name, tmp_path, monkeypatch
):
    output = tmp_path / "x"
    sizes = "layers hidden heads vocab batch seq image patch levels".split()
    words = [f"--{size}={getattr(SHAPE, size)}" for size in sizes]
    monkeypatch.setattr("sys.argv", ["x", name, *words, "-o", str(output)])
    command_line.main()
    text = xla_client.XlaComputation(output.read_bytes()).as_hlo_text()
    aliases = re.findall(r"\{\d+\}: \(\d+, \{\}", text.split("\n", 1)[0])
    state = whole_step(name)[0]
    state = state if isinstance(state, dict) else state[0]
    assert len(aliases) == len(jax.tree.leaves(state))
