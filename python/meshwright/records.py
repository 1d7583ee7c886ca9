"""Plans as the service keeps them, and what a request may open or pin."""

from __future__ import annotations

import dataclasses

from meshwright.plan import Plan

ENDED = ("done", "failed", "cancelled")


@dataclasses.dataclass(frozen=True)
class Progress:
    """``phase``: analyze, compile, measure, search or wait."""

    phase: str = ""
    done: int = 0
    total: int = 0
    cached: int = 0
    best_seconds: float = 0.0
    message: str = ""
    seconds_left: float = 0.0  # 0: not known


@dataclasses.dataclass(frozen=True)
class PlanUpdate:
    """One change of a plan. An empty ``state``: as before."""

    sequence: int = 0
    state: str = ""
    reason: str = ""
    error_code: int = 0
    progress: Progress | None = None
    plan: Plan | None = None

    @property
    def has_ended(self) -> bool:
        return self.state in ENDED


@dataclasses.dataclass(frozen=True)
class PlanRecord:
    """``state``: queued, analysing, measuring, waiting, searching, or how it
    ended: done, failed, cancelled."""

    id: str = ""
    namespace: str = ""
    owner: str = ""
    model: str = ""
    state: str = ""
    reason: str = ""
    error_code: int = 0
    submitted_unix_ns: int = 0
    updated_unix_ns: int = 0
    sequence: int = 0
    progress: Progress | None = None
    plan: Plan | None = None

    @property
    def has_ended(self) -> bool:
        return self.state in ENDED


@dataclasses.dataclass(frozen=True)
class Strategies:
    """What is searched, as the flags of ``meshwright plan`` say it.

    ``open``: fully-sharded, optimizer-sharded, sequence, recompute or
    outer-axis. ``pin`` and ``forbid``: rules like "all=rows" or
    "0,4-7=rows|columns". ``pin_argument`` and ``forbid_argument``: rules like
    "3=[1,-]".
    """

    open: tuple[str, ...] = ()
    pin: tuple[str, ...] = ()
    forbid: tuple[str, ...] = ()
    pin_argument: tuple[str, ...] = ()
    forbid_argument: tuple[str, ...] = ()

    def flags(self) -> list[str]:
        """The same as flags of the command line."""
        words = ["--open=" + ",".join(self.open)] if self.open else []
        for field in ("pin", "forbid", "pin_argument", "forbid_argument"):
            name = "--" + field.replace("_", "-")
            words += [f"{name}={rule}" for rule in getattr(self, field)]
        return words
