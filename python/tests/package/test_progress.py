"""Progress of a plan: a line in a terminal, a bar in a notebook, or nothing."""

from __future__ import annotations

import io
import sys
import types

import pytest

from meshwright._progress import ProgressDisplay, is_watched
from meshwright.records import PlanUpdate, Progress

MEASURED = (
    Progress("measure", 1, 4, cached=1, best_seconds=2.1e-3),
    Progress("measure", 6, 4, seconds_left=3.0, message="segment 2"),
)


class Screen(io.StringIO):
    def __init__(self, is_terminal):
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self):
        return self.is_terminal


@pytest.fixture
def screen(monkeypatch):
    """Makes what stands in for stderr; nothing else of a notebook is there."""
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)

    def make(is_terminal):
        made = Screen(is_terminal)
        monkeypatch.setattr(sys, "stderr", made)
        return made

    return make


@pytest.fixture
def without_tqdm(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)


class Bar:
    """A bar as tqdm's, which keeps what it showed."""

    made: list[Bar] = []

    def __init__(self, desc, bar_format, total):
        self.desc, self.total, self.n = desc.strip(), total, 0
        self.postfix, self.shown, self.is_closed = "", [], False
        Bar.made.append(self)

    def set_postfix_str(self, text, refresh):
        self.postfix = text

    def refresh(self):
        self.shown.append((self.n, self.total, self.postfix))

    def close(self):
        self.is_closed = True


@pytest.fixture
def bars(monkeypatch):
    monkeypatch.setattr(Bar, "made", [])
    auto = types.ModuleType("tqdm.auto")
    auto.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", auto)
    return Bar.made


def show(*all_progress, **options):
    with ProgressDisplay(label="plan-7", **options) as display:
        for progress in all_progress:
            display.update(PlanUpdate(progress=progress))


def test_a_terminal_has_a_line_that_is_written_over(screen, without_tqdm):
    terminal = screen(True)
    show(*MEASURED, Progress("search"))
    first = "measure 1/4  1 cached, best 2.1 ms"
    second = "measure 6/4  3.0 s left, segment 2"
    assert len(first) == len(second)
    assert terminal.getvalue() == f"\r{first}\r{second}\n\rsearch\n"


def test_a_shorter_line_leaves_nothing_of_the_one_before(screen, without_tqdm):
    terminal = screen(True)
    show(Progress("wait", message="another"), Progress("wait"))
    assert terminal.getvalue() == "\rwait  another\rwait         \n"


def test_nobody_looks_at_a_file(screen, without_tqdm):
    file = screen(False)
    show(*MEASURED)
    assert file.getvalue() == ""
    show(MEASURED[0], show=True)
    assert file.getvalue().startswith("\rmeasure 1/4")


def test_a_terminal_stays_quiet_on_request(screen, bars):
    terminal = screen(True)
    show(*MEASURED, show=False)
    assert terminal.getvalue() == "" and not bars


def test_a_notebook_has_a_bar_for_each_phase(screen, bars, monkeypatch):
    screen(False)
    assert not is_watched()
    monkeypatch.setitem(
        sys.modules, "ipykernel", types.ModuleType("ipykernel")
    )
    show(*MEASURED, Progress("search"))
    measure, search = bars
    assert (measure.desc, search.desc) == ("measure", "search")
    assert measure.shown == [
        (1, 4, "1 cached, best 2.1 ms"),
        (4, 4, "3.0 s left, segment 2"),  # no bar is more than full
    ]
    assert search.shown == [(0, 1, "")]
    assert measure.is_closed and search.is_closed


def test_a_plan_that_waits_says_why_on_a_line_of_its_own(
    screen, without_tqdm
):
    terminal = screen(True)
    with ProgressDisplay(label="plan-7") as display:
        display.update(PlanUpdate(progress=Progress("measure", 1, 4)))
        display.update(PlanUpdate(state="waiting", reason="no worker"))
    assert terminal.getvalue() == "\rmeasure 1/4\nplan-7 waits: no worker\n"


def test_a_log_says_once_why_a_plan_waits(screen, bars):
    for options, lines in (
        ({}, "plan-7 waits: no worker\nplan-7 waits: no room\n"),
        ({"show": False}, ""),
    ):
        file = screen(False)
        with ProgressDisplay(label="plan-7", **options) as display:
            for reason in ("no worker", "no worker", "no room"):
                display.update(PlanUpdate(progress=MEASURED[0]))
                display.update(PlanUpdate(state="waiting", reason=reason))
        assert file.getvalue() == lines and not bars


def test_a_process_without_a_stderr_is_not_watched(monkeypatch):
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    monkeypatch.setattr(sys, "stderr", None)
    assert not is_watched()
