"""Trees of a batch: dicts, lists and tuples of tensors, leaf by leaf.

Concept: torch and JAX agree on these trees but for the order of a dict's keys,
so a leaf is known by its path, written as JAX writes it: ``batch['ids'][0]``.
What is no tensor is a constant of the step.
Errors: InvalidArgument, naming the leaf by its path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from meshwright.errors import InvalidArgument

_CONSTANTS = (bool, int, float, str, type(None), torch.dtype)


def tensors(tree: Any, path: str) -> Iterator[tuple[str, torch.Tensor]]:
    """Every tensor by its path."""
    if isinstance(tree, torch.Tensor):
        yield path, tree
    elif isinstance(tree, Mapping):
        for key, value in tree.items():
            yield from tensors(value, f"{path}[{key!r}]")
    elif isinstance(tree, (list, tuple)):
        for number, value in enumerate(tree):
            yield from tensors(value, f"{path}[{number}]")
    elif not isinstance(tree, _CONSTANTS):
        raise InvalidArgument(
            f"{path} is a {type(tree).__name__}; a batch is made of tensors, "
            "numbers, dicts, lists and tuples"
        )


def map_tensors(
    function: Callable[[str, torch.Tensor], Any], tree: Any, path: str
) -> Any:
    """The same tree with ``function(path, tensor)`` for each tensor."""
    if isinstance(tree, torch.Tensor):
        return function(path, tree)
    if isinstance(tree, Mapping):
        return {
            key: map_tensors(function, value, f"{path}[{key!r}]")
            for key, value in tree.items()
        }
    if isinstance(tree, (list, tuple)):
        mapped = [
            map_tensors(function, value, f"{path}[{number}]")
            for number, value in enumerate(tree)
        ]
        if isinstance(tree, list):
            return mapped
        fields = getattr(tree, "_fields", None)
        return tuple(mapped) if fields is None else type(tree)(*mapped)
    return tree
