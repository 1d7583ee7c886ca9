"""Two processes of one JAX program run the plan that the first one made."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

pytest.importorskip("jax", reason="jax is not installed")

import meshwright  # noqa: E402

CODE = """
import sys
import jax
jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize(f"localhost:{sys.argv[2]}", 2, int(sys.argv[1]))
import jax.numpy as jnp
import numpy as np
import meshwright.jax

def step(weights, x):
    loss, grads = jax.value_and_grad(lambda w: ((x @ w) ** 2).mean())(weights)
    return weights - 0.1 * grads, loss

mesh = jax.sharding.Mesh(np.array(jax.devices()).reshape(1, 2), ("a", "b"))
weights, x = np.ones((32, 64), np.float32), np.ones((4, 32), np.float32)
planned = meshwright.jax.plan(
    step, weights, x, mesh=mesh, symbolic=True, keep=False
)
print(planned.in_shardings, float(planned(*planned.put(weights, x))[1]))
"""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("localhost", 0))
        return int(found.getsockname()[1])


def test_the_first_process_asks_and_the_other_takes_its_plan(binary):
    port = str(free_port())
    environ = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=1"
    # Only the first needs the program.
    binaries = (binary, "/bin/false")
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", CODE, str(number), port],
            env={**environ, "MESHWRIGHT_BINARY": program},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number, program in enumerate(binaries)
    ]
    said = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], said
    lines = [output.splitlines()[-1] for output, _ in said]
    assert lines[0] == lines[1] and lines[0].endswith(" 1024.0")


class Words:
    """The store of ``jax.distributed``, of one process, and its broadcasts."""

    def __init__(self, monkeypatch, process):
        import jax
        from jax._src import distributed

        from meshwright.jax import _processes

        self.done: list[str] = []
        monkeypatch.setattr(jax, "process_count", lambda: 2)
        monkeypatch.setattr(jax, "process_index", lambda: process)
        monkeypatch.setattr(distributed.global_state, "client", self)
        monkeypatch.setattr(_processes, "_broadcast", self.broadcast)
        self.agree = _processes.agree

    def key_value_set(self, word, _):
        self.done.append("gives " + word.rpartition("/")[0])

    def blocking_key_value_get(self, word, _):
        self.done.append("awaits " + word.rpartition("/")[0])

    def broadcast(self, content):
        self.done.append("broadcasts")
        return content or b'{"error": "none"}\n'


# A collective gives up on a process that comes half a minute late.
def test_nobody_is_in_a_collective_while_the_first_process_plans(monkeypatch):
    other = Words(monkeypatch, 1)
    with pytest.raises(meshwright.FailedPrecondition, match="process 0"):
        other.agree(lambda: pytest.fail("only the first asks"))
    assert other.done == ["awaits meshwright/plan", "broadcasts"]


def test_the_others_hear_of_a_plan_that_fails(monkeypatch):
    first = Words(monkeypatch, 0)

    def make():
        assert first.done == []
        raise meshwright.Unavailable("away")

    with pytest.raises(meshwright.Unavailable):
        first.agree(make)
    assert first.done == ["gives meshwright/plan", "broadcasts"]
