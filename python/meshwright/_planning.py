"""Plans of a traced step: the kept one, the service's, or one by roofline.

Concept: what the launchers for JAX and PyTorch do between tracing a step and
laying it out. Plans by roofline and of files are annotated by the program on
this machine, those of a service by the service.
"""

from __future__ import annotations

import os
import pathlib
from typing import Any, Protocol

from meshwright._binary import annotate, plan_symbolically
from meshwright._kept_plans import KeptPlans, default_folder
from meshwright._links import AxisLinks
from meshwright.errors import (
    InvalidArgument,
    PlanMismatch,
    Unimplemented,
    warn,
)
from meshwright.launch import plan_or_baseline
from meshwright.plan import Plan, check_feasible
from meshwright.records import Strategies

Made = tuple[Plan, bytes]  # with the annotated module


class TracedStep(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def module(self) -> bytes: ...  # a serialized HloModuleProto


def find_or_make(
    step: TracedStep,
    key: str,
    *,
    platform: str,
    mesh: tuple[int, ...],
    memory: int | str | None,
    strategies: Strategies | None,
    solo: bool,
    links: AxisLinks | None,
    keep: str | os.PathLike[str] | bool,
    symbolic: bool,
    fallback: str | None,
    **options: Any,
) -> Made:
    """The plan of the step, kept under its key unless it is a baseline.

    ``platform``: the service's name of it. ``options``: those of
    ``Client.plan``, and ``client``.
    """
    kept = None
    if keep is not False:
        kept = KeptPlans(
            default_folder() if keep is True else pathlib.Path(keep)
        )
        found = kept.find(key)
        if found is not None:
            return found

    def by_roofline(baseline: str, stands_in: bool = True) -> Made:
        made = plan_symbolically(
            step.module,
            name=step.name,
            mesh=mesh,
            memory=memory,
            strategies=strategies if baseline == "symbolic" else None,
            links=links,
            baseline=baseline,
            stands_in=stands_in,
        )
        check_feasible(made)
        return made, annotate(step.module, made)

    if symbolic:
        made, is_asked = by_roofline("symbolic", stands_in=False), True
    else:
        made, is_asked = plan_or_baseline(
            lambda: _ask(
                step,
                platform=platform,
                mesh=mesh,
                memory=memory,
                strategies=strategies,
                solo=solo,
                links=links,
                **options,
            ),
            by_roofline,
            fallback,
        )
    # A baseline is not kept: the next start asks again.
    if kept is not None and is_asked:
        try:
            kept.keep(key, *made)
        except OSError as error:  # the run has its plan
            warn(f"the plan is not kept for the next start: {error}")
    return made


def check_mesh_of(given: Plan, mesh: tuple[int, ...]) -> None:
    """Raises PlanMismatch where the plan in ``use`` is for another mesh."""
    if given.mesh != mesh:
        shapes = ("x".join(map(str, m)) for m in (given.mesh, mesh))
        raise PlanMismatch(
            "use: the plan is for mesh {}, and mesh is {}".format(*shapes)
        )


def annotate_given(given: Plan, step: TracedStep) -> Made:
    """Raises PlanMismatch where the plan in ``use`` is of another step."""
    try:
        return given, annotate(step.module, given)
    except InvalidArgument as error:
        raise PlanMismatch(f"use: {error}") from None


def _ask(
    step: TracedStep, *, client: Any, platform: str, **options: Any
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
