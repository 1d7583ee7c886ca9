"""Meshes of more devices than a machine has: refused, or by one GPU."""

from __future__ import annotations

import asyncio
import pathlib
import shutil

import pytest

pytest.importorskip("grpc", reason="grpcio is not installed")
pytest.importorskip("grpc_tools", reason="grpcio-tools is not installed")

import meshwright  # noqa: E402
from meshwright._links import read_links  # noqa: E402
from meshwright._requests import submission  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODEL = ROOT / "tests" / "testdata" / "llama_tiny.hlo.pb"
BOX = ROOT / "tests" / "testdata" / "cluster" / "paired_box.json"
LINKS = {"alpha": [0, 1e-6], "beta": [0, 1e-10]}
TOO_LARGE = r"has 4 cuda devices .* 2; set MESHWRIGHT_ADDRESS .* solo=True"


@pytest.fixture
def two_gpus(binary, monkeypatch, tmp_path):
    """Arguments of a client where two GPUs sleep instead of computing."""
    build = pathlib.Path(binary).resolve().parents[1]
    double = build / "doubles" / "pjrt_double.so"
    if not double.exists():
        pytest.skip("no GPU double: build the target pjrt_double")
    plugin = shutil.copy(double, tmp_path)
    monkeypatch.setenv("MESHWRIGHT_CUDA_PLUGIN", str(plugin))
    return {"platform": "cuda", "store": str(tmp_path / "profiles.db")}


def test_a_mesh_that_the_machine_has_not_is_refused_at_once(two_gpus):
    async def ask():
        async with meshwright.AsyncClient(**two_gpus) as client:
            await client.plan(MODEL, mesh="1x4")

    with pytest.raises(meshwright.FailedPrecondition, match=TOO_LARGE):
        asyncio.run(ask())
    with meshwright.Client(**two_gpus) as client:
        with pytest.raises(meshwright.FailedPrecondition, match=TOO_LARGE):
            client.plan(MODEL, mesh="1x4")
        with pytest.warns(meshwright.MeshwrightWarning, match=TOO_LARGE):
            plan = meshwright.best_plan(MODEL, mesh="1x4", client=client)
        assert plan.fallback == "dp"
        assert {plan.state for plan in client.plans()} == {"cancelled"}


def test_one_gpu_stands_for_a_mesh(two_gpus):
    with meshwright.Client(**two_gpus) as client:
        plan = client.submit(MODEL, mesh="1x4", solo=True, links=LINKS)
        for update in client.watch(plan.id, wait=120):
            assert update.state not in ("waiting", "failed"), update.reason
            if update.state in ("measuring", "done"):
                break


def test_the_request_has_the_links_of_each_axis(tmp_path):
    file = tmp_path / "links.json"
    file.write_text('{"alpha": [0, 1e-6], "beta": [0, 1e-10]}')
    for links in (file, str(file), LINKS):
        request = submission(
            "ab",
            mesh="1x8",
            name="step",
            platform="cuda",
            solo=True,
            links=links,
        ).request
        assert request.solo
        assert [(it.alpha, it.beta) for it in request.links] == [
            (0, 0),
            (1e-6, 1e-10),
        ]
    request = submission("ab", mesh="1x8", name="step").request
    assert not request.solo and not request.links


def test_the_links_of_a_cluster_are_those_of_its_mesh(binary):
    links = read_links(BOX, (2, 4))
    assert links["alpha"] == pytest.approx([1.2e-5, 8e-6], abs=0)
    assert links["beta"] == pytest.approx([1e-10, 5e-11], abs=0)
    with pytest.raises(
        meshwright.InvalidArgument,
        match="paired_box.json has no links: mesh 2x8 has 16 places",
    ):
        read_links(BOX, (2, 8))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "it is not JSON"),
        ("[]", "the document is not an object"),
        ('{"alpha":[0,0]}', "beta is missing"),
        ('{"alpha":3,"beta":[0,0]}', "alpha is int, not a list"),
        ('{"alpha":[0],"beta":[0,0]}', "alpha has 1 figures, but mesh 1x2 has"),
        ('{"alpha":[0,-1],"beta":[0,0]}', r"alpha\[1\] is no number"),
        ('{"alpha":[0,0],"beta":["a",0]}', r"beta\[0\] is no number"),
        ('{"alpha":[0,0],"beta":[0,NaN]}', r"beta\[1\] is no number"),
    ],
)
def test_what_is_no_table_is_named(tmp_path, text, says):
    file = tmp_path / "none.json"
    file.write_text(text)
    with pytest.raises(
        meshwright.InvalidArgument, match=f"none.json has no links: {says}"
    ):
        read_links(file, (1, 2))


def test_a_link_file_that_is_not_there_is_named():
    with pytest.raises(meshwright.InvalidArgument, match="^links: .*/nope"):
        read_links("/nope", (1, 2))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"solo": True, "links": LINKS}, "only on the platform cuda"),
        ({"solo": True, "platform": "cuda"}, "give links"),
        ({"links": LINKS, "platform": "cuda"}, "with solo=True only"),
    ],
)
def test_solo_and_links_come_together_and_for_gpus(options, says):
    with pytest.raises(meshwright.InvalidArgument, match=says):
        submission("ab", mesh="1x8", name="step", **options)
