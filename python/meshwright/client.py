"""Client: plans from a service, or from one that it starts on this machine.

Concept: a plan is submitted once and lives in the service. ``plan`` submits and
waits; a call that gives up, or a program that ends, leaves the plan to go on,
and ``watch`` takes it up again. A service that the client started ends with it,
and its store keeps what was measured. A connection that breaks while a plan is
watched is made anew, and the watch goes on behind the last update seen. A call
that only the leader of several coordinators answers is made once more there.
Threads: any number of calls at a time.
Errors: MeshwrightError by status (errors.py).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import grpc

from meshwright import _messages, _requests
from meshwright._channel import open_channel
from meshwright._client_base import (
    ClientBase,
    page_request,
    what_if_request,
)
from meshwright._progress import OnUpdate, ProgressDisplay
from meshwright._requests import Mesh, Module, PlanOptions
from meshwright._stubs import (
    plan_record_pb2,
    plans_pb2,
    plans_pb2_grpc,
    services_pb2,
    services_pb2_grpc,
)
from meshwright.errors import (
    DeadlineExceeded,
    FailedPrecondition,
    Internal,
    NotFound,
    Unavailable,
)
from meshwright.plan import Plan
from meshwright.quantities import parse_mesh, parse_seconds
from meshwright.records import PlanRecord, PlanUpdate
from meshwright.reports import Difference, Explanation
from meshwright.settings import ServiceSettings

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Client(ClientBase):
    """``address`` and the rest: see ``ServiceSettings``."""

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection, and the service where it is this client's."""
        if self._channel is not None:
            self._channel.close()
        self._channel = None
        self._open_settings = None
        if self._local is not None:
            self._local.stop()

    def submit(
        self,
        module: Module,
        *,
        mesh: Mesh,
        name: str = "",
        timeout: float | str | None = None,
        _until: float | None = None,
        **options: Unpack[PlanOptions],
    ) -> PlanRecord:
        """Hands in a serialized HLO module or StableHLO, or the file of one.

        ``timeout``: the service fails the plan if it has not ended by then.
        ``options``: see ``PlanOptions``.
        """
        content, file_name = _requests.read_module(module, _until)
        options.setdefault("platform", self._platform)
        digest = _requests.sha256(content)
        request = _requests.submission(
            digest,
            mesh=mesh,
            name=name or file_name,
            timeout=parse_seconds(timeout, "timeout"),
            **options,
        )
        self._connect(
            _requests.count_devices(parse_mesh(mesh)),
            _until,
            request.request.solo,
        )
        lack = None
        if self._local is not None:
            lack = self._find_lack(request, _until)
        try:
            record = self._put_and_submit(digest, content, request, _until)
        except NotFound:  # garbage collection took the module in between
            record = self._put_and_submit(digest, content, request, _until)
        if lack is not None:
            self._lacks[record.id] = lack
        return _messages.to_record(record)

    def _find_lack(
        self, request: plans_pb2.SubmitPlanRequest, until: float | None
    ) -> FailedPrecondition | None:
        listed = self._call(
            services_pb2_grpc.PlanningStub,
            "ListWorkers",
            services_pb2.ListWorkersRequest(),
            _requests.limit(_requests.CALL_SECONDS, until),
        )
        return _requests.find_lack(listed.workers, request.request)

    def _put_and_submit(
        self,
        digest: str,
        content: bytes,
        request: plans_pb2.SubmitPlanRequest,
        until: float | None,
    ) -> plan_record_pb2.PlanRecord:
        known = self._call(
            plans_pb2_grpc.ModulesStub,
            "Has",
            plans_pb2.HasModuleRequest(sha256=digest),
            _requests.limit(_requests.CALL_SECONDS, until),
        )
        if not known.has:
            self._call(
                plans_pb2_grpc.ModulesStub,
                "Put",
                _requests.chunks(content),
                _requests.limit(_requests.ANALYSIS_SECONDS, until),
            )
        record: plan_record_pb2.PlanRecord = self._call(
            plans_pb2_grpc.PlansStub,
            "Submit",
            request,
            _requests.limit(_requests.CALL_SECONDS, until),
        )
        return record

    def plan(
        self,
        module: Module,
        *,
        mesh: Mesh,
        name: str = "",
        timeout: float | str | None = None,
        wait: float | str | None = None,
        progress: bool | None = None,
        on_update: OnUpdate | None = None,
        **options: Unpack[PlanOptions],
    ) -> Plan:
        """Submits and waits for the plan; ``options`` are those of submit.

        ``wait``: DeadlineExceeded after so long; the plan goes on. A service
        of the client's own has so long to start, or a minute without it.
        ``progress``: bars on stderr; None: where somebody looks, and
        elsewhere a line for each reason why the plan waits.
        """
        seconds = parse_seconds(wait, "wait")
        until = None if seconds is None else time.monotonic() + seconds
        record = self.submit(
            module,
            mesh=mesh,
            name=name,
            timeout=timeout,
            _until=until,
            **options,
        )
        left = None if until is None else max(until - time.monotonic(), 0)
        return self.wait(
            record.id, wait=left, progress=progress, on_update=on_update
        )

    def wait(
        self,
        id: str,
        *,
        wait: float | str | None = None,
        progress: bool | None = None,
        on_update: OnUpdate | None = None,
    ) -> Plan:
        """The plan, once it is done; raises what it failed with."""
        with ProgressDisplay(progress, id) as display:
            for update in self.watch(id, wait=wait):
                display.update(update)
                if on_update is not None:
                    on_update(update)
                if update.state == "waiting" and id in self._lacks:
                    self.cancel(id)
                    raise self._lacks.pop(id)
                if update.has_ended:
                    return _requests.plan_of(update, id)
        raise Internal(f"the coordinator said no end of {id}")

    def watch(
        self, id: str, *, after: int = 0, wait: float | str | None = None
    ) -> Iterator[PlanUpdate]:
        """The updates of a plan behind number ``after``, until it ends."""
        seconds = parse_seconds(wait, "wait")
        until = None if seconds is None else time.monotonic() + seconds
        broken: float | None = None  # since when
        last: PlanUpdate | None = None
        while True:
            settings = self._connect()
            stub = plans_pb2_grpc.PlansStub(self._channel)
            left = None if until is None else max(until - time.monotonic(), 0)
            tried = time.monotonic()
            try:
                for message in stub.Watch(
                    plans_pb2.WatchPlanRequest(id=id, after=after),
                    timeout=left,
                    metadata=_requests.metadata(settings),
                ):
                    broken = None
                    after = max(after, message.sequence)
                    update = _messages.to_update(message, id)
                    last = update if update.state else last
                    yield update
                    if update.has_ended:
                        return
                return
            except grpc.RpcError as rpc_error:
                if rpc_error.code() == grpc.StatusCode.DEADLINE_EXCEEDED:
                    raise DeadlineExceeded(
                        _requests.not_ended(
                            id, seconds, last, self._settings
                        )
                    ) from None
                error = _requests.translate(rpc_error, settings)
                broken = _requests.broken_since(broken, tried)
                if not isinstance(error, Unavailable) or (
                    time.monotonic() - broken > _requests.RECONNECT_SECONDS
                ):
                    raise error from None
                time.sleep(_requests.RECONNECT_PAUSE_SECONDS)

    def get(self, id: str) -> PlanRecord:
        return _messages.to_record(
            self._call(plans_pb2_grpc.PlansStub, "Get", plans_pb2.GetPlanRequest(id=id))
        )

    def plans(
        self, *, owner: str = "", namespace: str = "", limit: int = 100
    ) -> list[PlanRecord]:
        """The newest first, without their plans."""
        found: list[PlanRecord] = []
        token = ""
        while len(found) < limit:
            page = self._call(
                plans_pb2_grpc.PlansStub,
                "List",
                page_request(owner, namespace, limit - len(found), token),
            )
            found += [_messages.to_record(record) for record in page.plans]
            token = page.next_page_token
            if not token:
                break
        return found

    def cancel(self, id: str) -> PlanRecord:
        return _messages.to_record(
            self._call(plans_pb2_grpc.PlansStub, "Cancel", plans_pb2.CancelPlanRequest(id=id))
        )

    def explain(self, id: str) -> Explanation:
        """What each choice of a plan that is done saves."""
        answer = self._call(
            plans_pb2_grpc.PlansStub,
            "Explain",
            plans_pb2.ExplainPlanRequest(id=id),
            _requests.ANALYSIS_SECONDS,
        )
        return Explanation.from_json(_messages.message_to_json(answer))

    def export(self, id: str) -> dict[str, bytes]:
        """The modules that run a plan that is done, by file name.

        One without stages has "module.hlo.pb": the step with a sharding of the
        plan at every instruction.
        """
        settings = self._connect()
        files = _requests.ExportedFiles()
        try:
            for chunk in plans_pb2_grpc.PlansStub(self._channel).Export(
                plans_pb2.ExportPlanRequest(id=id),
                timeout=_requests.ANALYSIS_SECONDS,
                metadata=_requests.metadata(settings),
            ):
                files.add(chunk)
        except grpc.RpcError as error:
            raise _requests.translate(error, settings) from None
        return files.files()

    def diff(self, a: str, b: str) -> Difference:
        """Plan ``b`` minus plan ``a``, both done."""
        answer = self._call(
            plans_pb2_grpc.PlansStub,
            "Diff",
            plans_pb2.DiffPlansRequest(a=a, b=b),
            _requests.ANALYSIS_SECONDS,
        )
        return Difference.from_json(_messages.message_to_json(answer))

    def what_if(
        self,
        id: str,
        *,
        memory: int | str | None = None,
        mesh: Mesh | None = None,
    ) -> Plan:
        """The plan for another memory limit or mesh; nothing is measured."""
        return _messages.to_plan(
            self._call(
                plans_pb2_grpc.PlansStub,
                "WhatIf",
                what_if_request(id, memory, mesh),
                _requests.ANALYSIS_SECONDS,
            )
        )

    def _connect(
        self,
        devices: int = 1,
        until: float | None = None,
        solo: bool | None = None,
    ) -> ServiceSettings:
        settings = self._settings
        if self._local is not None:
            settings = self._local.settings(devices, until, solo)
        with self._lock:
            if self._channel is None or settings != self._open_settings:
                if self._channel is not None:
                    self._channel.close()
                self._channel = open_channel(settings)
                self._open_settings = settings
        return settings

    def _call(
        self,
        stub: Any,
        name: str,
        request: Any,
        seconds: float = _requests.CALL_SECONDS,
    ) -> Any:
        def ask(channel: Any, settings: ServiceSettings) -> Any:
            return getattr(stub(channel), name)(
                request,
                timeout=seconds,
                metadata=_requests.metadata(settings),
            )

        settings = self._connect()
        try:
            return ask(self._channel, settings)
        except grpc.RpcError as error:
            leader = _requests.find_leader(error, settings)
            if leader is None:
                raise _requests.translate(error, settings) from None
        try:
            with open_channel(leader) as channel:
                return ask(channel, leader)
        except grpc.RpcError as error:
            raise _requests.translate(error, leader) from None
