"""Agreement among the processes of one JAX program: all run the same plan.

Concept: collectives of CPUs give up when a process comes half a minute late,
and planning may take longer. So the others first wait, for as long as it
takes, for a word of process 0 in the store of ``jax.distributed``: that there
is a plan, or its error. Each process counts its agreements there, so that one
that starts again goes on counting.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy

from meshwright.errors import FailedPrecondition
from meshwright.plan import Plan

# A call of the store hears no interrupt meanwhile.
_SLICE_MS = 10_000


def agree(make: Callable[[], tuple[Plan, bytes]]) -> tuple[Plan, bytes]:
    """What ``make`` returns in process 0; its error is that of all."""
    if jax.process_count() == 1:
        return make()
    store = _store()
    if jax.process_index() != 0:
        if store is not None:
            _check_made(_await_word(store))
        return _unpack(_broadcast(b""))
    try:
        plan, module = make()
    except BaseException as error:  # else the others would wait
        _say_error(store, error)
        raise
    if store is not None:
        _give_word(store, {})
    head = json.dumps({"plan": plan.to_json(), "id": plan.id})
    _broadcast(head.encode() + b"\n" + module)
    return plan, module


def _store() -> Any:
    """None where the processes found each other in another way."""
    from jax._src import distributed

    return distributed.global_state.client


def _count_key() -> str:
    return f"meshwright/agreements/{jax.process_index()}"


def _count_agreements(store: Any) -> int:
    """Those of this process so far, and of those that it replaces."""
    try:
        return int(store.key_value_try_get(_count_key()))
    except jax.errors.JaxRuntimeError as error:
        if "NOT_FOUND" not in str(error):
            raise
        return 0


def _say_error(store: Any, error: BaseException) -> None:
    """Not by a collective where there is a store.

    An interrupt may be that of all: then nobody else comes to a collective.
    """
    head = {"error": str(error) or type(error).__name__}
    if store is not None:
        _give_word(store, head)
    elif isinstance(error, Exception):
        _broadcast(json.dumps(head).encode() + b"\n")


def _give_word(store: Any, head: Mapping[str, str]) -> None:
    count = _count_agreements(store)
    store.key_value_set(f"meshwright/plan/{count}", json.dumps(head))
    store.key_value_set(_count_key(), str(count + 1), allow_overwrite=True)


def _await_word(store: Any) -> Mapping[str, str]:
    """The head that process 0 gave."""
    count = _count_agreements(store)
    while True:
        try:
            word = store.blocking_key_value_get(
                f"meshwright/plan/{count}", _SLICE_MS
            )
            break
        except jax.errors.JaxRuntimeError as error:
            if "DEADLINE_EXCEEDED" not in str(error):
                raise
    store.key_value_set(_count_key(), str(count + 1), allow_overwrite=True)
    return json.loads(word)  # type: ignore[no-any-return]


def _check_made(head: Mapping[str, Any]) -> None:
    if "error" in head:
        raise FailedPrecondition(f"process 0 has no plan: {head['error']}")


def _unpack(content: bytes) -> tuple[Plan, bytes]:
    line, _, module = content.partition(b"\n")
    head = json.loads(line)
    _check_made(head)
    return Plan.from_json({**head["plan"], "id": head["id"]}), module


def _broadcast(content: bytes) -> bytes:
    from jax.experimental.multihost_utils import broadcast_one_to_all

    size = broadcast_one_to_all(numpy.array(len(content), numpy.int32))
    data = numpy.zeros(int(size), numpy.uint8)
    if content:
        data[:] = numpy.frombuffer(content, numpy.uint8)
    return bytes(numpy.asarray(broadcast_one_to_all(data)))
