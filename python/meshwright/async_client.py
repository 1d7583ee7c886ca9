"""AsyncClient: the Client for asyncio; what it says holds here, too."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import grpc

from meshwright import _messages, _requests
from meshwright._channel import open_async_channel
from meshwright._client_base import (
    ClientBase,
    page_request,
    what_if_request,
)
from meshwright._links import read_links
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


class AsyncClient(ClientBase):
    """``address`` and the rest: see ``ServiceSettings``."""

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        if self._channel is not None:
            await self._channel.close()
        self._channel = None
        self._open_settings = None
        if self._local is not None:
            await asyncio.to_thread(self._local.stop)

    async def submit(
        self,
        module: Module,
        *,
        mesh: Mesh,
        name: str = "",
        timeout: float | str | None = None,
        _until: float | None = None,
        **options: Unpack[PlanOptions],
    ) -> PlanRecord:
        content, file_name = await asyncio.to_thread(
            _requests.read_module, module, _until
        )
        options.setdefault("platform", self._platform)
        digest = _requests.sha256(content)
        if "links" in options:  # of a cluster file: the program reads it
            options["links"] = await asyncio.to_thread(
                read_links, options["links"], parse_mesh(mesh)
            )
        request = _requests.submission(
            digest,
            mesh=mesh,
            name=name or file_name,
            timeout=parse_seconds(timeout, "timeout"),
            **options,
        )
        await self._connect(
            _requests.count_devices(parse_mesh(mesh)),
            _until,
            request.request.solo,
        )
        lack = None
        if self._local is not None:
            lack = await self._find_lack(request, _until)
        try:
            record = await self._put_and_submit(
                digest, content, request, _until
            )
        except NotFound:  # garbage collection took the module in between
            record = await self._put_and_submit(
                digest, content, request, _until
            )
        if lack is not None:
            self._lacks[record.id] = lack
        return _messages.to_record(record)

    async def _find_lack(
        self, request: plans_pb2.SubmitPlanRequest, until: float | None
    ) -> FailedPrecondition | None:
        listed = await self._call(
            services_pb2_grpc.PlanningStub,
            "ListWorkers",
            services_pb2.ListWorkersRequest(),
            _requests.limit(_requests.CALL_SECONDS, until),
        )
        return _requests.find_lack(listed.workers, request.request)

    async def _put_and_submit(
        self,
        digest: str,
        content: bytes,
        request: plans_pb2.SubmitPlanRequest,
        until: float | None,
    ) -> plan_record_pb2.PlanRecord:
        known = await self._call(
            plans_pb2_grpc.ModulesStub,
            "Has",
            plans_pb2.HasModuleRequest(sha256=digest),
            _requests.limit(_requests.CALL_SECONDS, until),
        )
        if not known.has:
            await self._call(
                plans_pb2_grpc.ModulesStub,
                "Put",
                _requests.chunks(content),
                _requests.limit(_requests.ANALYSIS_SECONDS, until),
            )
        record: plan_record_pb2.PlanRecord = await self._call(
            plans_pb2_grpc.PlansStub,
            "Submit",
            request,
            _requests.limit(_requests.CALL_SECONDS, until),
        )
        return record

    async def plan(
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
        seconds = parse_seconds(wait, "wait")
        until = None if seconds is None else time.monotonic() + seconds
        record = await self.submit(
            module,
            mesh=mesh,
            name=name,
            timeout=timeout,
            _until=until,
            **options,
        )
        left = None if until is None else max(until - time.monotonic(), 0)
        return await self.wait(
            record.id, wait=left, progress=progress, on_update=on_update
        )

    async def wait(
        self,
        id: str,
        *,
        wait: float | str | None = None,
        progress: bool | None = None,
        on_update: OnUpdate | None = None,
    ) -> Plan:
        with ProgressDisplay(progress, id) as display:
            async for update in self.watch(id, wait=wait):
                display.update(update)
                if on_update is not None:
                    on_update(update)
                if update.state == "waiting" and id in self._lacks:
                    await self.cancel(id)
                    raise self._lacks.pop(id)
                if update.has_ended:
                    return _requests.plan_of(update, id)
        raise Internal(f"the coordinator said no end of {id}")

    async def watch(
        self, id: str, *, after: int = 0, wait: float | str | None = None
    ) -> AsyncIterator[PlanUpdate]:
        seconds = parse_seconds(wait, "wait")
        until = None if seconds is None else time.monotonic() + seconds
        broken: float | None = None  # since when
        last: PlanUpdate | None = None
        while True:
            settings = await self._connect()
            stub = plans_pb2_grpc.PlansStub(self._channel)
            left = None if until is None else max(until - time.monotonic(), 0)
            tried = time.monotonic()
            try:
                async for message in stub.Watch(
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
            except grpc.aio.AioRpcError as rpc_error:
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
                await asyncio.sleep(_requests.RECONNECT_PAUSE_SECONDS)

    async def get(self, id: str) -> PlanRecord:
        return _messages.to_record(
            await self._call(
                plans_pb2_grpc.PlansStub,
                "Get",
                plans_pb2.GetPlanRequest(id=id),
            )
        )

    async def plans(
        self, *, owner: str = "", namespace: str = "", limit: int = 100
    ) -> list[PlanRecord]:
        found: list[PlanRecord] = []
        token = ""
        while len(found) < limit:
            page = await self._call(
                plans_pb2_grpc.PlansStub,
                "List",
                page_request(owner, namespace, limit - len(found), token),
            )
            found += [_messages.to_record(record) for record in page.plans]
            token = page.next_page_token
            if not token:
                break
        return found

    async def cancel(self, id: str) -> PlanRecord:
        return _messages.to_record(
            await self._call(
                plans_pb2_grpc.PlansStub,
                "Cancel",
                plans_pb2.CancelPlanRequest(id=id),
            )
        )

    async def explain(self, id: str) -> Explanation:
        answer = await self._call(
            plans_pb2_grpc.PlansStub,
            "Explain",
            plans_pb2.ExplainPlanRequest(id=id),
            _requests.ANALYSIS_SECONDS,
        )
        return Explanation.from_json(_messages.message_to_json(answer))

    async def export(self, id: str) -> dict[str, bytes]:
        settings = await self._connect()
        files = _requests.ExportedFiles()
        try:
            async for chunk in plans_pb2_grpc.PlansStub(self._channel).Export(
                plans_pb2.ExportPlanRequest(id=id),
                timeout=_requests.ANALYSIS_SECONDS,
                metadata=_requests.metadata(settings),
            ):
                files.add(chunk)
        except grpc.RpcError as error:
            raise _requests.translate(error, settings) from None
        return files.files()

    async def diff(self, a: str, b: str) -> Difference:
        answer = await self._call(
            plans_pb2_grpc.PlansStub,
            "Diff",
            plans_pb2.DiffPlansRequest(a=a, b=b),
            _requests.ANALYSIS_SECONDS,
        )
        return Difference.from_json(_messages.message_to_json(answer))

    async def what_if(
        self,
        id: str,
        *,
        memory: int | str | None = None,
        mesh: Mesh | None = None,
    ) -> Plan:
        return _messages.to_plan(
            await self._call(
                plans_pb2_grpc.PlansStub,
                "WhatIf",
                what_if_request(id, memory, mesh),
                _requests.ANALYSIS_SECONDS,
            )
        )

    async def _connect(
        self,
        devices: int = 1,
        until: float | None = None,
        solo: bool | None = None,
    ) -> ServiceSettings:
        settings = self._settings
        if self._local is not None:
            settings = await asyncio.to_thread(
                self._local.settings, devices, until, solo
            )
        if self._channel is None or settings != self._open_settings:
            if self._channel is not None:
                await self._channel.close()
            self._channel = open_async_channel(settings)
            self._open_settings = settings
        return settings

    async def _call(
        self,
        stub: Any,
        name: str,
        request: Any,
        seconds: float = _requests.CALL_SECONDS,
    ) -> Any:
        async def ask(channel: Any, settings: ServiceSettings) -> Any:
            return await getattr(stub(channel), name)(
                request,
                timeout=seconds,
                metadata=_requests.metadata(settings),
            )

        settings = await self._connect()
        try:
            return await ask(self._channel, settings)
        except grpc.RpcError as error:
            leader = _requests.find_leader(error, settings)
            if leader is None:
                raise _requests.translate(error, settings) from None
        try:
            async with open_async_channel(leader) as channel:
                return await ask(channel, leader)
        except grpc.RpcError as error:
            raise _requests.translate(error, leader) from None
