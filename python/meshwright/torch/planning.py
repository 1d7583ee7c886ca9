"""``plan``: from a PyTorch training step to a Plan with its activations.

Concept: export the step, look for a kept plan, else ask the service for one
and for the annotated module, and read from that how values lie between the
modules. Of several processes, the first asks and the others take its answer.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable
from typing import Any

import torch
from torch.distributed.device_mesh import DeviceMesh

from meshwright._binary import annotate, plan_symbolically
from meshwright._version import __version__
from meshwright.errors import PlanMismatch, Unimplemented
from meshwright.launch import check_fallback, plan_or_baseline
from meshwright.plan import Plan, check_feasible
from meshwright.quantities import parse_bytes, parse_mesh
from meshwright.records import Strategies
from meshwright.torch._layouts import check_runnable
from meshwright.torch._processes import agree
from meshwright.torch.exporting import ExportedStep, export

Made = tuple[Plan, bytes]  # with the annotated module


def plan(
    module: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    loss_fn: Callable[[torch.nn.Module, Any], torch.Tensor],
    batch: Any,
    *,
    mesh: str | int | tuple[int, ...] | DeviceMesh,
    accumulate: int = 1,
    max_grad_norm: float | None = None,
    memory: int | str | None = None,
    strategies: Strategies | None = None,
    client: Any = None,
    wait: float | str | None = None,
    progress: bool | None = None,
    fallback: str | None = None,
    symbolic: bool = False,
    use: Plan | str | os.PathLike[str] | None = None,
    keep: str | os.PathLike[str] | bool = True,
    platform: str | None = None,
) -> Plan:
    """The plan of the step, for ``apply``.

    The step is what ``export`` makes of its first arguments. ``mesh``: devices
    per axis, outermost first, like "1x2", or a DeviceMesh. ``platform``: cpu or
    cuda; None: that of the module's parameters. The rest is as for
    ``meshwright.jax.plan``.

    Raises what ``export`` raises, InfeasiblePlan where nothing fits the
    memory, and what the client raises.
    """
    shape = (
        tuple(mesh.shape) if isinstance(mesh, DeviceMesh) else parse_mesh(mesh)
    )
    check_fallback(fallback)
    request: dict[str, Any] = {
        "mesh": shape,
        "memory": memory,
        "strategies": strategies,
    }

    def make() -> Plan:
        step = export(
            module,
            optimizer,
            loss_fn,
            batch,
            accumulate=accumulate,
            max_grad_norm=max_grad_norm,
        )
        if use is not None:
            given = use if isinstance(use, Plan) else Plan.load(use)
            _check_given(given, shape)
            made = given, annotate(step.module, given)
        else:
            made = _find_or_ask(
                step,
                request,
                platform or _platform_of(module),
                keep=keep,
                symbolic=symbolic,
                fallback=fallback,
                client=client,
                wait=wait,
                progress=progress,
            )
        return _with_activations(*made, step)

    return agree(make)


def _find_or_ask(
    step: ExportedStep,
    request: dict[str, Any],
    platform: str,
    *,
    keep: str | os.PathLike[str] | bool,
    symbolic: bool,
    fallback: str | None,
    **options: Any,
) -> Made:
    from meshwright.jax._kept_plans import KeptPlans, default_folder, make_key

    strategies = request["strategies"] or Strategies()
    key = make_key(
        [
            __version__,
            "torch",
            step.text_digest,
            platform,
            symbolic,
            request["mesh"],
            parse_bytes(request["memory"], "memory"),
            strategies.flags(),
        ]
    )
    kept = None
    if keep is not False:
        folder = default_folder() if keep is True else pathlib.Path(keep)
        kept = KeptPlans(folder)
        found = kept.find(key)
        if found is not None:
            return found

    def by_roofline(baseline: str) -> Made:
        made = plan_symbolically(
            step.module,
            name=step.name,
            mesh=request["mesh"],
            memory=request["memory"],
            strategies=strategies if baseline == "symbolic" else None,
            baseline=baseline,
        )
        check_feasible(made)
        return made, annotate(step.module, made)

    if symbolic:
        made, is_asked = by_roofline("symbolic"), True
    else:
        made, is_asked = plan_or_baseline(
            lambda: _ask(step, platform=platform, **request, **options),
            by_roofline,
            fallback,
        )
    if kept is not None and is_asked:
        kept.keep(key, *made)
    return made


def _ask(
    step: ExportedStep, *, client: Any, platform: str, **options: Any
) -> Made:
    if client is None:
        from meshwright.client import Client

        with Client(platform=platform) as own:
            return _ask(step, client=own, platform=platform, **options)
    made = client.plan(
        step.module, name=step.name, platform=platform, **options
    )
    check_feasible(made)
    try:
        return made, client.export(made.id)["module.hlo.pb"]
    except Unimplemented:  # a service of before it had that call
        return made, annotate(step.module, made)


def _with_activations(
    made: Plan, annotated: bytes, step: ExportedStep
) -> Plan:
    from meshwright.torch._activations import read_activations

    planned = tuple(argument.name for argument in made.arguments)
    if planned != step.arguments:
        raise PlanMismatch(
            "use: the plan is of another step; its first argument that "
            "differs is "
            + next(
                (p for p, a in zip(planned, step.arguments) if p != a),
                "one that only one of them has",
            )
        )
    return made.with_activations(
        read_activations(annotated, step.lowered, made.mesh)
    )


def _check_given(given: Plan, mesh: tuple[int, ...]) -> None:
    check_runnable(given)
    if given.mesh != mesh:
        shapes = ("x".join(map(str, m)) for m in (given.mesh, mesh))
        raise PlanMismatch(
            "use: the plan is for mesh {}, and mesh is {}".format(*shapes)
        )


def _platform_of(module: torch.nn.Module) -> str:
    devices = {parameter.device.type for parameter in module.parameters()}
    return "cuda" if "cuda" in devices else "cpu"
