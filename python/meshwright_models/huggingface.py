"""Models from Hugging Face's own flax code, built from sizes alone.

Concept: the module is ``transformers``' class, unchanged; only its
configuration and the loss are ours. ``_do_init=False`` makes the class give
its parameters as shapes. Dropout is off (``train=False``), so no random
numbers enter the step. Embeddings are tied where Hugging Face ties them
(GPT-2, BERT). Maximum positions are no more than the batch needs, which keeps
position tables and the causal mask small.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import transformers

from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import (
    Batch,
    Model,
    PyTree,
    cross_entropy,
    token_batch,
)


def _rotary_positions(shape: ModelShape) -> int:
    """Positions of a rotary model: ``seq``, or more where that is too few.

    Hugging Face's flax rotary table, ``[positions, 1, 2 * head_dim]``, is cut
    to ``positions`` in its last dimension too, so fewer would not trace.
    """
    return max(shape.seq, 2 * shape.head_dim)


def _llama(shape: ModelShape) -> Any:
    config = transformers.LlamaConfig(
        vocab_size=shape.vocab,
        hidden_size=shape.hidden,
        intermediate_size=shape.ffn,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.num_kv_heads,
        max_position_embeddings=_rotary_positions(shape),
    )
    return transformers.FlaxLlamaForCausalLM(config, _do_init=False)


def _mistral(shape: ModelShape) -> Any:
    config = transformers.MistralConfig(
        vocab_size=shape.vocab,
        hidden_size=shape.hidden,
        intermediate_size=shape.ffn,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.num_kv_heads,
        max_position_embeddings=_rotary_positions(shape),
    )
    return transformers.FlaxMistralForCausalLM(config, _do_init=False)


def _gpt2(shape: ModelShape) -> Any:
    config = transformers.GPT2Config(
        vocab_size=shape.vocab,
        n_embd=shape.hidden,
        n_inner=shape.ffn,
        n_layer=shape.layers,
        n_head=shape.heads,
        n_positions=shape.seq,
        bos_token_id=0,
        eos_token_id=0,
    )
    return transformers.FlaxGPT2LMHeadModel(config, _do_init=False)


def _bert(shape: ModelShape) -> Any:
    config = transformers.BertConfig(
        vocab_size=shape.vocab,
        hidden_size=shape.hidden,
        intermediate_size=shape.ffn,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        max_position_embeddings=shape.seq,
    )
    return transformers.FlaxBertForMaskedLM(config, _do_init=False)


BUILDERS: dict[str, Callable[[ModelShape], Any]] = {
    "llama": _llama,
    "mistral": _mistral,
    "gpt2": _gpt2,
    "bert": _bert,
}


def build(name: str, shape: ModelShape) -> Model:
    """The model called ``name`` (a key of ``BUILDERS``) in the given sizes."""
    transformers.logging.set_verbosity_error()
    pretrained = BUILDERS[name](shape)

    def loss(params: PyTree, batch: Batch) -> jax.Array:
        outputs = pretrained(
            batch["input_ids"],
            attention_mask=batch["attention_mask"],
            params=params,
            train=False,
        )
        return cross_entropy(outputs.logits, batch["labels"])

    return Model(
        name=name,
        params=pretrained.params_shape_tree,
        batch=token_batch(shape, "input_ids", "attention_mask", "labels"),
        loss=loss,
    )
