"""Core ATen operators as functions of JAX arrays.

Concept: a table from an operator's name to a rule. A rule takes the operator's
arguments with arrays for tensors; its result is cast to the type that torch
gave the operator, so rules may follow JAX's promotion. Where several forms are
right, a rule takes the one whose dimensions a planner can follow.
"""

from meshwright.torch._operators import (  # noqa: F401
    contractions,
    elementwise,
    experts,
    indexing,
    normalization,
    random,
    reductions,
    shapes,
)
from meshwright.torch._operators._table import (
    find_rule,
    jax_type,
    missing_rules,
)

__all__ = ["find_rule", "jax_type", "missing_rules"]
