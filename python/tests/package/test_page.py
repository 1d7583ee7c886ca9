"""The code of docs/python.md and of both README.md runs as it stands there."""

from __future__ import annotations

import pathlib
import re

import pytest

jax = pytest.importorskip("jax", reason="jax is not installed")
pytest.importorskip("grpc_tools", reason="grpcio-tools is not installed")

import meshwright  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]


def find_blocks(page):
    text = (ROOT / page).read_text()
    return re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The step of all pages is one: it is measured once."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture(autouse=True)
def within(kept, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MESHWRIGHT_PLANS", str(kept / "plans"))
    monkeypatch.setenv("XDG_DATA_HOME", str(kept / "data"))


def test_the_blocks_of_the_page_run_in_turn(binary):
    blocks = find_blocks("docs/python.md")
    assert len(blocks) == 4
    scope = {"meshwright": meshwright}
    for block in blocks:
        if "step.hlo.pb" in block:
            lowered = jax.jit(scope["step"]).lower(
                scope["state"], scope["batch"]
            )
            module = lowered.compiler_ir("hlo")
            pathlib.Path("step.hlo.pb").write_bytes(
                module.as_serialized_hlo_module_proto()
            )
        exec(block, scope)
    assert scope["plan"].model.name == "step"


@pytest.mark.parametrize("page", ("README.md", "python/README.md"))
def test_three_lines_plan_a_step_of_a_script(binary, page):
    (block,) = find_blocks(page)
    assert block.count("\n") == 3
    script, planned, _ = find_blocks("docs/python.md")[0].partition("planned =")
    assert planned
    scope = {}
    exec(script + block, scope)
    assert scope["loss"].shape == ()
    assert scope["planned"].plan.predicted.step_seconds > 0
