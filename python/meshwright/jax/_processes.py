"""Agreement among the processes of one JAX program: all run the same plan."""

from __future__ import annotations

import json
from collections.abc import Callable

import jax
import numpy

from meshwright.errors import FailedPrecondition
from meshwright.plan import Plan


def agree(make: Callable[[], tuple[Plan, bytes]]) -> tuple[Plan, bytes]:
    """What ``make`` returns in process 0; its error is that of all."""
    if jax.process_count() == 1:
        return make()
    if jax.process_index() != 0:
        return _unpack(_broadcast(b""))
    try:
        plan, module = make()
    except Exception as error:  # else the others would wait
        _broadcast(json.dumps({"error": str(error)}).encode() + b"\n")
        raise
    head = json.dumps({"plan": plan.to_json(), "id": plan.id})
    _broadcast(head.encode() + b"\n" + module)
    return plan, module


def _unpack(content: bytes) -> tuple[Plan, bytes]:
    line, _, module = content.partition(b"\n")
    head = json.loads(line)
    if "error" in head:
        raise FailedPrecondition(f"process 0 has no plan: {head['error']}")
    return Plan.from_json({**head["plan"], "id": head["id"]}), module


def _broadcast(content: bytes) -> bytes:
    from jax.experimental.multihost_utils import broadcast_one_to_all

    size = broadcast_one_to_all(numpy.array(len(content), numpy.int32))
    data = numpy.zeros(int(size), numpy.uint8)
    if content:
        data[:] = numpy.frombuffer(content, numpy.uint8)
    return bytes(numpy.asarray(broadcast_one_to_all(data)))
