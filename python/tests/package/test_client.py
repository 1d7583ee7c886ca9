"""Both clients against a real service, which they start themselves."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
from concurrent import futures

import pytest

grpc = pytest.importorskip("grpc", reason="grpcio is not installed")
pytest.importorskip("grpc_tools", reason="grpcio-tools is not installed")

import meshwright  # noqa: E402
from meshwright import _requests  # noqa: E402
from meshwright._binary import annotate  # noqa: E402
from meshwright._stubs import (  # noqa: E402
    plan_record_pb2,
    plans_pb2_grpc,
)

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODEL = ROOT / "tests" / "testdata" / "llama_tiny.hlo.pb"

# Few programs to measure.
FEW = meshwright.Strategies(pin=("all=rows",))


@pytest.fixture(scope="module")
def client(binary, store):
    with meshwright.Client(store=store) as client:
        yield client


@pytest.fixture(scope="module")
def plan(client):
    updates = []
    plan = client.plan(
        MODEL, mesh="1x2", strategies=FEW, on_update=updates.append
    )
    assert updates[-1].state == "done"
    assert any(update.progress is not None for update in updates)
    return plan


def test_a_plan_is_made_and_kept_by_the_service(client, plan):
    assert plan.feasible and plan.mesh == (1, 2)
    assert plan.model.name == "llama_tiny"
    assert plan.arguments[0].sharding.startswith("[")
    record = client.get(plan.id)
    assert record.state == "done" and record.plan == plan
    assert plan.id in [found.id for found in client.plans()]


def test_a_watch_goes_on_behind_the_last_update_seen(client, plan):
    sequence = client.get(plan.id).sequence
    updates = list(client.watch(plan.id, after=sequence - 1))
    assert [update.sequence for update in updates] == [sequence]


def test_questions_are_answered_from_the_store(client, plan):
    explanation = client.explain(plan.id)
    assert explanation.choices and str(explanation)
    tight = client.what_if(plan.id, memory=plan.predicted.peak_bytes)
    assert tight.limit_bytes == plan.predicted.peak_bytes
    difference = client.diff(plan.id, plan.id)
    assert difference.comparable and difference.step_seconds == 0


def test_the_modules_of_a_plan_come_from_the_service(client, plan):
    files = client.export(plan.id)
    assert list(files) == ["module.hlo.pb"]
    assert files["module.hlo.pb"] == annotate(MODEL.read_bytes(), plan)


def test_a_saved_plan_is_the_programs_own_file(plan, tmp_path, store):
    plan.save(tmp_path / "plan.json")
    loaded = meshwright.Plan.load(tmp_path / "plan.json")
    assert loaded == plan
    assert loaded.diff(plan).step_seconds == 0
    assert loaded.explain(store).choices


def test_a_plan_that_does_not_fit_is_a_verdict(client, plan):
    plan = client.plan(
        MODEL, mesh=(1, 2), memory="1KiB", strategies=FEW, no_wait=True
    )
    assert not plan.feasible
    assert plan.least_memory_bytes > plan.limit_bytes


def test_errors_have_the_status_of_the_service(client, tmp_path):
    with pytest.raises(meshwright.NotFound, match="plan-999"):
        client.get("plan-999")
    with pytest.raises(meshwright.InvalidArgument, match="module: "):
        client.plan(tmp_path / "none.pb", mesh="1x2")
    with pytest.raises(meshwright.InvalidArgument):
        client.plan(b"no module at all", mesh="1x2")
    rules = meshwright.Strategies(pin=("all=diagonal",))
    with pytest.raises(meshwright.InvalidArgument, match="diagonal"):
        client.plan(MODEL, mesh="1x2", strategies=rules)


def test_a_wait_that_passes_leaves_the_plan_to_go_on(client):
    model = ROOT / "tests" / "testdata" / "bert_tiny.hlo.pb"
    client.plans()
    with meshwright.Client(client._open_settings.address) as guest:
        for asking, further in (
            (client, "stops when its client closes"),
            (guest, "goes on at the coordinator"),
        ):
            with pytest.raises(
                meshwright.DeadlineExceeded, match=further
            ) as raised:
                asking.plan(model, mesh="1x2", wait=0.2)
            id = str(raised.value).split()[0]
            assert client.cancel(id).state == "cancelled"
            with pytest.raises(meshwright.Cancelled, match=id):
                client.wait(id)


def test_the_asyncio_client_says_the_same(client, plan):
    async def ask() -> None:
        address = client._open_settings.address
        async with meshwright.AsyncClient(address) as other:
            again = await other.plan(
                MODEL, mesh="1x2", strategies=FEW, no_wait=True
            )
            assert again.segments == plan.segments
            assert again.programs.profiled == 0
            assert (await other.get(plan.id)).plan == plan
            assert (await other.explain(plan.id)).choices
            assert await other.export(plan.id) == client.export(plan.id)
            assert (await other.diff(plan.id, again.id)).step_seconds == 0
            with pytest.raises(meshwright.NotFound):
                await other.cancel("plan-999")

    asyncio.run(ask())


def test_nothing_answers_at_the_address():
    with (
        meshwright.Client("localhost:1") as client,
        pytest.raises(meshwright.Unavailable, match="no coordinator answers"),
    ):
        client.plans()


def test_a_watch_is_broken_from_its_break_on_and_not_while_it_was_quiet(
    monkeypatch,
):
    now = 1000.0
    monkeypatch.setattr(_requests.time, "monotonic", lambda: now)
    broken = _requests.broken_since(None, 100.0)  # quiet for long
    assert broken == 1000.0
    now = 1010.0
    assert _requests.broken_since(broken, 1009.9) == 1000.0  # nothing there
    assert _requests.broken_since(broken, 900.0) == 1010.0  # it was back


def test_a_service_that_lacks_the_call_is_of_another_version():
    server = grpc.server(futures.ThreadPoolExecutor(1))
    port = server.add_insecure_port("localhost:0")
    server.start()
    try:
        with (
            meshwright.Client(f"localhost:{port}") as client,
            pytest.raises(meshwright.Unimplemented, match="another version"),
        ):
            client.plans()
    finally:
        server.stop(None)


class _Coordinator(plans_pb2_grpc.PlansServicer):
    def __init__(self, leader: str = "") -> None:
        self._leader = leader

    def Cancel(self, request, context):  # noqa: N802
        if self._leader:
            context.set_trailing_metadata(
                (("grpc-status-details-bin", self._leader.encode()),)
            )
            context.abort(grpc.StatusCode.UNAVAILABLE, "ask the leader")
        return plan_record_pb2.PlanRecord(
            id=request.id, state=plan_record_pb2.CANCELLED
        )


@contextlib.contextmanager
def _serve(coordinator):
    server = grpc.server(futures.ThreadPoolExecutor(1))
    port = server.add_insecure_port("localhost:0")
    plans_pb2_grpc.add_PlansServicer_to_server(coordinator, server)
    server.start()
    try:
        yield f"localhost:{port}"
    finally:
        server.stop(None)


def test_a_plan_is_cancelled_at_the_leader_that_the_refusal_names():
    async def cancel(address):
        client = meshwright.AsyncClient(address)
        try:
            return await client.cancel("plan-7")
        finally:
            await client.close()

    with (
        _serve(_Coordinator()) as leader,
        _serve(_Coordinator(leader)) as follower,
        _serve(_Coordinator(follower)) as late,
        _serve(_Coordinator("gpu-7:7433")) as beyond,
    ):
        with meshwright.Client(follower) as client:
            assert client.cancel("plan-7").state == "cancelled"
        assert asyncio.run(cancel(follower)).state == "cancelled"
        for address in (late, beyond):  # once, and never without TLS
            with (
                meshwright.Client(address) as client,
                pytest.raises(meshwright.Unavailable, match="ask the leader"),
            ):
                client.cancel("plan-7")


def test_a_binary_that_is_none_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("MESHWRIGHT_BINARY", str(tmp_path / "none"))
    with (
        meshwright.Client() as client,
        pytest.raises(meshwright.FailedPrecondition, match="MESHWRIGHT_BINARY"),
    ):
        client.plans()
