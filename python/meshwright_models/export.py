"""From sizes to an HLO file.

Concept: the step is lowered for CPU, which no part of most modules depends on
(``Model.platform``), and taken as ``HloModuleProto`` before any XLA pass has seen it. Operation
names stay as metadata; source paths are cut to the part below the package
folder and stack frames are dropped, so that files are small and the same on
every machine.
"""

from __future__ import annotations

import jax
from jaxlib import xla_client

from meshwright_models import (
    convnet,
    decoder,
    huggingface,
    moe,
    unet,
)
from meshwright_models.model_shape import ModelShape
from meshwright_models.own_step import OwnStep, lower_own_step
from meshwright_models.step_options import StepOptions
from meshwright_models.training_step import Model, lower_training_step

_PATH_ABOVE_PACKAGE = r".*/(site-packages|python|tests/models)/"


def configure_jax() -> None:
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_include_full_tracebacks_in_locations", False)
    jax.config.update(
        "jax_hlo_source_file_canonicalization_regex", _PATH_ABOVE_PACKAGE
    )


def build_model(
    name: str, shape: ModelShape, metrics: bool = False
) -> Model | OwnStep:
    """Model ``name``, a key of ``DEFAULT_FFN``.

    Raises ValueError where the model does not have what the shape asks for.
    """
    configure_jax()
    if metrics and not name.startswith("llama_"):
        raise ValueError("only llama_plain and llama_scan have metrics")
    if name.startswith("llama_"):
        return decoder.build(name, shape, metrics)
    if name in ("convnet", "moe", "gshard", "unet"):
        for asked in ("dropout", "bfloat16", "checkpoint"):
            if getattr(shape, asked):
                raise ValueError(f"{name} has no {asked}")
        if name == "convnet":
            return convnet.build(shape)
        return unet.build(shape) if name == "unet" else moe.build(shape, name)
    return huggingface.build(name, shape)


def export_hlo(
    model: Model | OwnStep,
    options: StepOptions | None = None,
    names: bool = True,
) -> bytes:
    """The training step of the model as serialized ``HloModuleProto``.

    Without ``names`` it says nothing of the operations it came from, which
    halves the file.
    """
    if isinstance(model, OwnStep):
        lowered = lower_own_step(model, options or StepOptions())
    else:
        lowered = lower_training_step(model, options)
    if names:
        computation = lowered.compiler_ir("hlo")
    else:
        # Printed without locations, which is where the names are kept.
        module = lowered.compiler_ir("stablehlo").operation
        computation = xla_client._xla.mlir.mlir_module_to_xla_computation(
            module.get_asm(enable_debug_info=False),
            use_tuple_args=False,
            return_tuple=True,
        )
    return computation.as_serialized_hlo_module_proto()


def hlo_text(proto: bytes) -> str:
    """The module as XLA prints it, for people."""
    return xla_client.XlaComputation(proto).as_hlo_text()
