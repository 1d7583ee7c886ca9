"""Training steps of kinds that nobody planned for.

Concept: what the rules of blocks and segments must survive beside the usual
transformers: other mixers, other losses, other optimizers. Each is small and
faithful to what its paper says; none is tuned to learn anything.

    layers | pictures | language --> one module per kind --> Model | OwnStep

Importing this package does not import JAX: ``KINDS`` serves ``--help``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from meshwright_models.model_shape import ModelShape

KINDS = {
    "bfloat16_average": "weight_average",
    "chained_keys": "chained_keys",
    "conformer": "conformer",
    "convnext": "convnext",
    "detr": "detr",
    "dino": "dino",
    "dit": "dit",
    "dlrm": "dlrm",
    "dots_saveable": "dots_saveable",
    "dpo": "preferences",
    "fnet": "fnet",
    "gan": "gan",
    "graph_attention": "graph_attention",
    "graph_network": "graph_network",
    "hyena": "long_convolution",
    "kfac": "kfac",
    "latent_attention": "latent_attention",
    "latent_diffusion": "latent_diffusion",
    "linear_attention": "linear_attention",
    "lora": "lora",
    "lstm": "lstm",
    "mamba": "mamba",
    "maml": "maml",
    "masked_autoencoder": "masked_autoencoder",
    "mixtral": "mixtral",
    "mixture_of_depths": "mixture_of_depths",
    "mlp_mixer": "mlp_mixer",
    "multi_token": "multi_token",
    "muon": "muon",
    "nerf": "nerf",
    "parallel_blocks": "parallel_blocks",
    "perceiver": "perceiver",
    "ppo": "ppo",
    "quantized": "quantized",
    "ring_cache": "ring_cache",
    "rwkv": "rwkv",
    "s4": "long_convolution",
    "sliding_window": "sliding_window",
    "sorted_experts": "sorted_experts",
    "swin": "swin",
    "switch": "switch",
    "video": "video",
    "vq_vae": "vq_vae",
    "wgan_gp": "wgan_gp",
    "whitening": "whitening",
}
"""The module of each kind."""

WITH_KV_HEADS = (
    "bfloat16_average dots_saveable dpo lora mixtral multi_token muon ppo "
    "sliding_window"
).split()
"""Kinds whose attention may have fewer key-value heads than heads."""


def build(name: str, shape: ModelShape) -> Any:
    """Kind ``name`` in the given sizes: a ``Model`` or an ``OwnStep``.

    Raises ValueError where the kind does not have what the shape asks for.
    """
    for asked in ("dropout", "bfloat16", "checkpoint"):
        if getattr(shape, asked):
            raise ValueError(f"{name} has no {asked}")
    module = importlib.import_module(f"{__name__}.{KINDS[name]}")
    return module.build(name, shape)
