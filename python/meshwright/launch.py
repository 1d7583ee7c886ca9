"""``best_plan``: a plan within a time limit, or a named baseline.

Concept: a training job must start whether or not the service answers. The
service is asked and waited for. Where it has no plan in time, the job takes a
baseline that needs no measurement, and one warning says why. A plan that is
late goes on in a service that lasts, for the next start; one of the job's own
ends with the call, and what it measured is kept. An error of the step itself is
one of its baseline, so it is an error here, too.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar

from meshwright.errors import (
    InfeasiblePlan,
    InvalidArgument,
    MeshwrightError,
    warn,
)
from meshwright.plan import Plan
from meshwright.quantities import parse_seconds

T = TypeVar("T")

# As `meshwright plan --baseline` has them; symbolic: what is fastest by
# roofline.
BASELINES = ("dp", "tp", "fsdp", "alpa-like", "map", "symbolic")

# As `meshwright plan --fallback` has it, all others are the service's.
_STEP_FAULTS = (InfeasiblePlan, InvalidArgument)


def best_plan(
    step: Callable[..., Any] | bytes | str | os.PathLike[str],
    *args: Any,
    mesh: Any,
    wait: float | str | None = "5m",
    fallback: str | None = "dp",
    **options: Any,
) -> Any:
    """The plan of the service, or ``fallback`` where it has none in time.

    A JAX step with its arguments gives a ``jax.PlannedStep``; ``options`` are
    those of ``jax.plan``. A PyTorch module with its optimizer, loss and batch
    gives a ``Plan``; ``options`` are those of ``torch.plan``. So does a
    serialized HLO module, or the file of one; ``options`` are ``client`` and
    those of ``Client.plan``. The time that StableHLO takes to convert is part
    of ``wait``; a baseline is taken after that.
    ``fallback``: dp, tp, fsdp, alpa-like, map or symbolic; None: raise what
    the service says.

    Raises InvalidArgument and InfeasiblePlan as these do.
    """
    check_fallback(fallback)
    parse_seconds(wait, "wait")
    if callable(step):
        return _planner_of(step)(
            step, *args, mesh=mesh, wait=wait, fallback=fallback, **options
        )
    if args:
        raise InvalidArgument("args: a module takes no arguments")
    return _plan_module(step, mesh, wait, fallback, **options)


def _planner_of(step: Callable[..., Any]) -> Callable[..., Any]:
    torch = sys.modules.get("torch")  # without it there is no module
    if torch is not None and isinstance(step, torch.nn.Module):
        from meshwright.torch import plan as plan_module

        return plan_module
    from meshwright.jax import plan as plan_step

    return plan_step


def check_fallback(fallback: str | None) -> None:
    if fallback is not None and fallback not in BASELINES:
        raise InvalidArgument(
            f'fallback: there is no baseline "{fallback}"; there are '
            + ", ".join(BASELINES)
        )


def plan_or_baseline(
    ask: Callable[[], T],
    make_baseline: Callable[[str], T],
    fallback: str | None,
) -> tuple[T, bool]:
    """A plan, and whether it is the one asked for."""
    try:
        return ask(), True
    except _STEP_FAULTS:
        raise
    except MeshwrightError as error:
        if fallback is None:
            raise
        try:
            plan = make_baseline(fallback)
        except _STEP_FAULTS:
            raise
        except MeshwrightError as second:  # no program on this machine
            raise type(error)(
                f"{error}; and there is no baseline {fallback}: {second}"
            ) from second
        warn(
            f"no measured plan, so this run takes the baseline {fallback}: "
            f"{error}"
        )
        return plan, False


def _plan_module(
    module: Any,
    mesh: Any,
    wait: float | str | None,
    fallback: str | None,
    *,
    client: Any = None,
    memory: int | str | None = None,
    **options: Any,
) -> Plan:
    from meshwright._binary import plan_symbolically
    from meshwright._links import read_links
    from meshwright._requests import read_module
    from meshwright.client import Client
    from meshwright.quantities import parse_mesh

    seconds = parse_seconds(wait, "wait")
    until = None if seconds is None else time.monotonic() + seconds
    # A baseline needs the converted module, too.
    content, name = read_module(module, until if fallback is None else None)
    options.setdefault("name", name)

    def ask() -> Plan:
        left = None if until is None else max(until - time.monotonic(), 0.0)
        if client is not None:
            return client.plan(  # type: ignore[no-any-return]
                content, mesh=mesh, wait=left, memory=memory, **options
            )
        with Client(platform=options.get("platform", "cpu")) as own:
            return own.plan(
                content, mesh=mesh, wait=left, memory=memory, **options
            )

    plan, _ = plan_or_baseline(
        ask,
        lambda baseline: plan_symbolically(
            content,
            mesh=parse_mesh(mesh),
            name=options["name"] or "step",
            memory=memory,
            strategies=(
                options.get("strategies") if baseline == "symbolic" else None
            ),
            links=(
                read_links(options.get("links"), parse_mesh(mesh))
                if baseline == "symbolic"
                else None
            ),
            baseline=baseline,
            stands_in=True,
        ),
        fallback,
    )
    return plan
