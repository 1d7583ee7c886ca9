"""``torch.nn.MultiheadAttention`` in a form that shardings can follow.

Concept: torch's own forward pass puts the sequence before the batch, merges
batch and heads, and cuts q, k and v out of one product. No tiling of its
weights is a tiling of batch or heads then. Here the batch stays outermost and
q, k and v are products with slices of the weight: the same numbers.
What the other form alone can do (weights returned, extra keys, projections of
different widths) stays with torch.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F

_own_forward = torch.nn.MultiheadAttention.forward


@contextlib.contextmanager
def batch_outermost() -> Iterator[None]:
    """Within it, attention modules compute that way."""
    attention: Any = torch.nn.MultiheadAttention
    found = attention.forward
    attention.forward = _forward
    try:
        yield
    finally:
        attention.forward = found


def _forward(
    self: torch.nn.MultiheadAttention,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    key_padding_mask: torch.Tensor | None = None,
    need_weights: bool = True,
    attn_mask: torch.Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    if need_weights or not _is_plain(self, query):
        result: tuple[torch.Tensor, torch.Tensor | None] = _own_forward(
            self,
            query,
            key,
            value,
            key_padding_mask,
            need_weights,
            attn_mask,
            average_attn_weights,
            is_causal,
        )
        return result
    weights = self.in_proj_weight.chunk(3)
    biases: Any = (None,) * 3
    if self.in_proj_bias is not None:
        biases = self.in_proj_bias.chunk(3)
    q, k, v = (
        F.linear(given, weight, bias)
        .unflatten(-1, (self.num_heads, self.head_dim))
        .transpose(1, 2)
        for given, weight, bias in zip((query, key, value), weights, biases)
    )
    causal = is_causal and key_padding_mask is None
    mask = None if causal else _merge(attn_mask, key_padding_mask, q)
    values = F.scaled_dot_product_attention(
        q,
        k,
        v,
        mask,
        dropout_p=self.dropout if self.training else 0.0,
        is_causal=causal,
    )
    values = values.transpose(1, 2).flatten(2)
    return F.linear(values, self.out_proj.weight, self.out_proj.bias), None


def _is_plain(
    module: torch.nn.MultiheadAttention, query: torch.Tensor
) -> bool:
    return (
        module.batch_first
        and query.dim() == 3
        and module._qkv_same_embed_dim
        and module.bias_k is None
        and not module.add_zero_attn
    )


def _merge(
    attn_mask: torch.Tensor | None,
    key_padding_mask: torch.Tensor | None,
    q: torch.Tensor,
) -> torch.Tensor | None:
    """What is added to the scores; True in a mask of bools hides a key."""
    added = None
    if attn_mask is not None:
        added = _as_added(attn_mask, q.dtype)
        if added.dim() == 3:  # [batch * heads, queries, keys]
            added = added.unflatten(0, q.shape[:2])
    if key_padding_mask is not None:
        hidden = _as_added(key_padding_mask, q.dtype)[:, None, None, :]
        added = hidden if added is None else added + hidden
    return added


def _as_added(mask: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    if mask.dtype != torch.bool:
        return mask
    return torch.zeros_like(mask, dtype=dtype).masked_fill(mask, -torch.inf)
