"""StepGraphs: the functions of a step as graphs of core ATen operators.

Concept: a function is traced on shapes with ``make_fx``, made free of views
and mutations, and decomposed to core ATen. Attention is traced as matrix
products and a softmax, and batch norm is decomposed in the first trace, where
its running statistics are still written in place.
Errors: InvalidArgument for a step whose operations depend on values.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch._decomp import core_aten_decompositions, get_decompositions
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorMode,
)
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.nn.attention import SDPBackend, sdpa_kernel

from meshwright.errors import InvalidArgument
from meshwright.torch._attention import batch_outermost
from meshwright.torch._random import Draws
from meshwright.torch._recomputation import reruns_marked
from meshwright.torch._step import (
    GradientFunction,
    ModuleState,
    Tensors,
    UpdateFunction,
)
from meshwright.torch._tree import map_tensors, tensors

# A constant of more bytes is a tensor that the person forgot to pass.
_MAX_CONSTANT_BYTES = 1 << 20


@dataclasses.dataclass(frozen=True)
class Graph:
    """A traced function: tensors in, the leaves of ``out_spec`` out."""

    module: torch.fx.GraphModule
    out_spec: Any

    @property
    def operators(self) -> set[Any]:
        return {
            node.target
            for node in self.module.graph.nodes
            if node.op == "call_function"
        }

    def results(self) -> list[Any]:
        """The nodes of the outputs."""
        (output,) = self.module.graph.find_nodes(op="output")
        return list(output.args[0])


@dataclasses.dataclass(frozen=True)
class StepGraphs:
    """``gradients`` and ``update``, with the tensors they take, on meta."""

    gradients: Graph  # parameters, buffers, batch
    update: Graph  # parameters, gradients, optimizer state
    parameters: Tensors
    buffers: Tensors
    optimizer: dict[str, Tensors]
    batch: Any
    gradient_names: tuple[str, ...]
    is_random: bool

    def marks(self) -> dict[str, torch.fx.Node]:
        """The node of each submodule's output, by the submodule's name."""
        nodes = pytree.tree_unflatten(
            self.gradients.results(), self.gradients.out_spec
        )[3]
        return {
            name: node
            for name, node in nodes.items()
            if isinstance(node, torch.fx.Node)
        }


def trace_step(
    module: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    loss_fn: Callable[[torch.nn.Module, Any], torch.Tensor],
    batch: Any,
    max_grad_norm: float | None = None,
) -> StepGraphs:
    state = ModuleState.read(module)
    update = UpdateFunction(optimizer, state, max_grad_norm)
    # One tensor passed as two leaves would be one input of the graph.
    batch = map_tensors(lambda _, leaf: leaf.detach().clone(), batch, "batch")
    list(tensors(batch, "batch"))  # refuses what is no tree of tensors
    draws = Draws()
    with draws.traced() as random, _attributes_kept(module):
        gradients, names = _trace(
            GradientFunction(module, loss_fn, state),
            (state.parameters, state.buffers, batch),
            random,
        )
    # State and gradients are larger than the module: none is allocated.
    with (
        FakeTensorMode(allow_non_fake_inputs=True),
        _as_if_compiled(),
        _explained(update),
    ):
        optimizer_state = update.make_state()
        like_gradients = {
            name: torch.empty_like(state.parameters[name]) for name in names
        }
    updated, _ = _trace(
        update, (state.parameters, like_gradients, optimizer_state), {}
    )
    return StepGraphs(
        gradients=gradients,
        update=updated,
        parameters=map_tensors(_outline, state.parameters, "params"),
        buffers=map_tensors(_outline, state.buffers, "buffers"),
        optimizer=map_tensors(_outline, optimizer_state, "optimizer"),
        batch=map_tensors(_outline, batch, "batch"),
        gradient_names=tuple(names),
        is_random=any(
            "meshwright" in str(target) for target in gradients.operators
        ),
    )


def _outline(_: str, value: torch.Tensor) -> torch.Tensor:
    """Graphs outlive the module, and must not keep its memory."""
    return torch.empty_like(value, device="meta", requires_grad=False)


def _trace(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    random: Mapping[Any, Callable[..., Any]],
) -> tuple[Graph, list[str]]:
    """The graph, and the names in the first dict of its results."""
    leaves, spec = pytree.tree_flatten(arguments)
    places = [i for i, x in enumerate(leaves) if isinstance(x, torch.Tensor)]
    returned: list[Any] = []

    def flat(*values: torch.Tensor) -> list[Any]:
        filled = list(leaves)
        for place, value in zip(places, values):
            filled[place] = value
        result = function(*pytree.tree_unflatten(filled, spec))
        outputs: list[Any]
        outputs, out_spec = pytree.tree_flatten(result)
        returned[:] = [out_spec, list(result[0])]
        return outputs

    inputs = [leaves[place].detach() for place in places]
    # Inputs may be real and what else the step reads, too.
    options = {"tracing_mode": "fake", "_allow_non_fake_inputs": True}
    # Those of CUDA do not say that they write running statistics.
    aten = torch.ops.aten
    first = get_decompositions(
        [aten.native_batch_norm, aten.cudnn_batch_norm, aten.miopen_batch_norm]
    )
    with (
        _as_if_compiled(),
        sdpa_kernel(SDPBackend.MATH),
        batch_outermost(),
        reruns_marked(),
        _explained(function),
    ):
        traced = make_fx(
            flat, decomposition_table={**first, **random}, **options
        )(*inputs)

        def interpret(*values: torch.Tensor) -> list[Any]:
            return list(torch.fx.Interpreter(traced).run(*values))

        graph = make_fx(
            torch.func.functionalize(interpret, remove="mutations_and_views"),
            decomposition_table=core_aten_decompositions(),
            **options,
        )(*inputs)
    _drop_marks(graph.graph)
    graph.graph.eliminate_dead_code()
    graph.recompile()
    _check_constants(graph)
    out_spec, names = returned
    return Graph(graph, out_spec), names


def _drop_marks(graph: torch.fx.Graph) -> None:
    """Those of profilers (``record_function``), which compute nothing."""
    for node in reversed(graph.nodes):
        schema = getattr(node.target, "_schema", None)
        if schema is not None and schema.name.startswith("profiler::"):
            graph.erase_node(node)


@contextlib.contextmanager
def _attributes_kept(module: torch.nn.Module) -> Iterator[None]:
    """What modules set while they run is of the trace: fake tensors."""
    before = [
        (held, dict(held))
        for submodule in module.modules()
        for held in (submodule.__dict__, submodule._buffers)
    ]
    try:
        yield
    finally:
        for held, values in before:
            held.clear()
            held.update(values)


@contextlib.contextmanager
def _as_if_compiled() -> Iterator[None]:
    """Optimizers then keep their step count a tensor."""
    before = torch.compiler._is_compiling_flag
    torch.compiler._is_compiling_flag = True
    try:
        yield
    finally:
        torch.compiler._is_compiling_flag = before


@contextlib.contextmanager
def _explained(function: Callable[..., Any]) -> Iterator[None]:
    try:
        yield
    except (
        DataDependentOutputException,
        DynamicOutputShapeException,
        GuardOnDataDependentSymNode,
    ) as error:
        operator = getattr(error, "func", "as a number of Python")
        found = f"the values of a tensor ({operator})"
        if isinstance(function, UpdateFunction):
            raise InvalidArgument(
                f"optimizer: {function.name} reads {found} in its step, and a "
                "plan holds for all values; plan with another, like AdamW"
            ) from error
        raise InvalidArgument(
            f"the step decides by {found}, and a plan holds for all values; "
            "write that part with torch.where"
        ) from error


def _check_constants(graph: torch.fx.GraphModule) -> None:
    for node in graph.graph.find_nodes(op="get_attr"):
        value = getattr(graph, node.target)
        if not isinstance(value, torch.Tensor):
            continue
        if value.numel() * value.element_size() > _MAX_CONSTANT_BYTES:
            raise InvalidArgument(
                f"loss_fn or the module holds a tensor of the shape "
                f"{list(value.shape)} that is neither parameter nor buffer; "
                "pass it in batch, or register it as a buffer"
            )
