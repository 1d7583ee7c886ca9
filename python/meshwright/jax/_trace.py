"""StepTrace: a step as the planner reads it, and how its leaves are called.

Concept: the step is traced on shapes alone and lowered with every argument
kept, so that the parameters of its HLO module are the leaves of its arguments
in order. It is lowered without shardings: with them, JAX leaves donation to
the compiler, and the planner would see none.
Errors: InvalidArgument, one sentence that names the argument by its path.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
from jax.tree_util import keystr, tree_flatten_with_path

from meshwright.errors import InvalidArgument, warn

# Primitives that no plan covers: calls of the host, shardings by hand.
_CALLBACKS = ("pure_callback", "io_callback")
_MANUAL = ("shard_map", "xla_pmap", "custom_partitioning")


@dataclasses.dataclass(frozen=True)
class Leaf:
    path: str  # "state['params']['w']"
    shape: tuple[int, ...]
    dtype: Any


@dataclasses.dataclass(frozen=True)
class StepTrace:
    name: str
    module: bytes  # a serialized HloModuleProto
    text_digest: str  # of the step without names and source lines
    inputs: tuple[Leaf, ...]
    outputs: tuple[Leaf, ...]
    in_tree: Any
    out_tree: Any
    out_avals: tuple[Any, ...]
    arguments: tuple[Any, ...]  # abstract
    donate_argnums: tuple[int, ...]


def trace_step(
    step: Callable[..., Any],
    arguments: Sequence[Any],
    donate_argnums: int | Sequence[int],
    platform: str,
) -> StepTrace:
    names = argument_names(step, len(arguments))
    abstract = tuple(
        _abstract(value, name) for value, name in zip(arguments, names)
    )
    step, donated = _unwrap(step, abstract, donate_argnums)
    for number in donated:
        if not 0 <= number < len(abstract):
            raise InvalidArgument(
                f"donate_argnums: the step has no argument {number}"
            )
    with _constants_in_place():
        jitted = jax.jit(step, donate_argnums=donated, keep_unused=True)
        traced = jitted.trace(*abstract)
        _check_constants(step, _constants(traced.jaxpr))
        _check_primitives(traced.jaxpr)
        lowered = traced.lower(lowering_platforms=(platform,))
    stablehlo = lowered.compiler_ir("stablehlo")
    text = stablehlo.operation.get_asm(enable_debug_info=False)
    text = re.sub(r"module @\S+", "module", text, count=1)
    inputs = tuple(
        Leaf(path, info.shape, info.dtype)
        for path, info in _leaves(abstract, names)
    )
    outputs, out_tree = jax.tree.flatten(lowered.out_info)
    return StepTrace(
        name=getattr(step, "__name__", "step"),
        module=lowered.compiler_ir("hlo").as_serialized_hlo_module_proto(),
        text_digest=hashlib.sha256(text.encode()).hexdigest(),
        inputs=inputs,
        outputs=tuple(
            Leaf("result" + keystr(path), info.shape, info.dtype)
            for path, info in tree_flatten_with_path(lowered.out_info)[0]
        ),
        in_tree=jax.tree.structure(abstract),
        out_tree=out_tree,
        out_avals=tuple(traced.jaxpr.out_avals),
        arguments=abstract,
        donate_argnums=donated,
    )


def argument_names(step: Callable[..., Any], count: int) -> list[str]:
    """The names of the step's parameters, or args[0], args[1] ..."""
    names = [f"args[{number}]" for number in range(count)]
    try:
        parameters = list(inspect.signature(step).parameters.values())
    except (TypeError, ValueError):
        return names
    for number, parameter in enumerate(parameters[:count]):
        if parameter.kind == parameter.VAR_POSITIONAL:
            break
        names[number] = parameter.name
    return names


def leaf_paths(
    arguments: Sequence[Any], names: Sequence[str]
) -> list[tuple[str, Any]]:
    """Every leaf of concrete or abstract arguments, by its path."""
    return [
        (name + keystr(path), leaf)
        for value, name in zip(arguments, names)
        for path, leaf in tree_flatten_with_path(value)[0]
    ]


def _leaves(abstract: Sequence[Any], names: Sequence[str]) -> Iterator[Any]:
    shapes = jax.eval_shape(lambda *values: values, *abstract)
    yield from leaf_paths(shapes, names)


