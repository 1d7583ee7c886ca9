"""Plans for PyTorch training steps, applied as DTensors.

``plan(module, optimizer, loss_fn, batch, mesh=...)`` traces the whole step and
asks for a plan; ``apply(plan, module, mesh)`` lays the module out as the plan
says. Nothing of the step runs for a plan, and the module may be on ``meta``.

Versions: torch 2.12 and later, and JAX 0.6 and later to write the step as HLO.
Parts of torch that are not public are used in ``_tracing.py`` (fake tensors,
decompositions, pytrees), ``_step.py`` (a module called with other tensors),
``_random.py`` (dispatch modes), ``_recomputation.py`` (the hook of
checkpointing), ``_lowering.py`` (pytrees), ``_attention.py`` (fields of
MultiheadAttention), ``_batch_norm.py`` (the class of batch norms) and
``_operators/_table.py`` (schemas). The dictionaries of a module are read in
``_step.py`` and ``_tracing.py``, and written in ``applying.py``.
"""

from __future__ import annotations

try:
    import torch as _torch
except ImportError:
    raise ImportError(
        "meshwright.torch needs PyTorch; install it with "
        "pip install 'torch>=2.12'"
    ) from None

if tuple(int(part) for part in _torch.__version__.split(".")[:2]) < (2, 12):
    raise ImportError(
        f"meshwright.torch needs PyTorch 2.12 or later, and "
        f"{_torch.__version__} is installed; upgrade it with "
        "pip install -U torch"
    )

from meshwright.torch._how import How, how  # noqa: E402
from meshwright.torch.applying import (  # noqa: E402
    apply,
    device_mesh,
    placements,
    running,
    shard_batch,
    shard_optimizer,
)
from meshwright.torch.exporting import ExportedStep, export  # noqa: E402
from meshwright.torch.planning import plan  # noqa: E402
from meshwright.torch.styles import parallelize_plan  # noqa: E402

__all__ = [
    "ExportedStep",
    "How",
    "apply",
    "device_mesh",
    "export",
    "how",
    "parallelize_plan",
    "placements",
    "plan",
    "running",
    "shard_batch",
    "shard_optimizer",
]
