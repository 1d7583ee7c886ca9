"""A job starts, with or without a service: plans, baselines, one warning."""

from __future__ import annotations

import pathlib
import time
import types
import warnings

import pytest

pytest.importorskip("grpc", reason="grpcio is not installed")
pytest.importorskip("grpc_tools", reason="grpcio-tools is not installed")

import meshwright  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODEL = ROOT / "tests" / "testdata" / "llama_tiny.hlo.pb"


def only_warning(caught):
    (found,) = [w for w in caught if w.category is meshwright.MeshwrightWarning]
    assert found.filename == __file__
    return str(found.message)


@pytest.mark.parametrize(
    ("fallback", "described"),
    [
        ("dp", "rows, rows, rows, rows"),
        ("tp", "columns, contraction, columns, contraction"),
        ("fsdp", "rows, rows, rows, rows; fully-sharded"),
        ("symbolic", ""),
    ],
)
def test_a_service_that_is_away_leaves_a_baseline(
    binary, monkeypatch, fallback, described
):
    monkeypatch.setenv("MESHWRIGHT_ADDRESS", "localhost:1")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        plan = meshwright.best_plan(MODEL, mesh="1x2", fallback=fallback)
    said = only_warning(caught)
    assert f"the baseline {fallback}: no coordinator answers" in said
    assert plan.feasible and plan.model.name == "llama_tiny"
    assert plan.fallback == plan.to_json()["fallback"] == fallback
    assert plan.segments[1].describe == (described or plan.segments[1].describe)


def test_a_baseline_has_the_name_that_is_given(binary, monkeypatch):
    monkeypatch.setenv("MESHWRIGHT_ADDRESS", "localhost:1")
    with pytest.warns(meshwright.MeshwrightWarning):
        plan = meshwright.best_plan(MODEL, mesh="1x2", name="team/llama")
    assert plan.model.name == "team/llama"
    assert "not predicted: nothing was measured" in str(plan)


def test_without_a_program_the_services_word_stands(monkeypatch, tmp_path):
    monkeypatch.setenv("MESHWRIGHT_ADDRESS", "localhost:1")
    monkeypatch.setenv("MESHWRIGHT_BINARY", str(tmp_path / "none"))
    with pytest.raises(
        meshwright.Unavailable, match="no coordinator answers.*no baseline dp"
    ):
        meshwright.best_plan(MODEL, mesh="1x2")


def test_a_service_that_is_busy_is_waited_for_within_the_limit(binary, store):
    model = ROOT / "tests" / "testdata" / "gpt2_tiny.hlo.pb"
    with meshwright.Client(store=store) as client:
        client.plans()  # it has started
        began = time.monotonic()
        # The service is the client's own.
        with pytest.warns(
            meshwright.MeshwrightWarning, match="stops when its client closes"
        ):
            plan = meshwright.best_plan(
                model, mesh="1x2", wait=0.5, client=client
            )
        assert time.monotonic() - began < 5
        assert plan.device == "symbolic"
        for record in client.plans():
            if not record.has_ended:
                client.cancel(record.id)


class Refusing:
    """A client whose service has no plan."""

    def __init__(self, error):
        self.error = error

    def plan(self, *_, **__):
        raise self.error


@pytest.mark.parametrize(
    "kind",
    (
        meshwright.Cancelled,
        meshwright.FailedPrecondition,
        meshwright.Internal,
        meshwright.NotFound,
        meshwright.Unimplemented,
    ),
)
def test_whatever_ails_the_service_leaves_a_baseline(binary, kind):
    with pytest.warns(meshwright.MeshwrightWarning, match="baseline dp: it is"):
        plan = meshwright.best_plan(
            MODEL, mesh="1x2", client=Refusing(kind("it is ill"))
        )
    assert plan.feasible


@pytest.mark.parametrize("missing", ("token_file", "ca"))
def test_a_file_that_one_node_lacks_leaves_a_baseline(
    binary, tmp_path, missing
):
    client = meshwright.Client(
        "localhost:1", **{missing: str(tmp_path / "none")}
    )
    with pytest.warns(meshwright.MeshwrightWarning, match="No such file"):
        plan = meshwright.best_plan(MODEL, mesh="1x2", client=client)
    assert plan.feasible


