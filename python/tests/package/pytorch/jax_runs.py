"""The exported step, run by JAX as the planner reads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

import meshwright.torch


def to_jax(value: torch.Tensor, like: Any) -> Any:
    return jnp.asarray(np.asarray(value.detach().float()), like.dtype)


class Run:
    """A state of the exported step, from the values of a module."""

    def __init__(self, module: torch.nn.Module, step: Any) -> None:
        lowered = step.lowered
        params, optimizer, buffers, self._batch, *self._random = (
            lowered.arguments
        )
        self.step = jax.jit(lowered.function)
        self.params = {
            name: to_jax(value, params[name])
            for name, value in module.named_parameters()
        }
        self.buffers = {
            name: to_jax(value, buffers[name])
            for name, value in module.named_buffers()
        }
        self.optimizer = jax.tree.map(
            lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), optimizer
        )

    def __call__(self, batch: dict[str, torch.Tensor], key: int = 0) -> float:
        given = {
            name: to_jax(value, self._batch[name])
            for name, value in batch.items()
        }
        random = [jax.random.PRNGKey(key)] if self._random else []
        self.params, self.optimizer, self.buffers, loss = self.step(
            self.params, self.optimizer, self.buffers, given, *random
        )
        return float(loss)


def largest_difference(run: Run, module: torch.nn.Module) -> float:
    """Over parameters and buffers."""
    held = {**run.params, **run.buffers}

    def difference(name: str, value: torch.Tensor) -> float:
        found = np.asarray(held[name], np.float32)
        return float(np.abs(found - value.detach().float().numpy()).max())

    return max(
        difference(name, value)
        for name, value in (*module.named_parameters(), *module.named_buffers())
    )


def train_both(
    case: Any,
    optimizer: torch.optim.Optimizer,
    steps: int = 3,
    before_update: Callable[[], Any] = lambda: None,
    **options: Any,
) -> tuple[list[float], list[float], Run]:
    """Losses of the exported step and of torch, which changes the module."""
    step = meshwright.torch.export(
        case.module, optimizer, case.loss, case.batch, **options
    )
    run = Run(case.module, step)
    exported, eager = [], []
    for _ in range(steps):
        exported.append(run(case.batch))
        optimizer.zero_grad()
        loss = case.loss(case.module, case.batch)
        loss.backward()
        before_update()
        optimizer.step()
        eager.append(loss.item())
    return exported, eager, run
