"""Models of two stacks: encoder and decoder, or two towers.

Concept: an encoder-decoder reads ``seq`` tokens (whisper: ``2 * seq`` frames
of sound) and is trained to give ``target`` tokens; a dual encoder (CLIP) learns
which text belongs to which image of the batch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax
import transformers

from meshwright_models.huggingface.pretrained import apply, instantiate
from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import (
    Batch,
    Model,
    PyTree,
    cross_entropy,
    random_key,
    token_batch,
)

MEL_BINS = 16
"""Channels of whisper's spectrogram."""


def _t5(shape: ModelShape) -> Any:
    config = transformers.T5Config(
        vocab_size=shape.vocab,
        d_model=shape.hidden,
        d_kv=shape.head_dim,
        d_ff=shape.ffn,
        num_layers=shape.layers,
        num_heads=shape.heads,
    )
    return instantiate(
        transformers.FlaxT5ForConditionalGeneration, config, shape
    )


def _bart_sizes(shape: ModelShape) -> dict[str, Any]:
    return {
        "vocab_size": shape.vocab,
        "d_model": shape.hidden,
        "encoder_layers": shape.layers,
        "decoder_layers": shape.layers,
        "encoder_attention_heads": shape.heads,
        "decoder_attention_heads": shape.heads,
        "encoder_ffn_dim": shape.ffn,
        "decoder_ffn_dim": shape.ffn,
        "max_position_embeddings": max(shape.seq, shape.num_targets),
    }


def _bart(shape: ModelShape) -> Any:
    config = transformers.BartConfig(**_bart_sizes(shape))
    return instantiate(
        transformers.FlaxBartForConditionalGeneration, config, shape
    )


def _mbart(shape: ModelShape) -> Any:
    config = transformers.MBartConfig(**_bart_sizes(shape))
    return instantiate(
        transformers.FlaxMBartForConditionalGeneration, config, shape
    )


def _pegasus(shape: ModelShape) -> Any:
    config = transformers.PegasusConfig(**_bart_sizes(shape))
    return instantiate(
        transformers.FlaxPegasusForConditionalGeneration, config, shape
    )


def _marian(shape: ModelShape) -> Any:
    config = transformers.MarianConfig(
        **_bart_sizes(shape), pad_token_id=shape.vocab - 1
    )
    return instantiate(transformers.FlaxMarianMTModel, config, shape)


def _whisper(shape: ModelShape) -> Any:
    sizes = _bart_sizes(shape)
    del sizes["max_position_embeddings"]
    config = transformers.WhisperConfig(
        **sizes,
        num_mel_bins=MEL_BINS,
        max_source_positions=shape.seq,
        max_target_positions=shape.num_targets,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
    )
    return instantiate(
        transformers.FlaxWhisperForConditionalGeneration,
        config,
        shape,
        input_shape=(1, MEL_BINS, 2 * shape.seq),
    )


def _clip(shape: ModelShape) -> Any:
    stack = {
        "hidden_size": shape.hidden,
        "intermediate_size": shape.ffn,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
    }
    config = transformers.CLIPConfig(
        text_config={
            **stack,
            "vocab_size": shape.vocab,
            "max_position_embeddings": shape.seq,
            # The end token is the largest one.
            "eos_token_id": 2,
        },
        vision_config={
            **stack,
            "image_size": shape.image,
            "patch_size": shape.patch,
        },
        projection_dim=shape.hidden,
    )
    return instantiate(
        transformers.FlaxCLIPModel,
        config,
        shape,
        input_shape=((1, 1), (1, shape.image, shape.image, 3)),
    )


BUILDERS: dict[str, Callable[[ModelShape], Any]] = {
    "t5": _t5,
    "bart": _bart,
    "mbart": _mbart,
    "pegasus": _pegasus,
    "marian": _marian,
    "whisper": _whisper,
    "clip": _clip,
}


def _contrastive(logits_per_text: jax.Array) -> jax.Array:
    """Each text finds its image among the batch's, and the reverse."""
    own = jnp.arange(logits_per_text.shape[0])
    losses = [
        optax.softmax_cross_entropy_with_integer_labels(logits, own).mean()
        for logits in (logits_per_text, logits_per_text.T)
    ]
    return (losses[0] + losses[1]) / 2


def build(name: str, shape: ModelShape) -> Model:
    pretrained = BUILDERS[name](shape)
    targets = jax.ShapeDtypeStruct((shape.batch, shape.num_targets), jnp.int32)
    if name == "clip":
        batch = token_batch(shape, "input_ids", "attention_mask")
        batch["pixel_values"] = jax.ShapeDtypeStruct(
            (shape.batch, 3, shape.image, shape.image), jnp.float32
        )
    elif name == "whisper":
        batch = {"decoder_input_ids": targets}
        batch["input_features"] = jax.ShapeDtypeStruct(
            (shape.batch, MEL_BINS, 2 * shape.seq), jnp.float32
        )
    else:
        batch = token_batch(shape, "input_ids", "attention_mask")
        batch["decoder_input_ids"] = targets
        batch["decoder_attention_mask"] = targets
    inputs = tuple(batch)

    def loss(params: PyTree, batch: Batch) -> jax.Array:
        outputs = apply(
            pretrained, params, batch, **{name: batch[name] for name in inputs}
        )
        if name == "clip":
            return _contrastive(outputs.logits_per_text)
        return cross_entropy(outputs.logits, batch["labels"])

    if name != "clip":
        batch["labels"] = targets
    return Model(
        name=name,
        params=pretrained.params_shape_tree,
        batch=batch | random_key(shape),
        loss=loss,
    )
