"""Mixed precision: ``torch.autocast`` is traced and run; scaled losses are not.

Concept: a ``GradScaler`` changes its scale from step to step, and looks for
infinities in the gradients of its own process. A plan has one step, and
processes that hold different shards would decide differently.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

from meshwright.errors import InvalidArgument


@contextlib.contextmanager
def no_scaled_losses() -> Iterator[None]:
    """Within it, an enabled scaler that scales raises InvalidArgument."""
    scaler: Any = torch.amp.GradScaler
    found = scaler.scale

    def scale(self: torch.amp.GradScaler, outputs: Any) -> Any:
        if not self.is_enabled():
            return found(self, outputs)
        raise InvalidArgument(
            "the loss is scaled by a GradScaler, which decides by the gradients "
            "of one process; use torch.autocast with bfloat16, which needs none"
        )

    scaler.scale = scale
    try:
        yield
    finally:
        scaler.scale = found
