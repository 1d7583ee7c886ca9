"""Which type of device a plan runs on: "cpu", "cuda".

Concept: DTensor moves what is on another type of device to that of its mesh.
It may move a module from the CPU, which need not fit one GPU. It would bring
one back from a GPU as well, so that is refused.
"""

from __future__ import annotations

import torch
from torch.distributed.device_mesh import DeviceMesh

from meshwright.errors import InvalidArgument
from meshwright.plan import Plan

# That of the last mesh that was made, or that a module was laid out on.
_last = "cpu"


def choose_device_type(plan: Plan, module: torch.nn.Module | None) -> str:
    """Where ``module`` is, or else where the plan was measured."""
    held = None if module is None else _find_accelerator(module)
    if held is not None:
        return held[1]
    is_measured_there = plan.device.split(" ")[0] == "cuda"
    return "cuda" if is_measured_there and torch.cuda.is_available() else "cpu"


def check_device_type(module: torch.nn.Module, mesh: DeviceMesh) -> None:
    """Raises InvalidArgument where the module would leave its accelerator."""
    held = _find_accelerator(module)
    if held is not None and held[1] != mesh.device_type:
        path, device_type = held
        raise InvalidArgument(
            f"mesh is of {mesh.device_type} and {path} is on {device_type}; "
            f'make it with device_mesh(plan, "{device_type}")'
        )


def remember(mesh: DeviceMesh) -> DeviceMesh:
    global _last
    _last = mesh.device_type
    return mesh


def last_device_type() -> str:
    return _last


def _find_accelerator(module: torch.nn.Module) -> tuple[str, str] | None:
    """The first tensor on one, and the type of device."""
    for kind, tensors in (
        ("params", module.named_parameters()),
        ("buffers", module.named_buffers()),
    ):
        for name, tensor in tensors:
            if tensor.device.type not in ("cpu", "meta"):
                return f"{kind}['{name}']", tensor.device.type
    return None
