"""PyTorch training steps as HLO modules for the planner.

``export(module, optimizer, loss_fn, batch)`` traces the whole step. Nothing of
it runs, and the module may be on ``meta``.

Versions: torch 2.9 and later, and JAX 0.6 and later to write the step as HLO.
The parts of torch that are not public stand in ``_step.py``, ``_tracing.py``
and ``_random.py`` and nowhere else.
"""

from __future__ import annotations

try:
    import torch as _torch
except ImportError:
    raise ImportError(
        "meshwright.torch needs PyTorch; install it with "
        "pip install 'torch>=2.9'"
    ) from None

if tuple(int(part) for part in _torch.__version__.split(".")[:2]) < (2, 9):
    raise ImportError(
        f"meshwright.torch needs PyTorch 2.9 or later, and "
        f"{_torch.__version__} is installed; upgrade it with "
        "pip install -U torch"
    )

from meshwright.torch.exporting import ExportedStep, export  # noqa: E402

__all__ = ["ExportedStep", "export"]
