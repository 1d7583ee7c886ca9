"""Plans that split rows of the batch, run by torch's own data parallelism.

Concept: each process runs the module on its rows, as plain tensors, and torch
takes the mean of gradients. So the loss of a process is that of its rows, and
the mean over processes is the plan's where ``loss_fn`` takes a mean over rows.
Errors: PlanMismatch, in the backward pass, for a gradient that is not planned.
Threads: that of torch.distributed; all processes call alike.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import torch
import torch.distributed
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Shard
from torch.nn.parallel import DistributedDataParallel

from meshwright.errors import PlanMismatch
from meshwright.torch._batch_norm import synchronize_batch_norms
from meshwright.torch._layouts import PlanPlacements


def shard_fully(
    module: torch.nn.Module, mesh: DeviceMesh, placed: PlanPlacements
) -> None:
    """Splits parameters as the plan does, and small ones, too.

    Each layer of a list is gathered by itself. Batch norms see the rows of all
    processes.
    """
    _copy_from_first(module, mesh)
    # Before the layers take the classes of FSDP2.
    synchronize_batch_norms(module, mesh.device_type, mesh.get_group())
    names = {id(p): name for name, p in module.named_parameters()}

    def find_shard(parameter: torch.nn.Parameter) -> Shard | None:
        where = placed.parameters[names[id(parameter)]][0]
        return where if isinstance(where, Shard) else None

    for part in (*_list_layers(module), module):
        sharded = fully_shard(
            part, mesh=mesh, shard_placement_fn=find_shard
        )
        if mesh.device_type == "cpu":  # gloo adds, and takes no means
            sharded.set_force_sum_reduction_for_comms(True)


def replicate(
    module: torch.nn.Module, mesh: DeviceMesh, without_gradient: Collection[str]
) -> DistributedDataParallel:
    """A module around it, whose batch norms see the rows of all processes.

    DDP waits for a gradient of whatever asks for one when it is made, and its
    search for what is unused reads outputs of known classes alone. So the
    parameters of those names ask for theirs later.
    """
    group = mesh.get_group()
    synchronize_batch_norms(module, mesh.device_type, group)
    left_out = {
        name: parameter
        for name, parameter in module.named_parameters()
        if name in without_gradient and parameter.requires_grad
    }
    for parameter in left_out.values():
        parameter.requires_grad_(False)
    try:
        replicated = DistributedDataParallel(module, process_group=group)
    finally:
        for parameter in left_out.values():
            parameter.requires_grad_()
    for name, parameter in left_out.items():
        parameter.register_post_accumulate_grad_hook(_refuse_gradient(name))
    return replicated


def _refuse_gradient(name: str) -> Callable[[torch.Tensor], None]:
    """DDP would leave each process its own.

    Where a module has backward hooks, outputs that nobody reads get none or
    zeros; the planned step has none.
    """

    def hook(parameter: torch.Tensor) -> None:
        if parameter.grad is not None and parameter.grad.any():
            raise PlanMismatch(
                f"params['{name}'] has a gradient and is planned without one; "
                "plan the step with this loss, or apply the plan without how"
            )
        parameter.grad = None

    return hook


def _list_layers(module: torch.nn.Module) -> list[torch.nn.Module]:
    """The members of module lists that share no parameter with the rest."""
    layers: list[torch.nn.Module] = []
    containers = torch.nn.ModuleList, torch.nn.ModuleDict

    def visit(parent: torch.nn.Module) -> None:
        for child in parent.children():
            if isinstance(parent, torch.nn.ModuleList) and not isinstance(
                child, containers
            ):
                layers.append(child)
            else:
                visit(child)

    visit(module)
    held = [{id(p) for p in layer.parameters()} for layer in layers]
    apart = set().union(*held)
    inside = {id(m) for layer in layers for m in layer.modules()}
    rest = {
        id(p)
        for submodule in module.modules()
        if id(submodule) not in inside
        for p in submodule.parameters(recurse=False)
    }
    if rest & apart or sum(map(len, held)) != len(apart):
        return []
    return layers


def _copy_from_first(module: torch.nn.Module, mesh: DeviceMesh) -> None:
    group = mesh.get_group()
    for tensor in (*module.parameters(), *module.buffers()):
        torch.distributed.broadcast(tensor.detach(), group=group, group_src=0)
