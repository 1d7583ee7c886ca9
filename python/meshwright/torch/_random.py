"""Random numbers of a step as operators that say which draw they are.

Concept: a trace has no generator. Each random operator becomes a draw with a
number, and the step derives its random key from it. Activation checkpointing
computes a part of the forward pass twice and sets torch's generator back
before the second time. So a draw is known by the state that the generator has:
the second time it is the same draw.
Threads: one trace at a time; the generator is left as it was.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

_SCHEMA = "(int[] shape, ScalarType dtype, int draw) -> Tensor"

_library = torch.library.Library("meshwright", "DEF")
_library.define("uniform" + _SCHEMA)
_library.define("normal" + _SCHEMA)


def _shape_of_draw(
    shape: list[int], dtype: torch.dtype, draw: int
) -> torch.Tensor:
    return torch.empty(shape, dtype=dtype)


for _name in ("uniform", "normal"):
    torch.library.register_fake(
        f"meshwright::{_name}", _shape_of_draw, lib=_library
    )


class Draws:
    """The draws of one trace, and the decompositions that number them."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}

    @contextlib.contextmanager
    def traced(self) -> Iterator[dict[Any, Callable[..., Any]]]:
        """Decompositions to trace with."""
        aten = torch.ops.aten
        with torch.random.fork_rng(devices=[]):
            yield {
                aten.bernoulli.default: self._bernoulli,
                aten.bernoulli.p: self._bernoulli_p,
                aten.bernoulli_.float: self._bernoulli_in_place,
                aten.native_dropout.default: self._native_dropout,
                aten.rand.default: self._of_shape(self._uniform),
                aten.randn.default: self._of_shape(self._normal),
                aten.rand_like.default: self._of_tensor(self._uniform),
                aten.randn_like.default: self._of_tensor(self._normal),
            }

    def _next(self) -> int:
        with _disable_current_modes():
            state = torch.get_rng_state().numpy().tobytes()
            torch.rand(())
        return self._numbers.setdefault(state, len(self._numbers))

    def _uniform(self, shape: Any, dtype: torch.dtype) -> torch.Tensor:
        made: torch.Tensor = torch.ops.meshwright.uniform(
            list(shape), dtype, self._next()
        )
        return made

    def _normal(self, shape: Any, dtype: torch.dtype) -> torch.Tensor:
        made: torch.Tensor = torch.ops.meshwright.normal(
            list(shape), dtype, self._next()
        )
        return made

    def _hits(self, like: torch.Tensor, chance: Any) -> torch.Tensor:
        hits = self._uniform(like.shape, torch.float32) < chance
        return hits.to(like.device, like.dtype)

    def _bernoulli(
        self, chance: torch.Tensor, *, generator: Any = None
    ) -> torch.Tensor:
        return self._hits(chance, chance)

    def _bernoulli_p(
        self, like: torch.Tensor, p: float = 0.5, *, generator: Any = None
    ) -> torch.Tensor:
        return self._hits(like, p)

    def _bernoulli_in_place(
        self, target: torch.Tensor, p: float = 0.5, *, generator: Any = None
    ) -> torch.Tensor:
        return target.copy_(self._hits(target, p))

    def _native_dropout(
        self, value: torch.Tensor, p: float, train: bool | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if train is False or p == 0:
            return value, torch.ones_like(value, dtype=torch.bool)
        kept = self._hits(value, 1 - p)
        scale = 0.0 if p == 1 else 1 / (1 - p)
        return value * kept * scale, kept.to(torch.bool)

    @staticmethod
    def _of_shape(draw: Callable[..., Any]) -> Callable[..., Any]:
        def decomposed(
            size: Any, *, dtype: Any = None, device: Any = None, **_: Any
        ) -> torch.Tensor:
            made: torch.Tensor = draw(
                size, dtype or torch.get_default_dtype()
            )
            return made.to(device or "cpu")

        return decomposed

    @staticmethod
    def _of_tensor(draw: Callable[..., Any]) -> Callable[..., Any]:
        def decomposed(
            like: torch.Tensor, *, dtype: Any = None, **_: Any
        ) -> torch.Tensor:
            made: torch.Tensor = draw(like.shape, dtype or like.dtype)
            return made.to(like.device)

        return decomposed
