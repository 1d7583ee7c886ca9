"""From sizes to an HLO file.

Concept: the step is lowered for CPU, which no part of the module depends on,
and taken as ``HloModuleProto`` before any XLA pass has seen it. Operation
names stay as metadata; source paths are cut to the part below the package
folder and stack frames are dropped, so that files are small and the same on
every machine.
"""

from __future__ import annotations

import jax
from jaxlib import xla_client

from meshwright_models import huggingface, moe
from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import lower_training_step

_PATH_ABOVE_PACKAGE = r".*/(site-packages|python)/"


def _configure_jax() -> None:
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_include_full_tracebacks_in_locations", False)
    jax.config.update(
        "jax_hlo_source_file_canonicalization_regex", _PATH_ABOVE_PACKAGE
    )


def export_hlo(name: str, shape: ModelShape) -> bytes:
    """The training step of model ``name`` as serialized ``HloModuleProto``."""
    _configure_jax()
    if name == "moe":
        model = moe.build(shape)
    else:
        model = huggingface.build(name, shape)
    computation = lower_training_step(model).compiler_ir("hlo")
    return computation.as_serialized_hlo_module_proto()


def hlo_text(proto: bytes) -> str:
    """The module as XLA prints it, for people."""
    return xla_client.XlaComputation(proto).as_hlo_text()
