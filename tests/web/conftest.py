"""One browser for all tests, and real plans measured once.

MESHWRIGHT_BINARY names the program. The plan is of a tiny LLaMA on two virtual
CPU devices, compiled without optimization: its figures mean nothing, and all
parts of a page are there.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest

import browser

ROOT = pathlib.Path(__file__).parents[2]
MODEL = ROOT / "tests/testdata/llama_tiny.hlo.pb"
QUICK = {"XLA_FLAGS": "--xla_backend_optimization_level=0",
         "MESHWRIGHT_XLA_FLAGS": "--xla_backend_optimization_level=0",
         "MESHWRIGHT_CALM_SECONDS": "0",
         "MESHWRIGHT_LOCK_FOLDER": tempfile.mkdtemp()}


def run(*words: str | pathlib.Path) -> str:
    done = subprocess.run(
        [os.environ["MESHWRIGHT_BINARY"], *map(str, words)],
        capture_output=True, text=True, check=False, timeout=500, cwd=ROOT,
        env={**os.environ, **QUICK})
    assert done.returncode == 0, done.stderr
    return done.stdout


@dataclasses.dataclass(frozen=True)
class Planned:
    folder: pathlib.Path
    plan: pathlib.Path
    store: pathlib.Path
    validation: pathlib.Path


@pytest.fixture(scope="session")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Planned:
    folder = tmp_path_factory.mktemp("planned")
    it = Planned(folder, folder / "plan.json", folder / "store.db",
                 folder / "validation.json")
    run("plan", MODEL, "--mesh", "1x2", "--store", it.store, "-o", it.plan)
    it.validation.write_text(
        run("validate", MODEL, it.plan, "--store", it.store, "--json"))
    return it


@pytest.fixture(scope="session")
def staged(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A plan written by hand: two stages on a device each, four micro-batches.
    A search decides by times whether there are two."""
    def stage(device: int) -> dict[str, Any]:
        segment = {"type": device, "describe": "rows", "seconds": 0.012,
                   "communication_seconds": 0.003, "memory_bytes": 1 << 20}
        return {"mesh": [1, 1], "devices": [device],
                "first_segment": 12 * device, "segments": [segment] * 12,
                "predicted": {"step_seconds": 0.144, "peak_bytes": 3 << 20,
                              "communication_seconds": 0.036},
                "forward_seconds": 0.012, "backward_input_seconds": 0.012,
                "backward_weight_seconds": 0.012, "update_seconds": 0.002,
                "activation_bytes": 1 << 18, "persistent_bytes": 1 << 20}

    crossing = {"bytes": 1 << 16, "makespan_seconds": 0.001, "optimal": True}
    path = tmp_path_factory.mktemp("staged") / "staged.json"
    path.write_text(json.dumps({
        "schema_version": 1, "feasible": True, "model": {"name": "two stages"},
        "mesh": [1, 2], "device": "cpu", "quality": "good",
        "predicted": {"step_seconds": 0.19, "compute_seconds": 0.108,
                      "communication_seconds": 0.036, "peak_bytes": 3 << 20},
        "lower_bound_seconds": 0.18, "gap": 0.0526,
        "stages": [stage(0), stage(1)],
        "boundaries": [{"within_host": True, "forward": crossing,
                        "backward": crossing}],
        "pipeline": {"schedule": "1f1b", "micro_batches": 4, "overlap": True,
                     "step_seconds": 0.19, "bubble": 0.2}}))
    return path


def deepen(plan: dict[str, Any], layers: int) -> dict[str, Any]:
    """The plan of a model with so many layers: the first segment of the type
    that is there most often, and its arguments and outputs, again and again."""
    deep = copy.deepcopy(plan)
    deep["model"]["name"] = f"a_model_of_{layers}_layers_with_a_name_of_its_own"
    types = [it["type"] for it in plan["segments"]]
    layer = max(set(types), key=types.count)
    at = types.index(layer)
    others = [it for it in deep["segments"] if it["type"] != layer]
    deep["segments"] = [*others[:at],
                        *(copy.deepcopy(plan["segments"][at])
                          for _ in range(layers)),
                        *others[at:]]
    for key in ("arguments", "outputs"):
        own = plan[key]
        deep[key] = [dict(it, name=f"{it['name']}.{copy_number}")
                     for copy_number in range(layers) for it in own[:40]]
    return deep


_DATA = '<script type="application/json" id="data">'


def split_report(page: pathlib.Path) -> tuple[str, dict[str, Any], str]:
    """What stands before its data, these, and what stands behind."""
    before, _, rest = page.read_text(encoding="utf-8").partition(_DATA)
    data, end, after = rest.partition("</script>")
    return before + _DATA, json.loads(data), end + after


def count_segments(data: dict[str, Any]) -> int:
    return sum(group["repeat"] * run["count"] for stage in data["segments"]
               for group in stage["groups"] for run in group["runs"])


def repeat_timeline(timeline: dict[str, Any], times: int) -> None:
    step = timeline["step_seconds"]
    timeline["step_seconds"] = step * times
    for group in timeline["groups"]:
        slices = [lane["slices"] for lane in group["lanes"]]
        for levels in [group["memory"], *slices]:
            levels[:] = [[start + step * i, *rest] for i in range(times)
                         for start, *rest in levels]


def add_evidence(deep: pathlib.Path, shallow: pathlib.Path,
                 layers: int) -> None:
    """Gives the report of a deepened plan what no store has of it: the choices,
    front and programs of the plan that it was made from, whose layers are the
    same programs, and a timeline with as many slices as its segments give."""
    before, data, after = split_report(deep)
    _, measured, _ = split_report(shallow)
    for choice in measured["choices"]:
        following = choice["next_best"] or {"changes": []}
        for it in [choice, *following["changes"]]:
            it["segments"] = list(range(layers))
    timeline = measured["timelines"][0]
    times = -(-count_segments(data) // count_segments(measured))
    repeat_timeline(timeline, times)
    data.update(choices=measured["choices"], basis=measured["basis"],
                timelines=[timeline])
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    deep.write_text(before + text + after, encoding="utf-8")


@pytest.fixture(scope="session")
def deep_plan(planned: Planned) -> pathlib.Path:
    path = planned.folder / "deep.json"
    path.write_text(json.dumps(
        deepen(json.loads(planned.plan.read_text()), 96)))
    return path


@pytest.fixture(scope="session")
def page() -> Iterator[browser.Page]:
    with browser.open_browser() as opened:
        yield opened
