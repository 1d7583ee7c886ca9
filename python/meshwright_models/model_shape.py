"""The sizes of a model, and the defaults of each family.

Concept: one plain value holds every size an exporter may need, so that a
command line maps onto it one to one and an exporter takes nothing else.
Units: all fields count elements, ``capacity_factor`` is a ratio.
"""

from __future__ import annotations

import dataclasses

DEFAULT_FFN = {
    "llama": 704,
    "mistral": 704,
    "gpt2": 1024,
    "bert": 1024,
    "moe": 512,
}
"""Feed-forward width by model; its keys are the models there are."""

WITH_KV_HEADS = ("llama", "mistral")
"""Models whose attention may have fewer key-value heads than heads."""


@dataclasses.dataclass(frozen=True)
class ModelShape:
    """Sizes of one model and of its batch; float32 throughout."""

    layers: int
    ffn: int
    hidden: int = 256
    heads: int = 8
    kv_heads: int | None = None
    """Key-value heads; None: as many as ``heads``."""
    vocab: int = 1024
    batch: int = 8
    seq: int = 64
    """Tokens per sequence, and the number of positions the model knows."""
    experts: int = 4
    capacity_factor: float = 1.0
    """Room per expert over an even share of the routed tokens."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value is not None and value <= 0:
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

    @property
    def num_kv_heads(self) -> int:
        return self.heads if self.kv_heads is None else self.kv_heads

    @property
    def head_dim(self) -> int:
        return self.hidden // self.heads
