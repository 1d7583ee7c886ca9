"""A plan's shardings as DTensor placements.

Shapes: "[1,-]" cuts dimension 0 along mesh axis 1. Axes of one device are not
axes of the DeviceMesh; an axis that no dimension names holds copies.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping

from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.placement_types import Placement

from meshwright.errors import InvalidArgument, PlanMismatch
from meshwright.plan import Plan, check_feasible

Placements = tuple[Placement, ...]

_NAME = re.compile(r"(params|buffers|optimizer)\['(.+?)'\](?:\['(.+)'\])?")


@dataclasses.dataclass(frozen=True)
class PlanPlacements:
    """By name: of parameters, buffers, and so on; per axis of the mesh."""

    parameters: Mapping[str, Placements]
    buffers: Mapping[str, Placements]
    optimizer: Mapping[str, Mapping[str, Placements]]  # parameter -> state
    batch: Mapping[str, Placements]  # "batch['ids']"
    activations: Mapping[str, Placements]  # by submodule: its output
    shapes: Mapping[str, tuple[int, ...]]  # by the plan's names, of all these


def mesh_axes(plan: Plan) -> list[int]:
    """The axes of more than one device; of one device alone, the first."""
    return [axis for axis, size in enumerate(plan.mesh) if size > 1] or [0]


def placements(plan: Plan) -> PlanPlacements:
    """The plan's shardings of the tensors that a training script has."""
    check_runnable(plan)
    axes = mesh_axes(plan)
    parameters: dict[str, Placements] = {}
    buffers: dict[str, Placements] = {}
    optimizer: dict[str, dict[str, Placements]] = {}
    batch: dict[str, Placements] = {}
    for argument in plan.arguments:
        placed = read_placements(argument.sharding, axes)
        if argument.name.startswith("batch"):
            batch[argument.name] = placed
            continue
        found = _NAME.fullmatch(argument.name)
        if found is None:
            continue  # the key of random numbers
        kind, name, key = found.groups()
        if kind == "params":
            parameters[name] = placed
        elif kind == "buffers":
            buffers[name] = placed
        elif key is not None:
            optimizer.setdefault(name, {})[key] = placed
    return PlanPlacements(
        parameters,
        buffers,
        optimizer,
        batch,
        activations={
            activation.op_name: read_placements(activation.sharding, axes)
            for activation in plan.activations
        },
        shapes={
            **{value.op_name: value.shape for value in plan.activations},
            **{argument.name: argument.shape for argument in plan.arguments},
        },
    )


def parameters_without_gradient(plan: Plan) -> set[str]:
    """Those that the loss does not read, by the roles of arguments.

    The planner calls state that goes into the loss a parameter.
    """
    found = set()
    for argument in plan.arguments:
        name = _NAME.fullmatch(argument.name)
        if name is None or name[1] != "params":
            continue
        if argument.role in ("optimizer", "other"):
            found.add(name[2])
    return found


def read_placements(sharding: str, axes: list[int]) -> Placements:
    placed: dict[int, Placement] = {axis: Replicate() for axis in axes}
    for dim, entry in enumerate(sharding.strip()[1:-1].split(",")):
        for digit in entry:
            if digit.isdigit() and int(digit) in placed:
                placed[int(digit)] = Shard(dim)
    return tuple(placed[axis] for axis in axes)


def check_runnable(plan: Plan) -> None:
    if plan.pipeline is not None:
        raise InvalidArgument(
            "plan: it has stages; meshwright export makes their modules"
        )
    check_feasible(plan)


def check_mesh(plan: Plan, mesh: DeviceMesh) -> None:
    wanted = tuple(plan.mesh[axis] for axis in mesh_axes(plan))
    if tuple(mesh.shape) != wanted:
        shapes = ("x".join(map(str, m)) for m in (wanted, mesh.shape))
        raise PlanMismatch(
            "mesh: the plan is for {}, without axes of one device, and the "
            "mesh is {}; make it with device_mesh(plan)".format(*shapes)
        )
