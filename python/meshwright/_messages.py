"""Messages of proto/v1 as the values of this package, and back.

Concept: a message becomes the JSON object that the command line prints (every
field present, 64-bit integers as numbers, enums in lower case, an absent
message as null), and that object becomes a dataclass.
"""

from __future__ import annotations

from typing import Any

from google.protobuf.message import Message

from meshwright._decode import decode
from meshwright._stubs import plan_pb2, plan_record_pb2
from meshwright.errors import InvalidArgument
from meshwright.plan import Plan
from meshwright.records import PlanRecord, PlanUpdate, Progress, Strategies


def _is_repeated(field: Any) -> bool:
    if hasattr(field, "is_repeated"):
        return bool(field.is_repeated)
    return bool(field.label == field.LABEL_REPEATED)


def _one(field: Any, value: Any) -> Any:
    if field.message_type is not None:
        return message_to_json(value)
    if field.enum_type is not None:
        names = field.enum_type.values_by_number
        return names[value].name.lower() if value in names else str(value)
    return value


def message_to_json(message: Message) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for field in message.DESCRIPTOR.fields:
        value = getattr(message, field.name)
        if _is_repeated(field):
            data[field.name] = [_one(field, item) for item in value]
        elif field.has_presence and not message.HasField(field.name):
            data[field.name] = None
        else:
            data[field.name] = _one(field, value)
    return data


def plan_json(message: plan_pb2.Plan) -> dict[str, Any]:
    """The object of the plan file."""
    data = message_to_json(message)
    if data["quality"] == "quality_unspecified":
        data["quality"] = None
    if not message.feasible or not message.HasField("predicted"):
        data.update(predicted=None, lower_bound_seconds=None, gap=None)
    if not message.HasField("pipeline"):
        for of_stages in ("stages", "boundaries", "pipeline"):
            del data[of_stages]
    return data


def to_plan(message: plan_pb2.Plan, id: str = "") -> Plan:
    return Plan.from_json({**plan_json(message), "id": id})


def _state(number: int) -> str:
    if number == 0:
        return ""
    names = plan_record_pb2.PlanState.DESCRIPTOR.values_by_number
    # A state of a later version has not ended, as far as this one can say.
    return str(names[number].name).lower() if number in names else "running"


def _progress(message: Any) -> Progress | None:
    if not message.HasField("progress"):
        return None
    return decode(Progress, message_to_json(message.progress))


def to_record(message: plan_record_pb2.PlanRecord) -> PlanRecord:
    return PlanRecord(
        id=message.id,
        namespace=message.namespace,
        owner=message.owner,
        model=message.request.model_name,
        state=_state(message.state),
        reason=message.reason,
        error_code=message.error_code,
        submitted_unix_ns=message.submitted_unix_ns,
        updated_unix_ns=message.updated_unix_ns,
        sequence=message.sequence,
        progress=_progress(message),
        plan=to_plan(message.plan, message.id)
        if message.HasField("plan")
        else None,
    )


def to_update(message: plan_record_pb2.PlanUpdate, id: str) -> PlanUpdate:
    return PlanUpdate(
        sequence=message.sequence,
        state=_state(message.state),
        reason=message.reason,
        error_code=message.error_code,
        progress=_progress(message),
        plan=to_plan(message.plan, id) if message.HasField("plan") else None,
    )


def from_strategies(strategies: Strategies) -> plan_pb2.StrategyRequest:
    request = plan_pb2.StrategyRequest(open=strategies.open)
    for rules, forbid in ((strategies.pin, False), (strategies.forbid, True)):
        for rule in rules:
            blocks, names = _split(rule, "all=rows")
            request.blocks.add(
                blocks=blocks, strategies=names.split("|"), forbid=forbid
            )
    for rules, forbid in (
        (strategies.pin_argument, False),
        (strategies.forbid_argument, True),
    ):
        for rule in rules:
            number, sharding = _split(rule, "3=[1,-]")
            if not number.isdecimal():
                raise InvalidArgument(
                    f'strategies: "{number}" is no number of an argument; see '
                    "a plan's arguments"
                )
            request.arguments.add(
                argument=int(number), sharding=sharding, forbid=forbid
            )
    return request


def _split(rule: str, example: str) -> tuple[str, str]:
    left, _, right = rule.partition("=")
    if not left or not right:
        raise InvalidArgument(
            f'strategies: "{rule}" is no rule; write one like {example}'
        )
    return left, right
