"""Which nodes of a trace compute a part of the forward pass again.

Concept: ``torch.utils.checkpoint`` runs a layer a second time where the
backward pass first reads a value of it. In a trace both runs are the same
operations on the same values. The trace marks the nodes of the second one, and
a rerun is a sequence of marked nodes.
Source: docs/decisions/segment-switches.md, "A barrier".
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import torch
import torch.utils.checkpoint
from torch.fx.traceback import annotate, preserve_node_meta

_MARK = "meshwright_again"


@dataclasses.dataclass(frozen=True, eq=False)
class Rerun:
    """Nodes that follow each other and compute for the second time."""

    inputs: tuple[torch.fx.Node, ...]  # what they read of other nodes
    gradient: torch.fx.Node | None  # the last before them that is read later
    draws: bool  # random numbers


@contextlib.contextmanager
def reruns_marked() -> Iterator[None]:
    """Traces within it mark nodes, and ``torch.fx.Interpreter`` keeps marks."""
    module = torch.utils.checkpoint
    hook = getattr(module, "_recomputation_hook", None)
    if hook is None:  # a torch without it: both runs are merged
        yield
        return

    @contextlib.contextmanager
    def marking(*given: Any) -> Iterator[None]:
        with annotate({_MARK: True}), hook(*given):
            yield

    module._recomputation_hook = marking
    try:
        with preserve_node_meta():
            yield
    finally:
        module._recomputation_hook = hook


def find_reruns(graph: torch.fx.Graph) -> dict[torch.fx.Node, Rerun]:
    """By each of their nodes."""
    places = {node: place for place, node in enumerate(graph.nodes)}
    nodes = [node for node in graph.nodes if node.op != "get_attr"]
    reruns: dict[torch.fx.Node, Rerun] = {}
    for is_marked, group in itertools.groupby(nodes, _is_marked):
        if not is_marked:
            continue
        members = list(group)
        rerun = _describe(members, places)
        if rerun.inputs:  # else constants, and the same both times
            reruns.update(dict.fromkeys(members, rerun))
    return reruns


def _is_marked(node: torch.fx.Node) -> bool:
    return _MARK in (node.meta.get("custom") or {})


def _describe(
    members: list[torch.fx.Node], places: Mapping[torch.fx.Node, int]
) -> Rerun:
    inside = set(members)
    inputs = dict.fromkeys(
        read
        for node in members
        for read in node.all_input_nodes
        if read not in inside and read.op != "get_attr"
    )
    return Rerun(
        inputs=tuple(inputs),
        gradient=_find_gradient(members, places),
        draws=any("meshwright" in str(node.target) for node in members),
    )


def _find_gradient(
    members: list[torch.fx.Node], places: Mapping[torch.fx.Node, int]
) -> torch.fx.Node | None:
    """Gradients of parameters, which only the update reads, do not count."""
    last = places[members[-1]]
    node = members[0].prev
    while node.op in ("call_function", "get_attr"):
        if (
            node.op == "call_function"
            and isinstance(node.meta.get("val"), torch.Tensor)
            and any(
                user.op != "output" and places[user] > last
                for user in node.users
            )
        ):
            return node
        node = node.prev
    return None
