"""A wheel has its stubs, and the programs where they are named."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import zipfile

import pytest

import meshwright

pytest.importorskip("hatchling", reason="hatchling is not installed")
pytest.importorskip("grpc_tools", reason="grpcio-tools is not installed")

PYTHON = pathlib.Path(__file__).resolve().parents[2]
CODE = """
import meshwright
with meshwright.Client(store="profiles.db") as client:
    print(meshwright.__file__, client.plans())
"""


def build(output: pathlib.Path, **environ: str) -> pathlib.Path:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build"]
        + ["-t", "wheel", "-d", str(output)],
        cwd=PYTHON,
        env={**os.environ, **environ},
        check=True,
        capture_output=True,
    )
    (wheel,) = output.glob("*.whl")
    return wheel


def test_the_package_alone_is_for_every_platform(tmp_path):
    wheel = build(tmp_path)
    assert wheel.name.endswith("-py3-none-any.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "meshwright/_stubs/plans_pb2_grpc.py" in names
    assert "meshwright/_stubs/plans_pb2.pyi" in names
    assert "meshwright/py.typed" in names
    assert not [name for name in names if "tests" in name or "_native" in name]


def test_a_wheel_with_programs_starts_a_service(binary, tmp_path):
    wheel = build(
        tmp_path / "dist", MESHWRIGHT_WHEEL_BINARIES=os.path.dirname(binary)
    )
    assert "none-linux_" in wheel.name
    installed = tmp_path / "installed"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        + ["--no-index", "--target", str(installed), str(wheel)],
        check=True,
    )
    environ = {**os.environ, "PYTHONPATH": str(installed)}
    del environ["MESHWRIGHT_BINARY"]
    version = subprocess.run(
        [str(installed / "bin" / "meshwright"), "--version"],
        env=environ,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert version.strip() == meshwright.__version__
    worker = installed / "meshwright" / "_native" / "bin" / "meshwright-worker"
    subprocess.run([str(worker), "--help"], check=True, capture_output=True)
    said = subprocess.run(
        [sys.executable, "-c", CODE],
        env=environ,
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert said.strip() == f"{installed}/meshwright/__init__.py []"
