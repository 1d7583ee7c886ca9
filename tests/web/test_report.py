"""The report of a plan in Chromium: size, time, colours, labels, keys."""

from __future__ import annotations

import itertools
import json
import pathlib

import pytest

import colours
from browser import ARROW_RIGHT, ENTER, ESCAPE, TAB, Page, dump
from conftest import MODEL, Planned, add_evidence, run

VIEWS = [dict(width=1280), dict(width=1280, theme="dark"),
         dict(width=360, height=740), dict(width=360, height=740, theme="dark"),
         dict(width=760, media="print", theme="dark")]
IDS = ["light", "dark", "phone", "phone-dark", "print"]

# Seen beside one another, in one chart.
COLOURS_TOGETHER = {
    "time": ["compute", "communication", "resharding"],
    "categories": [f"category-{i}" for i in range(1, 7)],
    "timeline": ["category-1", "category-4", "category-5", "category-6",
                 "communication", "resharding", "persistent"],
    "verdicts": ["good", "bad", "other"],
    "quality": ["good", "warn", "bad", "other"],
    "stages": ["compute", "other"],
    "front": ["compute", "communication", "limit"],
}


@pytest.fixture(scope="module")
def report(planned: Planned) -> str:
    path = planned.folder / "plan.html"
    run("report", planned.plan, "--store", planned.store, "--validate",
        planned.validation, "-o", path)
    return path.as_uri()


@pytest.fixture(scope="module")
def reports(planned: Planned, staged: pathlib.Path,
            deep_plan: pathlib.Path, report: str) -> dict[str, str]:
    """Of one plan with everything, one in stages, one of 96 layers with its
    measurements and without, one that does not fit, one by roofline, and a
    baseline."""
    folder = planned.folder
    run("report", staged, "-o", folder / "staged.html")
    for name in ("alone", "deep"):
        run("report", deep_plan, "-o", folder / f"{name}.html")
    add_evidence(folder / "deep.html", folder / "plan.html", 96)
    plan = json.loads(planned.plan.read_text())
    plan.update(feasible=False, predicted=None, limit_bytes=1 << 20,
                least_memory_bytes=1 << 22, segments=[], notes=["a <b> & c"])
    (folder / "none.json").write_text(json.dumps(plan))
    run("report", folder / "none.json", "-o", folder / "none.html")
    for name, how in (("symbolic", ["--symbolic"]),
                      ("baseline", ["--baseline", "dp"])):
        run("plan", MODEL, "--mesh", "1x2", *how, "-o", folder / f"{name}.json")
        run("report", folder / f"{name}.json", "-o", folder / f"{name}.html")
    return {"full": report} | {
        name: (folder / f"{name}.html").as_uri()
        for name in ("staged", "alone", "deep", "none", "symbolic", "baseline")}


def test_a_plan_of_96_layers_is_small_and_drawn_within_a_second(
        page: Page, planned: Planned, reports: dict[str, str]) -> None:
    assert (planned.folder / "deep.html").stat().st_size <= 2 << 20
    times = []
    for _ in range(3):
        page.show(reports["deep"])
        times.append(int(page.ask(
            "return document.documentElement.dataset.drawn")))
    assert min(times) <= 1000, times
    assert "×96" in page.find("#model")[0].text
    for section in ("choices", "front", "communication", "programs"):
        assert page.find(f"#{section} table"), section
    assert len(page.find("#timeline rect.fill")) >= 2 * 96


@pytest.mark.parametrize("name", ["full", "staged", "deep", "none",
                                  "symbolic", "baseline"])
@pytest.mark.parametrize("view", VIEWS, ids=IDS)
def test_a_page_can_be_read(page: Page, reports: dict[str, str], name: str,
                            view: dict[str, object]) -> None:
    page.show(reports[name], **view)
    assert page.console() == []
    found = {check: page.check(check) for check in (
        "findLowContrast", "findFaintMarks", "findOverflow", "findOverlaps",
        "findMissingLabels")}
    assert not any(found.values()), dump(found)


def test_it_loads_nothing(page: Page, report: str) -> None:
    page.show(report)
    assert page.ask(
        "return performance.getEntriesByType('resource').length") == 0


def test_every_section_of_a_measured_plan_has_something_to_show(
        page: Page, report: str) -> None:
    page.show(report)
    sections = {it.get_attribute("id") for it in page.find("section")}
    assert sections == {
        "summary", "validation", "model", "costs", "choices", "front",
        "communication", "timeline", "quality", "verdicts", "programs",
        "arguments", "notes"}
    for section in ("choices", "front", "communication", "programs"):
        assert page.find(f"#{section} table"), section
    assert "measured" in page.find("#timeline")[0].text


def test_what_a_store_would_show_is_named_where_there_is_none(
        page: Page, reports: dict[str, str]) -> None:
    page.show(reports["alone"])
    for section in ("choices", "front", "communication", "programs"):
        assert "--store" in page.find(f"#{section}")[0].text


