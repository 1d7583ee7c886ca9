"""The dashboard of a real coordinator in headless Chromium.

MESHWRIGHT_BINARY names the program; its folder holds the coordinator and
dashboard_store. Pictures go to the folder MESHWRIGHT_PICTURES, where it is
named.
"""

from __future__ import annotations

import os
import pathlib
import signal
from collections.abc import Iterator

import pytest

import browser
import coordinator

BIN = pathlib.Path(os.environ["MESHWRIGHT_BINARY"]).parent
PLANS = 1000
CHECKS = ("findLowContrast", "findFaintMarks", "findOverflow",
          "findHiddenColumns", "findOverlaps", "findMissingLabels")

ROWS = "return [...document.querySelectorAll('#{} tbody tr')]" \
       ".map((it) => it.dataset.key);"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory,
           ) -> Iterator[coordinator.Served]:
    folder = tmp_path_factory.mktemp("dashboard")
    with coordinator.start(BIN, folder, plans=PLANS, rows=2000) as it:
        it.submit_waiting(5)
        yield it


def rows(page: browser.Page, section: str) -> list[str]:
    return page.ask(ROWS.format(section))


def show_all(page: browser.Page, served: coordinator.Served,
             **how: object) -> None:
    page.show(served.url, **how)
    page.await_true("document.documentElement.dataset.charted")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 800, 1100, 1120, 1280])
def test_page_is_sound(page: browser.Page, served: coordinator.Served,
                       width: int, theme: str) -> None:
    show_all(page, served, width=width, theme=theme)
    pictures = os.environ.get("MESHWRIGHT_PICTURES")
    if pictures:
        page.save_picture(
            pathlib.Path(pictures, f"dashboard_{width}_{theme}.png"))
    assert page.console() == []
    assert {it: page.check(it) for it in CHECKS} == {it: [] for it in CHECKS}


def test_what_there_is_is_shown(page: browser.Page,
                                served: coordinator.Served) -> None:
    show_all(page, served)
    assert len(rows(page, "work")) == 5
    assert rows(page, "plans")[0] == f"plan-{PLANS + 5}"
    text = page.ask("return document.querySelector('#work').innerText;")
    assert "waiting" in text and "no worker" in text
    assert "All 1,005" in page.ask(
        "return document.querySelector('#filters').innerText;")
    assert page.ask("return document.querySelectorAll('#days rect').length;")


def test_minutes_keep_their_sign_and_seconds_stay_below_sixty(
        page: browser.Page, served: coordinator.Served) -> None:
    show_all(page, served)
    said = page.ask(
        "return [90, -90, 119.7, 60, 3599.6, -0.5].map(formatSeconds);")
    assert said == ["1 min 30 s", "-1 min 30 s", "2 min 0 s", "1 min 0 s",
                    "60 min 0 s", "-500 ms"]


def test_pages_and_filters(page: browser.Page,
                           served: coordinator.Served) -> None:
    show_all(page, served)
    first = rows(page, "plans")
    page.click("#pages button:nth-child(2)")
    page.await_true(f"!document.querySelector('#plans [data-key={first[0]}]')")
    second = rows(page, "plans")
    assert len(second) == len(first) and not set(first) & set(second)
    page.click("#pages button:first-child")
    page.await_true(f"document.querySelector('#plans [data-key={first[0]}]')")
    page.click("#filters button:nth-child(4)")
    page.await_true("[...document.querySelectorAll('#plans tbody .badge')]"
                    ".every((it) => it.textContent === 'failed')")
    page.await_true("document.querySelector('#plans tbody').innerText"
                    ".includes('fits into 80.0 GiB')")


def test_progress_is_live(page: browser.Page,
                          served: coordinator.Served) -> None:
    show_all(page, served)
    [new] = served.submit_waiting(1)
    page.await_true(f"document.querySelector('#work [data-key={new}]')")
    served.run("plans", "cancel", new)
    page.await_true(f"!document.querySelector('#work [data-key={new}]')")


# Answers as if the newest plan at work were in the phase window.phase, with a
# task and a worker whose names are as long as those of a cluster.
AT_WORK = """
const name = "gpu-node-0017.cluster.example:31415";
const edit = {
  "/api/plans": (view) => {
    for (const plan of view.plans) plan.owner = "token:nightly-training";
    Object.assign(view.plans[0], {state: "measuring", progress: {
      phase: window.phase, done: 2, total: 3, cached: 0, best_seconds: 0.1197,
      seconds_left: 7980, message: ""}});
  },
  "/api/tasks": (view) => Object.assign(view, {total: 1, tasks: [{
    id: "task-1005", model: "llama_70b_96l", plan: "plan-1005",
    owner: "token:nightly-training", state: "running", reason: "",
    finished: 0, programs: 3, failed: 1, worker: name,
    submitted: Date.now() / 1000 - 7980, took_seconds: null}]}),
  "/api/workers": (view) => Object.assign(view, {total: 1, workers: [{
    id: name, host: "gpu-node-0017.cluster.example", state: "quarantined",
    reason: "three programs in a row ended it", devices: 8,
    device: "NVIDIA H100 80GB HBM3", platform: "cuda", task: "task-1005",
    programs: 12345, seen_seconds_ago: 119}]}),
};
const real = window.fetch;
window.fetch = async (path, how) => {
  const change = edit[path.split("?")[0]];
  if (!change) return real(path, how);
  const response = await real(path, {...how, headers: {}});
  const view = await response.json();
  change(view);
  return new Response(JSON.stringify(view));
};
"""


