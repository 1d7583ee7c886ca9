"""Agreement among the processes of one JAX program: all run the same plan.

Concept: collectives of CPUs give up when a process comes half a minute late,
and planning may take longer. So the others first wait, for as long as it
takes, for a word of process 0 in the store of ``jax.distributed``.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import jax
import numpy

from meshwright.errors import FailedPrecondition
from meshwright.plan import Plan

_agreements = itertools.count()
_WEEK_MS = 7 * 24 * 3600 * 1000


def agree(make: Callable[[], tuple[Plan, bytes]]) -> tuple[Plan, bytes]:
    """What ``make`` returns in process 0; its error is that of all."""
    if jax.process_count() == 1:
        return make()
    word = f"meshwright/plan/{next(_agreements)}"
    if jax.process_index() != 0:
        _await(word)
        return _unpack(_broadcast(b""))
    try:
        plan, module = make()
    except Exception as error:  # else the others would wait
        _give(word)
        _broadcast(json.dumps({"error": str(error)}).encode() + b"\n")
        raise
    _give(word)
    head = json.dumps({"plan": plan.to_json(), "id": plan.id})
    _broadcast(head.encode() + b"\n" + module)
    return plan, module


def _store() -> Any:
    """None where the processes found each other in another way."""
    from jax._src import distributed

    return distributed.global_state.client


def _give(word: str) -> None:
    if (store := _store()) is not None:
        store.key_value_set(word, "made")


def _await(word: str) -> None:
    if (store := _store()) is not None:
        store.blocking_key_value_get(word, _WEEK_MS)


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
