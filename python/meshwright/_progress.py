"""ProgressDisplay: how far a plan is, in a terminal or a notebook.

Concept: a bar of tqdm for each phase where tqdm is installed, else one line
that is written over. By default there are no bars where nobody looks: on a
stderr that is no terminal and outside notebooks. Such a log has one line for
each reason why the plan waits.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from meshwright.quantities import format_seconds
from meshwright.records import PlanUpdate, Progress

# Without tqdm's rate and time left: cached programs take no time.
_BAR = "{desc}|{bar:20}| {n_fmt}/{total_fmt} [{elapsed}{postfix}]"

OnUpdate = Callable[[PlanUpdate], object]


def is_watched() -> bool:
    if "ipykernel" in sys.modules:
        return True
    return sys.stderr is not None and sys.stderr.isatty()


class ProgressDisplay:
    def __init__(self, show: bool | None = None, label: str = "") -> None:
        self._show = is_watched() if show is None else show
        self._logs = show is None and not self._show and sys.stderr is not None
        self._logged: set[str] = set()
        self._label = label
        self._phase = ""
        self._bar: Any = None
        self._width = 0

    def __enter__(self) -> ProgressDisplay:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def update(self, update: PlanUpdate) -> None:
        if self._show and update.progress is not None:
            self._draw(update.progress)
        if update.state == "waiting" and update.reason:
            self._say_wait(update.reason)

    def _say_wait(self, reason: str) -> None:
        is_new = reason not in self._logged
        if self._show or (self._logs and is_new):
            self._close()
            self._logged.add(reason)
            print(f"{self._label} waits: {reason}", file=sys.stderr)

    def _draw(self, progress: Progress) -> None:
        if progress.phase != self._phase:
            self._close()
            self._phase = progress.phase
            self._bar = _new_bar(progress.phase)
        if self._bar is None:
            text = _line(progress)
            self._width = max(self._width, len(text))
            sys.stderr.write("\r" + text.ljust(self._width))
            sys.stderr.flush()
            return
        self._bar.total = progress.total or 1
        self._bar.n = min(progress.done, self._bar.total)
        self._bar.set_postfix_str(_details(progress), refresh=False)
        self._bar.refresh()

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._phase:
            sys.stderr.write("\n")
        self._bar = None
        self._phase = ""
        self._width = 0


def _new_bar(phase: str) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(desc=f"{phase:<8}", bar_format=_BAR, total=1)


def _details(progress: Progress) -> str:
    parts = []
    if progress.cached:
        parts.append(f"{progress.cached} cached")
    if progress.best_seconds:
        parts.append(f"best {format_seconds(progress.best_seconds)}")
    if progress.seconds_left:
        parts.append(f"{format_seconds(progress.seconds_left)} left")
    if progress.message:
        parts.append(progress.message)
    return ", ".join(parts)


def _line(progress: Progress) -> str:
    count = f" {progress.done}/{progress.total}" if progress.total else ""
    details = _details(progress)
    return f"{progress.phase}{count}" + (f"  {details}" if details else "")
