"""``export``: a PyTorch training step as an HLO module for the planner."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from meshwright.errors import InvalidArgument, Unimplemented

if TYPE_CHECKING:
    from meshwright.torch._lowering import LoweredStep


@dataclasses.dataclass(frozen=True)
class ExportedStep:
    """A step as HLO: ``(params, optimizer, buffers, batch) -> ..., loss``."""

    name: str
    module: bytes  # a serialized HloModuleProto
    text_digest: str  # of the step without names and source lines
    arguments: tuple[str, ...]  # the names of its parameters, in order
    lowered: LoweredStep = dataclasses.field(repr=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the module, for ``meshwright plan`` and the other verbs."""
        pathlib.Path(path).write_bytes(self.module)


def export(
    module: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    loss_fn: Callable[[torch.nn.Module, Any], torch.Tensor],
    batch: Any,
    *,
    accumulate: int = 1,
    max_grad_norm: float | None = None,
) -> ExportedStep:
    """The whole step: forward, backward, update.

    ``module``: in training, on any device; ``meta`` needs no memory.
    ``optimizer``: of the module's parameters; its learning rates become
    constants. ``loss_fn(module, batch)``: the loss, a tensor of one number.
    ``batch``: tensors in dicts, lists and tuples; values do not matter.

    ``accumulate``: micro-batches a step, of which ``batch`` is one; the step
    takes the mean of their gradients. ``max_grad_norm``: the gradients are
    clipped to this norm before the update.

    Raises InvalidArgument for a step that cannot be traced, and Unimplemented
    with the names of all operators that have no rule.
    """
    if not isinstance(module, torch.nn.Module):
        raise InvalidArgument(
            f"module must be a torch.nn.Module, not {type(module).__name__}"
        )
    if not isinstance(optimizer, torch.optim.Optimizer):
        raise InvalidArgument(
            "optimizer must be a torch.optim.Optimizer, not "
            f"{type(optimizer).__name__}"
        )
    if accumulate < 1:
        raise InvalidArgument(f"accumulate must be positive, not {accumulate}")
    # JAX is needed from here on.
    from meshwright.torch._lowering import lower_step
    from meshwright.torch._tracing import trace_step

    graphs = trace_step(module, optimizer, loss_fn, batch, max_grad_norm)
    try:
        lowered = lower_step(graphs, accumulate)
    except NotImplementedError as error:
        raise Unimplemented(
            f"the step uses what no rule writes as HLO: {error}; write that "
            "part with other operators, or plan the step without it"
        ) from error
    return ExportedStep(
        name=type(module).__name__.lower(),
        module=lowered.module,
        text_digest=lowered.text_digest,
        arguments=lowered.names,
        lowered=lowered,
    )
