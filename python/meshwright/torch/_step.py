"""A training step as two pure functions: its gradients, and its update.

Concept: the gradients of (parameters, buffers, batch) and the update of
(parameters, gradients, optimizer state) have no state of their own. Kept
apart, the first can run several times before the second (accumulation).
Tied weights are one parameter with several names; the module sees it under all
of them. Every submodule's output is a mark: a value by which a plan says how
the module's boundary is laid out.
Errors: InvalidArgument, naming the argument.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch.nn.utils.stateless import _reparametrize_module

from meshwright.errors import InvalidArgument
from meshwright.torch._amp import no_scaled_losses
from meshwright.torch._tree import map_tensors

Tensors = dict[str, torch.Tensor]


@dataclasses.dataclass(frozen=True)
class ModuleState:
    """What a module holds, by name; tied tensors stand under their first."""

    parameters: Tensors
    buffers: Tensors
    aliases: Mapping[str, str]  # the name of each place -> the first one

    @classmethod
    def read(cls, module: torch.nn.Module) -> ModuleState:
        parameters: Tensors = dict(module.named_parameters())
        buffers: Tensors = dict(module.named_buffers())
        first = {
            id(tensor): name
            for name, tensor in (*parameters.items(), *buffers.items())
        }
        # One name for each place: a module may stand in another twice.
        aliases = {
            f"{prefix}.{key}" if prefix else key: first[id(tensor)]
            for prefix, submodule in module.named_modules()
            for held in (submodule._parameters, submodule._buffers)
            for key, tensor in held.items()
            if tensor is not None
        }
        return cls(parameters, buffers, aliases)

    @property
    def trainable(self) -> list[str]:
        return [n for n, p in self.parameters.items() if p.requires_grad]


class GradientFunction:
    """(parameters, buffers, batch) -> (gradients, buffers, loss, marks)."""

    def __init__(
        self,
        module: torch.nn.Module,
        loss_fn: Callable[[torch.nn.Module, Any], torch.Tensor],
        state: ModuleState,
    ) -> None:
        self._module = module
        self._loss_fn = loss_fn
        self._state = state

    def __call__(
        self, parameters: Tensors, buffers: Tensors, batch: Any
    ) -> tuple[Tensors, Tensors, torch.Tensor, Tensors]:
        trainable = self._state.trainable
        live = {
            name: value.detach().requires_grad_(name in trainable)
            for name, value in parameters.items()
        }
        held = {name: value.clone() for name, value in buffers.items()}
        # What is written in place is then no input of the graph.
        batch = map_tensors(lambda _, value: value.clone(), batch, "batch")
        seen = {
            name: live.get(first, held.get(first))
            for name, first in self._state.aliases.items()
        }
        marks: Tensors = {}
        with (
            _reparametrize_module(self._module, seen),
            _marked(self._module, marks),
            no_scaled_losses(),
        ):
            loss = self._loss_fn(self._module, batch)
            _check_loss(loss)
            loss = loss.reshape(())
            # Here, because checkpointed modules run again in this pass.
            found = torch.autograd.grad(
                loss, [live[name] for name in trainable], allow_unused=True
            )
            after = dict(self._module.named_buffers())
        gradients = {
            name: gradient
            for name, gradient in zip(trainable, found)
            if gradient is not None
        }
        return (
            gradients,
            {name: after[name] for name in held},
            loss.detach(),
            {name: mark.detach() for name, mark in marks.items()},
        )


class UpdateFunction:
    """(parameters, gradients, state) -> (parameters, state)."""

    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        state: ModuleState,
        max_grad_norm: float | None,
    ) -> None:
        self._optimizer = optimizer
        self._max_grad_norm = max_grad_norm
        names = {id(p): n for n, p in state.parameters.items()}
        self._names = [
            [
                _name_of(names, parameter, f"[{number}]['params'][{place}]")
                for place, parameter in enumerate(group["params"])
            ]
            for number, group in enumerate(optimizer.param_groups)
        ]

    @property
    def name(self) -> str:
        return type(self._optimizer).__name__

    def make_state(self) -> dict[str, Tensors]:
        """The state behind the first step, within a mode of fake tensors.

        Optimizers make it in their first step, so a twin takes one. What an
        optimizer makes before, like Adagrad's sums, the twin has, too.
        """
        parameters: Tensors = {}
        before: dict[str, dict[str, Any]] = {}
        for group, names in zip(self._optimizer.param_groups, self._names):
            for parameter, name in zip(group["params"], names):
                parameters[name] = torch.empty_like(parameter)
                if parameter.requires_grad:
                    parameters[name].grad = torch.empty_like(parameter)
                before[name] = {
                    key: torch.empty_like(value)
                    if isinstance(value, torch.Tensor)
                    else value
                    for key, value in self._optimizer.state.get(
                        parameter, {}
                    ).items()
                }
        twin = self._twin(parameters, before)
        try:
            with torch.no_grad():
                _step_of(twin)(twin)
        except TypeError as error:  # a closure is missing
            raise InvalidArgument(
                f"optimizer: the step of {self.name} takes more than itself "
                f"({error}); plan with another, like AdamW"
            ) from error
        state: dict[str, Tensors] = {}
        for name, parameter in parameters.items():
            values = dict(twin.state.get(parameter, {}))
            for key, value in values.items():
                if isinstance(value, (int, float)):
                    raise InvalidArgument(
                        f"optimizer: {self.name} keeps state[{key!r}] as a "
                        "number, which would be the same in all steps of a "
                        "plan; plan with another, like AdamW"
                    )
            tensors = {
                key: torch.empty_like(value)
                for key, value in values.items()
                if isinstance(value, torch.Tensor)
            }
            if tensors:
                state[name] = tensors
        return state

    def __call__(
        self,
        parameters: Tensors,
        gradients: Tensors,
        state: dict[str, Tensors],
    ) -> tuple[Tensors, dict[str, Tensors]]:
        new = {name: value.clone() for name, value in parameters.items()}
        for name, gradient in gradients.items():
            new[name].grad = gradient.clone()  # clipping writes to it
        optimizer = self._twin(
            new,
            {
                name: {key: v.clone() for key, v in values.items()}
                for name, values in state.items()
            },
        )
        with torch.no_grad():
            if self._max_grad_norm is not None:
                torch.nn.utils.clip_grad_norm_(
                    [new[name] for name in gradients],
                    self._max_grad_norm,
                    foreach=False,
                )
            _step_of(optimizer)(optimizer)
        after = {
            name: {key: optimizer.state[new[name]][key] for key in values}
            for name, values in state.items()
        }
        return {name: v.detach() for name, v in new.items()}, after

    def _twin(
        self, parameters: Tensors, state: Mapping[str, Mapping[str, Any]]
    ) -> torch.optim.Optimizer:
        """The optimizer with other parameters and another state."""
        # copy.copy would lose attributes: Optimizer.__getstate__ names three.
        twin: torch.optim.Optimizer = object.__new__(type(self._optimizer))
        for name, value in self._optimizer.__dict__.items():
            # Hooks are for steps that run.
            is_hooks = name.startswith("_optimizer_step_")
            twin.__dict__[name] = type(value)() if is_hooks else value
        # One tensor at a time, and the count of steps stays a tensor.
        chosen = {"capturable": True, "foreach": False, "fused": False}
        twin.param_groups = [
            {
                **group,
                **{key: chosen[key] for key in chosen if key in group},
                "params": [parameters[name] for name in names],
            }
            for group, names in zip(self._optimizer.param_groups, self._names)
        ]
        twin.state = collections.defaultdict(
            dict,
            {parameters[name]: dict(held) for name, held in state.items()},
        )
        return twin


@contextlib.contextmanager
def _marked(module: torch.nn.Module, marks: Tensors) -> Iterator[None]:
    """Fills ``marks`` with the first output of every submodule."""

    def hook_of(name: str) -> Callable[..., None]:
        def hook(_: Any, __: Any, output: Any) -> None:
            tensor = first_tensor(output)
            if tensor is not None:
                marks.setdefault(name, tensor)

        return hook

    hooks = [
        submodule.register_forward_hook(hook_of(name))
        for name, submodule in module.named_modules()
        if name
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def first_tensor(output: Any) -> torch.Tensor | None:
    """The output of a module that a plan lays out."""
    if isinstance(output, tuple) and output:
        output = output[0]
    return output if isinstance(output, torch.Tensor) else None


def _check_loss(loss: Any) -> None:
    if not isinstance(loss, torch.Tensor):
        raise InvalidArgument(
            f"loss_fn returns a {type(loss).__name__}; it must return the "
            "loss, a tensor of one number"
        )
    if loss.numel() != 1:
        raise InvalidArgument(
            f"loss_fn returns a tensor of the shape {list(loss.shape)}; it "
            "must return the loss, a tensor of one number"
        )
    if not loss.requires_grad:
        raise InvalidArgument(
            "loss_fn returns a loss that no parameter of the module changes; "
            "compute it from the module's output, outside of no_grad"
        )


def _name_of(names: Mapping[int, str], parameter: Any, place: str) -> str:
    if id(parameter) not in names:
        raise InvalidArgument(
            f"optimizer.param_groups{place} is no parameter of the module; "
            "make the optimizer from module.parameters()"
        )
    return names[id(parameter)]


def _step_of(optimizer: torch.optim.Optimizer) -> Callable[..., Any]:
    """Its step without the hooks that schedulers and profilers put there."""
    step = type(optimizer).step
    return getattr(step, "__wrapped__", step)  # type: ignore[no-any-return]
