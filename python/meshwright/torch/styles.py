"""``parallelize_plan``: a plan in the words of ``parallelize_module``."""

from __future__ import annotations

import collections
from typing import Any

import torch
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    ParallelStyle,
    RowwiseParallel,
)

from meshwright.errors import Unimplemented
from meshwright.plan import Plan
from meshwright.torch._how import warn_of_recomputation
from meshwright.torch._layouts import PlanPlacements, mesh_axes, placements


def parallelize_plan(
    plan: Plan, module: torch.nn.Module
) -> dict[str, ParallelStyle]:
    """A style for each module that the plan splits.

    ``torch.distributed.tensor.parallel.parallelize_module`` takes it, on a
    mesh of one axis. Modules then return DTensors: ``distribute_module``
    makes those of the other parameters, and steps run within ``running``.
    Raises Unimplemented, naming all tensors that no style can say, tied ones
    among them; ``apply`` says them. Warns where the plan recomputes forward
    values.
    """
    placed = placements(plan)
    warn_of_recomputation(plan)
    if len(mesh_axes(plan)) != 1:
        raise Unimplemented(
            "plan: styles are for a mesh of one axis, and this plan has "
            f"{len(mesh_axes(plan))}; use apply"
        )
    unsaid = [name for name, where in placed.batch.items() if _is_split(where)]
    # Both make new parameters, module by module.
    unsaid += _names_of_tied(module)
    styles: dict[str, ParallelStyle] = {}
    for name, submodule in module.named_modules():
        style = _style_of(name, submodule, placed)
        if style is not None:
            styles[name] = style
            continue
        for key, _ in submodule.named_parameters(recurse=False):
            full = f"{name}.{key}" if name else key
            if full not in unsaid and _is_split(
                placed.parameters.get(full, ())
            ):
                unsaid.append(full)
    if unsaid:
        raise Unimplemented(
            "plan: no style of parallelize_module says how it lays out "
            f"{', '.join(unsaid)}; use apply"
        )
    return styles


def _names_of_tied(module: torch.nn.Module) -> list[str]:
    """Parameters that several modules hold."""
    holders = collections.Counter(
        id(parameter)
        for submodule in module.modules()
        for _, parameter in submodule.named_parameters(recurse=False)
    )
    return [n for n, p in module.named_parameters() if holders[id(p)] > 1]


def _is_split(where: object) -> bool:
    return isinstance(where, tuple) and any(p.is_shard() for p in where)


def _style_of(
    name: str, module: torch.nn.Module, placed: PlanPlacements
) -> ParallelStyle | None:
    if not isinstance(module, (torch.nn.Linear, torch.nn.Embedding)):
        return None
    weight = placed.parameters.get(f"{name}.weight")
    if weight is None or not _is_split(weight):
        return None
    bias = placed.parameters.get(f"{name}.bias", (Replicate(),))
    # A DTensor that comes in says itself how it lies.
    options: dict[str, Any] = {
        "input_layouts": Replicate(),
        "output_layouts": placed.activations.get(name, (None,))[0],
        "use_local_output": False,
    }
    rows, columns = (Shard(0),), (Shard(1),)
    if isinstance(module, torch.nn.Linear):
        if weight == rows and bias in (rows, (Replicate(),)):
            # Without a bias there is nothing to compare.
            if module.bias is not None and bias != rows:
                return None
            return ColwiseParallel(**options)
        if weight == columns and not _is_split(bias):
            return RowwiseParallel(**options)
        return None
    return (RowwiseParallel if weight == rows else ColwiseParallel)(**options)
