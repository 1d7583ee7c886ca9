"""Command lines that ask for something a model does not have end with why."""

from __future__ import annotations

import pytest

pytest.importorskip("transformers", reason="transformers is not installed")
pytest.importorskip("optax", reason="optax is not installed")

import unusual.__main__  # noqa: E402

import meshwright_models.__main__  # noqa: E402


@pytest.mark.parametrize(
    ("package", "words", "message"),
    [
        (meshwright_models, "moe --dropout 0.1", "moe has no dropout"),
        (meshwright_models, "gpt2 --checkpoint", "no gradient checkpointing"),
        (
            meshwright_models,
            "gpt2 --metrics",
            "only llama_plain and llama_scan",
        ),
        (meshwright_models, "gpt2 --kv-heads 2", "gpt2 has no --kv-heads"),
        (meshwright_models, "gpt2 --hidden 9", "no multiple of heads"),
        (
            meshwright_models,
            "unet --image 18 --patch 2",
            "cannot be halved 2 times",
        ),
        (
            meshwright_models,
            "gpt2 --accumulate 0",
            "accumulate must be positive",
        ),
        (unusual, "maml --bfloat16", "maml has no bfloat16"),
        (unusual, "muon --optimizer sgd", "muon has a step of its own"),
        (unusual, "swin --window 3", "no multiple of window 3"),
        (unusual, "linear_attention --window 5", "no multiple of window 5"),
        (unusual, "lstm --kv-heads 2", "lstm has no --kv-heads"),
    ],
)
def test_an_option_that_a_model_lacks_is_an_error(
    package, words, message, tmp_path, monkeypatch, capsys
):
    arguments = [*words.split(), "--layers", "1", "-o", str(tmp_path / "x")]
    monkeypatch.setattr("sys.argv", [package.__name__, *arguments])
    with pytest.raises(SystemExit) as ended:
        package.__main__.main()
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
