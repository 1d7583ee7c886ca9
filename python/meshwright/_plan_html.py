"""A plan as one element of a notebook: figures and segments, no scripts.

Colours are the notebook's own, so that it reads in dark and light.
"""

from __future__ import annotations

import html

from meshwright._plan_text import segment_runs, summary_rows, title
from meshwright.plan import Plan
from meshwright.quantities import format_bytes, format_seconds

_CELL = "text-align:left;padding:2px 12px 2px 0;vertical-align:top"


def _row(cells: list[str], tag: str = "td") -> str:
    inner = "".join(
        f'<{tag} style="{_CELL}">{html.escape(cell)}</{tag}>' for cell in cells
    )
    return f"<tr>{inner}</tr>"


def _segment_table(plan: Plan) -> str:
    rows = [_row(["segments", "type", "configuration", "time", "memory"], "th")]
    parts = [(stage.first_segment, stage.segments) for stage in plan.stages]
    for first, segments in parts or [(0, plan.segments)]:
        for numbers, segment, seconds in segment_runs(segments, first):
            rows.append(
                _row(
                    [
                        numbers,
                        str(segment.type),
                        segment.describe,
                        format_seconds(seconds),
                        format_bytes(segment.memory_bytes),
                    ]
                )
            )
    return f"<table>{''.join(rows)}</table>"


def plan_html(plan: Plan) -> str:
    figures = "".join(_row(list(row)) for row in summary_rows(plan))
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in plan.notes)
    return (
        f'<div class="meshwright-plan"><strong>{html.escape(title(plan))}'
        f"</strong><table>{figures}</table>"
        f"<details><summary>{len(plan.segments) or 'Stage'} segments</summary>"
        f"{_segment_table(plan)}</details>"
        + (f"<ul>{notes}</ul>" if notes else "")
        + "</div>"
    )
