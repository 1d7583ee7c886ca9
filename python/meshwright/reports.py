"""What is said about plans: Explanation (explain.md), Difference (diff.md)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from meshwright._decode import decode
from meshwright.plan import Prediction
from meshwright.quantities import format_bytes, format_seconds


@dataclasses.dataclass(frozen=True)
class Change:
    """What another plan gives some segments of a type instead."""

    type: int = 0
    from_: str = ""
    to: str = ""
    segments: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True)
class Alternative:
    """A plan beside the one at hand; figures are differences from it."""

    step_seconds: float = 0.0  # not a difference
    more_seconds: float = 0.0
    more_share: float = 0.0
    at_least_seconds: float = 0.0
    noise_seconds: float = 0.0
    within_noise: bool = False
    compute_seconds: float = 0.0
    communication_seconds: float = 0.0
    resharding_seconds: float = 0.0
    peak_bytes: int = 0
    changes: tuple[Change, ...] = ()


@dataclasses.dataclass(frozen=True)
class Choice:
    """A configuration of some segments, and the best plan without it."""

    type: int = 0
    config: int = 0
    describe: str = ""
    segments: tuple[int, ...] = ()
    next_best: Alternative | None = None
    stage: int = 0


@dataclasses.dataclass(frozen=True)
class Explanation:
    """``choices`` is None where the measurements are not at hand."""

    choices: tuple[Choice, ...] | None = None
    reason: str = ""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Explanation:
        return decode(cls, _without_keywords(data))

    def __str__(self) -> str:
        if self.choices is None:
            return self.reason
        return "\n".join(_choice_text(choice) for choice in self.choices)


@dataclasses.dataclass(frozen=True)
class ComparedPlan:
    model: str = ""
    mesh: tuple[int, ...] = ()
    device: str = ""
    feasible: bool = False
    limit_bytes: int = 0
    predicted: Prediction | None = None


@dataclasses.dataclass(frozen=True)
class SegmentChange:
    type: int = 0
    a: str = ""
    b: str = ""
    segments: tuple[int, ...] = ()
    seconds: float | None = None
    communication_seconds: float | None = None
    resharding_seconds: float | None = None
    memory_bytes: int | None = None


@dataclasses.dataclass(frozen=True)
class ArgumentChange:
    role: str = ""
    a: str = ""
    b: str = ""
    names: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Difference:
    """The second plan minus the first."""

    a: ComparedPlan = ComparedPlan()
    b: ComparedPlan = ComparedPlan()
    step_seconds: float | None = None
    peak_bytes: int | None = None
    noise_seconds: float | None = None
    within_noise: bool | None = None
    comparable: bool = False
    reason: str = ""
    segments: tuple[SegmentChange, ...] = ()
    arguments: tuple[ArgumentChange, ...] = ()
    outputs: tuple[ArgumentChange, ...] = ()

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Difference:
        return decode(cls, data)

    def __str__(self) -> str:
        lines = []
        if self.step_seconds is not None and self.peak_bytes is not None:
            noise = " (within the noise)" if self.within_noise else ""
            lines.append(
                f"step {_signed(self.step_seconds, format_seconds)}{noise}, "
                f"peak memory {_signed(self.peak_bytes, format_bytes)}"
            )
        if self.reason:
            lines.append(self.reason)
        for change in self.segments:
            cost = (
                ""
                if change.seconds is None
                else f": {_signed(change.seconds, format_seconds)}"
            )
            lines.append(f"type {change.type}  {change.a} -> {change.b}{cost}")
        for argument in self.arguments:
            lines.append(
                f"{argument.role}  {argument.a} -> {argument.b}: "
                + ", ".join(argument.names)
            )
        return "\n".join(lines)


def _signed(value: float, show: Callable[[float], str]) -> str:
    return ("+" if value >= 0 else "-") + show(abs(value))


def _choice_text(choice: Choice) -> str:
    line = f"type {choice.type}  {choice.describe}"
    if choice.next_best is None:
        return line + ": no other plan is allowed and fits"
    saved = format_seconds(choice.next_best.more_seconds)
    noise = ", within the noise" if choice.next_best.within_noise else ""
    return f"{line}: saves {saved}{noise}"


def _without_keywords(value: Any) -> Any:
    """The same with "from", a word of Python, as "from_"."""
    if isinstance(value, Mapping):
        return {
            ("from_" if key == "from" else key): _without_keywords(item)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_without_keywords(item) for item in value]
    return value
