"""What Client and AsyncClient share: their settings, and their requests."""

from __future__ import annotations

import threading
from typing import Any

from meshwright._embedded import LocalService
from meshwright._requests import Mesh
from meshwright._stubs import plans_pb2
from meshwright.errors import FailedPrecondition
from meshwright.quantities import parse_bytes, parse_mesh
from meshwright.settings import ServiceSettings


class ClientBase:
    """``address`` and the rest: see ``ServiceSettings``."""

    def __init__(
        self,
        address: str = "",
        *,
        token: str = "",
        token_file: str = "",
        ca: str = "",
        certificate: str = "",
        key: str = "",
        insecure: bool = False,
        platform: str = "cpu",
        store: str | None = None,
    ) -> None:
        """``platform`` and ``store``: of a service on this machine."""
        self._settings = ServiceSettings(
            address, token, token_file, ca, certificate, key, insecure
        ).with_environment()
        self._platform = platform
        self._local = (
            LocalService(platform, store)
            if self._settings.is_embedded
            else None
        )
        self._lock = threading.Lock()  # of the channel, where threads share it
        self._channel: Any = None
        self._open_settings: ServiceSettings | None = None
        # By plan, where the client's own service lacks devices for it.
        self._lacks: dict[str, FailedPrecondition] = {}


def page_request(
    owner: str, namespace: str, size: int, token: str
) -> plans_pb2.ListPlansRequest:
    return plans_pb2.ListPlansRequest(
        owner=owner, namespace=namespace, page_size=size, page_token=token
    )


def what_if_request(
    id: str, memory: int | str | None, mesh: Mesh | None
) -> plans_pb2.WhatIfRequest:
    request = plans_pb2.WhatIfRequest(id=id)
    if memory is not None:
        request.change.device_memory_bytes = parse_bytes(memory, "memory")
    if mesh is not None:
        request.change.mesh.shape[:] = parse_mesh(mesh)
    return request
