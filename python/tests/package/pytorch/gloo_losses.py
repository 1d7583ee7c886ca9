"""One process of a group: three steps of a planned model, over gloo.

    python gloo_losses.py RANK RENDEZVOUS MODEL PLAN MICRO_BATCHES HOW

RENDEZVOUS is a file that none of them has made yet. HOW is "apply", "how" for
what ``meshwright.torch.how`` says, or "styles" for parallelize_module, which
leaves the batch whole. Processes have different seeds. Prints a JSON line: the
losses, the collectives of the last step, the placements of the optimizer's
state, the reason of "how", and the means of buffers and parameters.
"""

from __future__ import annotations

import json
import math
import sys

import torch
import torch.distributed
from torch.distributed.tensor import DTensor, distribute_module
from torch.distributed.tensor.debug import CommDebugMode
from torch.distributed.tensor.parallel import parallelize_module
from torch_models import make

import meshwright.torch
from meshwright import Plan

STEPS = 3


def whole(value: torch.Tensor) -> torch.Tensor:
    return value.full_tensor() if isinstance(value, DTensor) else value


def full(value: torch.Tensor) -> float:
    return whole(value).item()


def main(
    rank: int, rendezvous: str, name: str, file: str, micro: int, how: str
) -> None:
    torch.set_num_threads(1)
    plan = Plan.load(file)
    torch.distributed.init_process_group(
        "gloo",
        init_method=f"file://{rendezvous}",
        rank=rank,
        world_size=math.prod(plan.mesh),
    )
    mesh = meshwright.torch.device_mesh(plan)
    case = make(name)
    torch.manual_seed(rank)
    way = meshwright.torch.How()
    if how == "styles":
        styles = meshwright.torch.parallelize_plan(plan, case.module)
        parallelize_module(case.module, mesh, styles)
        distribute_module(case.module, mesh)
        batch = case.batch
        optimizer = case.optimizer
    else:
        if how == "how":
            way = meshwright.torch.how(plan, case.module)
        case.module = meshwright.torch.apply(
            plan, case.module, mesh, accumulate=micro, how=way
        )
        batch = meshwright.torch.shard_batch(plan, case.batch, mesh, how=way)
        optimizer = case.optimizer
        meshwright.torch.shard_optimizer(plan, case.module, optimizer)
    losses = []
    for _ in range(STEPS):
        with meshwright.torch.running(), CommDebugMode() as counted:
            optimizer.zero_grad()
            for _ in range(micro):
                loss = case.loss(case.module, batch)
                (loss / micro).backward()
            optimizer.step()
        if way.method != "dtensor":  # of the rows of this process
            loss = loss.detach().clone()
            torch.distributed.all_reduce(loss)
            loss /= math.prod(plan.mesh)
        losses.append(full(loss))
    collectives = {
        str(kind).split(".")[-1]: count
        for kind, count in counted.get_comm_counts().items()
    }
    state = sorted(
        {
            str(tuple(value.placements))
            for values in optimizer.state.values()
            for key, value in values.items()
            if isinstance(value, DTensor)
        }
    )
    print(
        json.dumps(
            {
                "losses": losses,
                "collectives": collectives,
                "state": state,
                "how": str(way),
                "buffers": [
                    full(buffer.float().mean())
                    for buffer in case.module.buffers()
                ],
                "parameters": [
                    whole(parameter.detach()).float().mean().item()
                    for parameter in case.module.parameters()
                ],
            }
        )
    )
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(
        int(sys.argv[1]),
        sys.argv[2],
        sys.argv[3],
        sys.argv[4],
        int(sys.argv[5]),
        sys.argv[6],
    )
