"""The code of docs/python.md runs as it stands there."""

from __future__ import annotations

import pathlib
import re

import pytest

jax = pytest.importorskip("jax", reason="jax is not installed")
pytest.importorskip("grpc_tools", reason="grpcio-tools is not installed")

import meshwright  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]


def test_the_blocks_of_the_page_run_in_turn(binary, tmp_path, monkeypatch):
    page = (ROOT / "docs" / "python.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    assert len(blocks) == 4
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MESHWRIGHT_PLANS", str(tmp_path / "plans"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
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