@pytest.mark.parametrize("width", [800, 1100, 1280])
def test_compiling_is_not_measuring(page: browser.Page,
                                    served: coordinator.Served,
                                    width: int) -> None:
    show_all(page, served, width=width)
    page.ask(AT_WORK)
    for phase, word in (("compile", "compiled"), ("measure", "measured")):
        page.ask("window.phase = arguments[0];", phase)
        page.await_true("document.querySelector('#work').innerText"
                        f".includes('{word} 2 of 3 programs')")
    for section in ("tasks", "workers"):
        page.await_true(f"document.querySelector('#{section}').innerText"
                        ".includes('gpu-node-0017')")
    assert page.check("findHiddenColumns") == []
    assert page.check("findOverflow") == []


def test_a_plan_opens_by_keyboard(page: browser.Page,
                                  served: coordinator.Served) -> None:
    show_all(page, served)
    page.click("#filters button:nth-child(3)")
    page.await_true("[...document.querySelectorAll('#plans tbody tr')]"
                    ".every((row) => row.querySelector('.badge--done'))")
    page.ask("document.querySelector('#plans tbody .link').focus();")
    page.press(browser.ENTER)
    page.await_true("document.querySelector('#details').open")
    figures = page.ask(
        "return document.querySelector('#details-figures').innerText;")
    assert "Step, predicted" in figures and "61.0 GiB" in figures
    assert {it: page.check(it) for it in CHECKS} == {it: [] for it in CHECKS}
    page.press(browser.ESCAPE)
    page.await_true("!document.querySelector('#details').open")


# As if the list of plans came in the other order.
REVERSED = """
const real = window.fetch;
window.fetch = async (path, how) => {
  if (!path.startsWith("/api/plans?size=25")) return real(path, how);
  const response = await real(path, {...how, headers: {}});
  const view = await response.json();
  view.plans.reverse();
  return new Response(JSON.stringify(view));
};
"""


def test_the_focus_stays_where_rows_move(page: browser.Page,
                                         served: coordinator.Served) -> None:
    show_all(page, served)
    first = rows(page, "plans")[0]
    page.ask("document.querySelector('#plans tbody .link').focus();")
    page.ask(REVERSED)
    page.await_true("document.querySelector('#plans tbody tr:last-child')"
                    f".dataset.key === '{first}'")
    assert page.ask("return document.activeElement.innerText;") == first


def test_a_token_is_asked_for(page: browser.Page,
                              tmp_path: pathlib.Path) -> None:
    tokens = tmp_path / "tokens.toml"
    read = coordinator.make_token(BIN, tokens, "read")
    work = coordinator.make_token(BIN, tokens, "work")
    with coordinator.start(BIN, tmp_path, plans=3, rows=10,
                           tokens=tokens) as it:
        page.show(it.url)
        assert rows(page, "plans") == []
        assert page.check("findOverflow") == []
        page.ask("document.querySelector('#token').focus();")
        page.press("mwt_of_nobody", browser.ENTER)
        page.await_true("document.querySelector('#sign-in-why').textContent"
                        ".includes('none of this coordinator')")
        page.ask("document.querySelector('#token').focus();")
        page.press(work, browser.ENTER)
        page.await_true("document.querySelector('#trouble').textContent"
                        ".includes('needs the role read')")
        page.ask("sessionStorage.clear();")
        page.show(it.url)
        page.ask("document.querySelector('#token').focus();")
        page.press(read, browser.ENTER)
        page.await_true("document.querySelector('#plans tbody tr')")
        assert len(rows(page, "plans")) == 3
        # A reader of a team is not told how many plans there are.
        figures = page.ask(
            "return document.querySelector('#figures').innerText;")
        assert "none failed" not in figures and "0 failed" not in figures
        # Feeds that nobody had asked before the sign-in are asked, too.
        page.await_true("document.documentElement.dataset.charted")
        page.await_true("document.querySelector('#store-figures')"
                        ".childElementCount")
        page.ask("sessionStorage.clear();")


def test_a_coordinator_that_is_gone_is_said(page: browser.Page,
                                            tmp_path: pathlib.Path) -> None:
    with coordinator.start(BIN, tmp_path, plans=3, rows=10) as it:
        page.show(it.url)
    page.await_true("!document.querySelector('#trouble').hidden && "
                    "document.querySelector('#link').textContent === 'lost'")
    assert len(rows(page, "plans")) == 3


def test_a_coordinator_that_says_nothing_is_said(
        page: browser.Page, tmp_path: pathlib.Path) -> None:
    link = "document.querySelector('#link').textContent"
    with coordinator.start(BIN, tmp_path, plans=3, rows=10) as it:
        page.show(it.url)
        page.await_true(f"{link} === 'live'")
        it.process.send_signal(signal.SIGSTOP)
        try:
            page.await_true(f"{link} === 'lost'")
        finally:
            it.process.send_signal(signal.SIGCONT)
        page.await_true(f"{link} === 'live'")
