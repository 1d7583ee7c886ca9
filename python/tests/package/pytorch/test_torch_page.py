"""The code of docs/torch.md runs as it stands there."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("jax", reason="jax is not installed")
pytest.importorskip("grpc_tools", reason="grpcio-tools is not installed")

from meshwright import Strategies  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[4]
# Each process writes its files in a folder of its own.
HEAD = """
import os, pathlib
own = pathlib.Path("rank" + os.environ["RANK"])
own.mkdir(exist_ok=True)
os.chdir(own)
"""
ONE_STEP = """
with mwt.running():
    loss_fn(module, batch).backward()
assert all(p.grad is not None for p in module.parameters())
"""
TAIL = "torch.distributed.destroy_process_group()\n"


def run_job(folder, *parts):
    """In two processes, as the page says."""
    (folder / "job.py").write_text("\n".join((HEAD, *parts, TAIL)))
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone",
         "--nproc-per-node", "2", "job.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-3000:]


def test_the_blocks_of_the_page_run(binary, tmp_path, monkeypatch):
    page = (ROOT / "docs" / "torch.md").read_text()
    script, job, with_how, with_styles = re.findall(
        r"^```python\n(.*?)^```", page, re.M | re.S
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MESHWRIGHT_PLANS", str(tmp_path / "plans"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    scope = {}
    exec(script, scope)
    assert (tmp_path / "plan.json").exists()
    # The processes find the kept plan, and measure nothing.
    run_job(tmp_path, script, "data = [batch]", job)

    # The other blocks take another plan in the place of the measured one.
    step = [scope[it] for it in ("module", "optimizer", "loss_fn", "batch")]
    start, apply, _ = job.partition("mwt.apply(")
    assert apply
    for block, pin in (
        (with_how, ("all=rows",)),
        (with_styles, ("0=columns", "1=contraction")),
    ):
        plan = scope["mwt"].plan(
            *step,
            mesh="1x2",
            symbolic=True,
            strategies=Strategies(pin=pin),
            keep=False,
        )
        plan.save(tmp_path / "pinned.json")
        given = 'import shutil; shutil.copy("../pinned.json", "plan.json")'
        run_job(tmp_path, script, given, start, block, ONE_STEP)