@pytest.mark.parametrize("name", ["symbolic", "baseline"])
def test_what_was_not_measured_is_not_called_measured(
        page: Page, reports: dict[str, str], name: str) -> None:
    page.show(reports[name])
    assert not page.find("#timeline")
    for section in ("choices", "front", "verdicts", "programs"):
        text = page.find(f"#{section}")[0].text
        assert "Nothing was measured" in text, section
        assert "--store" not in text, section


def test_a_plan_in_stages_shows_its_pipeline(
        page: Page, reports: dict[str, str]) -> None:
    page.show(reports["staged"])
    assert page.find("#stages svg") and page.find("#timeline svg")
    assert "stage 2" in page.find("#stages")[0].text
    # A segment is timed by micro-batch, and stages share no memory.
    assert "one micro-batch" in page.find("#model")[0].text
    assert not page.find("#costs")


def test_an_infeasible_plan_says_what_it_would_need(
        page: Page, reports: dict[str, str]) -> None:
    page.show(reports["none"])
    assert "No plan was found that fits 1.00 MiB" in page.find("#summary")[0].text
    assert "a <b> & c" in page.find("#notes")[0].text
    assert not page.find("#model")


def test_a_validation_of_another_plan_is_refused(planned: Planned) -> None:
    other = json.loads(planned.validation.read_text())
    for plan in other["plans"]:
        plan["predicted_seconds"] = 1.0
    path = planned.folder / "other.json"
    path.write_text(json.dumps(other))
    for file in (path, planned.plan):
        with pytest.raises(AssertionError, match="validat"):
            run("report", planned.plan, "--validate", file, "-o", "-")


def test_outputs_that_differ_are_said(page: Page, planned: Planned) -> None:
    found = json.loads(planned.validation.read_text())
    for plan in found["plans"]:
        if plan["name"] == found["chosen"]:
            plan["max_relative_difference"] = "Infinity"
    path = planned.folder / "differs.json"
    path.write_text(json.dumps(found))
    run("report", planned.plan, "--validate", path, "-o",
        planned.folder / "differs.html")
    page.show((planned.folder / "differs.html").as_uri())
    assert "outputs differ" in page.find("#summary")[0].text
    assert "differ" in page.find("#validation table")[0].text


def test_a_validation_of_stages_says_what_it_found(
        page: Page, staged: pathlib.Path, tmp_path: pathlib.Path) -> None:
    crash = {"failure": "stage 1 forward did not run: CRASHED"}
    for found, summary, section in (
            ({}, "With the measured passes", "equal"),
            ({"max_relative_difference": 0.1}, "outputs differ", "differ"),
            (crash, "CRASHED", "CRASHED")):
        (tmp_path / "found.json").write_text(json.dumps({
            "reference": "model", "tolerance": 1e-3, "stages": [{}, {}],
            "step": {"predicted_seconds": 0.19, "simulated_seconds": 0.2},
            **found}))
        run("report", staged, "--validate", tmp_path / "found.json", "-o",
            tmp_path / "found.html")
        page.show((tmp_path / "found.html").as_uri())
        assert summary in page.find("#summary")[0].text
        assert section in page.find("#validation")[0].text


def test_keys_reach_every_part(page: Page, report: str) -> None:
    page.show(report)
    first = page.press(TAB)
    assert first.get_attribute("class") == "skip-link"
    page.press(ENTER)
    page.await_true("location.hash === '#summary'")
    reached = set()
    for _ in range(150):
        element = page.press(TAB)
        if element.tag_name == "body":
            break
        assert page.ask("""const it = getComputedStyle(arguments[0]);
            return it.outlineStyle !== "none" && parseFloat(it.outlineWidth) > 0""",
                        element), element.get_attribute("outerHTML")[:80]
        reached.add(element.tag_name)
        if element.tag_name == "svg":
            page.press(ARROW_RIGHT)
            assert page.find("#tooltip")[0].text, "an arrow key tells nothing"
            assert page.find("#spoken")[0].get_attribute("textContent")
            page.press(ESCAPE)
            assert not page.find("#tooltip")[0].is_displayed()
    assert {"svg", "div"} <= reached


def test_a_fold_opens_by_key(page: Page, report: str) -> None:
    page.show(report)
    fold = page.find("details")[0]
    fold.find_element("css selector", "summary").send_keys(ENTER)
    page.await_true("document.querySelector('details table')")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("eye", colours.EYES)
def test_colours_that_stand_together_can_be_told_apart(
        page: Page, report: str, theme: str, eye: str) -> None:
    page.show(report, theme=theme)
    close = []
    for together, names in COLOURS_TOGETHER.items():
        seen = {name: page.ask("""
            const probe = document.body.appendChild(document.createElement("i"));
            probe.style.color = `var(--${arguments[0]})`;
            const found = getComputedStyle(probe).color.match(/[\\d.]+/g);
            probe.remove();
            return found.slice(0, 3).map(Number);""", name) for name in names}
        for a, b in itertools.combinations(names, 2):
            apart = colours.distance(seen[a], seen[b], eye)
            if apart < 10:
                close.append(f"{together}: {a} and {b}, {apart:.1f}")
    assert not close
