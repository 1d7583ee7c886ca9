"""Plans are typed values that keep what they were read from."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys

import pytest

import meshwright
from meshwright.quantities import parse_bytes, parse_mesh, parse_seconds

FILE = {
    "schema_version": 1,
    "model": {"fingerprint": "ab", "name": "llama_2l"},
    "mesh": [1, "2"],
    "device": "cpu",
    "feasible": True,
    "predicted": {
        "step_seconds": 0.0257,
        "compute_seconds": 0.0252,
        "communication_seconds": 0.0005,
        "resharding_seconds": 0.0002,
        "peak_bytes": "38482739",
        "interval_seconds": [0.0254, 0.0265],
    },
    "lower_bound_seconds": 0.0256,
    "gap": 0.0025,
    "segments": [
        {"type": 1, "describe": "rows, <columns>", "seconds": 0.01},
        {"type": 1, "describe": "rows, <columns>", "seconds": 0.01},
        {"type": 2, "describe": "columns", "seconds": 0.0057},
    ],
    "arguments": [
        {
            "index": 0,
            "name": "params['w']",
            "role": "parameter",
            "sharding": "[1,-]",
            "shape": [8, 4],
        }
    ],
    "programs": {"distinct": 93, "profiled": 60, "excluded": 51},
    "quality": "noisy",
    "noise": ["busy_machine"],
    "tie": None,
    "later_field": {"kept": [1]},
}


@pytest.fixture
def plan() -> meshwright.Plan:
    return meshwright.Plan.from_json(FILE)


def test_a_plan_is_read_by_field_and_is_frozen(plan):
    assert plan.mesh == (1, 2)
    assert plan.predicted.peak_bytes == 38482739
    assert plan.arguments[0].shape == (8, 4)
    assert plan.tie is None and plan.pipeline is None
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.device = "cuda"


def test_a_plan_is_written_whole(plan, tmp_path):
    plan.save(tmp_path / "plan.json")
    assert json.loads((tmp_path / "plan.json").read_text()) == FILE
    assert meshwright.Plan.load(tmp_path / "plan.json") == plan


def test_a_plan_shows_its_figures_and_folds_equal_segments(plan):
    assert "step            25.7 ms (compute 25.2 ms" in str(plan)
    assert "  0-1    type 1  rows, <columns>" in str(plan)
    assert "noisy, busy_machine" in str(plan)


def test_a_plan_is_shown_as_the_report_of_the_program(
    plan, binary, monkeypatch, tmp_path
):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    page = plan.to_html()
    assert page.startswith("<!doctype html>") and "llama_2l" in page
    frame = plan._repr_html_()
    assert 'srcdoc="&lt;!doctype html&gt;' in frame and "<script" not in frame
    monkeypatch.setenv("MESHWRIGHT_BINARY", str(tmp_path / "none"))
    assert plan._repr_html_() is None
    with pytest.raises(meshwright.FailedPrecondition):
        plan.to_html()


@pytest.mark.parametrize(
    ("device", "reason"),
    [("cpu", "not on this machine"), ("symbolic", "was not measured")],
)
def test_why_no_choice_is_explained(
    binary, monkeypatch, tmp_path, device, reason
):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    plan = meshwright.Plan.from_json({**FILE, "device": device})
    explanation = plan.explain()
    assert explanation.choices is None
    assert reason in explanation.reason


def test_an_interval_that_says_nothing_is_said_in_words(plan):
    assert "noise interval  25.4 ms to 26.5 ms" in str(plan)
    wide = dataclasses.replace(
        plan,
        predicted=dataclasses.replace(
            plan.predicted, interval_seconds=(0.011, 0.072)
        ),
    )
    assert "certainty" in str(wide) and "72.0 ms" not in str(wide)
    assert "the machine was busy: plan again" in str(wide)


def test_a_verdict_is_a_plan_too():
    plan = meshwright.Plan.from_json(
        {
            "schema_version": 1,
            "feasible": False,
            "predicted": None,
            "limit_bytes": 2**20,
            "least_memory_bytes": 2**22,
        }
    )
    assert "no plan was found that fits 1.0 MiB" in str(plan)


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("{", meshwright.InvalidArgument, "no plan file"),
        (
            '{"schema_version": "one"}',
            meshwright.InvalidArgument,
            "no plan file",
        ),
        ("{}", meshwright.InvalidArgument, "no schema_version"),
        ("[1]", meshwright.InvalidArgument, "no schema_version"),
        (
            '{"schema_version": 1, "mesh": 3}',
            meshwright.InvalidArgument,
            "no plan file",
        ),
        ('{"schema_version": 2}', meshwright.Unimplemented, "newer meshwright"),
    ],
)
def test_a_file_that_is_no_plan_is_one_sentence(text, kind, message, tmp_path):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(kind, match=message) as raised:
        meshwright.Plan.load(tmp_path / "x.json")
    assert "x.json: " in str(raised.value)


@pytest.mark.parametrize("name", ["none.json", "."])
def test_a_file_that_cannot_be_read_is_an_error_of_the_package(name, tmp_path):
    with pytest.raises(
        meshwright.InvalidArgument, match=f"cannot read {tmp_path}.*plan -o"
    ) as raised:
        meshwright.Plan.load(tmp_path / name)
    assert isinstance(raised.value.__cause__, OSError)


def test_sizes_and_durations_are_read_as_people_write_them():
    assert parse_bytes("16GiB", "memory") == 16 * 2**30
    assert parse_bytes("1.5 GB", "memory") == 1_500_000_000
    assert parse_bytes(None, "memory") == 0
    assert parse_seconds("1h30m", "wait") == 5400
    assert parse_seconds(2, "wait") == 2.0
    assert parse_mesh("2x4") == (2, 4)
    assert parse_mesh(8) == (8,)
    for call, wrong in (
        (lambda: parse_bytes("much", "memory"), "memory: "),
        (lambda: parse_bytes(-1, "memory"), "memory must"),
        (lambda: parse_seconds("5 min", "wait"), "wait: "),
        (lambda: parse_mesh("2xx"), "mesh: "),
        (lambda: parse_mesh((0, 2)), "mesh: "),
    ):
        with pytest.raises(meshwright.InvalidArgument, match=wrong):
            call()


def test_nothing_heavy_is_imported_before_it_is_used():
    loaded = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, meshwright; meshwright.Plan; print([m for m in "
            "('jax', 'torch', 'grpc', 'numpy') if m in sys.modules])",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert loaded.strip() == "[]"
