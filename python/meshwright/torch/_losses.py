"""Losses that take a mean, as elements and a mean.

Concept: the gradient of ``F.mse_loss`` and its like divides by the number of
elements that it sees. DTensor has no rule for these operators and runs them on
a process's share, so the gradients of shares would be too large by the number
of shares. The loss of elements and ``mean`` are operators that DTensor knows.
Of a cross entropy it knows the sum; its own rule of the mean takes that of the
shares' means, whatever each has of targets that count.
"""

from __future__ import annotations

import inspect
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
_ENTROPIES = (F.cross_entropy, F.nll_loss)


class MeansApart(TorchFunctionMode):  # type: ignore[misc]
    """Within it, these losses are computed that way."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        given = dict(kwargs or {})
        if func in _ENTROPIES:
            return _entropy(func, *args, **given)
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


def _entropy(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The sum over elements, over the weights of the targets that count."""
    call = inspect.signature(func).bind(*args, **kwargs)
    call.apply_defaults()
    given = call.arguments
    target = given["target"]
    if not _is_plain_mean(func, given) or target.is_floating_point():
        return func(*args, **kwargs)
    # In float16 a sum or a count may be too large.
    is_half = given["input"].dtype is torch.float16
    if is_half:
        given["input"] = given["input"].float()
        if given["weight"] is not None:
            given["weight"] = given["weight"].float()
    counts = target != given["ignore_index"]
    if given["weight"] is None:
        total = counts.sum()
    else:
        weights = given["weight"][torch.where(counts, target, 0)]
        total = torch.where(counts, weights, 0).sum()
    given["reduction"] = "sum"
    mean = func(*call.args, **call.kwargs) / total
    if is_half and not torch.is_autocast_enabled(target.device.type):
        return mean.half()  # as torch gives it
    return mean
