"""A training step that is not one loss and one optimizer.

Concept: adversaries, inner loops, preconditioners and teachers each write
their own step,

    (state, frozen, batch) -> (state, losses)

where ``state`` is donated, ``frozen`` is only read (a base model below
adapters, a reference policy) and ``losses`` is one scalar or a dict of them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import optax

from meshwright_models.step_options import StepOptions

PyTree = Any


@dataclasses.dataclass(frozen=True)
class OwnStep:
    """A step over abstract inputs; no array behind it."""

    name: str
    state: PyTree
    """Tree of ``jax.ShapeDtypeStruct``."""
    batch: dict[str, jax.ShapeDtypeStruct]
    step: Callable[[PyTree, PyTree, PyTree], tuple[PyTree, PyTree]]
    frozen: PyTree = None


def trained(
    params: PyTree, optimizer: optax.GradientTransformation
) -> PyTree:
    """Abstract parameters with the abstract state of their optimizer."""
    return {
        "params": params,
        "optimizer": jax.eval_shape(optimizer.init, params),
    }


def descend(
    state: PyTree, gradients: PyTree, optimizer: optax.GradientTransformation
) -> PyTree:
    """``trained`` after one update."""
    params = state["params"]
    updates, inner = optimizer.update(gradients, state["optimizer"], params)
    return {
        "params": optax.apply_updates(params, updates),
        "optimizer": inner,
    }


def lower_own_step(own: OwnStep, options: StepOptions) -> jax.stages.Lowered:
    """Lowers the step; ValueError for options that it does not have."""
    if dataclasses.replace(options, donate=True) != StepOptions():
        raise ValueError(
            f"{own.name} has a step of its own, which of all options of a "
            "step only --no-donate changes"
        )

    def train_step(state: PyTree, frozen: PyTree, batch: PyTree) -> Any:
        return own.step(state, frozen, batch)

    train_step.__name__ = f"{own.name}_train_step"
    step = jax.jit(train_step, donate_argnums=(0,) if options.donate else ())
    return step.lower(own.state, own.frozen, own.batch)
