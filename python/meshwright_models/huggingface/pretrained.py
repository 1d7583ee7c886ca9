"""What the families of Hugging Face models share: how a class is called."""

from __future__ import annotations

import inspect
from typing import Any

import jax.numpy as jnp

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import DROPOUT_KEY, Batch, PyTree


def instantiate(
    flax_class: Any, config: Any, shape: ModelShape, **options: Any
) -> Any:
    """The class over abstract parameters, dropout and precision as asked."""
    for part in (
        config,
        getattr(config, "text_config", None),
        getattr(config, "vision_config", None),
    ):
        for field, value in vars(part).items() if part else ():
            if "drop" in field and isinstance(value, float):
                # Whole layers are dropped by host code, not by the step.
                whole_layers = "layer" in field
                setattr(part, field, 0.0 if whole_layers else shape.dropout)
    if shape.bfloat16:
        options["dtype"] = jnp.bfloat16
    pretrained = flax_class(config, _do_init=False, **options)
    if shape.checkpoint:
        try:
            pretrained.enable_gradient_checkpointing()
        except NotImplementedError:
            raise ValueError(
                f"{flax_class.__name__} has no gradient checkpointing; "
                "llama_plain and llama_scan have"
            ) from None
    return pretrained


def apply(
    pretrained: Any, params: PyTree, batch: Batch, **inputs: Any
) -> Any:
    """Its outputs for ``inputs``, in training if the batch has a key."""
    key = batch.get(DROPOUT_KEY)
    if key is not None:
        inputs["dropout_rng"] = key
    if "train" in inspect.signature(pretrained.__call__).parameters:
        inputs["train"] = key is not None
    else:
        inputs["deterministic"] = key is None
    return pretrained(**inputs, params=params)
