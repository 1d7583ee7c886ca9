"""A planned step is the step: results, donation, trees, keys, kept plans."""

from __future__ import annotations

import functools
import re

import pytest

jax = pytest.importorskip("jax", reason="jax is not installed")

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax_steps import (  # noqa: E402
    count_aliases,
    dropout_step,
    init,
    largest_difference,
    loss_of,
    make_batch,
    make_state,
    make_step,
)

import meshwright  # noqa: E402
import meshwright.jax  # noqa: E402

TOLERANCE = 1e-4
_CONSTRAINT = re.compile(
    r'custom-call\(([^()]*)\), custom_call_target="Sharding"'
)


def make_mesh(*shape):
    devices = np.array(jax.devices("cpu")[: np.prod(shape)]).reshape(shape)
    return jax.sharding.Mesh(devices, ("data", "model"))


@pytest.fixture(scope="module")
def mesh():
    return make_mesh(1, 2)


@pytest.fixture(scope="module")
def plan(binary, mesh, tmp_path_factory):
    """By roofline, and split by columns where nothing else is said."""
    return functools.partial(
        meshwright.jax.plan,
        mesh=mesh,
        symbolic=True,
        strategies=meshwright.Strategies(pin=("all=columns",)),
        keep=tmp_path_factory.mktemp("plans"),
    )


STEPS = {
    "plain": make_step(),
    "checkpoint": make_step(functools.partial(loss_of, wrap=jax.checkpoint)),
    "scan": make_step(functools.partial(loss_of, scan=True)),
    "scan of checkpoints": make_step(
        functools.partial(loss_of, scan=True, wrap=jax.checkpoint)
    ),
}


@pytest.mark.parametrize("shape", ((1, 2), (2, 2)), ids=str)
@pytest.mark.parametrize("name", STEPS)
def test_three_steps_equal_the_unsharded_ones(plan, name, shape):
    step, batch = STEPS[name], make_batch()
    wanted = make_state()
    plain = jax.jit(step)
    planned = plan(
        step,
        make_state(),
        batch,
        0.1,
        mesh=make_mesh(*shape),
        donate_argnums=0,
    )
    assert count_aliases(planned) == len(jax.tree.leaves(wanted))
    state, placed = planned.put(make_state(), batch)
    for _ in range(3):
        wanted, wanted_loss = plain(wanted, batch, 0.1)
        state, loss = planned(state, placed, 0.1)
    assert abs(float(loss) - float(wanted_loss)) < TOLERANCE
    assert largest_difference(state, wanted) < TOLERANCE
    assert planned._jitted._cache_size() == 1  # no call after the first traces
    weights = state["params"]["layers"][0]["up"]
    assert weights.sharding.spec == jax.sharding.PartitionSpec(None, "model")


def test_a_train_state_of_flax_stays_one(plan):
    flax = pytest.importorskip(
        "flax.training.train_state", reason="flax is not installed"
    )
    optax = pytest.importorskip("optax", reason="optax is not installed")

    def step(state, batch):
        loss, grads = jax.value_and_grad(state.apply_fn)(state.params, batch)
        return state.apply_gradients(grads=grads), loss

    # Divided by their own size, small gradients would show their rounding.
    wanted = flax.TrainState.create(
        apply_fn=loss_of,
        params=init(jax.random.key(0)),
        tx=optax.adamw(1e-2, eps=1e-3),
    )
    batch = make_batch()
    planned = plan(step, wanted, batch, donate_argnums=0)
    assert count_aliases(planned) == len(jax.tree.leaves(wanted))
    state = planned.put(wanted)
    for _ in range(3):
        wanted, wanted_loss = jax.jit(step)(wanted, batch)
        state, loss = planned(state, batch)
    assert abs(float(loss) - float(wanted_loss)) < TOLERANCE
    assert largest_difference(state, wanted) < TOLERANCE
    assert isinstance(state, flax.TrainState) and int(state.step) == 3


def test_donated_arguments_are_gone_and_put_leaves_ones_own(plan):
    step, state, batch = make_step(), make_state(), make_batch()
    planned = plan(step, state, batch, 0.1, donate_argnums=0)
    placed = planned.put(state)
    planned(placed, batch, 0.1)
    assert placed["params"]["embed"].is_deleted()
    assert not state["params"]["embed"].is_deleted()
    planned(planned.put(state), batch, 0.1)


def test_a_jitted_step_keeps_its_donation(plan):
    step = jax.jit(make_step(), donate_argnums=(0,))
    planned = plan(step, make_state(), make_batch(), 0.1)
    assert planned.donate_argnums == (0,)


