"""``plan``: from a JAX step to a PlannedStep.

Concept: trace the step, find or make its plan with the annotated module, bind
the shardings, make the function. Of several processes of one JAX program, the
first asks and the others take its answer.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import jax

from meshwright._kept_plans import make_key
from meshwright._links import Links, read_links
from meshwright._planning import (
    Made,
    annotate_given,
    check_mesh_of,
    find_or_make,
)
from meshwright._version import __version__
from meshwright.errors import InvalidArgument, PlanMismatch
from meshwright.jax import _processes
from meshwright.jax._module import planned_call
from meshwright.jax._shardings import bind, check_mesh
from meshwright.jax._trace import StepTrace, argument_names, trace_step
from meshwright.jax.planned_step import PlannedStep
from meshwright.launch import check_fallback
from meshwright.plan import Plan, check_feasible
from meshwright.quantities import parse_bytes
from meshwright.records import Strategies

# JAX's names of platforms, and the service's.
_PLATFORMS = {"cpu": "cpu", "gpu": "cuda", "cuda": "cuda"}


def plan(
    step: Callable[..., Any],
    *args: Any,
    mesh: jax.sharding.Mesh,
    memory: int | str | None = None,
    donate_argnums: int | Sequence[int] = (),
    strategies: Strategies | None = None,
    solo: bool = False,
    links: Links | None = None,
    client: Any = None,
    wait: float | str | None = None,
    progress: bool | None = None,
    fallback: str | None = None,
    symbolic: bool = False,
    use: Plan | str | os.PathLike[str] | None = None,
    keep: str | os.PathLike[str] | bool = True,
) -> PlannedStep:
    """The step with the fastest shardings of its arguments and values.

    ``step``: a function of arrays, jitted or not. ``args``: its arguments, or
    their shapes; nothing of them is run. ``mesh``: axes of type Auto; axis 0 is
    the outermost. ``memory``: per device, like "16GiB". ``solo``: one GPU
    stands for all of the mesh, and ``links`` says what communication takes: the
    file of `meshwright plan --links`, or its object.

    ``client``: a meshwright.Client; None: MESHWRIGHT_ADDRESS, else a service on
    this machine. ``wait``: DeadlineExceeded after so long. ``fallback``: the
    baseline to take then (``meshwright.best_plan``). ``symbolic``: by
    roofline, nothing is measured. ``use``: this plan, or file of one.
    ``keep``: the folder of kept plans; True: that of the user
    (MESHWRIGHT_PLANS); False: plan once more.

    Raises InvalidArgument for a step or mesh that cannot be planned,
    InfeasiblePlan where nothing fits the memory, and what the client raises.
    """
    check_mesh(mesh)
    check_fallback(fallback)
    device = mesh.devices.flat[0]
    if device.platform not in _PLATFORMS:
        raise InvalidArgument(
            f"mesh: there are no plans for devices of {device.platform}"
        )
    trace = trace_step(step, args, donate_argnums, device.platform)
    request: dict[str, object] = {
        "mesh": mesh.devices.shape,
        "memory": parse_bytes(memory, "memory"),
        "strategies": (strategies or Strategies()).flags(),
        "solo": solo,
    }

    def make() -> Made:
        if use is not None:
            given = use if isinstance(use, Plan) else Plan.load(use)
            _check_given(given, trace, mesh)
            return annotate_given(given, trace)
        axis_links = read_links(links, mesh.devices.shape)
        key = make_key(
            [
                __version__,
                trace.text_digest,
                device.platform,
                device.device_kind,
                symbolic,
                {**request, "links": axis_links},
            ]
        )
        return find_or_make(
            trace,
            key,
            platform=_PLATFORMS[device.platform],
            mesh=mesh.devices.shape,
            memory=memory,
            strategies=strategies,
            solo=solo,
            links=axis_links,
            keep=keep,
            symbolic=symbolic,
            fallback=fallback,
            client=client,
            wait=wait,
            progress=progress,
        )

    planned, annotated = _processes.agree(make)
    return apply(planned, annotated, trace, argument_names(step, len(args)), mesh)


def apply(
    planned: Plan,
    annotated: bytes,
    trace: StepTrace,
    names: Sequence[str],
    mesh: jax.sharding.Mesh,
) -> PlannedStep:
    """The planned step of a plan and its annotated module."""
    in_shardings = jax.tree.unflatten(
        trace.in_tree, bind(planned.arguments, trace.inputs, mesh, "arguments")
    )
    out_shardings = jax.tree.unflatten(
        trace.out_tree, bind(planned.outputs, trace.outputs, mesh, "outputs")
    )
    platform = mesh.devices.flat[0].platform
    exported = planned_call(
        trace,
        annotated,
        in_shardings,
        out_shardings,
        "cuda" if platform == "gpu" else platform,
    )
    return PlannedStep(
        planned, mesh, trace, names, exported, in_shardings, out_shardings
    )


def _check_given(
    plan: Plan, trace: StepTrace, mesh: jax.sharding.Mesh
) -> None:
    if plan.pipeline is not None:
        raise InvalidArgument(
            "use: the plan has stages; meshwright export makes their modules"
        )
    check_mesh_of(plan, mesh.devices.shape)
    check_feasible(plan)
    try:
        bind(plan.arguments, trace.inputs, mesh, "arguments")
        bind(plan.outputs, trace.outputs, mesh, "outputs")
    except PlanMismatch as error:
        raise PlanMismatch(f"use: {error}") from None
