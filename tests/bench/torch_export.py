"""How long a large PyTorch step takes to become HLO, and how much memory.

  tests/bench/torch_export.sh

The step is that of a LLaMA of 6.7 billion parameters with AdamW, on `meta`. The
time is that of `meshwright.torch.export`. The memory is the peak of this
process, with torch and JAX in it.
"""

from __future__ import annotations

import os
import pathlib
import resource
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
os.environ["JAX_PLATFORMS"] = "cpu"

import torch  # noqa: E402
from transformers import LlamaConfig, LlamaForCausalLM  # noqa: E402

import meshwright.torch  # noqa: E402

BATCH, LENGTH = 8, 2048
MAX_SECONDS = 60
MAX_GB = 2


def make_step():
    """Module and batch."""
    config = LlamaConfig(num_hidden_layers=32, hidden_size=4096,
                         intermediate_size=11008, num_attention_heads=32,
                         num_key_value_heads=32, vocab_size=32000,
                         max_position_embeddings=LENGTH, use_cache=False)
    with torch.device("meta"):
        module = LlamaForCausalLM(config).train()
        batch = {name: torch.ones(BATCH, LENGTH, dtype=torch.int64)
                 for name in ("input_ids", "labels")}
    return module, batch


def main() -> None:
    module, batch = make_step()
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-4)
    began = time.perf_counter()
    step = meshwright.torch.export(
        module, optimizer, lambda module, batch: module(**batch).loss, batch)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    parameters = sum(it.numel() for it in module.parameters())
    what = (f"export of a LLaMA of {parameters / 1e9:.1f} billion parameters "
            "on meta")
    print(f"figure\t{what}: time\t≤ {MAX_SECONDS} s\t{seconds:.0f} s, "
          f"{len(step.module) / 1e6:.1f} MB of HLO")
    print(f"figure\t{what}: peak memory of the process\t≤ {MAX_GB} GB\t"
          f"{peak / 1e9:.1f} GB")


if __name__ == "__main__":
    main()