def _abstract(value: Any, name: str) -> Any:
    def one(path: Any, leaf: Any) -> Any:
        if hasattr(leaf, "shape") and hasattr(leaf, "dtype"):
            # A weak type decides what the step's own numbers are promoted to.
            weak = bool(getattr(leaf, "weak_type", False))
            return jax.ShapeDtypeStruct(
                leaf.shape, leaf.dtype, weak_type=weak
            )
        if isinstance(leaf, (bool, int, float, complex)):
            return leaf
        raise InvalidArgument(
            f"{name}{keystr(path)} is a {type(leaf).__name__}; a step takes "
            "arrays, shapes and numbers"
        )

    return jax.tree_util.tree_map_with_path(one, value)


def _unwrap(
    step: Callable[..., Any],
    abstract: Sequence[Any],
    donate_argnums: int | Sequence[int],
) -> tuple[Callable[..., Any], tuple[int, ...]]:
    """The function of a jitted step, and what that donates."""
    donated = (
        (donate_argnums,)
        if isinstance(donate_argnums, int)
        else tuple(donate_argnums)
    )
    if not (hasattr(step, "lower") and hasattr(step, "__wrapped__")):
        return step, donated
    jitted: Any = step
    traced = jitted.trace(*abstract)
    if not hasattr(traced, "args_info"):  # that of flax.nnx
        raise InvalidArgument(
            f"step is jitted by {type(step).__module__}; split its modules "
            "with nnx.split, and pass a function of their state that merges "
            "them"
        )
    infos = traced.args_info[0]
    if len(infos) != len(abstract):
        raise InvalidArgument(
            "step has static arguments; bind them with functools.partial, and "
            "jit the rest"
        )
    if not donated:
        donated = tuple(
            number
            for number, info in enumerate(infos)
            if any(leaf.donated for leaf in jax.tree.leaves(info))
        )
    return step.__wrapped__, donated


def _constants_in_place() -> contextlib.AbstractContextManager[Any]:
    """Later versions can make constants arguments of the module."""
    from jax._src import config

    if not hasattr(config, "use_simplified_jaxpr_constants"):
        return contextlib.nullcontext()
    in_place: contextlib.AbstractContextManager[Any] = (
        config.use_simplified_jaxpr_constants(False)
    )
    return in_place


def _check_constants(step: Callable[..., Any], constants: Any) -> None:
    """A closed-over array of a device would be copied into the program."""
    for constant in constants:
        if isinstance(constant, jax.Array) and constant.ndim > 0:
            name = _closed_over_name(step, constant)
            called = f" '{name}'" if name else ""
            shape = ",".join(map(str, constant.shape))
            raise InvalidArgument(
                f"step closes over the device array{called} "
                f"({constant.dtype}[{shape}]); pass it as an argument, or "
                "make it a constant with numpy.asarray"
            )


def _closed_over_name(step: Callable[..., Any], array: Any) -> str:
    """How the step calls an array; empty where its callees hold it."""
    try:
        found = inspect.getclosurevars(step)
    except (TypeError, ValueError):
        return ""
    for scope in (found.nonlocals, found.globals):
        for name, value in scope.items():
            for path, leaf in tree_flatten_with_path(value)[0]:
                if leaf is array:
                    return f"{name}{keystr(path)}"
    return ""


def _equations(jaxpr: Any) -> Iterator[Any]:
    for equation in jaxpr.eqns:
        yield equation
        for parameter in equation.params.values():
            inner = parameter if isinstance(parameter, (tuple, list)) else (
                parameter,
            )
            for item in inner:
                item = getattr(item, "jaxpr", item)
                if hasattr(item, "eqns"):
                    yield from _equations(item)


def _constants(closed: Any) -> Iterator[Any]:
    """Of the step, and of the jitted functions that it calls."""
    yield from closed.consts
    for equation in _equations(closed.jaxpr):
        for parameter in equation.params.values():
            if hasattr(parameter, "jaxpr") and hasattr(parameter, "consts"):
                yield from parameter.consts


def _check_primitives(closed: Any) -> None:
    names = {equation.primitive.name for equation in _equations(closed.jaxpr)}
    for name in _MANUAL:
        if name in names:
            raise InvalidArgument(
                f"step uses {name}, whose sharding is written by hand; plan "
                "the step without it"
            )
    for name in _CALLBACKS:
        if name in names:
            raise InvalidArgument(
                f"step calls the host ({name}), which a plan cannot shard; "
                "plan the step without it"
            )
    if "debug_callback" in names or "debug_print" in names:
        warn("the planned step leaves out host callbacks (jax.debug.print)")
    if "sharding_constraint" in names:
        warn(
            "the planned step leaves out its own sharding constraints "
            "(with_sharding_constraint), since the plan chooses them"
        )
