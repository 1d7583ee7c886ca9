"""The requests of both clients, and how the answer of a call is read.

Concept: the sync and the asyncio client differ only in who waits. What they
send, and which exception a status becomes, is here.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import os
import pathlib
import re
import time
from collections.abc import Iterable, Iterator
from typing import Any, TypedDict

import grpc

from meshwright._links import Links, read_links
from meshwright._messages import from_strategies
from meshwright._mlir import to_hlo
from meshwright._stubs import plan_pb2, plans_pb2, reports_pb2
from meshwright._version import __version__
from meshwright.errors import (
    Cancelled,
    DeadlineExceeded,
    FailedPrecondition,
    Internal,
    InvalidArgument,
    MeshwrightError,
    Unauthenticated,
    Unavailable,
    Unimplemented,
    error_of_code,
)
from meshwright.plan import Plan
from meshwright.quantities import (
    format_seconds,
    parse_bytes,
    parse_mesh,
)
from meshwright.records import PlanUpdate, Strategies
from meshwright.settings import ServiceSettings

Module = bytes | str | os.PathLike[str]
Mesh = str | int | tuple[int, ...] | list[int]

CALL_SECONDS = 10.0
ANALYSIS_SECONDS = 120.0
# A watch that breaks is made anew for so long.
RECONNECT_SECONDS = 60.0
RECONNECT_PAUSE_SECONDS = 0.5


def broken_since(broken: float | None, tried: float) -> float:
    """Since when nothing was heard, after a try that began at ``tried``.

    One that lasted was connected: a plan that waits has no updates.
    """
    now = time.monotonic()
    if broken is None or now - tried > RECONNECT_SECONDS / 2:
        return now
    return broken
_CHUNK_BYTES = 1 << 20


def count_devices(mesh: tuple[int, ...]) -> int:
    return math.prod(mesh)


def read_module(
    module: Module, until: float | None = None
) -> tuple[bytes, str]:
    """A serialized HLO module, or the file of one, with its name.

    StableHLO is converted by the jaxlib of this Python; DeadlineExceeded where
    that lasts beyond ``until``.
    """
    if isinstance(module, bytes):
        content, name = module, ""
    else:
        path = pathlib.Path(module)
        try:
            content = path.read_bytes()
        except OSError as error:
            raise InvalidArgument(f"module: {error}") from None
        name = path.name.split(".", 1)[0]
    if not content:
        raise InvalidArgument("module: there is no HLO module: it is empty")
    return to_hlo(content, until=until), name


class PlanOptions(TypedDict, total=False):
    """What a submission may say beside the module and the mesh."""

    memory: int | str | None  # per device; None: no limit
    platform: str  # cpu or cuda
    strategies: Strategies | None
    xla_flags: str  # for the compiler; part of every measurement's key
    no_wait: bool  # plan from what the store has
    full_space: bool  # measure every program, exclude none
    solo: bool  # one GPU stands for all of the mesh; needs links
    links: Links | None  # of the mesh's axes: a file, or its object
    namespace: str  # of the team; empty: the shared one
    owner: str
    request_id: str  # a submission that comes again with it is the same plan
    priority: int  # from -100 to 100


def submission(
    module_sha256: str,
    *,
    mesh: Mesh,
    name: str,
    timeout: float | None = None,
    memory: int | str | None = None,
    platform: str = "cpu",
    strategies: Strategies | None = None,
    xla_flags: str = "",
    no_wait: bool = False,
    full_space: bool = False,
    solo: bool = False,
    links: Links | None = None,
    namespace: str = "",
    owner: str = "",
    request_id: str = "",
    priority: int = 0,
) -> plans_pb2.SubmitPlanRequest:
    shape = parse_mesh(mesh)
    _check_solo(solo, links, platform)
    axes = read_links(links, shape) or {"alpha": [], "beta": []}
    request = plan_pb2.PlanRequest(
        model_name=name,
        mesh=plan_pb2.MeshSpec(shape=shape),
        device_memory_bytes=parse_bytes(memory, "memory"),
        platform=platform,
        no_wait=no_wait,
        full_space=full_space,
        xla_flags=xla_flags,
        strategies=from_strategies(strategies or Strategies()),
        solo=solo,
        links=[
            plan_pb2.AxisLink(alpha=alpha, beta=beta)
            for alpha, beta in zip(axes["alpha"], axes["beta"])
        ],
    )
    return plans_pb2.SubmitPlanRequest(
        request=request,
        module_sha256=module_sha256,
        namespace=namespace,
        owner=owner or os.environ.get("USER", ""),
        request_id=request_id,
        priority=priority,
        timeout_ns=round((timeout or 0) * 1e9),
    )


def _check_solo(solo: bool, links: Links | None, platform: str) -> None:
    if solo and platform != "cuda":
        raise InvalidArgument(
            "solo: one device can stand for a mesh only on the platform cuda"
        )
    if solo and links is None:
        raise InvalidArgument(
            "solo: a plan in which one device stands for the mesh needs the "
            "links of its axes; give links"
        )
    if links is not None and not solo:
        raise InvalidArgument(
            "links: they are measured on a mesh that is there; give them with "
            "solo=True only"
        )


def find_lack(
    workers: Iterable[reports_pb2.WorkerSummary], request: plan_pb2.PlanRequest
) -> FailedPrecondition | None:
    """Why a plan that waits would do so for ever.

    ``workers``: of a client's own service, to which no others come. A plan
    whose programs the store knows never waits for one.
    """
    away = reports_pb2.WorkerSummary.AWAY  # of a service before
    there = [worker for worker in workers if worker.state != away]
    wanted = math.prod(request.mesh.shape)
    most = max(
        (w.device_count for w in there if w.platform == request.platform),
        default=0,
    )
    if not there or most >= wanted:
        return None
    return FailedPrecondition(
        f"the mesh has {wanted} {request.platform} devices and the service "
        f"of this machine {most}; set MESHWRIGHT_ADDRESS to a service that "
        "has them, or give solo=True and links"
    )


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def chunks(content: bytes) -> Iterator[plans_pb2.ModuleChunk]:
    """The first one names the module and says how large it is."""
    for at in range(0, len(content), _CHUNK_BYTES):
        chunk = plans_pb2.ModuleChunk(data=content[at : at + _CHUNK_BYTES])
        if at == 0:
            chunk.sha256 = sha256(content)
            chunk.module_bytes = len(content)
        yield chunk


def metadata(settings: ServiceSettings) -> tuple[tuple[str, str], ...]:
    pairs = []
    if token := settings.read_token():
        pairs.append(("authorization", f"Bearer {token}"))
    if trace := os.environ.get("TRACEPARENT"):
        pairs.append(("traceparent", trace))
    return tuple(pairs)


def translate(error: Any, settings: ServiceSettings) -> MeshwrightError:
    """The exception of a call that failed (a grpc.RpcError)."""
    code = error.code()
    said = error.details() or ""
    where = settings.address
    if code == grpc.StatusCode.UNAVAILABLE and _is_transport(said):
        return Unavailable(
            f"no coordinator answers at {where}"
            + (
                " over TLS; check MESHWRIGHT_ADDRESS, and that the CA of "
                "MESHWRIGHT_CA signed its certificate"
                if settings.ca
                else '; start one with "meshwright up", check '
                "MESHWRIGHT_ADDRESS, or set MESHWRIGHT_CA if it asks for TLS"
            )
        )
    if code == grpc.StatusCode.DEADLINE_EXCEEDED:
        return DeadlineExceeded(
            f"the coordinator at {where} did not answer in time: {said}"
        )
    if code == grpc.StatusCode.UNIMPLEMENTED and _is_unknown_call(said):
        return Unimplemented(
            f"the service at {where} does not know this call: it is of "
            f"another version than this package ({__version__}), or no "
            "coordinator; install the meshwright of the service's version"
        )
    if code == grpc.StatusCode.UNAUTHENTICATED:
        source = settings.token_file or "MESHWRIGHT_TOKEN"
        return Unauthenticated(f"{source}: {where} refused the token: {said}")
    return error_of_code(code.value[0], said)


def find_leader(
    error: Any, settings: ServiceSettings
) -> ServiceSettings | None:
    """Of the coordinator that alone answers this call (a grpc.RpcError)."""
    if error.code() != grpc.StatusCode.UNAVAILABLE:
        return None
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin" and value:
            try:
                leader = dataclasses.replace(settings, address=value.decode())
                return leader.with_environment()
            # Details of somebody between; beyond this machine, without TLS.
            except (UnicodeDecodeError, InvalidArgument):
                return None
    return None


def _is_transport(said: str) -> bool:
    """Whether gRPC says it, and not the coordinator."""
    return bool(
        re.search(
            r"failed to connect|Connection|Socket|socket|DNS|handshake|"
            r"GOAWAY|transport|recvmsg|No such file",
            said,
        )
    )


def _is_unknown_call(said: str) -> bool:
    return said in ("", "Method not found!", "unimplemented") or bool(
        re.search(r"[Mm]ethod|[Uu]nknown service|http status|status: 404", said)
    )


class ExportedFiles:
    """Files by name, from the chunks of ``Plans.Export``."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._report: Any = None

    def add(self, chunk: plans_pb2.ExportPlanChunk) -> None:
        self._data += chunk.data
        if chunk.HasField("report"):
            self._report = chunk.report

    def files(self) -> dict[str, bytes]:
        if self._report is None:
            raise Internal("the coordinator sent no end of the modules")
        found, at = {}, 0
        for file in self._report.files:
            found[file.name] = bytes(self._data[at : at + file.bytes])
            at += file.bytes
        return found


def not_ended(
    id: str,
    seconds: float | None,
    last: PlanUpdate | None,
    settings: ServiceSettings,
) -> str:
    """``settings``: of the client, whose own service ends with it."""
    why = f" ({last.reason})" if last is not None and last.reason else ""
    further = (
        "it stops when its client closes; what it measured is kept"
        if settings.is_embedded
        else "it goes on at the coordinator"
    )
    return (
        f"{id} has not ended in {format_seconds(seconds or 0)}{why}; {further}"
    )


def limit(seconds: float, until: float | None) -> float:
    """Of a call that a wait until then (monotonic) is part of."""
    if until is None:
        return seconds
    return min(seconds, max(until - time.monotonic(), 0))


def plan_of(update: PlanUpdate, id: str) -> Plan:
    """The plan of an update that ends one; raises what it failed with."""
    if update.state == "done" and update.plan is not None:
        return update.plan
    if update.state == "cancelled":
        raise Cancelled(f"{id}: {update.reason}")
    raise error_of_code(update.error_code, update.reason or f"{id} failed")
