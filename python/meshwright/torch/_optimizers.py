"""Optimizers that were made before ``apply``, and would update nothing.

Concept: DTensors and FSDP2 replace the parameters of a module. No gradient
comes to the old ones, so a step of their optimizer changes nothing, without a
word. They carry a mark, by which such an optimizer is known.
Errors: InvalidArgument, with the place of the parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

from meshwright.errors import InvalidArgument

_MARK = "_meshwright_is_replaced"


def mark_replaced(
    before: Iterable[torch.nn.Parameter], module: torch.nn.Module
) -> None:
    """``before``: the parameters that the module had."""
    for parameter in before:
        setattr(parameter, _MARK, True)
    # A new one may have the attributes of one that another module replaced.
    for parameter in module.parameters():
        parameter.__dict__.pop(_MARK, None)


def refuse_replaced(optimizer: torch.optim.Optimizer, *_: Any) -> None:
    """A hook in front of steps, too."""
    check_parameters(optimizer, lambda p: not getattr(p, _MARK, False))


def check_parameters(
    optimizer: torch.optim.Optimizer,
    is_held: Callable[[torch.nn.Parameter], bool],
) -> None:
    for number, group in enumerate(optimizer.param_groups):
        for place, parameter in enumerate(group["params"]):
            if not is_held(parameter):
                raise InvalidArgument(
                    f"optimizer.param_groups[{number}]['params'][{place}] is "
                    "no parameter of the module that is laid out; make the "
                    "optimizer after apply, from module.parameters()"
                )
