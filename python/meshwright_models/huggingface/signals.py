"""Models of images and sound: vision transformers, convolutions, wav2vec.

Concept: image models classify; ``vocab`` is the number of classes and
``hidden`` the channels of a convolutional network's first stage, which doubles
per stage (``layers`` blocks in each of two stages). wav2vec labels each frame
of a sound; its convolutional stem makes ``seq`` frames.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import transformers

from meshwright_models.huggingface.pretrained import apply, instantiate
from meshwright_models.model_shape import ModelShape
from meshwright_models.training_step import (
    Batch,
    Model,
    PyTree,
    cross_entropy,
    random_key,
)

_STEM_KERNELS = (10, 3, 2)
_STEM_STRIDES = (5, 2, 2)


def _vision_sizes(shape: ModelShape) -> dict[str, Any]:
    return {
        "hidden_size": shape.hidden,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "image_size": shape.image,
        "patch_size": shape.patch,
        "num_labels": shape.vocab,
    }


def _vit(shape: ModelShape) -> Any:
    config = transformers.ViTConfig(
        **_vision_sizes(shape), intermediate_size=shape.ffn
    )
    return instantiate(
        transformers.FlaxViTForImageClassification, config, shape
    )


def _beit(shape: ModelShape) -> Any:
    config = transformers.BeitConfig(
        **_vision_sizes(shape),
        intermediate_size=shape.ffn,
        use_relative_position_bias=True,
        drop_path_rate=0.0,
    )
    return instantiate(
        transformers.FlaxBeitForImageClassification, config, shape
    )


def _dinov2(shape: ModelShape) -> Any:
    config = transformers.Dinov2Config(
        **_vision_sizes(shape), mlp_ratio=max(1, shape.ffn // shape.hidden)
    )
    return instantiate(
        transformers.FlaxDinov2ForImageClassification, config, shape
    )


def _stages(shape: ModelShape) -> dict[str, Any]:
    return {
        "embedding_size": shape.hidden,
        "hidden_sizes": [shape.hidden, 2 * shape.hidden],
        "depths": [shape.layers] * 2,
        "num_labels": shape.vocab,
    }


def _resnet(shape: ModelShape) -> Any:
    config = transformers.ResNetConfig(
        **_stages(shape), layer_type="bottleneck"
    )
    return instantiate(
        transformers.FlaxResNetForImageClassification,
        config,
        shape,
        input_shape=(1, shape.image, shape.image, 3),
    )


def _regnet(shape: ModelShape) -> Any:
    config = transformers.RegNetConfig(
        **_stages(shape), groups_width=max(1, shape.hidden // 4)
    )
    return instantiate(
        transformers.FlaxRegNetForImageClassification,
        config,
        shape,
        input_shape=(1, shape.image, shape.image, 3),
    )


def _wav2vec2(shape: ModelShape) -> Any:
    config = transformers.Wav2Vec2Config(
        vocab_size=shape.vocab,
        hidden_size=shape.hidden,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        intermediate_size=shape.ffn,
        conv_dim=[shape.hidden] * len(_STEM_KERNELS),
        conv_kernel=list(_STEM_KERNELS),
        conv_stride=list(_STEM_STRIDES),
        num_conv_pos_embeddings=16,
        num_conv_pos_embedding_groups=4,
        # What the flax code knows how to run.
        do_stable_layer_norm=True,
        feat_extract_norm="layer",
        mask_time_prob=0.0,
    )
    return instantiate(transformers.FlaxWav2Vec2ForCTC, config, shape)


def sound_samples(shape: ModelShape) -> int:
    """Samples of which the convolutional stem makes ``seq`` frames."""
    length = shape.seq
    for kernel, stride in zip(
        reversed(_STEM_KERNELS), reversed(_STEM_STRIDES)
    ):
        length = (length - 1) * stride + kernel
    return length


BUILDERS: dict[str, Callable[[ModelShape], Any]] = {
    "vit": _vit,
    "beit": _beit,
    "dinov2": _dinov2,
    "resnet": _resnet,
    "regnet": _regnet,
    "wav2vec2": _wav2vec2,
}
_CONVOLUTIONAL = ("resnet", "regnet")


def _images(shape: ModelShape) -> dict[str, jax.ShapeDtypeStruct]:
    return {
        "labels": jax.ShapeDtypeStruct((shape.batch,), jnp.int32),
        "pixel_values": jax.ShapeDtypeStruct(
            (shape.batch, 3, shape.image, shape.image), jnp.float32
        ),
    }


def _build_convolutional(name: str, shape: ModelShape) -> Model:
    pretrained = BUILDERS[name](shape)
    variables = pretrained.params_shape_tree

    def loss(
        params: PyTree, batch: Batch, statistics: PyTree
    ) -> tuple[jax.Array, PyTree]:
        outputs, updated = pretrained(
            batch["pixel_values"],
            params={"params": params, "batch_stats": statistics},
            train=True,
        )
        value = cross_entropy(outputs.logits, batch["labels"])
        return value, updated["batch_stats"]

    return Model(
        name=name,
        params=variables["params"],
        batch=_images(shape),
        loss=loss,
        statistics=variables["batch_stats"],
    )


def build(name: str, shape: ModelShape) -> Model:
    if name in _CONVOLUTIONAL:
        if shape.dropout:
            raise ValueError(f"{name} has no dropout")
        return _build_convolutional(name, shape)
    pretrained = BUILDERS[name](shape)
    if name == "wav2vec2":
        field = "input_values"
        batch = {
            field: jax.ShapeDtypeStruct(
                (shape.batch, sound_samples(shape)), jnp.float32
            ),
            "labels": jax.ShapeDtypeStruct(
                (shape.batch, shape.seq), jnp.int32
            ),
        }
    else:
        field = "pixel_values"
        batch = _images(shape)

    def loss(params: PyTree, batch: Batch) -> jax.Array:
        outputs = apply(pretrained, params, batch, **{field: batch[field]})
        return cross_entropy(outputs.logits, batch["labels"])

    return Model(
        name=name,
        params=pretrained.params_shape_tree,
        batch=batch | random_key(shape),
        loss=loss,
    )
