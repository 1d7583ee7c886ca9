"""``apply``: a module laid out as its plan says.

Concept: parameters and buffers become DTensors. Between modules, values and
their gradients are moved to where the plan has them, by hooks on the modules'
outputs; DTensor decides inside of them. A gradient stays a partial sum while
micro-batches add to it, and is settled once, to the layout of its parameter.
The optimizer is made after ``apply``; its state then lies as its parameter,
unless ``shard_optimizer`` moves it. FSDP2 and DDP are torch's own
(``_data_parallel.py``); modules and batches are plain tensors then.
Errors: PlanMismatch, naming the tensor, where the plan is another module's.
Threads: that of torch.distributed; all processes call alike.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import FSDPModule
from torch.distributed.tensor import (
    DTensor,
    Replicate,
    Shard,
    distribute_tensor,
)
from torch.distributed.tensor.experimental import implicit_replication
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.optim.optimizer import register_optimizer_step_pre_hook

from meshwright.errors import InvalidArgument, PlanMismatch
from meshwright.plan import Plan
from meshwright.torch._amp import no_scaled_losses
from meshwright.torch._attention import batch_outermost
from meshwright.torch._devices import (
    check_device_type,
    choose_device_type,
    last_device_type,
    remember,
)
from meshwright.torch._how import DTENSOR, How, warn_of_recomputation
from meshwright.torch._layouts import (
    Placements,
    PlanPlacements,
    check_mesh,
    check_runnable,
    mesh_axes,
    parameters_without_gradient,
    placements,
)
from meshwright.torch._losses import MeansApart
from meshwright.torch._optimizers import (
    check_parameters,
    mark_replaced,
    refuse_replaced,
)
from meshwright.torch._step import first_tensor
from meshwright.torch._tree import map_tensors, tensors
from meshwright.torch._writes import NoLostWrites

__all__ = [
    "apply",
    "device_mesh",
    "placements",
    "running",
    "shard_batch",
    "shard_optimizer",
]


def device_mesh(
    plan: Plan,
    device_type: str | None = None,
    *,
    module: torch.nn.Module | None = None,
) -> DeviceMesh:
    """The plan's mesh over all processes, without its axes of one device.

    ``device_type``: None: that of ``module`` where it is on a GPU, or else
    that which the plan was measured on. A plan by roofline was on none, and
    gets "cpu".
    """
    check_runnable(plan)
    axes = mesh_axes(plan)
    return remember(
        init_device_mesh(
            device_type or choose_device_type(plan, module),
            tuple(plan.mesh[axis] for axis in axes),
            mesh_dim_names=tuple(f"axis{axis}" for axis in axes),
        )
    )


def apply(
    plan: Plan,
    module: torch.nn.Module,
    mesh: DeviceMesh,
    *,
    accumulate: int = 1,
    how: How = DTENSOR,
) -> torch.nn.Module:
    """Lays out the module, in place, and returns what to call in its place.

    Values are those of process 0, and for a random step so is the state of
    torch's generators. ``accumulate``: backward passes before each update;
    DTensor gradients are settled in the last one. ``how``: what
    ``how(plan, module)`` says; DDP is a module around this one. Make the
    optimizer after it, from the parameters of what it returns. Warns where
    the plan recomputes forward values, which PyTorch does not by itself.
    """
    check_mesh(plan, mesh)
    check_device_type(module, mesh)
    if accumulate < 1:
        raise InvalidArgument(f"accumulate must be positive, not {accumulate}")
    remember(mesh)
    warn_of_recomputation(plan)
    before = list(module.parameters())
    laid_out = _lay_out(plan, module, mesh, accumulate, how)
    mark_replaced(before, laid_out)
    return laid_out


def _lay_out(
    plan: Plan,
    module: torch.nn.Module,
    mesh: DeviceMesh,
    accumulate: int,
    how: How,
) -> torch.nn.Module:
    placed = placements(plan)
    if how.method != "dtensor":
        from meshwright.torch._data_parallel import replicate, shard_fully

        _check_fit(module, placed)
        if how.method == "ddp":
            return replicate(module, mesh, parameters_without_gradient(plan))
        shard_fully(module, mesh, placed)
        return module
    parameters = _distribute(module, mesh, placed)
    for parameter in parameters:
        if parameter.requires_grad:
            parameter.register_post_accumulate_grad_hook(_settle(accumulate))
    for name, submodule in module.named_modules():
        if name in placed.activations:
            submodule.register_forward_hook(
                _move_output(
                    mesh, placed.activations[name], placed.shapes[name]
                )
            )
    if any(argument.name == "random" for argument in plan.arguments):
        _draw_alike(mesh)
    return module


def _draw_alike(mesh: DeviceMesh) -> None:
    """Copies of a value would differ where processes drop other elements."""
    on_mesh = [torch.cuda] if mesh.device_type == "cuda" else []
    for device in (torch, *on_mesh):
        state = distribute_tensor(
            device.get_rng_state(), mesh, (Replicate(),) * mesh.ndim
        )
        device.set_rng_state(state.to_local().cpu())


def shard_optimizer(
    plan: Plan, module: torch.nn.Module, optimizer: torch.optim.Optimizer
) -> None:
    """Lays out the optimizer's state where it differs from its parameter.

    Optimizers make their state in their first step, so that is moved behind
    it. ``module`` is laid out, and the optimizer is made of its parameters.
    FSDP2 keeps the state with its parameter.

    Raises InvalidArgument for an optimizer of other parameters, like those
    that the module had before ``apply``.
    """
    refuse_replaced(optimizer)
    if isinstance(module, FSDPModule):
        return
    placed = placements(plan).optimizer
    names = {id(p): name for name, p in module.named_parameters()}
    check_parameters(optimizer, lambda p: id(p) in names)

    def place(held: torch.optim.Optimizer, *_: Any) -> None:
        for parameter, values in held.state.items():
            wanted = placed.get(names.get(id(parameter), ""), {})
            for key, value in values.items():
                if key in wanted and isinstance(value, DTensor):
                    values[key] = _move(value, value.device_mesh, wanted[key])

    place(optimizer)
    optimizer.register_step_post_hook(place)


def shard_batch(
    plan: Plan, batch: Any, mesh: DeviceMesh, *, how: How = DTENSOR
) -> Any:
    """The batch of process 0 as DTensors, laid out for the step.

    Of a step that accumulates, ``batch`` is one micro-batch. ``how``: as given
    to ``apply``; with FSDP2 and DDP the result is the process's rows.
    """
    placed = placements(plan)
    _check_batch(batch, placed)

    def one(path: str, value: torch.Tensor) -> torch.Tensor:
        planned = placed.batch[path]
        if _is_stacked(value, placed.shapes[path]):
            planned = tuple(
                Shard(p.dim - 1) if isinstance(p, Shard) else p
                for p in planned
            )
        placed_value = distribute_tensor(value, mesh, planned)
        if how.method == "dtensor":
            return placed_value
        return placed_value.to_local()

    return map_tensors(one, batch, "batch")


@contextlib.contextmanager
def running(device_type: str | None = None) -> Iterator[None]:
    """Around a step of a module that is laid out: forward to update.

    Tensors that the module makes count as copies in every process. A
    GradScaler is refused. On CPUs attention runs as matrix products, as
    DTensor has no rule for its kernel. ``device_type``: None: that of the
    last mesh that ``device_mesh`` made or ``apply`` took.

    Raises Unimplemented for a write in place that would be lost, and
    InvalidArgument for the step of an optimizer that was made before
    ``apply``: it would update nothing.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(implicit_replication())
        stack.enter_context(batch_outermost())
        stack.enter_context(no_scaled_losses())
        stack.enter_context(MeansApart())
        stack.enter_context(NoLostWrites())
        stack.enter_context(register_optimizer_step_pre_hook(refuse_replaced))
        if (device_type or last_device_type()) == "cpu":
            stack.enter_context(sdpa_kernel(SDPBackend.MATH))
        yield


