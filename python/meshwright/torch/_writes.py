"""Writes in place into a part of what is split.

Concept: DTensor makes a value whole before it takes a part of the dimension
that it is split in. The part is then a copy and no view, and a write into it
changes the value nowhere, without a word. Within ``NoLostWrites`` such a write
is refused. Others run as they do without a plan.
Errors: Unimplemented.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.distributed.tensor import DTensor
from torch.overrides import TorchFunctionMode

from meshwright.errors import Unimplemented

# By name: torch's functions and the methods of tensors are called alike.
_VIEWS = frozenset(
    "adjoint chunk detach diagonal expand expand_as moveaxis movedim narrow "
    "permute select split split_with_sizes squeeze swapaxes swapdims t "
    "tensor_split transpose unbind unflatten unfold unsqueeze view "
    "view_as".split()
)
# Views where the strides allow it, and copies elsewhere.
_RESHAPES = frozenset(("flatten", "ravel", "reshape"))
# All properties are called "__get__".
_PROPERTIES = frozenset((torch.Tensor.T.__get__, torch.Tensor.mT.__get__))
_OPERATORS = frozenset(
    "__iadd__ __iand__ __idiv__ __ifloordiv__ __imod__ __imul__ __ior__ "
    "__ipow__ __isub__ __itruediv__ __ixor__".split()
)
_NO_WRITES = frozenset(("detach_", "requires_grad_", "share_memory_"))
_MARK = "_meshwright_is_copy"


class NoLostWrites(TorchFunctionMode):  # type: ignore[misc]
    """Within it, a write that would be lost is refused."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        given = kwargs or {}
        if not args or not isinstance(args[0], DTensor):
            return func(*args, **given)
        base, name = args[0], getattr(func, "__name__", "")
        if name == "__setitem__" and _is_basic(args[1]):
            with torch.no_grad():
                _mark(base, part := base[args[1]])
            _refuse_copy(part)
        elif _writes(name):
            _refuse_copy(base)
        result = func(*args, **given)
        if _gives_view(func, name, args, given):
            several = isinstance(result, (list, tuple))
            for part in result if several else (result,):
                _mark(base, part)
        return result


def _writes(name: str) -> bool:
    return name in _OPERATORS or (
        name.endswith("_")
        and not name.endswith("__")
        and name not in _NO_WRITES
    )


def _gives_view(
    func: Callable[..., Any],
    name: str,
    args: tuple[Any, ...],
    given: dict[str, Any],
) -> bool:
    """Whether it does without a plan."""
    if name == "__getitem__":
        return _is_basic(args[1])
    if name in _RESHAPES:
        base = args[0]
        alike = torch.empty_strided(base.shape, base.stride(), device="meta")
        result = func(alike, *args[1:], **given)
        return bool(result is alike or result._is_view())
    return name in _VIEWS or func in _PROPERTIES


def _is_basic(index: Any) -> bool:
    """Whether it gives a view; a mask or a list of places gives a copy."""
    places = index if isinstance(index, tuple) else (index,)
    return all(
        place is None
        or place is Ellipsis
        or isinstance(place, slice)
        or (isinstance(place, int) and not isinstance(place, bool))
        for place in places
    )


def _mark(base: DTensor, part: DTensor) -> None:
    if getattr(base, _MARK, False) or _memory(base) != _memory(part):
        setattr(part, _MARK, True)


def _memory(value: DTensor) -> int:
    local = value._local_tensor
    # What a collective brings while nobody waits for it has no memory itself.
    local = getattr(local, "elem", local)
    return int(local.untyped_storage().data_ptr())


def _refuse_copy(value: DTensor) -> None:
    if getattr(value, _MARK, False):
        raise Unimplemented(
            "the step writes in place into a part of a dimension that the "
            "plan splits, of which DTensor has only a copy; make a new value "
            "with torch.where or torch.cat"
        )
