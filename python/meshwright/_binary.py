"""The ``meshwright`` program on this machine: found, run, and its errors.

Concept: MESHWRIGHT_BINARY names it, else it is the one that the wheel carries,
else that of PATH. Its exit status says whose fault an error is: 2 is that of
the input, 1 that of the work.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from meshwright.errors import (
    FailedPrecondition,
    InvalidArgument,
    Internal,
    MeshwrightError,
)
from meshwright.plan import Plan
from meshwright.quantities import parse_bytes
from meshwright.records import Strategies
from meshwright.reports import Difference, Explanation

_NATIVE = pathlib.Path(__file__).parent / "_native"


def find_carried() -> str | None:
    """The program that the wheel carries."""
    carried = _NATIVE / "bin" / "meshwright"
    return str(carried) if carried.exists() else None


def find_binary() -> str:
    """Raises FailedPrecondition where there is none."""
    if named := os.environ.get("MESHWRIGHT_BINARY"):
        if shutil.which(named) is None:
            raise FailedPrecondition(
                f"MESHWRIGHT_BINARY: {named} is no program that can be run"
            )
        return named
    if carried := find_carried():
        return carried
    if found := shutil.which("meshwright"):
        return found
    raise FailedPrecondition(
        "there is no meshwright program on this machine; set "
        "MESHWRIGHT_BINARY to one, or MESHWRIGHT_ADDRESS to a service"
    )


def environment() -> dict[str, str]:
    """With the plugins that are here, and this Python for jaxlib."""
    environ = dict(os.environ)
    environ.setdefault("MESHWRIGHT_PYTHON", sys.executable)
    plugins = sorted((_NATIVE / "plugins").glob("*cpu*.so"))
    if plugins:
        environ.setdefault("MESHWRIGHT_CPU_PLUGIN", str(plugins[0]))
    if (cuda := _find_cuda_plugin()) is not None:
        environ.setdefault("MESHWRIGHT_CUDA_PLUGIN", str(cuda))
    return environ


def _find_cuda_plugin() -> pathlib.Path | None:
    """That of JAX's CUDA packages in this Python; of several the newest."""
    # A namespace of several folders, which this does not import.
    spec = importlib.util.find_spec("jax_plugins")
    folders = spec.submodule_search_locations if spec is not None else None
    return max(
        (
            plugin
            for folder in folders or ()
            for plugin in pathlib.Path(folder).glob(
                "xla_cuda*/xla_cuda_plugin.so"
            )
        ),
        key=lambda plugin: plugin.parent.name,
        default=None,
    )


def run(*words: str | os.PathLike[str], passed_on: bool = False) -> str:
    """What the program printed. ``passed_on``: its messages are shown.

    Raises InvalidArgument or FailedPrecondition with its last sentence.
    """
    done = subprocess.run(
        [find_binary(), *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=None if passed_on else subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        env=environment(),
        check=False,
    )
    if done.returncode != 0:
        raise error_of_exit(done.returncode, done.stderr or "")
    return done.stdout


def error_of_exit(status: int, said: str) -> MeshwrightError:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    sentence = lines[-1] if lines else f"it ended with status {status}"
    sentence = sentence.removeprefix("meshwright: ").removeprefix("error: ")
    if status == 2:
        return InvalidArgument(sentence)
    if status == 1:
        return FailedPrecondition(sentence)
    return Internal(f"meshwright ended with status {status}: {sentence}")


def explain_plan(plan: Plan, store: str | None = None) -> Explanation:
    with tempfile.TemporaryDirectory(prefix="meshwright-") as folder:
        path = pathlib.Path(folder, "plan.json")
        plan.save(path)
        flags: Sequence[str] = ("--store", store) if store else ()
        data = json.loads(run("explain", path, "--json", *flags))
    explanation = Explanation.from_json({"choices": data.get("choices")})
    if explanation.choices is None:
        return dataclasses.replace(
            explanation,
            reason="this plan was not measured; plan the step without "
            "symbolic, and not as a baseline"
            if plan.device == "symbolic"
            else "the measurements of this plan are not on this machine; "
            "ask the service that made it with Client.explain",
        )
    return explanation


def report_plan(
    plan: Plan,
    store: str | os.PathLike[str] | None = None,
    validation: Mapping[str, Any] | None = None,
) -> str:
    with tempfile.TemporaryDirectory(prefix="meshwright-") as folder:
        path = pathlib.Path(folder, "plan.json")
        plan.save(path)
        words: list[str | os.PathLike[str]] = ["report", path, "-o", "-"]
        if store is not None:
            words += ["--store", store]
        if validation is not None:
            file = pathlib.Path(folder, "validation.json")
            file.write_text(json.dumps(validation))
            words += ["--validate", file]
        return run(*words)


def diff_plans(first: Plan, second: Plan) -> Difference:
    with tempfile.TemporaryDirectory(prefix="meshwright-") as folder:
        paths = [pathlib.Path(folder, name) for name in ("a.json", "b.json")]
        for path, plan in zip(paths, (first, second)):
            plan.save(path)
        return Difference.from_json(json.loads(run("diff", *paths, "--json")))


def annotate(module: bytes, plan: Plan) -> bytes:
    """The module with a sharding of the plan at every instruction."""
    with tempfile.TemporaryDirectory(prefix="meshwright-") as folder:
        model = pathlib.Path(folder, "step.hlo.pb")
        model.write_bytes(module)
        plan_file = pathlib.Path(folder, "plan.json")
        plan.save(plan_file)
        annotated = pathlib.Path(folder, "annotated.hlo.pb")
        run("export", model, plan_file, "-o", annotated)
        return annotated.read_bytes()


def plan_symbolically(
    module: bytes,
    *,
    mesh: tuple[int, ...],
    name: str = "step",
    memory: int | str | None = None,
    strategies: Strategies | None = None,
    links: Mapping[str, Sequence[float]] | None = None,
    baseline: str = "symbolic",
    stands_in: bool = False,
) -> Plan:
    """A plan by roofline, or the named baseline.

    Nothing is measured, and no device is needed. ``links``: alpha and beta of
    the mesh's axes, for a plan by roofline. ``stands_in``: it is taken
    in the place of another plan, and says so.
    """
    with tempfile.TemporaryDirectory(prefix="meshwright-") as folder:
        model = pathlib.Path(folder, "step.hlo.pb")
        model.write_bytes(module)
        words = ["--mesh", "x".join(map(str, mesh)), "--json"]
        if baseline == "symbolic":
            words.append("--symbolic")
            if links is not None:
                links_file = pathlib.Path(folder, "links.json")
                links_file.write_text(json.dumps(links))
                words += ["--links", str(links_file)]
        else:
            words += ["--baseline", baseline]
        if memory is not None:
            words += ["--device-memory", str(parse_bytes(memory, "memory"))]
        words += (strategies or Strategies()).flags()
        made = json.loads(run("plan", model, *words))
        made["model"]["name"] = name
        if stands_in:
            made["fallback"] = baseline
        return Plan.from_json(made)
