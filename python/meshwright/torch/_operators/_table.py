"""The table of rules, and the types of torch as JAX has them."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import torch

Rule = Callable[..., Any]
F = TypeVar("F", bound=Rule)

_RULES: dict[str, Rule] = {}

# Sixty-four bits are thirty-two in JAX, and in the planner's step.
_TYPES: dict[torch.dtype, Any] = {
    torch.float64: jnp.float32,
    torch.float32: jnp.float32,
    torch.bfloat16: jnp.bfloat16,
    torch.float16: jnp.float16,
    torch.int64: jnp.int32,
    torch.int32: jnp.int32,
    torch.int16: jnp.int16,
    torch.int8: jnp.int8,
    torch.uint8: jnp.uint8,
    torch.bool: jnp.bool_,
}


def rule(*names: str) -> Callable[[F], F]:
    """Registers a function for operators.

    "add" is aten's, in all overloads that have only arguments which the
    function takes, "add.Tensor" one overload, "own::add" of another library.
    """

    def register(function: F) -> F:
        for name in names:
            _RULES[name] = function
        return function

    return register


def rules(functions: dict[str, Rule]) -> None:
    _RULES.update(functions)


def find_rule(target: Any) -> Rule | None:
    if target is operator.getitem:
        take: Rule = operator.getitem
        return take
    schema = getattr(target, "_schema", None)
    if schema is None:  # of higher order: its arguments are graphs
        return None
    name = schema.name.removeprefix("aten::")
    exact = _RULES.get(f"{name}.{target._overloadname}")
    if exact is not None:
        return exact
    found = _RULES.get(name)
    return found if found is not None and _takes(found, schema) else None


def _takes(function: Rule, schema: Any) -> bool:
    """Whether the function has all arguments of the operator."""
    places = [it.name for it in schema.arguments if not it.kwarg_only]
    named = {it.name: None for it in schema.arguments if it.kwarg_only}
    try:
        inspect.signature(function).bind(*places, **named)
    except TypeError:
        return False
    return True


def missing_rules(targets: Iterable[Any]) -> list[str]:
    """The operators that have none, each once."""
    return sorted({str(t) for t in targets if find_rule(t) is None})


def jax_type(dtype: torch.dtype) -> Any:
    if dtype not in _TYPES:
        raise NotImplementedError(f"there is no JAX type for {dtype}")
    return _TYPES[dtype]


def is_array(value: Any) -> bool:
    return isinstance(value, jax.Array)


def promoted(*values: Any) -> list[Any]:
    """Arrays of one type; numbers stay numbers, which take that type."""
    dtype = jnp.result_type(*values)
    return [v.astype(dtype) if is_array(v) else v for v in values]