def _distribute(
    module: torch.nn.Module, mesh: DeviceMesh, placed: PlanPlacements
) -> list[torch.nn.Parameter]:
    """Replaces parameters and buffers; tied ones stay tied."""
    _check_fit(module, placed)
    first = {id(p): name for name, p in module.named_parameters()}
    first.update({id(b): name for name, b in module.named_buffers()})
    made: dict[int, Any] = {}
    for submodule in module.modules():
        for key, parameter in submodule._parameters.items():
            if parameter is None:
                continue
            if id(parameter) not in made:
                where = placed.parameters[first[id(parameter)]]
                laid_out = torch.nn.Parameter(
                    distribute_tensor(parameter.data, mesh, where),
                    requires_grad=parameter.requires_grad,
                )
                # Marks that frameworks set, by which optimizers group.
                for name, value in parameter.__dict__.items():
                    laid_out.__dict__.setdefault(name, value)
                made[id(parameter)] = laid_out
            submodule._parameters[key] = made[id(parameter)]
        for key, buffer in submodule._buffers.items():
            if buffer is None:
                continue
            if id(buffer) not in made:
                where = placed.buffers[first[id(buffer)]]
                made[id(buffer)] = distribute_tensor(buffer, mesh, where)
            submodule._buffers[key] = made[id(buffer)]
    return [m for m in made.values() if isinstance(m, torch.nn.Parameter)]


