"""A service with tokens and TLS: what it refuses is said by name."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess

import pytest

pytest.importorskip("grpc", reason="grpcio is not installed")
pytest.importorskip("grpc_tools", reason="grpcio-tools is not installed")

import meshwright  # noqa: E402


@contextlib.contextmanager
def service(binary, *flags):
    """The address of a service that ends with the block."""
    words = [binary, "up", "--json", "--listen", "localhost:0", *flags]
    process = subprocess.Popen(
        [*words, "--drain-seconds", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield json.loads(process.stdout.readline())["address"]
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


@pytest.fixture(scope="module")
def tokens(binary, tmp_path_factory):
    """A token file, and a token by role."""
    file = tmp_path_factory.mktemp("tokens") / "tokens.toml"
    made = {}
    for role in ("read", "submit"):
        done = subprocess.run(
            [binary, "tokens", "create", "--tokens", str(file)]
            + ["--role", role, "--name", role],
            check=True,
            capture_output=True,
            text=True,
        )
        made[role] = next(
            word for word in done.stdout.split() if word.startswith("mwt_")
        )
    return file, made


@pytest.fixture(scope="module")
def address(binary, tokens, tmp_path_factory):
    store = tmp_path_factory.mktemp("store") / "profiles.db"
    flags = ("--store", str(store), "--tokens", str(tokens[0]))
    with service(binary, *flags) as found:
        yield found


def test_a_token_of_the_environment_is_sent(address, tokens, monkeypatch):
    monkeypatch.setenv("MESHWRIGHT_TOKEN", tokens[1]["read"])
    monkeypatch.setenv("MESHWRIGHT_ADDRESS", address)
    with meshwright.Client() as client:
        assert client.plans() == []


@pytest.mark.parametrize("token", ["", "mwt_000000000000_" + 64 * "0"])
def test_a_refused_token_names_the_variable(address, token, monkeypatch):
    monkeypatch.delenv("MESHWRIGHT_TOKEN", raising=False)
    with (
        meshwright.Client(address, token=token) as client,
        pytest.raises(meshwright.Unauthenticated, match="^MESHWRIGHT_TOKEN: "),
    ):
        client.plans()


def test_a_role_that_is_too_small(address, tokens):
    with (
        meshwright.Client(address, token=tokens[1]["read"]) as client,
        pytest.raises(meshwright.PermissionDenied),
    ):
        client.cancel("plan-1")


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl")
def test_tls_with_the_ca_of_the_environment(
    binary, tokens, tmp_path, monkeypatch
):
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes"]
        + ["-keyout", str(key), "-out", str(certificate), "-days", "1"]
        + ["-subj", "/CN=localhost"]
        + ["-addext", "subjectAltName=DNS:localhost"],
        check=True,
        capture_output=True,
    )
    os.chmod(key, 0o600)
    flags = ("--store", str(tmp_path / "profiles.db"))
    flags += ("--tls-cert", str(certificate), "--tls-key", str(key))
    with service(binary, *flags) as address:
        with (
            meshwright.Client(address) as client,
            pytest.raises(meshwright.Unavailable, match="MESHWRIGHT_CA"),
        ):
            client.plans()
        monkeypatch.setenv("MESHWRIGHT_CA", str(certificate))
        with meshwright.Client(address) as client:
            assert client.plans() == []
