"""What nodes read while a graph is run on JAX arrays.

Concept: a rerun (``_recomputation.py``) reads the values of other nodes through
one barrier, as ``jax.checkpoint`` does, so that no compiler merges it with the
first run. A gradient goes through the barrier, too, and is read behind it from
then on: the rerun waits until its gradient is there.
Source: docs/decisions/segment-switches.md, "A barrier".
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import torch
from jax import lax

from meshwright.torch._operators._apart import find_apart, remember
from meshwright.torch._operators._table import is_array
from meshwright.torch._operators.random import current_key
from meshwright.torch._recomputation import Rerun

Values = dict[torch.fx.Node, Any]


class Reads:
    """Of one run of a graph, asked node by node."""

    def __init__(self, reruns: Mapping[torch.fx.Node, Rerun]) -> None:
        self.values: Values = {}  # the caller fills them
        self._reruns = reruns
        self._rerun: Rerun | None = None
        self._again: Values = {}  # of the last rerun
        self._gradients: Values = {}  # behind barriers
        self._key: Any = None  # of the last rerun

    def of(
        self, node: torch.fx.Node
    ) -> tuple[Mapping[torch.fx.Node, Any], Any]:
        """The values that ``node`` reads, and the key that it draws from."""
        rerun = self._reruns.get(node)
        if rerun is None:
            return ChainMap(self._gradients, self.values), current_key()
        if rerun is not self._rerun:
            self._rerun = rerun
            self._begin(rerun)
        return ChainMap(self._again, self._gradients, self.values), self._key

    def _begin(self, rerun: Rerun) -> None:
        before = ChainMap(self._gradients, self.values)
        gradients = [] if rerun.gradient is None else [rerun.gradient]
        read = {
            node: before[node]
            for node in dict.fromkeys((*rerun.inputs, *gradients))
            if is_array(before[node])
        }
        # What dimensions were merged from goes through, for products of it.
        given = {node: _apart_or_itself(value) for node, value in read.items()}
        key = current_key() if rerun.draws else None
        behind, self._key = lax.optimization_barrier(
            (list(given.values()), key)
        )
        self._again = {
            node: (
                value
                if given[node] is read[node]
                else _merge(value, read[node])
            )
            for node, value in zip(given, behind)
        }
        for node in gradients:
            self._gradients[node] = self._again.get(node, before[node])


def _apart_or_itself(value: Any) -> Any:
    apart = find_apart(value)
    return value if apart is None else apart


def _merge(apart: Any, like: Any) -> Any:
    return remember(jnp.reshape(apart, like.shape), apart)
