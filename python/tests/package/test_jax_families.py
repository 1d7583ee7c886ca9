"""Steps of many families of models equal themselves when they are planned.

Their donated state is kept in place.
"""

from __future__ import annotations

import os

import pytest

pytest.importorskip("transformers", reason="transformers is not installed")
pytest.importorskip("optax", reason="optax is not installed")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax_steps import count_aliases, largest_difference  # noqa: E402

import meshwright.jax  # noqa: E402
from meshwright_models import export  # noqa: E402
from meshwright_models.model_shape import ModelShape  # noqa: E402
from meshwright_models.step_options import StepOptions  # noqa: E402
from meshwright_models.training_step import (  # noqa: E402
    make_optimizer,
    make_train_step,
)

SHAPE = ModelShape(
    layers=2,
    ffn=64,
    hidden=32,
    heads=4,
    vocab=64,
    batch=4,
    seq=8,
    image=16,
    levels=2,
)
SHAPES = [(2, 2)]
FAMILIES = "llama_scan t5 resnet".split()
if os.environ.get("MESHWRIGHT_LONG"):
    SHAPES += [(1, 2)]
    FAMILIES += "gpt2 llama bert vit whisper moe unet".split()
OPTIONS = StepOptions(optimizer="momentum", learning_rate=1e-2)


def fill(tree, seed=0):
    """Numbers for shapes; indices are within every table."""
    random = np.random.default_rng(seed)

    def one(leaf):
        if jnp.issubdtype(leaf.dtype, jnp.integer):
            values = random.integers(0, 8, leaf.shape)
        else:
            values = random.normal(0, 0.1, leaf.shape)
        return jnp.asarray(values, leaf.dtype)

    return jax.tree.map(one, tree)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", FAMILIES)
def test_a_planned_step_equals_the_unsharded_one(binary, name, shape):
    model = export.build_model(name, SHAPE)
    step = make_train_step(model, OPTIONS)
    params = fill(model.params)
    state = (params, make_optimizer(OPTIONS).init(params))
    arguments = (*state, fill(model.statistics), None, fill(model.batch, 1))
    devices = np.array(jax.devices("cpu")[: np.prod(shape)]).reshape(shape)
    mesh = jax.sharding.Mesh(devices, ("data", "model"))
    planned = meshwright.jax.plan(
        step,
        *arguments,
        mesh=mesh,
        donate_argnums=(0, 1),
        symbolic=True,
        keep=False,
    )
    assert count_aliases(planned) == len(jax.tree.leaves(state))
    wanted = jax.jit(step)(*arguments)
    got = planned(*planned.put(*arguments))
    assert largest_difference(got, wanted) < 1e-3
