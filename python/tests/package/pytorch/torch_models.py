"""Small models of PyTorch, each with a batch and its loss."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

BATCH, LENGTH, WIDTH, HEADS, WORDS, LAYERS = 4, 32, 64, 4, 256, 2
# Of Adam and its like: without it, a step divides the noise of gradients that
# are zero by itself, and parameters are as far apart as if they had not moved.
EPSILON = 1e-3


@dataclasses.dataclass
class Case:
    module: nn.Module
    batch: dict[str, torch.Tensor]
    loss: Callable[[nn.Module, Any], torch.Tensor]

    @property
    def optimizer(self) -> torch.optim.Optimizer:
        return torch.optim.AdamW(
            self.module.parameters(), lr=1e-3, eps=EPSILON
        )


def words(seed: int = 7, length: int = LENGTH) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, WORDS, (BATCH, length), generator=generator)


def language_batch() -> dict[str, torch.Tensor]:
    return {"input_ids": words(), "labels": words()}


def own_loss(module: nn.Module, batch: Any) -> torch.Tensor:
    return module(**batch).loss


def gpt2(dropout: float = 0.0) -> Case:
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        n_layer=LAYERS,
        n_embd=WIDTH,
        n_head=HEADS,
        vocab_size=WORDS,
        n_positions=LENGTH,
        resid_pdrop=dropout,
        embd_pdrop=dropout,
        attn_pdrop=dropout,
        bos_token_id=0,
        eos_token_id=0,
        use_cache=False,
    )
    return Case(GPT2LMHeadModel(config), language_batch(), own_loss)


def _decoder(**options: Any) -> dict[str, Any]:
    return {
        "num_hidden_layers": LAYERS,
        "hidden_size": WIDTH,
        "intermediate_size": 4 * WIDTH,
        "num_attention_heads": HEADS,
        "num_key_value_heads": HEADS,
        "vocab_size": WORDS,
        "max_position_embeddings": LENGTH,
        "use_cache": False,
        "bos_token_id": 0,
        "eos_token_id": 0,
        **options,
    }


def llama(**options: Any) -> Case:
    from transformers import LlamaConfig, LlamaForCausalLM

    module = LlamaForCausalLM(LlamaConfig(**_decoder(**options)))
    return Case(module, language_batch(), own_loss)


def llama_grouped() -> Case:
    return llama(num_key_value_heads=2)


def gemma2() -> Case:
    """Layers attend to 8 words before them and to all, in turns."""
    from transformers import Gemma2Config, Gemma2ForCausalLM

    config = Gemma2Config(
        **_decoder(
            num_hidden_layers=2 * LAYERS,
            head_dim=WIDTH // HEADS,
            query_pre_attn_scalar=WIDTH // HEADS,
            sliding_window=8,
            pad_token_id=0,
        )
    )
    return Case(Gemma2ForCausalLM(config), language_batch(), own_loss)


def qwen3() -> Case:
    from transformers import Qwen3Config, Qwen3ForCausalLM

    module = Qwen3ForCausalLM(Qwen3Config(**_decoder(head_dim=WIDTH // HEADS)))
    return Case(module, language_batch(), own_loss)


def mixture(**options: Any) -> Case:
    import pytest
    import transformers
    from transformers import MixtralConfig, MixtralForCausalLM

    if int(transformers.__version__.split(".")[0]) < 5:
        pytest.skip("transformers before 5 visits the experts by value")
    config = MixtralConfig(
        **_decoder(
            num_local_experts=4,
            num_experts_per_tok=2,
            output_router_logits=True,
            sliding_window=None,
            **options,
        )
    )
    return Case(MixtralForCausalLM(config), language_batch(), own_loss)


def bert() -> Case:
    from transformers import BertConfig, BertForMaskedLM

    config = BertConfig(
        num_hidden_layers=LAYERS,
        hidden_size=WIDTH,
        intermediate_size=4 * WIDTH,
        num_attention_heads=HEADS,
        vocab_size=WORDS,
        max_position_embeddings=LENGTH,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    batch = {**language_batch(), "attention_mask": torch.ones_like(words())}
    return Case(BertForMaskedLM(config), batch, own_loss)


def t5() -> Case:
    from transformers import T5Config, T5ForConditionalGeneration

    config = T5Config(
        num_layers=LAYERS,
        d_model=WIDTH,
        d_ff=4 * WIDTH,
        d_kv=WIDTH // HEADS,
        num_heads=HEADS,
        vocab_size=WORDS,
        dropout_rate=0.0,
        use_cache=False,
        decoder_start_token_id=0,
    )
    batch = {"input_ids": words(), "labels": words(8, LENGTH // 2)}
    return Case(T5ForConditionalGeneration(config), batch, own_loss)


def vit() -> Case:
    from transformers import ViTConfig, ViTForImageClassification

    config = ViTConfig(
        num_hidden_layers=LAYERS,
        hidden_size=WIDTH,
        intermediate_size=4 * WIDTH,
        num_attention_heads=HEADS,
        image_size=16,
        patch_size=4,
        num_labels=10,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    generator = torch.Generator().manual_seed(3)
    batch = {
        "pixel_values": torch.randn(BATCH, 3, 16, 16, generator=generator),
        "labels": torch.arange(BATCH),
    }
    return Case(ViTForImageClassification(config), batch, own_loss)


class Encoder(nn.Module):
    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        layer = nn.TransformerEncoderLayer(
            WIDTH,
            HEADS,
            4 * WIDTH,
            dropout=dropout,
            batch_first=True,
            norm_first=True,
            activation="gelu",
        )
        self.encoder = nn.TransformerEncoder(
            layer, LAYERS, norm=nn.LayerNorm(WIDTH), enable_nested_tensor=False
        )
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.encoder(self.embed(x)))


def classified(module: nn.Module, batch: Any) -> torch.Tensor:
    return F.cross_entropy(
        module(batch["x"]).flatten(0, -2), batch["y"].flatten()
    )


def encoder(dropout: float = 0.0) -> Case:
    return Case(Encoder(dropout), {"x": words(), "y": words()}, classified)


class Residual(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(width)
        self.second = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inner = F.relu(self.first_norm(self.first(x)))
        return F.relu(x + self.second_norm(self.second(inner)))


def resnet(width: int = 16) -> Case:
    module = nn.Sequential(
        nn.Conv2d(3, width, 7, 2, 3, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        nn.MaxPool2d(3, 2, 1),
        Residual(width),
        Residual(width),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(width, 10),
    )
    generator = torch.Generator().manual_seed(3)
    images = torch.randn(8, 3, 32, 32, generator=generator)
    return Case(module, {"x": images, "y": torch.arange(8)}, classified)


CASES: dict[str, Callable[[], Case]] = {
    "gpt2": gpt2,
    "llama": llama,
    "llama_grouped": llama_grouped,
    "bert": bert,
    "t5": t5,
    "vit": vit,
    "qwen3": qwen3,
    "mixture": mixture,
    "encoder": encoder,
    "resnet": resnet,
}


class Two(nn.Module):
    """A linear layer that widens, and one that narrows."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(16, 64)
        self.down = nn.Linear(64, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(torch.relu(self.up(x)))


def squares(module: nn.Module, batch: Any) -> torch.Tensor:
    return (module(batch["x"]) - batch["y"]).square().mean()


class Scaled(Two):
    """Between them, every row is divided by its mean."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = self.up(x).exp()
        return self.down(wide / wide.mean(-1, keepdim=True))


def scaled() -> Case:
    batch = {"x": torch.ones(8, 16), "y": torch.zeros(8, 16)}
    return Case(Scaled(), batch, squares)


def autocast() -> Case:
    def loss(module: nn.Module, batch: Any) -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return own_loss(module, batch)

    return dataclasses.replace(llama(), loss=loss)


@dataclasses.dataclass
class DescentCase(Case):
    """Steps that show how long the gradients are."""

    @property
    def optimizer(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.module.parameters(), lr=0.1)


def mean_squares() -> Case:
    def loss(module: nn.Module, batch: Any) -> torch.Tensor:
        return F.mse_loss(module(batch["x"]), batch["y"])

    batch = {"x": torch.ones(8, 16), "y": torch.zeros(8, 16)}
    return DescentCase(Two(), batch, loss)


def padded() -> Case:
    """Rows whose targets do not count, all in the second half of the batch."""

    def loss(module: nn.Module, batch: Any) -> torch.Tensor:
        return F.cross_entropy(module(batch["x"]), batch["y"])

    x = torch.arange(8 * 16).reshape(8, 16) / 64
    y = torch.tensor([3, 1, 4, 1, 5, -100, -100, -100])
    return DescentCase(Two(), {"x": x, "y": y}, loss)


class SpareHead(Two):
    """Two heads, of which the loss uses one."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(16)
        self.spare = nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        found = self.norm(super().forward(x))
        return found, self.spare(found)


def spare_head() -> Case:
    def loss(module: nn.Module, batch: Any) -> torch.Tensor:
        return (module(batch["x"])[0] - batch["y"]).square().mean()

    x = torch.arange(8 * 16).reshape(8, 16) / 64
    return DescentCase(SpareHead(), {"x": x, "y": x.cos()}, loss)


class Heads:
    """An output in which torch finds no tensors."""

    def __init__(self, main: torch.Tensor, spare: torch.Tensor) -> None:
        self.main = main
        self.spare = spare


class SpareHeadInClass(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = SpareHead()

    def forward(self, x: torch.Tensor) -> Heads:
        return Heads(*self.inner(x))


def spare_head_in_class() -> Case:
    def loss(module: nn.Module, batch: Any) -> torch.Tensor:
        return (module(batch["x"]).main - batch["y"]).square().mean()

    return DescentCase(SpareHeadInClass(), spare_head().batch, loss)


class Dropped(Two):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.dropout(super().forward(x), 0.5)


def dropped() -> Case:
    batch = {"x": torch.ones(8, 16), "y": torch.zeros(8, 16)}
    return DescentCase(Dropped(), batch, squares)


# Models of single tests.
OTHERS = {
    "autocast": autocast,
    "dropped": dropped,
    "gemma2": gemma2,
    "mean_squares": mean_squares,
    "padded": padded,
    "scaled": scaled,
    "spare_head": spare_head,
    "spare_head_in_class": spare_head_in_class,
}


def make(name: str) -> Case:
    """The same weights in every process."""
    torch.manual_seed(0)
    case = {**CASES, **OTHERS}[name]()
    case.module.train()
    return case
