"""Losses that take a mean, as elements and a mean.

Concept: the gradient of ``F.mse_loss`` and its like divides by the number of
elements that it sees. DTensor has no rule for these operators and runs them on
a process's share, so the gradients of shares would be too large by the number
of shares. The loss of elements and ``mean`` are operators that DTensor knows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

_LOSSES = (
    F.binary_cross_entropy,
    F.binary_cross_entropy_with_logits,
    F.huber_loss,
    F.mse_loss,
    F.smooth_l1_loss,
    F.soft_margin_loss,
)


class MeansApart(TorchFunctionMode):
    """Within it, these losses are computed that way."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        given = dict(kwargs or {})
        if func not in _LOSSES or not _is_plain_mean(func, given):
            return func(*args, **given)
        return func(*args, **{**given, "reduction": "none"}).mean()


def _is_plain_mean(func: Callable[..., Any], given: dict[str, Any]) -> bool:
    """A mean by its name, and none by weights, which torch sums by itself."""
    by_weights = func in (F.huber_loss, F.mse_loss)
    return (
        given.get("reduction", "mean") == "mean"
        and given.get("size_average") is None
        and given.get("reduce") is None
        and not (by_weights and given.get("weight") is not None)
    )
