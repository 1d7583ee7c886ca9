"""Every model exports a whole step, and says what it does not have."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("transformers", reason="transformers is not installed")
xla_client = pytest.importorskip("jaxlib.xla_client")

from meshwright_models import __main__ as command_line  # noqa: E402
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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("moe --dropout 0.1", "moe has no dropout"),
        ("gpt2 --checkpoint", "has no gradient checkpointing"),
        ("gpt2 --metrics", "only llama_plain and llama_scan"),
        ("gpt2 --kv-heads 2", "gpt2 has no --kv-heads"),
        ("gpt2 --hidden 9", "no multiple of heads"),
        ("unet --image 18 --patch 2", "cannot be halved 2 times"),
        ("gpt2 --accumulate 0", "accumulate must be positive"),
    ],
)
def test_what_a_model_has_not_is_an_error(
    words, message, tmp_path, monkeypatch, capsys
):
    arguments = [*words.split(), "--layers", "1", "-o", str(tmp_path / "x")]
    monkeypatch.setattr("sys.argv", ["meshwright_models", *arguments])
    with pytest.raises(SystemExit) as ended:
        command_line.main()
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
