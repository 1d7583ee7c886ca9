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
        self.kept: dict[str, str] = {}
        self.late = 0  # so often nothing came in time
        monkeypatch.setattr(jax, "process_count", lambda: 2)
        monkeypatch.setattr(jax, "process_index", lambda: process)
        monkeypatch.setattr(distributed.global_state, "client", self)
        monkeypatch.setattr(_processes, "_broadcast", self.broadcast)
        self.agree = _processes.agree

    def key_value_set(self, key, value, allow_overwrite=False):
        assert allow_overwrite or key not in self.kept
        self.kept[key] = value
        if key.startswith("meshwright/plan/"):
            self.done.append("gives " + key)

    def key_value_try_get(self, key):
        import jax

        if key not in self.kept:
            raise jax.errors.JaxRuntimeError("NOT_FOUND: " + key)
        return self.kept[key]

    def blocking_key_value_get(self, key, _):
        import jax

        if self.late > 0:
            self.late -= 1
            raise jax.errors.JaxRuntimeError("DEADLINE_EXCEEDED: " + key)
        self.done.append("awaits " + key)
        return self.kept.get(key, "{}")

    def broadcast(self, content):
        self.done.append("broadcasts")
        return content or b'{"error": "none"}\n'


# A collective gives up on a process that comes half a minute late.
def test_nobody_is_in_a_collective_while_the_first_process_plans(monkeypatch):
    other = Words(monkeypatch, 1)
    with pytest.raises(meshwright.FailedPrecondition, match="process 0"):
        other.agree(lambda: pytest.fail("only the first asks"))
    assert other.done == ["awaits meshwright/plan/0", "broadcasts"]


def test_a_process_waits_for_as_long_as_it_takes(monkeypatch):
    other = Words(monkeypatch, 1)
    other.late = 3
    with pytest.raises(meshwright.FailedPrecondition, match="process 0"):
        other.agree(lambda: pytest.fail("only the first asks"))
    assert other.late == 0
    assert other.done == ["awaits meshwright/plan/0", "broadcasts"]


# The store outlives it, and the first process goes on counting.
def test_a_process_that_starts_again_awaits_the_next_word(monkeypatch):
    other = Words(monkeypatch, 1)
    other.kept["meshwright/agreements/1"] = "3"
    with pytest.raises(meshwright.FailedPrecondition, match="process 0"):
        other.agree(lambda: pytest.fail("only the first asks"))
    assert other.done == ["awaits meshwright/plan/3", "broadcasts"]
    assert other.kept["meshwright/agreements/1"] == "4"


@pytest.mark.parametrize(
    "error", [meshwright.Unavailable("away"), KeyboardInterrupt()]
)
def test_the_others_hear_of_a_plan_that_fails(monkeypatch, error):
    first = Words(monkeypatch, 0)

    def make():
        assert first.done == []
        raise error

    for count in range(2):
        first.done.clear()
        with pytest.raises(type(error)):
            first.agree(make)
        # Whoever is interrupted, too, comes to no collective.
        assert first.done == [f"gives meshwright/plan/{count}"]
    other = Words(monkeypatch, 1)
    other.kept = first.kept
    for count in range(2):
        other.done.clear()
        with pytest.raises(
            meshwright.FailedPrecondition,
            match="process 0 has no plan: (away|KeyboardInterrupt)",
        ):
            other.agree(lambda: pytest.fail("only the first asks"))
        assert other.done == [f"awaits meshwright/plan/{count}"]


@pytest.mark.parametrize(
    ("error", "done"),
    [
        (meshwright.Unavailable("away"), ["broadcasts"]),
        (KeyboardInterrupt(), []),
    ],
)
def test_without_a_store_an_interrupt_is_broadcast_to_nobody(
    monkeypatch, error, done
):
    from jax._src import distributed

    def make():
        raise error

    first = Words(monkeypatch, 0)
    monkeypatch.setattr(distributed.global_state, "client", None)
    with pytest.raises(type(error)):
        first.agree(make)
    assert first.done == done
