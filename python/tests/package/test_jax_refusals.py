"""What cannot be planned or called is one sentence that names the argument."""

from __future__ import annotations

import functools
import os
import subprocess
import sys

import pytest

jax = pytest.importorskip("jax", reason="jax is not installed")

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax_steps import make_batch, make_state, make_step  # noqa: E402

import meshwright  # noqa: E402
import meshwright.jax  # noqa: E402
from meshwright.jax._shardings import bind  # noqa: E402
from meshwright.jax._trace import Leaf  # noqa: E402
from meshwright.plan import Argument  # noqa: E402

RATE = 0.1


@pytest.fixture(scope="module")
def mesh():
    devices = np.array(jax.devices("cpu")[:2]).reshape(1, 2)
    return jax.sharding.Mesh(devices, ("data", "model"))


@pytest.fixture(scope="module")
def plan(binary, mesh):
    return functools.partial(
        meshwright.jax.plan, mesh=mesh, symbolic=True, keep=False
    )


@pytest.fixture(scope="module")
def planned(plan):
    return plan(make_step(), make_state(), make_batch(), RATE)


def test_a_mesh_with_explicit_axes(plan):
    explicit = jax.sharding.AxisType.Explicit
    devices = np.array(jax.devices("cpu")[:2]).reshape(1, 2)
    mesh = jax.sharding.Mesh(
        devices, ("data", "model"), axis_types=(explicit, explicit)
    )
    with pytest.raises(
        meshwright.InvalidArgument, match="mesh: axis 'data' is Explicit"
    ):
        plan(make_step(), make_state(), make_batch(), RATE, mesh=mesh)


def test_a_step_that_nnx_jitted(plan):
    nnx = pytest.importorskip("flax.nnx", reason="flax is not installed")
    step = nnx.jit(lambda weights, x: (x @ weights).sum())
    with pytest.raises(
        meshwright.InvalidArgument, match="step is jitted by flax.*nnx.split"
    ):
        plan(step, jnp.ones((64, 4)), jnp.ones((4, 64)))


def test_a_step_that_closes_over_a_device_array(plan):
    table = {"rotary": jnp.ones((16, 64))}

    def step(x):
        return (x @ table["rotary"].T).sum()

    with pytest.raises(
        meshwright.InvalidArgument,
        match=r"closes over the device array 'table\['rotary'\]' "
        r"\(float32\[16,64\]\); pass it as an argument",
    ):
        plan(step, jnp.ones((4, 64)))


def test_a_device_array_that_a_jitted_callee_closes_over(plan):
    table = jnp.ones((64, 16))
    embed = jax.jit(lambda x: x @ table)
    with pytest.raises(
        meshwright.InvalidArgument,
        match=r"closes over the device array \(float32\[64,16\]\)",
    ):
        plan(lambda x: embed(x).sum(), jnp.ones((4, 64)))


def test_a_jitted_step_with_static_arguments(plan):
    def step(x, train):
        return x * 2 if train else x

    named = jax.jit(step, static_argnames="train")
    numbered = jax.jit(lambda n, x: x * n, static_argnums=0, donate_argnums=1)
    x = jnp.ones((4, 64))
    for jitted, arguments in ((named, (x, True)), (numbered, (3, x))):
        with pytest.raises(
            meshwright.InvalidArgument, match="step has static arguments; bind"
        ):
            plan(jitted, *arguments)


def test_numpy_constants_and_device_scalars_stay_in_the_step(plan):
    table, scale = np.ones((64, 16), np.float32), jnp.float32(2)

    def step(weights, x):
        loss, grads = jax.value_and_grad(
            lambda w: (((x @ w) @ table) ** 2).mean() * scale
        )(weights)
        return weights - grads, loss

    weights, x = jnp.ones((32, 64)), jnp.ones((4, 32))
    planned = plan(step, weights, x)
    wanted = jax.jit(step)(weights, x)
    np.testing.assert_allclose(planned(weights, x)[0], wanted[0], rtol=1e-5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda batch: make_batch(8),
            r"batch\['unused'\] has the shape \[8, 16\] and is planned with "
            r"\[4, 16\]",
        ),
        (
            lambda batch: {**batch, "x": batch["x"][:3]},
            r"batch\['x'\] has the shape \[3, 16\]",
        ),
        (
            lambda batch: {**batch, "x": batch["x"].astype(np.int16)},
            r"batch\['x'\] is int16 and is planned as int32",
        ),
        (
            lambda batch: {k: v for k, v in batch.items() if k != "y"},
            r"batch\['y'\] is missing",
        ),
        (
            lambda batch: {**batch, "mask": batch["x"]},
            r"batch\['mask'\] is new",
        ),
    ],
)
def test_another_batch_names_the_leaf(planned, change, message):
    with pytest.raises(meshwright.PlanMismatch, match=message):
        planned(make_state(), change(make_batch()), RATE)


