"""Batch norms over the rows of all processes.

Concept: the step of a plan has one batch, so its norms take the mean and the
variance of all rows. ``torch.nn.SyncBatchNorm`` does that on accelerators and
refuses CPUs; there the same is computed with sums over the group. Processes
have equally many rows. A class that computes more than torch's norms, like an
activation, would lose that.
Errors: Unimplemented, naming the module of such a class.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed

from meshwright.errors import Unimplemented

_Norm = torch.nn.modules.batchnorm._BatchNorm


def synchronize_batch_norms(
    module: torch.nn.Module, device_type: str, group: Any
) -> None:
    """Changes the norms of a module in place; their tensors stay."""
    for name, kind in norms_that_compute_more(module).items():
        raise Unimplemented(
            f"{name or 'module'} is a batch norm of the class {kind}, which "
            "computes more than torch's; apply the plan without how"
        )
    # The classes have the same fields, and other forward passes.
    synchronized = (
        _BatchNormOnCpus if device_type == "cpu" else torch.nn.SyncBatchNorm
    )
    for submodule in module.modules():
        if isinstance(submodule, _Norm):
            submodule.__class__ = synchronized
            submodule.process_group = group


def norms_that_compute_more(module: torch.nn.Module) -> dict[str, str]:
    """The classes of batch norms with a forward pass of their own, by name."""
    known = (
        _Norm.forward,
        torch.nn.SyncBatchNorm.forward,
        _BatchNormOnCpus.forward,
    )
    return {
        name: type(submodule).__name__
        for name, submodule in module.named_modules()
        if isinstance(submodule, _Norm)
        and type(submodule).forward not in known
    }


class _BatchNormOnCpus(_Norm):  # type: ignore[misc, valid-type]
    process_group: Any

    def _check_input_dim(self, input: torch.Tensor) -> None:
        pass  # any: the numbers of dimensions differ by class only

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.training:
            result: torch.Tensor = super().forward(x)
            return result
        group = self.process_group
        processes = torch.distributed.get_world_size(group)
        wide = x if x.dtype == torch.float64 else x.float()
        dims = [dim for dim in range(x.dim()) if dim != 1]
        shape = [-1 if dim == 1 else 1 for dim in range(x.dim())]

        def average(value: torch.Tensor) -> torch.Tensor:
            summed: torch.Tensor = _Sum.apply(value.mean(dims), group)
            return summed / processes

        mean = average(wide)
        deviation = wide - mean.view(shape)
        variance = average(deviation.square())
        if self.track_running_stats and self.running_mean is not None:
            self._keep(mean, variance, processes * x.numel() // x.shape[1])
        result = deviation * torch.rsqrt(variance + self.eps).view(shape)
        if self.weight is not None:
            result = result * self.weight.view(shape)
        if self.bias is not None:
            result = result + self.bias.view(shape)
        return result.to(x.dtype)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def _keep(
        self, mean: torch.Tensor, variance: torch.Tensor, count: int
    ) -> None:
        assert self.running_mean is not None and self.running_var is not None
        assert self.num_batches_tracked is not None
        self.num_batches_tracked.add_(1)
        weight = self.momentum
        if weight is None:  # the mean of all steps
            weight = 1.0 / float(self.num_batches_tracked)
        unbiased = variance * (count / max(count - 1, 1))
        self.running_mean.lerp_(mean.to(self.running_mean.dtype), weight)
        self.running_var.lerp_(unbiased.to(self.running_var.dtype), weight)


class _Sum(torch.autograd.Function):  # type: ignore[misc]
    """The sum over processes; so is the gradient, as each of them reads it."""

    @staticmethod
    def forward(ctx: Any, value: torch.Tensor, group: Any) -> torch.Tensor:
        ctx.group = group
        summed = value.clone(memory_format=torch.contiguous_format)
        torch.distributed.all_reduce(summed, group=group)
        return summed

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[Any, None]:
        return _Sum.apply(gradients[0], ctx.group), None
