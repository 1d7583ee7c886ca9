"""The step of two ATen graphs as one JAX function, and that as HLO.

Concept: a graph is run node by node on JAX arrays, each node within a scope of
its name, so that every instruction of the HLO module says in ``op_name`` which
node it computes. Parameters of the module are the leaves of
``params, optimizer, buffers, batch`` and, for a random step, ``random``, each
sorted by JAX; the first three are donated. Accumulation is a loop over the
first dimension of the batch.
Errors: Unimplemented, naming all operators that have no rule.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
import torch.utils._pytree as pytree
from jax import lax
from jax.tree_util import keystr, tree_flatten_with_path

from meshwright.errors import Unimplemented
from meshwright.torch._barriers import Reads
from meshwright.torch._operators import find_rule, jax_type, missing_rules
from meshwright.torch._operators._apart import kept_apart
from meshwright.torch._operators.random import drawing_from
from meshwright.torch._recomputation import find_reruns
from meshwright.torch._tracing import Graph, StepGraphs
from meshwright.torch._tree import map_tensors, tensors

# Before the names of nodes; both graphs may have the same.
_GRADIENTS, _UPDATE = "aten.", "update."


@dataclasses.dataclass(frozen=True)
class Place:
    """A value of the step: the scope that computes it, and its shape."""

    scope: str
    shape: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class LoweredStep:
    module: bytes  # a serialized HloModuleProto
    text_digest: str  # of the step without names and source lines
    names: tuple[str, ...]  # of the module's parameters
    # Submodule -> the nodes that its output may be read from.
    marks: dict[str, list[Place]]
    function: Callable[..., Any]  # the step on JAX arrays
    arguments: tuple[Any, ...]  # their shapes


def lower_step(graphs: StepGraphs, accumulate: int = 1) -> LoweredStep:
    """``accumulate``: micro-batches of a step; the batch is one of them."""
    check_rules(graphs)
    gradients = _Runner(graphs.gradients, _GRADIENTS)
    update = _Runner(graphs.update, _UPDATE)

    def compute_gradients(
        params: Any, buffers: Any, batch: Any, key: Any
    ) -> tuple[Any, Any, Any]:
        leaves = [
            *(params[name] for name in graphs.parameters),
            *(buffers[name] for name in graphs.buffers),
            *_in_order(batch, graphs.batch),
        ]
        with drawing_from(key):
            found, after, loss, _ = gradients.run(leaves)
        return found, after, loss

    def step(
        params: Any,
        optimizer: Any,
        buffers: Any,
        batch: Any,
        random: Any = None,
    ) -> Any:
        if accumulate == 1:
            found, buffers, loss = compute_gradients(
                params, buffers, batch, random
            )
        else:
            found, buffers, loss = _accumulated(
                compute_gradients, graphs, accumulate
            )(params, buffers, batch, random)
        leaves = [
            *(params[name] for name in graphs.parameters),
            *(found[name] for name in graphs.gradient_names),
            *(
                optimizer[name][key]
                for name, values in graphs.optimizer.items()
                for key in values
            ),
        ]
        params, optimizer = update.run(leaves)
        return params, optimizer, buffers, loss

    arguments = _arguments(graphs, accumulate)
    lowered = jax.jit(step, donate_argnums=(0, 1, 2), keep_unused=True).lower(
        *arguments
    )
    text = lowered.compiler_ir("stablehlo").operation.get_asm(
        enable_debug_info=False
    )
    names = ("params", "optimizer", "buffers", "batch", "random")
    return LoweredStep(
        module=lowered.compiler_ir("hlo").as_serialized_hlo_module_proto(),
        text_digest=hashlib.sha256(text.encode()).hexdigest(),
        names=tuple(
            name + keystr(path)
            for name, argument in zip(names, arguments)
            for path, _ in tree_flatten_with_path(argument)[0]
        ),
        marks={
            name: gradients.places_of(node)
            for name, node in graphs.marks().items()
        },
        function=step,
        arguments=arguments,
    )


def check_rules(graphs: StepGraphs) -> None:
    missing = missing_rules(
        graphs.gradients.operators | graphs.update.operators
    )
    if missing:
        raise Unimplemented(
            f"the step uses operators without a rule: {', '.join(missing)}; "
            "write these parts with others, or plan the step without them"
        )


def scopes_of(op_name: str) -> list[str]:
    """The nodes of the gradients' graph within an instruction's op_name."""
    return re.findall(rf"(?:^|/)({re.escape(_GRADIENTS)}\w+)(?=/|$)", op_name)


class _Runner:
    """Runs a graph on JAX arrays."""

    def __init__(self, graph: Graph, scope: str) -> None:
        self._graph = graph
        self._scope = scope
        self._reruns = find_reruns(graph.module.graph)
        self._maker: dict[torch.fx.Node, torch.fx.Node] = {}

    def run(self, inputs: Sequence[Any]) -> Any:
        # Functions that JAX calls inside would lose the node's scope.
        with kept_apart(), jax.disable_jit():
            return self._run(inputs)

    def _run(self, inputs: Sequence[Any]) -> Any:
        reads = Reads(self._reruns)
        values = reads.values
        makers: dict[int, torch.fx.Node] = {}
        leaves = iter(inputs)
        for node in self._graph.module.graph.nodes:
            if node.op == "output":
                break
            if node.op == "placeholder":
                values[node] = next(leaves)
            elif node.op == "get_attr":
                values[node] = self._constant(node)
            else:
                given, key = reads.of(node)
                scope = jax.named_scope(self._scope + node.name)
                with scope, drawing_from(key):
                    values[node] = _compute(node, given)
            # An operator that does nothing is called as what it returns.
            made = makers.setdefault(id(values[node]), node)
            self._maker[node] = made
        results = [
            values[node] if isinstance(node, torch.fx.Node) else node
            for node in self._graph.results()
        ]
        return pytree.tree_unflatten(results, self._graph.out_spec)

    def places_of(self, node: torch.fx.Node) -> list[Place]:
        """Of the value of ``node``; after ``run``.

        A planner joins views that follow each other, so that of a view may be
        gone, and that of what it is a view of is the next best.
        """
        places = []
        while True:
            node = self._maker[node]
            shape = tuple(node.meta["val"].shape)
            places.append(Place(self._scope + node.name, shape))
            if "view" not in str(node.target):
                return places
            node = node.all_input_nodes[0]

    def _constant(self, node: torch.fx.Node) -> Any:
        value = getattr(self._graph.module, str(node.target))
        if not isinstance(value, torch.Tensor):
            return value
        dtype = jax_type(value.dtype)
        if value.dtype == torch.bfloat16:
            value = value.float()
        return jnp.asarray(np.asarray(value.detach().cpu()), dtype)


def _compute(node: torch.fx.Node, values: Mapping[torch.fx.Node, Any]) -> Any:
    rule = find_rule(node.target)
    assert rule is not None  # check_rules
    args = torch.fx.node.map_arg(node.args, values.__getitem__)
    kwargs = torch.fx.node.map_arg(node.kwargs, values.__getitem__)
    try:
        result = rule(*args, **kwargs)
    except (IndexError, TypeError, ValueError) as error:  # JAX refuses them
        raise _unruled(node) from error
    wanted = node.meta.get("val")
    if isinstance(wanted, torch.Tensor) and isinstance(result, jax.Array):
        if tuple(wanted.shape) != result.shape:
            raise _unruled(node)
        dtype = jax_type(wanted.dtype)
        return result if result.dtype == dtype else result.astype(dtype)
    if isinstance(wanted, (tuple, list)):
        return [
            one.astype(jax_type(meta.dtype))
            if isinstance(one, jax.Array) and isinstance(meta, torch.Tensor)
            else one
            for one, meta in zip(result, wanted)
        ]
    return result


def _unruled(node: torch.fx.Node) -> NotImplementedError:
    shapes = [
        list(given.meta["val"].shape)
        for given in node.all_input_nodes
        if isinstance(given.meta.get("val"), torch.Tensor)
    ]
    return NotImplementedError(
        f"{node.target} of {' and '.join(map(str, shapes))}"
    )


def _accumulated(
    compute: Callable[..., Any], graphs: StepGraphs, count: int
) -> Callable[..., Any]:
    """The mean gradients and loss of ``count`` micro-batches."""

    def run(params: Any, buffers: Any, batch: Any, random: Any) -> Any:
        def one(carry: Any, given: Any) -> Any:
            sums, buffers, total = carry
            number, micro_batch = given
            key = (
                None if random is None else jax.random.fold_in(random, number)
            )
            found, buffers, loss = compute(params, buffers, micro_batch, key)
            sums = {name: sums[name] + found[name] for name in sums}
            return (sums, buffers, total + loss.astype(total.dtype)), None

        zeros = {
            name: jnp.zeros_like(params[name])
            for name in graphs.gradient_names
        }
        (sums, buffers, total), _ = lax.scan(
            one,
            (zeros, buffers, jnp.zeros((), jnp.float32)),
            (jnp.arange(count), batch),
        )
        means = {name: value / count for name, value in sums.items()}
        return means, buffers, total / count

    return run


def _arguments(graphs: StepGraphs, accumulate: int) -> tuple[Any, ...]:
    def shape(_: str, value: torch.Tensor) -> Any:
        return jax.ShapeDtypeStruct(tuple(value.shape), jax_type(value.dtype))

    def stacked(_: str, value: torch.Tensor) -> Any:
        dims = tuple(value.shape)
        dims = dims if accumulate == 1 else (accumulate, *dims)
        return jax.ShapeDtypeStruct(dims, jax_type(value.dtype))

    arguments = (
        map_tensors(shape, graphs.parameters, ""),
        map_tensors(shape, graphs.optimizer, ""),
        map_tensors(shape, graphs.buffers, ""),
        _only_tensors(map_tensors(stacked, graphs.batch, "batch")),
    )
    if not graphs.is_random:
        return arguments
    return (*arguments, jax.ShapeDtypeStruct((2,), jnp.uint32))


def _only_tensors(tree: Any) -> Any:
    """Constants of a batch are in the trace; None is no leaf for JAX.

    Named tuples become tuples, as ``_tree.py`` counts their fields.
    """
    if isinstance(tree, jax.ShapeDtypeStruct):
        return tree
    if isinstance(tree, dict):
        return {key: _only_tensors(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_only_tensors(value) for value in tree]
    if isinstance(tree, tuple):
        return tuple(_only_tensors(value) for value in tree)
    return None


def _in_order(batch: Any, like: Any) -> list[Any]:
    """The leaves of a JAX batch, in torch's order."""
    given = {
        "batch" + keystr(path): leaf
        for path, leaf in tree_flatten_with_path(batch)[0]
    }
    return [given[path] for path, _ in tensors(like, "batch")]