def _check_fit(module: torch.nn.Module, placed: PlanPlacements) -> None:
    for kind, held in (
        ("params", dict(module.named_parameters())),
        ("buffers", dict(module.named_buffers())),
    ):
        for name, tensor in held.items():
            path = f"{kind}['{name}']"
            if path not in placed.shapes:
                raise PlanMismatch(
                    f"{path} is new; the step is planned without it"
                )
            if tuple(tensor.shape) != placed.shapes[path]:
                raise PlanMismatch(
                    f"{path} has the shape {list(tensor.shape)} and is "
                    f"planned with {list(placed.shapes[path])}"
                )
        for path in placed.shapes:
            name = path.removeprefix(f"{kind}['").removesuffix("']")
            if path.startswith(f"{kind}['") and name not in held:
                raise PlanMismatch(
                    f"{path} is missing; the step is planned with it"
                )


def _check_batch(batch: Any, placed: PlanPlacements) -> None:
    given = dict(tensors(batch, "batch"))
    for path, value in given.items():
        if path not in placed.batch:
            raise PlanMismatch(f"{path} is new; the step is planned without it")
        shape = placed.shapes[path]
        shape = shape[_is_stacked(value, shape) :]
        if tuple(value.shape) != shape:
            raise PlanMismatch(
                f"{path} has the shape {list(value.shape)} and is planned "
                f"with {list(shape)}; plan the step for this shape, too"
            )
    for path in placed.batch:
        if path not in given:
            raise PlanMismatch(
                f"{path} is missing; the step is planned with it"
            )


def _is_stacked(value: torch.Tensor, shape: tuple[int, ...]) -> bool:
    """Whether the plan counts micro-batches in the first dimension."""
    return bool(len(shape) == value.dim() + 1)


def _settle(accumulate: int) -> Callable[[torch.Tensor], None]:
    """Once here, and not in every operation of the optimizer."""
    passes = 0

    def hook(parameter: torch.Tensor) -> None:
        nonlocal passes
        passes += 1
        gradient = parameter.grad
        if passes % accumulate or not isinstance(gradient, DTensor):
            return
        if isinstance(parameter, DTensor):
            parameter.grad = _move(
                gradient, parameter.device_mesh, tuple(parameter.placements)
            )

    return hook


def _move_output(
    mesh: DeviceMesh, where: Placements, shape: tuple[int, ...]
) -> Callable[[Any, Any, Any], Any]:
    """Moves a module's output, and the gradient that comes back for it.

    A module may be called in several places; the plan has its first output,
    and values of other shapes are left to DTensor.
    """

    def hook(_: Any, __: Any, output: Any) -> Any:
        tensor = first_tensor(output)
        if not isinstance(tensor, DTensor) or tuple(tensor.shape) != shape:
            return output
        tensor = _move(tensor, mesh, where)
        if tensor.requires_grad:
            tensor.register_hook(
                lambda gradient: _move(gradient, mesh, where)
                if isinstance(gradient, DTensor)
                else gradient
            )
        if not isinstance(output, tuple):
            return tensor
        named: Any = output
        if hasattr(output, "_fields"):
            return named._replace(**{named._fields[0]: tensor})
        return (tensor, *output[1:])

    return hook


def _move(tensor: DTensor, mesh: DeviceMesh, where: Placements) -> DTensor:
    if tuple(tensor.placements) == where:
        return tensor
    return tensor.redistribute(mesh, where)
