"""The sizes of a model, and the defaults of each family.

Concept: one plain value holds every size an exporter may need, so that a
command line maps onto it one to one and an exporter takes nothing else.
Units: all sizes count elements, ``capacity_factor`` is a ratio, ``dropout`` a
probability.
"""

from __future__ import annotations

import dataclasses

_USUAL_FFN = 1024

DEFAULT_FFN = {
    "llama": 704,
    "mistral": 704,
    "gemma": 704,
    "llama_plain": 704,
    "llama_scan": 704,
    "moe": 512,
    "gshard": 512,
    **dict.fromkeys(
        (
            "gpt2 gpt_neo gptj bloom opt xglm "
            "bert roberta albert electra distilbert roformer "
            "t5 bart mbart pegasus marian whisper "
            "vit beit dinov2 resnet regnet convnet clip wav2vec2 unet"
        ).split(),
        _USUAL_FFN,
    ),
}
"""Feed-forward width by model; its keys are the models there are."""

WITH_KV_HEADS = ("llama", "mistral", "gemma", "llama_plain", "llama_scan")
"""Models whose attention may have fewer key-value heads than heads."""


@dataclasses.dataclass(frozen=True)
class ModelShape:
    """Sizes of one model and of its batch, and how it computes."""

    layers: int
    ffn: int
    hidden: int = 256
    """Width of the residual stream; channels of a convolutional network."""
    heads: int = 8
    kv_heads: int | None = None
    """Key-value heads; None: as many as ``heads``."""
    vocab: int = 1024
    """Tokens of the vocabulary; classes of a classifier."""
    batch: int = 8
    seq: int = 64
    """Tokens per sequence, and the number of positions the model knows."""
    target: int | None = None
    """Tokens of a decoder that has an encoder; None: as many as ``seq``."""
    image: int = 32
    """Height and width of an image."""
    patch: int = 8
    """Height and width of a patch of a vision transformer."""
    window: int | None = None
    """Tokens of a window or chunk of attention, or patches along the side of
    one; None: each kind's own."""
    levels: int = 3
    """Resolutions of a U-Net, each half the one above."""
    experts: int = 4
    capacity_factor: float = 1.0
    """Room per expert over an even share of the routed tokens."""
    dropout: float = 0.0
    """Above zero: the batch carries a random key, ``dropout_key``."""
    bfloat16: bool = False
    """Computes in bfloat16; parameters and state stay float32."""
    checkpoint: bool = False
    """Recomputes each layer in the backward pass."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name == "dropout":
                if not 0 <= value < 1:
                    raise ValueError(f"dropout must be in [0, 1), not {value}")
            elif value is not None and type(value) is not bool and value <= 0:
                raise ValueError(f"{field.name} must be positive, not {value}")
        if self.hidden % self.heads:
            raise ValueError(
                f"hidden {self.hidden} is no multiple of heads {self.heads}"
            )
        if self.heads % self.num_kv_heads:
            raise ValueError(
                f"heads {self.heads} is no multiple of "
                f"kv_heads {self.num_kv_heads}"
            )
        if self.image % self.patch:
            raise ValueError(
                f"image {self.image} is no multiple of patch {self.patch}"
            )
        if self.image % 2 ** (self.levels - 1):
            raise ValueError(
                f"image {self.image} cannot be halved {self.levels - 1} times"
            )

    @property
    def num_kv_heads(self) -> int:
        return self.heads if self.kv_heads is None else self.kv_heads

    @property
    def head_dim(self) -> int:
        return self.hidden // self.heads

    @property
    def num_targets(self) -> int:
        return self.seq if self.target is None else self.target
