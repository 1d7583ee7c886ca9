"""Agreement among processes of torch.distributed: all run the same plan."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import torch.distributed

from meshwright.errors import FailedPrecondition
from meshwright.plan import Plan

_LONGEST_PLANNING = datetime.timedelta(days=7)


def agree(make: Callable[[], Plan]) -> Plan:
    """What ``make`` returns in process 0; its error is that of all."""
    distributed = torch.distributed
    if (
        not distributed.is_available()
        or not distributed.is_initialized()
        or distributed.get_world_size() == 1
    ):
        return make()
    # The others wait for as long as planning takes: a group of NCCL aborts
    # them after ten minutes.
    group = distributed.new_group(backend="gloo", timeout=_LONGEST_PLANNING)
    try:
        return _agree_in(group, make)
    finally:
        distributed.destroy_process_group(group)


def _agree_in(group: Any, make: Callable[[], Plan]) -> Plan:
    distributed = torch.distributed
    said: list[Any] = [None]
    if distributed.get_rank() != 0:
        distributed.broadcast_object_list(said, src=0, group=group)
        if isinstance(said[0], str):
            raise FailedPrecondition(f"process 0 has no plan: {said[0]}")
        return Plan.from_json(said[0])
    try:
        plan = make()
    except Exception as error:  # else the others would wait
        distributed.broadcast_object_list([str(error)], src=0, group=group)
        raise
    said = [{**plan.to_json(), "id": plan.id}]
    distributed.broadcast_object_list(said, src=0, group=group)
    return plan
