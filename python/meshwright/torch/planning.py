"""``plan``: from a PyTorch training step to a Plan with its activations.

Concept: export the step, find or make its plan with the annotated module, and
read from that how values lie between the modules. Of several processes, the
first asks and the others take its answer.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch
from torch.distributed.device_mesh import DeviceMesh

from meshwright._kept_plans import make_key
from meshwright._links import Links, read_links
from meshwright._planning import (
    annotate_given,
    check_mesh_of,
    find_or_make,
)
from meshwright._version import __version__
from meshwright.errors import PlanMismatch
from meshwright.launch import check_fallback
from meshwright.plan import Plan
from meshwright.quantities import parse_bytes, parse_mesh
from meshwright.records import Strategies
from meshwright.torch._layouts import check_runnable
from meshwright.torch._processes import agree
from meshwright.torch.exporting import ExportedStep, export


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
    solo: bool = False,
    links: Links | None = None,
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
            check_runnable(given)
            check_mesh_of(given, shape)
            _check_arguments(given, step)
            made = annotate_given(given, step)
        else:
            where = platform or _platform_of(module)
            axis_links = read_links(links, shape)
            request = (
                shape,
                parse_bytes(memory, "memory"),
                (strategies or Strategies()).flags(),
                solo,
                axis_links,
            )
            made = find_or_make(
                step,
                _make_key(step, where, symbolic, *request),
                platform=where,
                mesh=shape,
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
        return _with_activations(*made, step)

    return agree(make)


def _name_device(platform: str) -> str:
    if platform == "cuda" and torch.cuda.is_available():
        return str(torch.cuda.get_device_name())
    return platform


def _make_key(
    step: ExportedStep, platform: str, symbolic: bool, *request: object
) -> str:
    return make_key(
        [
            __version__,
            "torch",
            step.text_digest,
            step.arguments,  # their names, which the text has not
            _name_device(platform),
            symbolic,
            *request,
        ]
    )


def _check_arguments(given: Plan, step: ExportedStep) -> None:
    """Raises PlanMismatch where those of the plan in ``use`` are others."""
    from jax.tree_util import tree_leaves

    planned = [(it.name, it.shape) for it in given.arguments]
    leaves = tree_leaves(step.lowered.arguments)
    found = [(n, tuple(it.shape)) for n, it in zip(step.arguments, leaves)]
    if planned != found:
        raise PlanMismatch(
            "use: the plan is of another step; its first argument that "
            "differs is "
            + next(
                (
                    f"{name} of the shape {list(shape)}"
                    for (name, shape), it in zip(planned, found)
                    if (name, shape) != it
                ),
                "one that only one of them has",
            )
        )


def _with_activations(
    made: Plan, annotated: bytes, step: ExportedStep
) -> Plan:
    from meshwright.torch._activations import read_activations

    return made.with_activations(
        read_activations(annotated, step.lowered, made.mesh)
    )


def _platform_of(module: torch.nn.Module) -> str:
    devices = {parameter.device.type for parameter in module.parameters()}
    return "cuda" if "cuda" in devices else "cpu"
