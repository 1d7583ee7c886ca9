"""Shardings of loops and branches as annotations of their values.

Concept: a loop of the planner's module has one sharding for all that it
carries, element by element. Later versions of JAX take values out of a loop
that it does not change, and then the elements no longer fit. Each element
becomes a ``@Sharding`` annotation of one value: where it enters the loop,
within its body, where the body hands it on, and behind the loop.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_ATTRIBUTE = "mhlo.sharding"
_LOOP = "stablehlo.while"
_BRANCHES = ("stablehlo.case", "stablehlo.if")


def annotate_loops(module: Any, ir: Any) -> None:
    """Changes the module; ``ir`` is jaxlib's, with the module's context."""
    for operation in list(_operations(module.operation)):
        name = operation.name
        if name != _LOOP and name not in _BRANCHES:
            continue
        if _ATTRIBUTE not in operation.attributes:
            continue
        text = ir.StringAttr(operation.attributes[_ATTRIBUTE]).value
        shardings = split_tuple(text)
        if len(shardings) != len(operation.results):
            continue  # one sharding of a single value stays
        del operation.attributes[_ATTRIBUTE]
        with operation.location:
            if name == _LOOP:
                _annotate_body(operation, shardings, ir)
            _annotate_results(operation, shardings, ir)


def split_tuple(text: str) -> list[str]:
    """The elements of "{{replicated}, /*index=1*/{devices=[2]0,1}}"."""
    text = re.sub(r"/\*.*?\*/", "", text).strip()
    if not text.startswith("{{"):
        return [text]
    elements, depth, start = [], 0, 0
    for at, character in enumerate(text[1:-1], 1):
        if character == "{":
            start = at if depth == 0 else start
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                elements.append(text[start : at + 1])
    return elements


def _operations(operation: Any) -> Iterator[Any]:
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from _operations(inner.operation)
                yield inner.operation


def _annotation(value: Any, sharding: str, at: Any, ir: Any) -> Any:
    return ir.Operation.create(
        "stablehlo.custom_call",
        results=[value.type],
        operands=[value],
        attributes={
            "call_target_name": ir.StringAttr.get("Sharding"),
            _ATTRIBUTE: ir.StringAttr.get(sharding),
        },
        ip=at,
    )


def _annotate_operands(
    operation: Any, shardings: list[str], ir: Any
) -> None:
    for number, sharding in enumerate(shardings):
        value = operation.operands[number]
        if _is_split_able(value, ir):
            made = _annotation(value, sharding, ir.InsertionPoint(operation), ir)
            operation.operands[number] = made.result


def _annotate_body(operation: Any, shardings: list[str], ir: Any) -> None:
    _annotate_operands(operation, shardings, ir)
    body = operation.regions[1].blocks[0]
    last = list(body.operations)[-1].operation
    _annotate_operands(last, shardings, ir)
    begin = ir.InsertionPoint.at_block_begin(body)
    for value, sharding in zip(list(body.arguments), shardings):
        if _is_split_able(value, ir):
            _annotate_uses(value, sharding, begin, ir)


def _annotate_results(operation: Any, shardings: list[str], ir: Any) -> None:
    block = operation.block
    following = list(block.operations)
    place = [inner.operation for inner in following].index(operation) + 1
    at = ir.InsertionPoint(following[place])
    for value, sharding in zip(list(operation.results), shardings):
        if _is_split_able(value, ir):
            _annotate_uses(value, sharding, at, ir)


def _annotate_uses(value: Any, sharding: str, at: Any, ir: Any) -> None:
    made = _annotation(value, sharding, at, ir)
    value.replace_all_uses_with(made.result)
    made.operands[0] = value


def _is_split_able(value: Any, ir: Any) -> bool:
    return bool(
        ir.RankedTensorType.isinstance(value.type)
        if hasattr(ir.RankedTensorType, "isinstance")
        else isinstance(value.type, ir.RankedTensorType)
    ) and len(ir.RankedTensorType(value.type).shape) > 0