def test_put_names_what_it_cannot_place(planned):
    state = make_state()
    with pytest.raises(meshwright.PlanMismatch, match="put was given 4"):
        planned.put(state, make_batch(), RATE, RATE)
    other = {**state, "more": jnp.ones(3)}
    with pytest.raises(meshwright.PlanMismatch, match=r"state\['more'\] is new"):
        planned.put(other)


def test_arguments_that_are_committed_elsewhere(planned):
    state = jax.device_put(make_state(), jax.devices("cpu")[3])
    with pytest.raises(meshwright.PlanMismatch, match="move it with put"):
        planned(state, make_batch(), RATE)
    planned(planned.put(state), make_batch(), RATE)


def test_a_plan_that_splits_a_random_key(mesh):
    key = jax.eval_shape(lambda: jax.random.key(0))
    leaf = Leaf("state['key']", key.shape, key.dtype)
    argument = Argument(index=3, sharding="[1]", shape=(2,))
    with pytest.raises(
        meshwright.PlanMismatch, match=r"state\['key'\].*'3=\[-\]'"
    ):
        bind([argument], [leaf], mesh, "arguments")


def test_a_version_of_jax_that_is_too_old():
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import jax; jax.__version__ = '0.5.3'; import meshwright.jax",
        ],
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "needs JAX 0.6 or later, and 0.5.3 is installed" in done.stderr


def test_another_number_of_arguments(planned):
    with pytest.raises(meshwright.PlanMismatch, match="3 arguments"):
        planned(make_state(), make_batch())


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"bacth": 1}, "bacth is no argument of the step.* state, batch, rate"),
        ({"state": 1, "batch": 1}, "state is given twice"),
        ({"rate": RATE}, "batch is missing"),
    ],
)
def test_a_name_that_does_not_fill_the_places(planned, named, message):
    with pytest.raises(meshwright.PlanMismatch, match=message):
        planned(make_state(), **named)


def test_a_plan_file_that_is_not_there(plan):
    with pytest.raises(meshwright.InvalidArgument, match="/nope.json"):
        plan(make_step(), make_state(), make_batch(), RATE, use="/nope.json")


@pytest.mark.parametrize("name", ["pure_callback", "io_callback"])
def test_a_step_that_calls_the_host(plan, name):
    callback = getattr(jax, name, None) or getattr(jax.experimental, name)

    def step(x):
        shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return callback(lambda y: np.asarray(y), shape, x).sum()

    with pytest.raises(meshwright.InvalidArgument, match=name):
        plan(step, jnp.ones((4, 64)))


def test_a_step_with_manual_sharding(plan, mesh):
    shard_map = getattr(jax, "shard_map", None)
    if shard_map is None:
        from jax.experimental.shard_map import shard_map
    spec = jax.sharding.PartitionSpec("model")

    def step(x):
        double = shard_map(
            lambda y: 2 * y, mesh=mesh, in_specs=spec, out_specs=spec
        )
        return double(x).sum()

    with pytest.raises(meshwright.InvalidArgument, match="shard_map"):
        plan(step, jnp.ones((4, 64)))


def test_prints_are_left_out_with_a_warning(plan):
    def step(weights, x):
        loss, grads = jax.value_and_grad(lambda w: ((x @ w) ** 2).mean())(
            weights
        )
        jax.debug.print("loss {}", loss)
        return weights - grads, loss

    with pytest.warns(meshwright.MeshwrightWarning, match="jax.debug.print"):
        planned = plan(step, jnp.ones((32, 64)), jnp.ones((4, 32)))
    planned(jnp.ones((32, 64)), jnp.ones((4, 32)))


def test_constraints_are_left_out_with_a_warning(plan, mesh):
    def made(constrain):
        def step(weights, x):
            def loss(w):
                return (constrain(jnp.tanh(x @ w)) ** 2).mean()

            value, grads = jax.value_and_grad(loss)(weights)
            return weights - grads, value

        return plan(step, jnp.ones((32, 64)), jnp.ones((4, 32)))

    rows = jax.sharding.NamedSharding(
        mesh, jax.sharding.PartitionSpec("model", None)
    )
    with pytest.warns(meshwright.MeshwrightWarning, match="constraints"):
        planned = made(lambda y: jax.lax.with_sharding_constraint(y, rows))
    planned(jnp.ones((32, 64)), jnp.ones((4, 32)))
    # The plan is that of the step without them.
    free = made(lambda y: y)
    assert planned.plan.segments == free.plan.segments
    assert planned.plan.arguments == free.plan.arguments


def test_arguments_that_are_no_arrays(plan):
    with pytest.raises(meshwright.InvalidArgument, match=r"state\['a'\] is a"):
        plan(lambda state: state, {"a": object()})


def test_memory_that_nothing_fits(plan):
    with pytest.raises(meshwright.InfeasiblePlan, match="smallest one found"):
        plan(make_step(), make_state(), make_batch(), RATE, memory="300KiB")
