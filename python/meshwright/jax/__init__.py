"""Plans for JAX steps: ``plan(step, *args, mesh=...)`` runs like the step.

Versions: JAX 0.6 and later. The parts of JAX that are not public are named in
``_module.py`` and nowhere else.
"""

from __future__ import annotations

try:
    import jax as _jax
except ImportError:
    raise ImportError(
        "meshwright.jax needs JAX; install it with pip install 'jax>=0.6'"
    ) from None

if tuple(int(part) for part in _jax.__version__.split(".")[:2]) < (0, 6):
    raise ImportError(
        f"meshwright.jax needs JAX 0.6 or later, and {_jax.__version__} is "
        "installed; upgrade it with pip install -U jax"
    )

from meshwright.errors import PlanMismatch  # noqa: E402
from meshwright.jax.planned_step import PlannedStep  # noqa: E402
from meshwright.jax.planning import plan  # noqa: E402

__all__ = ["PlanMismatch", "PlannedStep", "plan"]
