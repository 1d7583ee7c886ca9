"""The plan's shardings on a person's mesh, leaf by leaf.

Shapes: a plan writes "[1,-]": mesh axis 1 cuts dimension 0. A random key has
one dimension more in the plan than in the step; a plan that cuts it is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from meshwright.errors import InvalidArgument, PlanMismatch
from meshwright.jax._trace import Leaf
from meshwright.plan import Argument


def check_mesh(mesh: Mesh) -> None:
    """Axes whose shardings the compiler may choose, which JAX calls Auto."""
    if not isinstance(mesh, Mesh):
        raise InvalidArgument(
            f"mesh must be a jax.sharding.Mesh, not {type(mesh).__name__}"
        )
    for name, kind in zip(mesh.axis_names, mesh.axis_types):
        if kind != jax.sharding.AxisType.Auto:
            raise InvalidArgument(
                f"mesh: axis '{name}' is {kind.name}; make the mesh with "
                "axis_types=(jax.sharding.AxisType.Auto,) * "
                f"{len(mesh.axis_names)}"
            )


def partition_spec(sharding: str, axes: Sequence[str]) -> PartitionSpec:
    """The spec of "[1,-]". The digits of "01" are several axes."""
    parts: list[str | tuple[str, ...] | None] = []
    for text in filter(None, sharding.strip()[1:-1].split(",")):
        names = tuple(axes[int(number)] for number in text if text != "-")
        parts.append(names if len(names) > 1 else names[0] if names else None)
    return PartitionSpec(*parts)


def bind(
    planned: Sequence[Argument],
    leaves: Sequence[Leaf],
    mesh: Mesh,
    what: str,
) -> list[NamedSharding]:
    """A sharding for every leaf; PlanMismatch where the plan is another's."""
    if len(planned) != len(leaves):
        raise PlanMismatch(
            f"the plan has {len(planned)} {what}, and the step {len(leaves)}"
        )
    return [
        NamedSharding(mesh, _bind_one(argument, leaf, mesh))
        for argument, leaf in zip(planned, leaves)
    ]


def _bind_one(argument: Argument, leaf: Leaf, mesh: Mesh) -> PartitionSpec:
    rank = len(leaf.shape)
    is_key = jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)
    hidden = argument.shape[rank:] if is_key else ()
    if argument.shape[:rank] != leaf.shape or len(argument.shape) != rank + len(
        hidden
    ):
        raise PlanMismatch(
            f"{leaf.path} has the shape {list(leaf.shape)}, and in the plan "
            f"{list(argument.shape)}"
        )
    spec = partition_spec(argument.sharding, mesh.axis_names)
    if any(spec[rank:]):
        raise PlanMismatch(
            f"{leaf.path}: the plan splits the inside of a random key; pin "
            f"it with strategies=Strategies(pin_argument=('{argument.index}="
            f"[{','.join('-' * len(argument.shape))}]',))"
        )
    return PartitionSpec(*spec[:rank])
