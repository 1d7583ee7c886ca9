"""What a training step does under each of its options, on numbers."""

from __future__ import annotations

import dataclasses
import functools

import pytest

jax = pytest.importorskip("jax", reason="jax is not installed")
pytest.importorskip("optax", reason="optax is not installed")

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

from meshwright_models import decoder, training_step  # noqa: E402
from meshwright_models.model_shape import ModelShape  # noqa: E402
from meshwright_models.step_options import StepOptions  # noqa: E402

SHAPE = ModelShape(
    layers=2, ffn=32, hidden=16, heads=2, vocab=32, batch=4, seq=8
)


def random_like(tree, scale=0.1):
    leaves, structure = jax.tree.flatten(tree)
    keys = jax.random.split(jax.random.key(0), len(leaves))
    values = [
        scale * jax.random.normal(key, leaf.shape)
        for key, leaf in zip(keys, leaves)
    ]
    return jax.tree.unflatten(structure, values)


def random_batch(shape=SHAPE):
    tokens = jax.random.randint(
        jax.random.key(1), (shape.batch, shape.seq), 0, shape.vocab
    )
    return {
        "input_ids": tokens,
        "attention_mask": jnp.ones_like(tokens),
        "labels": jnp.roll(tokens, -1, axis=1),
    }


def run_step(model, options, batch, scale=None):
    params = random_like(model.params)
    optimizer = training_step.make_optimizer(options)
    step = jax.jit(training_step.make_train_step(model, options))
    state = (params, optimizer.init(params), None, scale)
    return params, step(*state, batch)


def plain(**changes):
    shape = dataclasses.replace(SHAPE, **changes)
    return decoder.build("llama_plain", shape)


SGD = StepOptions(optimizer="sgd", learning_rate=1.0)


def assert_close(tree, expected):
    jax.tree.map(
        functools.partial(np.testing.assert_allclose, rtol=1e-4, atol=1e-6),
        tree,
        expected,
    )


@pytest.mark.parametrize("loop", ["scan", "fori"])
def test_accumulation_averages_the_micro_batches(loop):
    batch = random_batch()
    _, (expected, _, _, _, expected_loss, _) = run_step(plain(), SGD, batch)
    options = dataclasses.replace(SGD, accumulate=2, accumulation_loop=loop)
    if loop == "scan":
        batch = jax.tree.map(lambda x: x.reshape(2, 2, *x.shape[1:]), batch)
    _, (params, _, _, _, loss, _) = run_step(plain(), options, batch)
    assert_close(params, expected)
    np.testing.assert_allclose(loss, expected_loss, rtol=1e-5)


def test_clipping_bounds_the_step():
    options = dataclasses.replace(SGD, clip_norm=1e-3)
    old, (new, *_) = run_step(plain(), options, random_batch())
    moved = jax.tree.map(lambda a, b: jnp.sum(jnp.square(a - b)), old, new)
    norm = np.sqrt(sum(float(x) for x in jax.tree.leaves(moved)))
    np.testing.assert_allclose(norm, 1e-3, rtol=1e-2)


def loss_scale(value):
    return {"good_steps": jnp.zeros((), jnp.int32), "value": jnp.float32(value)}


def test_a_loss_scale_changes_nothing_but_itself():
    batch = random_batch()
    _, (expected, *_) = run_step(plain(), SGD, batch)
    options = dataclasses.replace(SGD, loss_scale=True)
    _, outputs = run_step(plain(), options, batch, loss_scale(1024.0))
    assert_close(outputs[0], expected)
    assert int(outputs[3]["good_steps"]) == 1


def test_an_overflow_skips_the_step_and_halves_the_scale():
    options = dataclasses.replace(SGD, loss_scale=True)
    model = plain()
    large = dataclasses.replace(model, loss=lambda *x: 1e6 * model.loss(*x))
    old, outputs = run_step(large, options, random_batch(), loss_scale(3e38))
    assert_close(outputs[0], old)
    np.testing.assert_allclose(outputs[3]["value"], 1.5e38)


def test_checkpoints_change_no_number():
    batch = random_batch()
    _, (expected, *_) = run_step(plain(), SGD, batch)
    _, (params, *_) = run_step(plain(checkpoint=True), SGD, batch)
    assert_close(params, expected)


def test_a_scan_over_layers_is_the_layers_one_after_the_other():
    unrolled, rolled = plain(), decoder.build("llama_scan", SHAPE)
    params = random_like(unrolled.params)
    stacked = dict(params)
    stacked["layers"] = jax.tree.map(
        lambda *layers: jnp.stack(layers), *params["layers"]
    )
    batch = random_batch()
    np.testing.assert_allclose(
        rolled.loss(stacked, batch), unrolled.loss(params, batch), rtol=1e-5
    )


def test_dropout_depends_on_its_key():
    model = plain(dropout=0.5)
    params = random_like(model.params)
    losses = [
        float(model.loss(params, random_batch() | {"dropout_key": key}))
        for key in jax.random.split(jax.random.PRNGKey(0))
    ]
    assert losses[0] != losses[1]


def test_metrics_come_beside_the_loss():
    model = decoder.build("llama_plain", SHAPE, metrics=True)
    _, outputs = run_step(model, SGD, random_batch())
    loss, metrics = outputs[4:]
    assert sorted(metrics) == ["accuracy", "cross_entropy", "z_loss"]
    assert float(loss) > float(metrics["cross_entropy"])


@pytest.mark.parametrize(
    "wrong", [{"optimizer": "magic"}, {"accumulate": 0}, {"clip_norm": -1.0}]
)
def test_wrong_options_say_so(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        StepOptions(**wrong)
