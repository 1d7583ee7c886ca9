"""The package is typed as it says (py.typed), for the oldest Python it takes."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

import meshwright

pytest.importorskip("mypy", reason="the package mypy is not installed")

PYTHON = pathlib.Path(__file__).parents[2]


def test_mypy_finds_no_fault_in_the_package(tmp_path: pathlib.Path) -> None:
    stubs = pathlib.Path(meshwright.__path__[-1]).parent
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", tmp_path,
         "--config-file", PYTHON / "pyproject.toml", "-p", "meshwright"],
        cwd=PYTHON, env={**os.environ, "MYPYPATH": str(stubs)},
        capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