def test_what_is_weakly_typed_stays_so(plan):
    def step(weights, x, rate):
        loss, grads = jax.value_and_grad(
            lambda w: ((x @ w) ** 2).mean().astype(jnp.float32)
        )(weights)
        return weights - rate * grads, loss

    weights = jax.random.normal(jax.random.key(0), (32, 64), jnp.bfloat16) / 4
    x = jnp.ones((4, 32), jnp.bfloat16)
    rate = jnp.asarray(0.5)
    assert rate.weak_type
    planned = plan(step, weights, x, rate)
    wanted, _ = jax.jit(step)(weights, x, rate)
    got, _ = planned(weights, x, rate)
    assert got.dtype == wanted.dtype == jnp.bfloat16
    assert largest_difference(got, wanted) < 3e-2
    assert largest_difference(got, weights) > 3e-2
    planned(got, x, rate)


def test_a_folder_that_cannot_be_written_keeps_no_plan(plan, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.warns(meshwright.MeshwrightWarning, match="is not kept"):
        plan(
            make_step(),
            make_state(),
            make_batch(),
            0.1,
            keep=tmp_path / "file" / "plans",
        )


def test_typed_random_keys_are_arguments_and_state(plan):
    params = make_state()["params"]
    state = {"params": params, "key": jax.random.key(3)}
    batch, key = make_batch(), jax.random.key(7)
    planned = plan(dropout_step, state, batch, key, donate_argnums=0)
    wanted, wanted_loss = jax.jit(dropout_step)(state, batch, key)
    got, loss = planned(planned.put(state), batch, key)
    assert abs(float(loss) - float(wanted_loss)) < TOLERANCE
    assert largest_difference(got, wanted) < TOLERANCE
    again, _ = planned(got, batch, key)
    assert again["key"].dtype == state["key"].dtype


def test_numpy_and_uncommitted_arguments_are_moved_by_the_call(plan):
    step, state = make_step(), make_state()
    planned = plan(step, state, make_batch(), 0.1)
    batch = jax.tree.map(np.asarray, make_batch())
    wanted, _ = jax.jit(step)(state, batch, 0.1)
    got, _ = planned(state, batch, np.float32(0.1))
    assert largest_difference(got, wanted) < TOLERANCE


def test_arguments_may_be_named(plan):
    step, state, batch = make_step(), make_state(), make_batch()
    planned = plan(step, state, batch, 0.1)
    wanted, _ = planned(state, batch, 0.1)
    got, _ = planned(state, rate=0.1, batch=batch)
    assert largest_difference(got, wanted) == 0
    assert planned.lower(state, batch=batch, rate=0.1).as_text()


def test_a_step_runs_inside_another_program(plan):
    step, state, batch = make_step(), make_state(), make_batch()
    planned = plan(step, state, batch, 0.1)

    @jax.jit
    def three(state, batch):
        return jax.lax.fori_loop(
            0, 3, lambda _, s: planned(s, batch, 0.1)[0], state
        )

    wanted = state
    for _ in range(3):
        wanted, _ = jax.jit(step)(wanted, batch, 0.1)
    got = three(*planned.put(state, batch))
    assert largest_difference(got, wanted) < TOLERANCE


def test_abstract_arguments_have_the_shardings_of_the_plan(plan):
    state = jax.eval_shape(make_state)
    planned = plan(make_step(), state, make_batch(), 0.1)
    made = jax.jit(make_state, out_shardings=planned.in_shardings[0])()
    for leaf, shape in zip(
        jax.tree.leaves(made), jax.tree.leaves(planned.abstract[0])
    ):
        assert leaf.shape == shape.shape and leaf.dtype == shape.dtype
        assert leaf.sharding == shape.sharding
    planned(made, make_batch(), 0.1)


def test_a_kept_plan_is_reused_whatever_the_step_is_called(
    plan, monkeypatch, tmp_path
):
    arguments = (make_state(), make_batch(), 0.1)
    first = plan(make_step(), *arguments, keep=tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    monkeypatch.setenv("MESHWRIGHT_BINARY", "/bin/false")

    def renamed(state, batch, rate):
        return make_step()(state, batch, rate)

    assert plan(renamed, *arguments, keep=tmp_path).plan == first.plan
    with pytest.raises(meshwright.FailedPrecondition):
        plan(renamed, make_state(), make_batch(8), 0.1, keep=tmp_path)


class Asked:
    """A client that keeps what it is asked for, and has no plan."""

    def plan(self, _, **options):
        self.options = options
        raise meshwright.Unavailable("nothing answers")


LINKS = {"alpha": [0, 1e-6], "beta": [0, 1e-10]}


def test_a_solo_plan_is_asked_for_with_the_links_of_the_axes(plan):
    asked = Asked()
    with pytest.raises(meshwright.Unavailable):
        plan(
            make_step(),
            make_state(),
            make_batch(),
            0.1,
            symbolic=False,
            client=asked,
            solo=True,
            links=LINKS,
        )
    assert asked.options["solo"] is True
    assert asked.options["links"] == LINKS


def test_other_links_are_another_plan(plan, tmp_path):
    for links in (None, LINKS, LINKS, {**LINKS, "alpha": [0, 1e-5]}):
        planned = plan(
            make_step(),
            make_state(),
            make_batch(),
            0.1,
            links=links,
            keep=tmp_path,
        )
        is_of_links = any("the links given" in it for it in planned.plan.notes)
        assert is_of_links == (links is not None)
    assert len(list(tmp_path.iterdir())) == 3


def test_a_checkpoint_is_restored_to_the_shardings_of_the_plan(plan, tmp_path):
    orbax = pytest.importorskip(
        "orbax.checkpoint", reason="orbax-checkpoint is not installed"
    )
    step, state, batch = make_step(), make_state(), make_batch()
    planned = plan(step, state, batch, 0.1)
    wanted = planned.abstract[0]
    with orbax.StandardCheckpointer() as checkpointer:
        checkpointer.save(tmp_path / "state", state)
        checkpointer.wait_until_finished()
        restored = checkpointer.restore(tmp_path / "state", wanted)
    for leaf, shape in zip(jax.tree.leaves(restored), jax.tree.leaves(wanted)):
        assert leaf.sharding == shape.sharding
    assert largest_difference(restored, state) == 0
    planned(restored, batch, 0.1)


def with_copies(annotated):
    """An annotated module as programs of before wrote it."""
    from jaxlib import xla_client

    text = xla_client.XlaComputation(annotated).as_hlo_text(True)
    text, constraints = _CONSTRAINT.subn(r"copy(\1)", text)
    assert constraints > 0
    hlo = getattr(xla_client, "hlo", xla_client._xla)
    return hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()


def test_a_kept_plan_of_before_runs(plan, monkeypatch, tmp_path):
    step, state, batch = make_step(), make_state(), make_batch()
    plan(step, state, batch, 0.1, keep=tmp_path)
    (kept,) = tmp_path.glob("*/annotated.hlo.pb")
    kept.write_bytes(with_copies(kept.read_bytes()))
    monkeypatch.setenv("MESHWRIGHT_BINARY", "/bin/false")
    planned = plan(step, state, batch, 0.1, keep=tmp_path)
    wanted, _ = jax.jit(step)(state, batch, 0.1)
    got, _ = planned(state, batch, 0.1)
    assert largest_difference(got, wanted) < TOLERANCE


def test_a_plan_of_a_file_is_used(plan, tmp_path):
    arguments = (make_state(), make_batch(), 0.1)
    first = plan(make_step(), *arguments)
    assert first.plan.fallback == ""
    first.plan.save(tmp_path / "plan.json")
    again = plan(make_step(), *arguments, use=tmp_path / "plan.json")
    assert again.in_shardings == first.in_shardings
    with pytest.raises(
        meshwright.PlanMismatch, match="plan is for mesh 1x2, and mesh is 2x2"
    ):
        plan(make_step(), *arguments, use=first.plan, mesh=make_mesh(2, 2))
    with pytest.raises(
        meshwright.PlanMismatch,
        match=r"^use: batch\['unused'\] has the shape \[3\]",
    ):
        plan(
            make_step(),
            make_state(),
            {**make_batch(), "unused": jnp.ones(3)},
            0.1,
            use=first.plan,
        )

    def loss(params, batch):
        query = params["layers"][0]["q"]
        return ((params["embed"][batch["x"]] @ query) ** 2).mean()

    with pytest.raises(
        meshwright.PlanMismatch, match="^use: .* another model"
    ):
        plan(make_step(loss), *arguments, use=first.plan)


def test_a_measured_plan_of_a_service_runs(
    binary, mesh, store, tmp_path, monkeypatch
):
    step, state, batch = make_step(), make_state(), make_batch()
    with meshwright.Client(store=store) as client:
        client.plans()
        # The service has the module: nothing else runs here.
        monkeypatch.setenv("MESHWRIGHT_BINARY", "/bin/false")
        planned = meshwright.jax.plan(
            step,
            state,
            batch,
            0.1,
            mesh=mesh,
            client=client,
            strategies=meshwright.Strategies(pin=("all=rows",)),
            keep=tmp_path,
        )
    assert planned.plan.predicted.step_seconds > 0
    wanted, _ = jax.jit(step)(state, batch, 0.1)
    got, _ = planned(state, batch, 0.1)
    assert largest_difference(got, wanted) < TOLERANCE
