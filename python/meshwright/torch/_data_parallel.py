"""Plans that split rows of the batch, run by torch's own data parallelism.

Concept: each process runs the module on its rows, as plain tensors, and torch
takes the mean of gradients. So the loss of a process is that of its rows, and
the mean over processes is the plan's where ``loss_fn`` takes a mean over rows.
Threads: that of torch.distributed; all processes call alike.
"""

from __future__ import annotations

import torch
import torch.distributed
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Shard
from torch.nn.parallel import DistributedDataParallel

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
    module: torch.nn.Module, mesh: DeviceMesh
) -> DistributedDataParallel:
    """A module around it, whose batch norms see the rows of all processes."""
    group = mesh.get_group()
    synchronize_batch_norms(module, mesh.device_type, group)
    # The loss may leave out parts of the module, as it may in the trace.
    return DistributedDataParallel(
        module, process_group=group, find_unused_parameters=True
    )


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
