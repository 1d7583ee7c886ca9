"""Plans as values: the plan file of docs/formats/plan.md, typed and frozen.

Concept: a Plan is read from a file, from JSON or from a service and is never
changed. It keeps the object that it was read from, so that it is written back
whole, fields of later versions included.
"""

from __future__ import annotations

import dataclasses
import html
import json
import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from meshwright._decode import decode
from meshwright.errors import (
    InfeasiblePlan,
    InvalidArgument,
    MeshwrightError,
    Unimplemented,
)
from meshwright.quantities import format_bytes

if TYPE_CHECKING:
    from meshwright.reports import Difference, Explanation

SCHEMA_VERSION = 1


@dataclasses.dataclass(frozen=True)
class Model:
    fingerprint: str = ""  # equal in each export of the model
    name: str = ""
    module_sha256: str = ""


@dataclasses.dataclass(frozen=True)
class Prediction:
    step_seconds: float = 0.0
    compute_seconds: float = 0.0
    communication_seconds: float = 0.0
    resharding_seconds: float = 0.0
    peak_bytes: int = 0
    interval_seconds: tuple[float, ...] = ()


@dataclasses.dataclass(frozen=True)
class Segment:
    type: int = 0
    config: int = 0
    describe: str = ""
    strategies: tuple[str, ...] = ()
    switch: str = ""
    seconds: float = 0.0
    communication_seconds: float = 0.0
    resharding_seconds: float = 0.0
    memory_bytes: int = 0
    estimated: bool = False
    recompute: bool = False
    chained: bool = False


@dataclasses.dataclass(frozen=True)
class Argument:
    """An argument or an output of the step; ``sharding`` is like "[1,-]"."""

    index: int = 0
    name: str = ""
    role: str = ""
    sharding: str = ""
    shape: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True)
class Activation:
    """A value inside the step; ``op_name``: its name in the source."""

    op_name: str = ""
    shape: tuple[int, ...] = ()
    sharding: str = ""


@dataclasses.dataclass(frozen=True)
class Programs:
    total: int = 0
    distinct: int = 0
    halves: int = 0
    profiled: int = 0
    cached: int = 0
    excluded: int = 0
    not_reached: int = 0
    failed: int = 0
    estimated: int = 0
    remeasured: int = 0


@dataclasses.dataclass(frozen=True)
class Seconds:
    analyze: float = 0.0
    compile: float = 0.0
    profile: float = 0.0
    search: float = 0.0
    total: float = 0.0


@dataclasses.dataclass(frozen=True)
class Tie:
    fastest_seconds: float = 0.0
    noise_seconds: float = 0.0


@dataclasses.dataclass(frozen=True)
class Stage:
    """A run of segments on a mesh of its own."""

    mesh: tuple[int, ...] = ()
    devices: tuple[int, ...] = ()
    first_segment: int = 0
    segments: tuple[Segment, ...] = ()
    arguments: tuple[Argument, ...] = ()
    outputs: tuple[Argument, ...] = ()
    predicted: Prediction | None = None
    activation_bytes: int = 0
    persistent_bytes: int = 0


@dataclasses.dataclass(frozen=True)
class Pipeline:
    schedule: str = ""
    micro_batches: int = 0
    overlap: bool = False
    step_seconds: float = 0.0
    bubble: float = 0.0
    peak_bytes: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True)
