"""Models from Hugging Face's own flax code, built from sizes alone.

Concept: the module is ``transformers``' class, unchanged; only its
configuration and the loss are ours. ``_do_init=False`` makes the class give
its parameters as shapes. Dropout is off (``train=False``) unless the shape asks
for it. Embeddings are tied where Hugging Face ties them. Maximum positions are
no more than the batch needs, which keeps position tables and masks small.

    language | pairs (encoder and decoder, two towers) | signals (images, sound)
"""

from __future__ import annotations

import transformers

from meshwright_models.huggingface import language, pairs, signals
from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import Model

_FAMILIES = (language, pairs, signals)
NAMES = tuple(name for family in _FAMILIES for name in family.BUILDERS)


def build(name: str, shape: ModelShape) -> Model:
    """The model called ``name`` (one of ``NAMES``) in the given sizes."""
    transformers.logging.set_verbosity_error()
    for family in _FAMILIES:
        if name in family.BUILDERS:
            return family.build(name, shape)
    raise KeyError(name)