@pytest.mark.parametrize(
    "kind", (meshwright.InvalidArgument, meshwright.InfeasiblePlan)
)
def test_an_error_of_the_step_is_no_reason_for_a_baseline(binary, kind):
    with pytest.raises(kind, match="the step is"):
        meshwright.best_plan(
            MODEL, mesh="1x2", client=Refusing(kind("the step is wrong"))
        )


@pytest.mark.parametrize("pin", ("rows", "columns|contraction"))
def test_a_baseline_by_roofline_keeps_the_pins(binary, pin):
    with pytest.warns(meshwright.MeshwrightWarning):
        plan = meshwright.best_plan(
            MODEL,
            mesh="1x2",
            fallback="symbolic",
            strategies=meshwright.Strategies(pin=(f"all={pin}",)),
            client=Refusing(meshwright.Unavailable("it is away")),
        )
    blocks = plan.segments[1].describe.split(";")[0].split(", ")
    assert set(blocks) <= set(pin.split("|"))


def test_without_a_fallback_the_service_has_the_word(monkeypatch):
    monkeypatch.setenv("MESHWRIGHT_ADDRESS", "localhost:1")
    with pytest.raises(meshwright.Unavailable):
        meshwright.best_plan(MODEL, mesh="1x2", fallback=None)


def test_what_is_wrong_with_the_request_is_an_error_at_once(binary):
    with pytest.raises(meshwright.InvalidArgument, match='baseline "ddp"'):
        meshwright.best_plan(MODEL, mesh="1x2", fallback="ddp")
    with pytest.raises(meshwright.InvalidArgument, match="wait: "):
        meshwright.best_plan(MODEL, mesh="1x2", wait="soon")
    with pytest.raises(meshwright.InvalidArgument, match="module: "):
        meshwright.best_plan(b"", mesh="1x2")


def test_the_conversion_of_a_module_is_part_of_the_limit(monkeypatch):
    from meshwright import _requests, launch

    now, limits = [100.0], []

    def convert(content, until):
        limits.append(until)
        now[0] += 3
        return content

    class Asked:
        def plan(self, content, *, wait, **options):
            return wait

    clock = types.SimpleNamespace(monotonic=lambda: now[0])
    monkeypatch.setattr(launch, "time", clock)
    monkeypatch.setattr(_requests, "to_hlo", convert)
    for fallback in ("dp", None):
        assert 2 == meshwright.best_plan(
            b"module", mesh="1x2", wait=5, fallback=fallback, client=Asked()
        )
    # Without the module there is no baseline either.
    assert limits == [None, 108]


def test_a_jax_step_runs_with_its_baseline(binary, monkeypatch, tmp_path):
    jax = pytest.importorskip("jax", reason="jax is not installed")
    import jax.numpy as jnp
    import numpy as np

    monkeypatch.setenv("MESHWRIGHT_ADDRESS", "localhost:1")
    monkeypatch.setenv("MESHWRIGHT_PLANS", str(tmp_path))
    devices = np.array(jax.devices("cpu")[:2]).reshape(1, 2)
    mesh = jax.sharding.Mesh(devices, ("data", "model"))

    def step(weights, x):
        loss, grads = jax.value_and_grad(lambda w: ((x @ w) ** 2).mean())(
            weights
        )
        return weights - 0.1 * grads, loss

    weights, x = jnp.ones((32, 64)), jnp.ones((4, 32))
    with pytest.warns(meshwright.MeshwrightWarning, match="baseline dp"):
        planned = meshwright.best_plan(step, weights, x, mesh=mesh)
    assert planned.plan.fallback == "dp"
    wanted = jax.jit(step)(weights, x)
    got = planned(weights, x)
    np.testing.assert_allclose(got[0], wanted[0], rtol=1e-5)
    assert not list(tmp_path.iterdir())