class Plan:
    schema_version: int = SCHEMA_VERSION
    model: Model = Model()
    mesh: tuple[int, ...] = ()
    device: str = ""
    feasible: bool = False
    predicted: Prediction | None = None
    lower_bound_seconds: float | None = None
    gap: float | None = None
    segments: tuple[Segment, ...] = ()
    arguments: tuple[Argument, ...] = ()
    outputs: tuple[Argument, ...] = ()
    # meshwright.torch puts those of modules in front, by the modules' names.
    activations: tuple[Activation, ...] = ()
    programs: Programs = Programs()
    seconds: Seconds = Seconds()
    notes: tuple[str, ...] = ()
    fallback: str = ""  # the baseline that stands in; empty: as asked for
    least_memory_bytes: int = 0
    limit_bytes: int = 0
    usable_bytes: int = 0
    tie: Tie | None = None
    quality: str | None = None
    noise: tuple[str, ...] = ()
    platform_version: str = ""
    xla_flags: str = ""
    stages: tuple[Stage, ...] = ()
    pipeline: Pipeline | None = None
    # Of the service that made it, "plan-17"; empty for one of a file.
    id: str = dataclasses.field(default="", compare=False)
    _json: Mapping[str, Any] = dataclasses.field(
        default_factory=dict, repr=False, compare=False
    )

    @classmethod
    def from_json(cls, data: str | bytes | Mapping[str, Any]) -> Plan:
        """A plan of a plan file's text or object.

        Raises InvalidArgument where it is no plan, and Unimplemented where it
        is of a later version.
        """
        if not isinstance(data, Mapping):
            try:
                data = json.loads(data)
            except ValueError as error:
                raise InvalidArgument(f"this is no plan file: {error}") from None
        if not isinstance(data, Mapping) or not data.get("schema_version"):
            raise InvalidArgument(
                "this is no plan file: it has no schema_version"
            )
        try:
            version = int(data["schema_version"])
        except (TypeError, ValueError) as error:
            raise InvalidArgument(f"this is no plan file: {error}") from None
        if version > SCHEMA_VERSION:
            raise Unimplemented(
                f"the plan is of version {data['schema_version']} and this "
                f"package reads up to version {SCHEMA_VERSION}; install a "
                "newer meshwright"
            )
        try:
            plan = decode(cls, {k: v for k, v in data.items() if k != "_json"})
        except (TypeError, ValueError, AttributeError) as error:
            raise InvalidArgument(f"this is no plan file: {error}") from None
        return dataclasses.replace(plan, _json=dict(data))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Plan:
        """The plan of a file that ``save`` or ``meshwright plan -o`` wrote.

        Raises InvalidArgument for a file that cannot be read or is no plan.
        """
        try:
            content = pathlib.Path(path).read_bytes()
        except OSError as error:
            raise InvalidArgument(
                f"cannot read {path}: {error.strerror}; name a plan file that "
                "save or `meshwright plan -o` wrote"
            ) from error
        try:
            return cls.from_json(content)
        except (InvalidArgument, Unimplemented) as error:
            raise type(error)(f"{path}: {error}") from None

    def to_json(self) -> dict[str, Any]:
        """The object of the plan file."""
        if self._json:
            return {k: v for k, v in self._json.items() if k != "id"}
        data = dataclasses.asdict(self)
        del data["_json"], data["id"]
        return data

    def with_activations(self, activations: Sequence[Activation]) -> Plan:
        """This plan, with these in front of its own of other names."""
        names = {activation.op_name for activation in activations}
        held = (a for a in self.activations if a.op_name not in names)
        together = (*activations, *held)
        written = [dataclasses.asdict(activation) for activation in together]
        return dataclasses.replace(
            self,
            activations=together,
            _json={**self.to_json(), "activations": written},
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the plan file."""
        pathlib.Path(path).write_text(
            json.dumps(self.to_json(), indent=2) + "\n"
        )

    def explain(self, store: str | None = None) -> Explanation:
        """What each choice saves, from the measurements on this machine.

        ``Client.explain`` asks the service that made the plan. Raises
        FailedPrecondition where no binary is installed.
        """
        from meshwright._binary import explain_plan

        return explain_plan(self, store)

    def diff(self, other: Plan) -> Difference:
        """``other`` minus this plan, of both files alone.

        Raises FailedPrecondition where no binary is installed.
        """
        from meshwright._binary import diff_plans

        return diff_plans(self, other)

    def to_html(
        self,
        *,
        store: str | os.PathLike[str] | None = None,
        validation: Mapping[str, Any] | None = None,
    ) -> str:
        """The report of ``meshwright report``: a page of its own.

        ``store`` names the measurements, by default those on this machine;
        ``validation`` is what ``meshwright validate --json`` printed. Raises
        FailedPrecondition where no binary is installed.
        """
        from meshwright._binary import report_plan

        return report_plan(self, store, validation)

    def _repr_html_(self) -> str | None:
        """The report in a frame; where no binary is, a notebook shows text."""
        try:
            page = self.to_html()
        except MeshwrightError:
            return None
        return (
            f'<iframe title="report of the plan of {html.escape(self.model.name)}"'
            ' sandbox="allow-scripts" style="border:0;width:100%;height:40rem"'
            f' srcdoc="{html.escape(page)}"></iframe>'
        )

    def __str__(self) -> str:
        from meshwright._plan_text import plan_text

        return plan_text(self)


def check_feasible(plan: Plan) -> None:
    """Raises InfeasiblePlan, with the plan, where none that fits was found."""
    if not plan.feasible:
        raise InfeasiblePlan(
            "no plan was found that fits "
            f"{format_bytes(plan.limit_bytes)} per device; the smallest one "
            "found needs "
            f"{format_bytes(plan.least_memory_bytes)}",
            plan,
        )
