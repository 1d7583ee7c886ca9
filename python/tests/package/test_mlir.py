"""StableHLO is converted by jaxlib, for the package and for the program."""

from __future__ import annotations

import io
import json
import os
import pathlib
import subprocess
import sys
import time

import pytest

jax = pytest.importorskip("jax", reason="jax is not installed")

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import NamedSharding, PartitionSpec  # noqa: E402
from jaxlib import xla_client  # noqa: E402

from meshwright import (  # noqa: E402
    DeadlineExceeded,
    FailedPrecondition,
    InvalidArgument,
)
from meshwright._binary import environment  # noqa: E402
from meshwright._mlir import CONVERTER, looks_like_mlir, to_hlo  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]


def hlo_text(module: bytes) -> str:
    return xla_client.XlaComputation(module).as_hlo_text()


def lower(constrain=lambda y: y):
    def step(weights, x):
        def loss(w):
            return (constrain(jnp.tanh(x @ w)) ** 2).mean()

        value, gradients = jax.value_and_grad(loss)(weights)
        return weights - gradients, value

    return jax.jit(step, donate_argnums=0).lower(
        jnp.ones((32, 64)), jnp.ones((4, 32))
    )


def bytecode(lowered) -> bytes:
    content = io.BytesIO()
    lowered.compiler_ir("stablehlo").operation.write_bytecode(content)
    return content.getvalue()


@pytest.fixture
def constrained():
    """As Shardy has it, where that is JAX's own choice, else as GSPMD."""
    devices = np.array(jax.devices("cpu")[:2])
    mesh = jax.sharding.Mesh(devices, ("model",))
    rows = NamedSharding(mesh, PartitionSpec("model", None))
    return lower(lambda y: jax.lax.with_sharding_constraint(y, rows))


def test_every_form_becomes_the_hlo_of_jax():
    lowered = lower()
    text = str(lowered.compiler_ir("stablehlo")).encode()
    code = bytecode(lowered)
    portable = xla_client._xla.mlir.serialize_portable_artifact(code, "1.0.0")
    donated = "input_output_alias={ {0}: (0, {}, may-alias) }"
    for content in (text, code, portable):
        assert looks_like_mlir(content)
        made = hlo_text(to_hlo(content))
        assert donated in made and made.count(" dot(") == 2
    # Equal bytes, so that a plan knows its model again.
    assert to_hlo(text) == to_hlo(text)


def test_a_module_of_shardy_keeps_donation():
    before = jax.config.jax_use_shardy_partitioner
    devices = np.array(jax.devices("cpu")[:2])
    rows = NamedSharding(
        jax.sharding.Mesh(devices, ("model",)), PartitionSpec("model", None)
    )
    jax.config.update("jax_use_shardy_partitioner", True)
    try:
        text = str(
            lower(
                lambda y: jax.lax.with_sharding_constraint(y, rows)
            ).compiler_ir("stablehlo")
        )
    finally:
        jax.config.update("jax_use_shardy_partitioner", before)
    assert "sdy.sharding_constraint" in text
    made = hlo_text(to_hlo(text.encode()))
    assert "buffer_donor" in made or "input_output_alias" in made
    assert 'custom_call_target="Sharding"' in made


def test_hlo_is_left_alone():
    module = lower().compiler_ir("hlo").as_serialized_hlo_module_proto()
    for content in (module, b"HloModule step", b"modules", b"# a page\n"):
        assert not looks_like_mlir(content)
        assert to_hlo(content) == content


def test_what_jaxlib_refuses_is_one_sentence():
    with pytest.raises(InvalidArgument, match="no StableHLO that jaxlib"):
        to_hlo(b"module @step { nonsense }")


def test_a_python_without_jaxlib_is_named(tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'ModuleNotFoundError' >&2\nexit 1\n")
    python.chmod(0o755)
    with pytest.raises(FailedPrecondition, match="has no jaxlib"):
        to_hlo(b"module @step {}", str(python))


def test_a_conversion_ends_when_its_caller_waits_no_longer(tmp_path):
    python = tmp_path / "python"
    os.mkfifo(tmp_path / "python.gate")  # which nobody opens
    python.write_text('#!/bin/sh\nread -r _ < "$0.gate"\n')
    python.chmod(0o755)
    with pytest.raises(DeadlineExceeded, match="wait longer"):
        to_hlo(b"module @step {}", str(python), until=time.monotonic())


def test_the_program_has_the_same_converter():
    assert CONVERTER in (ROOT / "cli" / "mlir" / "to_hlo.cc").read_text()


def analyze(binary: str, path: pathlib.Path) -> dict:
    done = subprocess.run(
        [binary, "analyze", str(path), "--json"],
        env=environment() | {"MESHWRIGHT_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_program_reads_stablehlo(binary, tmp_path, constrained):
    free = tmp_path / "free.mlirbc"
    free.write_bytes(bytecode(lower()))
    sharded = tmp_path / "sharded.mlir"
    sharded.write_text(str(constrained.compiler_ir("stablehlo")))
    of_free, of_sharded = analyze(binary, free), analyze(binary, sharded)
    assert of_free["contractions"] == of_sharded["contractions"] == 2
    assert of_free["instructions"] == of_sharded["instructions"]
    assert not of_sharded["barriers"]
    assert any("with_sharding_constraint" in n for n in of_sharded["notes"])
