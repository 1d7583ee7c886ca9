"""Meshwright: the fastest measured sharding of a training step.

``Client`` and ``AsyncClient`` ask a service for plans; without an address they
start one on this machine. ``meshwright.jax.plan`` plans a JAX step and runs
it; ``best_plan`` does so within a time limit, with a named baseline in
reserve. ``meshwright.torch`` plans PyTorch steps and lays modules out by their
plans. JAX and torch are imported by these alone, gRPC by the clients.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from meshwright._version import __version__
from meshwright.errors import (
    Cancelled,
    DeadlineExceeded,
    FailedPrecondition,
    InfeasiblePlan,
    Internal,
    InvalidArgument,
    MeshwrightError,
    MeshwrightWarning,
    NotFound,
    PermissionDenied,
    PlanMismatch,
    ResourceExhausted,
    Unauthenticated,
    Unavailable,
    Unimplemented,
)
from meshwright.plan import Plan
from meshwright.reports import Difference, Explanation

if TYPE_CHECKING:
    from meshwright.async_client import AsyncClient
    from meshwright.client import Client
    from meshwright.launch import best_plan
    from meshwright.records import PlanRecord, PlanUpdate, Progress, Strategies

__all__ = [
    "AsyncClient",
    "Cancelled",
    "Client",
    "DeadlineExceeded",
    "Difference",
    "Explanation",
    "FailedPrecondition",
    "InfeasiblePlan",
    "Internal",
    "InvalidArgument",
    "MeshwrightError",
    "MeshwrightWarning",
    "NotFound",
    "PermissionDenied",
    "Plan",
    "PlanMismatch",
    "PlanRecord",
    "PlanUpdate",
    "Progress",
    "ResourceExhausted",
    "Strategies",
    "Unauthenticated",
    "Unavailable",
    "Unimplemented",
    "__version__",
    "best_plan",
]

# Imported when they are first used.
_LATER = {
    "AsyncClient": "meshwright.async_client",
    "Client": "meshwright.client",
    "PlanRecord": "meshwright.records",
    "PlanUpdate": "meshwright.records",
    "Progress": "meshwright.records",
    "Strategies": "meshwright.records",
    "best_plan": "meshwright.launch",
}


def __getattr__(name: str) -> Any:
    if name in ("jax", "torch"):
        return importlib.import_module(f"meshwright.{name}")
    if name in _LATER:
        return getattr(importlib.import_module(_LATER[name]), name)
    raise AttributeError(f"module 'meshwright' has no attribute '{name}'")
