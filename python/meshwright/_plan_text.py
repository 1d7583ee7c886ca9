"""The summary of a plan in a few rows, for terminals and pages alike."""

from __future__ import annotations

from meshwright.plan import Plan, Segment
from meshwright.quantities import format_bytes, format_seconds


# Of an interval wider than this share of the step, a reader learns nothing.
_WIDEST_INTERVAL = 0.5


def _certainty(plan: Plan, low: float, high: float) -> tuple[str, str]:
    assert plan.predicted is not None
    if high - low <= _WIDEST_INTERVAL * plan.predicted.step_seconds:
        return (
            "noise interval",
            f"{format_seconds(low)} to {format_seconds(high)}",
        )
    busy = "busy_machine" in plan.noise
    cause = "machine was busy" if busy else "measurements vary too much"
    return ("certainty", f"the {cause}: plan again on a quiet machine")


def summary_rows(plan: Plan) -> list[tuple[str, str]]:
    """Labels and values, as ``meshwright plan --verbose`` prints them."""
    if not plan.feasible:
        return [
            ("verdict", f"no plan was found that fits {format_bytes(plan.limit_bytes)}"),
            ("smallest found", format_bytes(plan.least_memory_bytes)),
        ]
    if plan.predicted is None:
        return [("step", "not predicted: nothing was measured")]
    step = plan.predicted
    parts = [
        f"compute {format_seconds(step.compute_seconds)}",
        f"communication {format_seconds(step.communication_seconds)}",
        f"resharding {format_seconds(step.resharding_seconds)}",
    ]
    rows = [
        ("step", f"{format_seconds(step.step_seconds)} ({', '.join(parts)})")
    ]
    if plan.lower_bound_seconds is not None and plan.gap is not None:
        rows.append(
            (
                "lower bound",
                f"{format_seconds(plan.lower_bound_seconds)}, "
                f"gap {100 * plan.gap:.2f} %",
            )
        )
    if len(step.interval_seconds) == 2:
        rows.append(_certainty(plan, *step.interval_seconds))
    rows.append(("peak memory", f"{format_bytes(step.peak_bytes)} per device"))
    if plan.pipeline is not None:
        pipe = plan.pipeline
        rows.append(
            (
                "pipeline",
                f"{len(plan.stages)} stages, {pipe.schedule}, "
                f"{pipe.micro_batches} micro-batches, "
                f"bubble {100 * pipe.bubble:.1f} %",
            )
        )
    counts = plan.programs
    if counts.distinct:
        rows.append(
            (
                "programs",
                f"{counts.profiled} profiled, {counts.cached} cached, "
                f"{counts.excluded} excluded, {counts.not_reached} not "
                f"reached, {counts.failed} failed",
            )
        )
    if plan.quality and plan.quality != "good":
        rows.append(("quality", ", ".join((plan.quality, *plan.noise))))
    return rows


def segment_runs(
    segments: tuple[Segment, ...], first: int = 0
) -> list[tuple[str, Segment, float]]:
    """Numbers, one segment and the seconds of all, per run of equal ones."""
    runs: list[tuple[int, int, Segment, float]] = []
    for number, segment in enumerate(segments, first):
        seconds = segment.seconds + segment.resharding_seconds
        if runs:
            start, _, other, sum_so_far = runs[-1]
            if (other.type, other.describe) == (segment.type, segment.describe):
                runs[-1] = (start, number, other, sum_so_far + seconds)
                continue
        runs.append((number, number, segment, seconds))
    return [
        (str(a) if a == b else f"{a}-{b}", segment, seconds)
        for a, b, segment, seconds in runs
    ]


def title(plan: Plan) -> str:
    kind = "cluster" if plan.pipeline is not None else "mesh"
    mesh = "x".join(map(str, plan.mesh))
    return f"{plan.model.name or 'step'} on {kind} {mesh} ({plan.device})"


def plan_text(plan: Plan) -> str:
    rows = summary_rows(plan)
    width = max(len(label) for label, _ in rows)
    lines = [title(plan)]
    lines += [f"  {label:<{width}}  {value}" for label, value in rows]
    parts = [(f", stage {n}", stage.first_segment, stage.segments)
             for n, stage in enumerate(plan.stages, 1)]
    for which, first, segments in parts or [("", 0, plan.segments)]:
        lines.append("segments" + which)
        lines += [
            f"  {numbers:<6} type {segment.type}  {segment.describe}"
            for numbers, segment, _ in segment_runs(segments, first)
        ]
    lines += [f"note: {note}" for note in plan.notes]
    return "\n".join(lines)
