"""A decoder that keeps its matrix products and recomputes what is between.

Source: ``jax.checkpoint_policies.dots_saveable``, the usual choice where
memory is short but products are expensive.
"""

from __future__ import annotations

import jax

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import Model
from unusual import language


def build(name: str, shape: ModelShape) -> Model:
    layer = jax.checkpoint(
        language.decoder_layer(shape),
        policy=jax.checkpoint_policies.dots_saveable,
    )
    layers = language.decoder_params(shape)["layers"]
    return language.build(name, shape, layers, layer)
