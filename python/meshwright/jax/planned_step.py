"""PlannedStep: a step with the shardings of its plan, called as before.

Concept: it takes and returns the trees of the step. A call starts the work and
returns; donated arguments are gone after it. Arguments that are not yet where
the plan has them are moved by JAX if they are on the host or uncommitted; others
are moved by ``put``.
Arguments have their places or the names of the step's parameters.
Errors: PlanMismatch, naming the leaf, where an argument is not the planned one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from meshwright.errors import PlanMismatch
from meshwright.jax._trace import StepTrace, leaf_paths
from meshwright.plan import Plan


class PlannedStep:
    def __init__(
        self,
        plan: Plan,
        mesh: jax.sharding.Mesh,
        trace: StepTrace,
        names: Sequence[str],
        exported: jax.export.Exported,
        in_shardings: tuple[Any, ...],
        out_shardings: Any,
    ) -> None:
        self.plan = plan
        self.mesh = mesh
        self.in_shardings = in_shardings  # a tree for each argument
        self.out_shardings = out_shardings
        self.exported = exported
        self.donate_argnums = trace.donate_argnums
        self._trace = trace
        self._names = tuple(names)
        self._jitted = jax.jit(
            exported.call,
            in_shardings=in_shardings,
            out_shardings=out_shardings,
            donate_argnums=trace.donate_argnums,
        )

    def __call__(self, /, *arguments: Any, **named: Any) -> Any:
        arguments = self._order(arguments, named)
        try:
            return self._jitted(*arguments)
        except (TypeError, ValueError) as error:
            self._check(arguments, error)
            raise

    def lower(self, /, *arguments: Any, **named: Any) -> jax.stages.Lowered:
        """As of a jitted step; arguments may be shapes."""
        arguments = self._order(arguments, named)
        try:
            return self._jitted.lower(*arguments)
        except (TypeError, ValueError) as error:
            self._check(arguments, error)
            raise

    def put(self, *arguments: Any) -> Any:
        """The first arguments, where the plan has them.

        One argument is returned by itself, several as a tuple. The arrays
        given stay valid after a call that donates those returned.
        """
        planned = len(self._trace.arguments)
        if len(arguments) > planned:
            raise PlanMismatch(
                f"the step is planned with {planned} arguments, and put was "
                f"given {len(arguments)}"
            )
        try:
            placed = tuple(
                jax.tree.map(
                    _move_copy if number in self.donate_argnums else _move,
                    value,
                    self.in_shardings[number],
                )
                for number, value in enumerate(arguments)
            )
        except (TypeError, ValueError) as error:
            self._check_leaves(arguments, error)
            raise
        return placed[0] if len(placed) == 1 else placed

    @property
    def abstract(self) -> tuple[Any, ...]:
        """Per argument, shapes with their shardings: what orbax restores to."""
        shapes = jax.eval_shape(
            lambda *values: values, *self._trace.arguments
        )
        return tuple(
            jax.tree.map(
                lambda leaf, sharding: jax.ShapeDtypeStruct(
                    leaf.shape, leaf.dtype, sharding=sharding
                ),
                value,
                shardings,
            )
            for value, shardings in zip(shapes, self.in_shardings)
        )

    def _repr_html_(self) -> str | None:
        return self.plan._repr_html_()

    def __repr__(self) -> str:
        mesh = "x".join(map(str, self.mesh.devices.shape))
        return f"PlannedStep({self._trace.name} on mesh {mesh})"

    def _order(
        self, arguments: tuple[Any, ...], named: dict[str, Any]
    ) -> tuple[Any, ...]:
        """All arguments at their places: those of a plan have no names."""
        if not named:
            return arguments
        given = dict(zip(self._names, arguments))
        for name, value in named.items():
            if name not in self._names:
                raise PlanMismatch(
                    f"{name} is no argument of the step, which is planned "
                    "with " + ", ".join(self._names)
                )
            if name in given:
                raise PlanMismatch(
                    f"{name} is given twice, by its place and by its name"
                )
            given[name] = value
        for name in self._names:
            if name not in given:
                raise PlanMismatch(
                    f"{name} is missing; the step is planned with it"
                )
        return tuple(given[name] for name in self._names)

    def _check(self, arguments: Sequence[Any], cause: Exception) -> None:
        """Raises PlanMismatch if the arguments are not the planned ones."""
        planned = len(self._trace.arguments)
        if len(arguments) != planned:
            raise PlanMismatch(
                f"the step is planned with {planned} arguments, and was "
                f"called with {len(arguments)}"
            ) from cause
        if self._check_leaves(arguments, cause):
            self._check_places(arguments, cause)

    def _check_leaves(
        self, arguments: Sequence[Any], cause: Exception
    ) -> bool:
        """Of the first arguments; False where they are no trees of arrays."""
        try:
            shapes = jax.eval_shape(lambda *values: values, *arguments)
        except (TypeError, ValueError):
            return False
        given = dict(leaf_paths(shapes, self._names))
        planned = self._trace.arguments[: len(arguments)]
        count = len(jax.tree.leaves(planned))
        for leaf in self._trace.inputs[:count]:
            found = given.pop(leaf.path, None)
            if found is None:
                raise PlanMismatch(
                    f"{leaf.path} is missing; the step is planned with it"
                ) from cause
            if found.shape != leaf.shape:
                raise PlanMismatch(
                    f"{leaf.path} has the shape {list(found.shape)} and is "
                    f"planned with {list(leaf.shape)}; plan the step for "
                    "this shape, too"
                ) from cause
            if found.dtype != leaf.dtype:
                raise PlanMismatch(
                    f"{leaf.path} is {found.dtype} and is planned as "
                    f"{leaf.dtype}"
                ) from cause
        for path in given:
            raise PlanMismatch(
                f"{path} is new; the step is planned without it"
            ) from cause
        return True

    def _check_places(
        self, arguments: Sequence[Any], cause: Exception
    ) -> None:
        """JAX moves what is not committed, and nothing else."""
        wanted = jax.tree.leaves(self.in_shardings)
        given = leaf_paths(arguments, self._names)
        for (path, leaf), sharding in zip(given, wanted):
            if not isinstance(leaf, jax.Array) or not leaf.committed:
                continue
            if not leaf.sharding.is_equivalent_to(sharding, leaf.ndim):
                raise PlanMismatch(
                    f"{path} is not where the plan has it; move it with "
                    "put, once before the first step"
                ) from cause


def _move(leaf: Any, sharding: Any) -> Any:
    return jax.device_put(leaf, sharding)


def _move_copy(leaf: Any, sharding: Any) -> Any:
    """Without buffers in common: one that is donated would take both."""
    if not isinstance(leaf, jax.Array):
        return jax.device_put(leaf, sharding)
    if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        data = jnp.copy(jax.random.key_data(leaf))
        copy = jax.random.wrap_key_data(data, impl=jax.random.key_impl(leaf))
    else:
        copy = jnp.copy(leaf)
    return jax.device_put(copy, sharding)
