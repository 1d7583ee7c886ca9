"""``how``: which of torch's ways of running fits a plan.

Concept: DTensors run every plan. Where a plan splits the batch in rows and
nothing else inside of the step, torch has faster ways: FSDP2 where it splits
the parameters at rest, too, and DistributedDataParallel where it keeps them
whole. The second is taken for batch norms alone, which DTensor computes on
channels after a resharding, or not at all.
No way recomputes forward values by itself, so a plan that does warns.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import Literal

import torch
import torch.distributed
from torch.distributed.tensor import Shard

from meshwright.errors import warn
from meshwright.plan import Plan
from meshwright.torch._batch_norm import norms_that_compute_more
from meshwright.torch._layouts import (
    Placements,
    PlanPlacements,
    mesh_axes,
    placements,
)

Method = Literal["dtensor", "fully_shard", "ddp"]


@dataclasses.dataclass(frozen=True)
class How:
    """A way to run a plan, and the reason in one sentence."""

    method: Method = "dtensor"
    reason: str = "DTensor: the plan is run as it is."

    def __str__(self) -> str:
        return self.reason


DTENSOR = How()


def how(plan: Plan, module: torch.nn.Module) -> How:
    """The way that fits, for ``apply`` and ``shard_batch``.

    With "fully_shard" and "ddp" each process sees its rows: ``loss_fn`` must
    take a mean over rows, or gradients are not the plan's.
    """
    placed = placements(plan)
    if math.prod(plan.mesh) == 1:
        return DTENSOR
    if len(mesh_axes(plan)) > 1:
        return How(reason=_dtensor("its mesh has more than one axis"))
    if not _splits_rows_alone(placed):
        return How(
            reason=_dtensor("it does not split rows of the batch alone")
        )
    computing_more = sorted(set(norms_that_compute_more(module).values()))
    if computing_more:
        return How(
            reason=_dtensor(
                f"{', '.join(computing_more)} computes more than a batch norm"
            )
        )
    matrices = [
        where
        for name, where in placed.parameters.items()
        if len(placed.shapes[f"params['{name}']"]) > 1
    ]
    if matrices and all(map(_is_split, matrices)):
        return How(
            "fully_shard",
            "FSDP2 (fully_shard): the plan splits rows of the batch, and the "
            "parameters at rest.",
        )
    if _any_split(placed.parameters.values()):
        return How(reason=_dtensor("it splits some parameters and not others"))
    if _any_split(
        where for state in placed.optimizer.values() for where in state.values()
    ):
        return How(reason=_dtensor("it splits the optimizer's state"))
    norms = sorted(
        {
            type(submodule).__name__
            for submodule in module.modules()
            if isinstance(submodule, torch.nn.modules.batchnorm._BatchNorm)
        }
    )
    if norms:
        return How(
            "ddp",
            "DistributedDataParallel: the plan splits rows of the batch, and "
            f"DTensor has no rule for {', '.join(norms)} that keeps them "
            "split.",
        )
    return How(reason=_dtensor("no operation asks for another way"))


def warn_of_recomputation(plan: Plan) -> None:
    """In one warning, of the first process."""
    numbers = [n for n, s in enumerate(plan.segments) if s.recompute]
    distributed = torch.distributed
    if not numbers or (
        distributed.is_available()
        and distributed.is_initialized()
        and distributed.get_rank() != 0
    ):
        return
    warn(
        f"the plan recomputes forward values of {_name_segments(numbers)}, "
        "which PyTorch does only where a module calls torch.utils.checkpoint; "
        "unless their layers do, the step needs more memory than predicted"
    )


def _name_segments(numbers: Sequence[int]) -> str:
    """As in: segments 1-4, 6."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    named = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
    return f"segment {named}" if len(numbers) == 1 else f"segments {named}"


def _dtensor(reason: str) -> str:
    return f"DTensor: the plan is run as it is, since {reason}."


def _is_split(where: Placements) -> bool:
    return any(placement.is_shard() for placement in where)


def _any_split(all_of: Iterable[Placements]) -> bool:
    return any(map(_is_split, all_of))


def _splits_rows_alone(placed: PlanPlacements) -> bool:
    """The batch, all or in part, and no value by another dimension."""
    batch = {where for where in placed.batch.values() if _is_split(where)}
    inside = {
        where for where in placed.activations.values() if _is_split(where)
    }
    # Micro-batches stand in front of the rows of a batch.
    return batch == {(Shard(0),)} and inside <= batch or (
        batch == {(Shard(1),)} and inside == {(Shard(0),)}
    )
