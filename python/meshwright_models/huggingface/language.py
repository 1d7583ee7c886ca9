"""Language models of one stack: causal decoders and masked encoders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
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


def _rotary_positions(shape: ModelShape) -> int:
    """Positions of a rotary model: ``seq``, or more where that is too few.

    Hugging Face's flax rotary table, ``[positions, 1, 2 * head_dim]``, is cut
    to ``positions`` in its last dimension too, so fewer would not trace.
    """
    return max(shape.seq, 2 * shape.head_dim)


def _grouped_query(shape: ModelShape) -> dict[str, Any]:
    return {
        "vocab_size": shape.vocab,
        "hidden_size": shape.hidden,
        "intermediate_size": shape.ffn,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.num_kv_heads,
        "max_position_embeddings": _rotary_positions(shape),
    }


def _encoder(shape: ModelShape) -> dict[str, Any]:
    return {
        "vocab_size": shape.vocab,
        "hidden_size": shape.hidden,
        "intermediate_size": shape.ffn,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "max_position_embeddings": shape.seq,
    }


def _llama(shape: ModelShape) -> Any:
    config = transformers.LlamaConfig(**_grouped_query(shape))
    return instantiate(transformers.FlaxLlamaForCausalLM, config, shape)


def _mistral(shape: ModelShape) -> Any:
    config = transformers.MistralConfig(**_grouped_query(shape))
    return instantiate(transformers.FlaxMistralForCausalLM, config, shape)


def _gemma(shape: ModelShape) -> Any:
    config = transformers.GemmaConfig(
        **_grouped_query(shape),
        head_dim=shape.head_dim,
        hidden_activation="gelu_pytorch_tanh",
    )
    return instantiate(transformers.FlaxGemmaForCausalLM, config, shape)


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
    return instantiate(transformers.FlaxGPT2LMHeadModel, config, shape)


def _gpt_neo(shape: ModelShape) -> Any:
    kinds = ["global", "local"]
    config = transformers.GPTNeoConfig(
        vocab_size=shape.vocab,
        hidden_size=shape.hidden,
        intermediate_size=shape.ffn,
        num_layers=shape.layers,
        num_heads=shape.heads,
        max_position_embeddings=shape.seq,
        window_size=max(1, shape.seq // 4),
        attention_types=[[[kinds[i % 2]], 1] for i in range(shape.layers)],
    )
    return instantiate(transformers.FlaxGPTNeoForCausalLM, config, shape)


def _gptj(shape: ModelShape) -> Any:
    config = transformers.GPTJConfig(
        vocab_size=shape.vocab,
        n_embd=shape.hidden,
        n_inner=shape.ffn,
        n_layer=shape.layers,
        n_head=shape.heads,
        n_positions=shape.seq,
        rotary_dim=shape.head_dim // 2,
    )
    return instantiate(transformers.FlaxGPTJForCausalLM, config, shape)


def _bloom(shape: ModelShape) -> Any:
    config = transformers.BloomConfig(
        vocab_size=shape.vocab,
        hidden_size=shape.hidden,
        n_layer=shape.layers,
        n_head=shape.heads,
    )
    return instantiate(transformers.FlaxBloomForCausalLM, config, shape)


def _opt(shape: ModelShape) -> Any:
    config = transformers.OPTConfig(
        vocab_size=shape.vocab,
        hidden_size=shape.hidden,
        ffn_dim=shape.ffn,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        max_position_embeddings=shape.seq,
        word_embed_proj_dim=shape.hidden,
    )
    return instantiate(transformers.FlaxOPTForCausalLM, config, shape)


def _xglm(shape: ModelShape) -> Any:
    config = transformers.XGLMConfig(
        vocab_size=shape.vocab,
        d_model=shape.hidden,
        ffn_dim=shape.ffn,
        num_layers=shape.layers,
        attention_heads=shape.heads,
        max_position_embeddings=shape.seq,
    )
    return instantiate(transformers.FlaxXGLMForCausalLM, config, shape)


def _bert(shape: ModelShape) -> Any:
    config = transformers.BertConfig(**_encoder(shape))
    return instantiate(transformers.FlaxBertForMaskedLM, config, shape)


def _roberta(shape: ModelShape) -> Any:
    sizes = _encoder(shape)
    # Positions are counted from behind the padding token's number.
    sizes["max_position_embeddings"] += 2
    config = transformers.RobertaConfig(**sizes)
    return instantiate(transformers.FlaxRobertaForMaskedLM, config, shape)


def _albert(shape: ModelShape) -> Any:
    config = transformers.AlbertConfig(
        **_encoder(shape), embedding_size=max(1, shape.hidden // 2)
    )
    return instantiate(transformers.FlaxAlbertForMaskedLM, config, shape)


def _electra(shape: ModelShape) -> Any:
    config = transformers.ElectraConfig(
        **_encoder(shape), embedding_size=max(1, shape.hidden // 2)
    )
    return instantiate(transformers.FlaxElectraForMaskedLM, config, shape)


def _roformer(shape: ModelShape) -> Any:
    config = transformers.RoFormerConfig(**_encoder(shape))
    return instantiate(transformers.FlaxRoFormerForMaskedLM, config, shape)


def _distilbert(shape: ModelShape) -> Any:
    config = transformers.DistilBertConfig(
        vocab_size=shape.vocab,
        dim=shape.hidden,
        hidden_dim=shape.ffn,
        n_layers=shape.layers,
        n_heads=shape.heads,
        max_position_embeddings=shape.seq,
    )
    return instantiate(transformers.FlaxDistilBertForMaskedLM, config, shape)


BUILDERS: dict[str, Callable[[ModelShape], Any]] = {
    "llama": _llama,
    "mistral": _mistral,
    "gemma": _gemma,
    "gpt2": _gpt2,
    "gpt_neo": _gpt_neo,
    "gptj": _gptj,
    "bloom": _bloom,
    "opt": _opt,
    "xglm": _xglm,
    "bert": _bert,
    "roberta": _roberta,
    "albert": _albert,
    "electra": _electra,
    "roformer": _roformer,
    "distilbert": _distilbert,
}


def build(name: str, shape: ModelShape) -> Model:
    pretrained = BUILDERS[name](shape)

    def loss(params: PyTree, batch: Batch) -> jax.Array:
        outputs = apply(
            pretrained,
            params,
            batch,
            input_ids=batch["input_ids"],
            attention_mask=batch["attention_mask"],
        )
        return cross_entropy(outputs.logits, batch["labels"])

    return Model(
        name=name,
        params=pretrained.params_shape_tree,
        batch=token_batch(shape, "input_ids", "attention_mask", "labels")
        | random_key(shape),
        loss=loss,
    )
