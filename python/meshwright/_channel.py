"""gRPC channels as the settings say; local, or with TLS."""

from __future__ import annotations

import os
import pathlib
from typing import Any

os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # its sentences become ours

import grpc  # noqa: E402
import grpc.aio  # noqa: E402

from meshwright.errors import FailedPrecondition  # noqa: E402
from meshwright.settings import ServiceSettings  # noqa: E402

_OPTIONS = [
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.enable_http_proxy", 0),
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 5_000),
]


def _read(path: str, name: str) -> bytes:
    try:
        return pathlib.Path(path).read_bytes()
    except OSError as error:
        raise FailedPrecondition(f"{name}: {error}") from None


def _credentials(settings: ServiceSettings) -> Any:
    return grpc.ssl_channel_credentials(
        root_certificates=_read(settings.ca, "MESHWRIGHT_CA"),
        private_key=_read(settings.key, "key") if settings.key else None,
        certificate_chain=_read(settings.certificate, "certificate")
        if settings.certificate
        else None,
    )


def open_channel(settings: ServiceSettings) -> Any:
    if settings.ca:
        return grpc.secure_channel(
            settings.address, _credentials(settings), _OPTIONS
        )
    return grpc.insecure_channel(settings.address, _OPTIONS)


def open_async_channel(settings: ServiceSettings) -> Any:
    if settings.ca:
        return grpc.aio.secure_channel(
            settings.address, _credentials(settings), _OPTIONS
        )
    return grpc.aio.insecure_channel(settings.address, _OPTIONS)
