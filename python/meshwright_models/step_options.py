"""How a training step is written around a model.

Concept: the choices people make that do not change the model: the optimizer,
clipping, accumulation, loss scale, donation. One plain value, so that a
command line maps onto it one to one.
"""

from __future__ import annotations

import dataclasses

OPTIMIZERS = ("adamw", "adam", "sgd", "momentum", "adafactor")
ACCUMULATION_LOOPS = ("scan", "fori")


@dataclasses.dataclass(frozen=True)
class StepOptions:
    optimizer: str = "adamw"
    learning_rate: float = 1e-3
    clip_norm: float | None = None
    """Gradients are scaled down to this global norm."""
    accumulate: int = 1
    """Micro-batches whose gradients are averaged before one update."""
    accumulation_loop: str = "scan"
    """``scan``: the batch has a leading dimension of micro-batches; ``fori``:
    each micro-batch is a slice of the batch."""
    loss_scale: bool = False
    """Dynamic loss scale: a step whose gradients overflow is skipped."""
    donate: bool = True
    inference: bool = False
    """Only the loss: no gradient, no state."""

    def __post_init__(self) -> None:
        if self.optimizer not in OPTIMIZERS:
            raise ValueError(
                f"optimizer is one of {', '.join(OPTIMIZERS)}, "
                f"not {self.optimizer}"
            )
        if self.accumulation_loop not in ACCUMULATION_LOOPS:
            raise ValueError(
                f"accumulation loop is one of "
                f"{', '.join(ACCUMULATION_LOOPS)}, "
                f"not {self.accumulation_loop}"
            )
        for name in ("learning_rate", "clip_norm", "accumulate"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ValueError(f"{name} must be positive, not {value}")
