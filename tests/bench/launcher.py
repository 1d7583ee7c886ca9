"""What a planned step costs beside the program of its plan.

  tests/bench/launcher.sh [--bin build/release/bin] [--rounds 5] [--steps 40]
      [--calls 500]

A LLaMA of two layers with AdamW is planned on two virtual devices. In every
round run a PlannedStep, a jit of the step as it is written with the shardings
of the plan's arguments alone, and `meshwright validate`. Figures are of low
deciles of whole steps. A call is timed on the same step with narrow layers,
until it returns, in turns with such a jit.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
# Before JAX is imported.
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from agreement import quantile  # noqa: E402

import meshwright.jax  # noqa: E402
from meshwright.jax._trace import trace_step  # noqa: E402
from meshwright_models import export  # noqa: E402
from meshwright_models.model_shape import ModelShape  # noqa: E402
from meshwright_models.step_options import StepOptions  # noqa: E402
from meshwright_models.training_step import (  # noqa: E402
    make_optimizer,
    make_train_step,
)

SHAPE = ModelShape(layers=2, ffn=704)
NARROW = ModelShape(layers=2, ffn=64, hidden=32, heads=4, vocab=64, batch=4,
                    seq=8)
DONATED = (0, 1)
MAX_SHARE = 0.05
MAX_MICROSECONDS = 50
WARM_UP = 5


def fill(tree):
    """Numbers for shapes; indices are within every table."""
    random = np.random.default_rng(0)

    def one(leaf):
        if jnp.issubdtype(leaf.dtype, jnp.integer):
            values = random.integers(0, 8, leaf.shape)
        else:
            values = random.normal(0, 0.1, leaf.shape)
        return jnp.asarray(values, leaf.dtype)

    return jax.tree.map(one, tree)


def make_step(shape):
    """The step, and its arguments: parameters and AdamW's state first."""
    model = export.build_model("llama_plain", shape)
    params = fill(model.params)
    state = make_optimizer(StepOptions()).init(params)
    step = make_train_step(model, StepOptions())
    return step, (params, state, None, None, fill(model.batch))


def advance(call, arguments):
    """The arguments of the next step, and the seconds until the call returned."""
    began = time.perf_counter()
    results = call(*arguments)
    seconds = time.perf_counter() - began
    return (*results[:2], *arguments[2:]), seconds


def run_meshwright(*words):
    done = subprocess.run([os.environ["MESHWRIGHT_BINARY"], *map(str, words)],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"meshwright {words[0]}: {done.stderr.strip()}")
    return done.stdout


def time_steps(planned, arguments, steps):
    """The low decile of whole steps, and the arguments of the next one."""
    times = []
    for number in range(WARM_UP + steps):
        began = time.perf_counter()
        arguments, _ = advance(planned, arguments)
        jax.block_until_ready(arguments)
        if number >= WARM_UP:
            times.append(time.perf_counter() - began)
    return quantile(times, 0.1), arguments


def jit_as_written(step, planned):
    """The user's own step, with the shardings of its arguments and results."""
    return jax.jit(step, in_shardings=planned.in_shardings,
                   out_shardings=planned.out_shardings, donate_argnums=DONATED)


def compare_steps(mesh, options, folder):
    """Seconds of a step, per round: PlannedStep, validate, arguments alone."""
    step, arguments = make_step(SHAPE)
    model, plan, store = (folder / name for name in
                          ("step.hlo.pb", "plan.json", "store.db"))
    model.write_bytes(trace_step(step, arguments, DONATED, "cpu").module)
    run_meshwright("plan", model, "--mesh", "1x2", "--store", store, "-o", plan)
    planned = meshwright.jax.plan(step, *arguments, mesh=mesh,
                                  donate_argnums=DONATED, use=plan)
    arguments, plain = planned.put(*arguments), jit_as_written(step, planned)
    rounds = []
    for _ in range(options.rounds):
        ours, arguments = time_steps(planned, arguments, options.steps)
        alone, arguments = time_steps(plain, arguments, options.steps)
        report = json.loads(run_meshwright(
            "validate", model, plan, "--store", store, "--json"))
        (chosen,) = [it for it in report["plans"] if it["name"] == "chosen"]
        theirs = chosen["measured_seconds"]
        rounds.append((ours, theirs, alone))
        print(f"planned step {1e3 * ours:.2f} ms, validate {1e3 * theirs:.2f} "
              f"ms, arguments alone {1e3 * alone:.2f} ms", flush=True)
    return rounds


def compare_calls(mesh, calls):
    """Seconds of each call of PlannedStep and of jit, and their leaves."""
    step, arguments = make_step(NARROW)
    planned = meshwright.jax.plan(step, *arguments, mesh=mesh,
                                  donate_argnums=DONATED, symbolic=True,
                                  keep=False)
    plain = jit_as_written(step, planned)
    leaves = len(jax.tree.leaves(arguments))
    arguments = planned.put(*arguments)
    times = [], []
    gc.disable()
    for number in range(WARM_UP + calls):
        for call, taken in zip((planned, plain), times):
            arguments, seconds = advance(call, arguments)
            jax.block_until_ready(arguments)
            if number >= WARM_UP:
                taken.append(seconds)
    gc.enable()
    return *times, leaves


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path,
                        default=ROOT / "build/release/bin")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--calls", type=int, default=500)
    options = parser.parse_args()
    os.environ["MESHWRIGHT_BINARY"] = str(options.bin.resolve() / "meshwright")
    mesh = jax.sharding.Mesh(np.array(jax.devices()).reshape(1, 2),
                             ("data", "model"))
    with tempfile.TemporaryDirectory() as folder:
        rounds = compare_steps(mesh, options, pathlib.Path(folder))
    more = statistics.median(ours / theirs - 1 for ours, theirs, _ in rounds)
    less = statistics.median(ours / alone - 1 for ours, _, alone in rounds)
    ours, theirs, alone = (statistics.median(times) for times in zip(*rounds))
    of = "planned step of a LLaMA of 2 layers on 1x2"
    print(f"figure\t{of}: over the same plan by validate, median of "
          f"{options.rounds} rounds\t≤ {MAX_SHARE * 100:.0f} %\t"
          f"{more * 100:+.1f} % "
          f"({1e3 * ours:.1f} of {1e3 * theirs:.1f} ms)")
    print(f"figure\t{of}: over jit with the shardings of its arguments alone\t"
          f"-\t{less * 100:+.1f} % "
          f"({1e3 * ours:.1f} of {1e3 * alone:.1f} ms)")
    ours, plain, leaves = compare_calls(mesh, options.calls)
    ours, plain = (1e6 * statistics.median(times) for times in (ours, plain))
    print(f"figure\ta call of a planned step with {leaves} leaves: more than "
          f"jit's of the step as written\t≤ {MAX_MICROSECONDS} us\t"
          f"{ours - plain:+.0f} us ({ours:.0f} and {plain:.0f} us)")


if __name__ == "__main__":
    main()
