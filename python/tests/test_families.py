"""Every model exports a whole step."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("transformers", reason="transformers is not installed")
xla_client = pytest.importorskip("jaxlib.xla_client")

from meshwright_models import export  # noqa: E402
from meshwright_models.model_shape import (  # noqa: E402
    DEFAULT_FFN,
    ModelShape,
)

SHAPE = ModelShape(
    layers=1,
    ffn=32,
    hidden=16,
    heads=2,
    vocab=32,
    batch=4,
    seq=8,
    image=16,
    levels=2,
)


@pytest.mark.parametrize("name", DEFAULT_FFN)
def test_a_step_updates_every_parameter(name):
    model = export.build_model(name, SHAPE)
    proto = export.export_hlo(model, names=False)
    text = xla_client.XlaComputation(proto).as_hlo_text()
    parameters = len(export.jax.tree.leaves(model.params))
    aliases = re.findall(r"\{\d+\}: \(\d+, \{\}", text.split("\n", 1)[0])
    # AdamW: the parameters, a count and two moments of each.
    statistics = len(export.jax.tree.leaves(model.statistics))
    assert len(aliases) == 3 * parameters + 1 + statistics
