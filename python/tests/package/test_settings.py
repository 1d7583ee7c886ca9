"""Where a client's address and token come from, and what is refused."""

from __future__ import annotations

import os
import pathlib
import stat
import types

import pytest

import meshwright
from meshwright.settings import ServiceSettings


def test_the_environment_fills_what_is_not_said(monkeypatch):
    monkeypatch.setenv("MESHWRIGHT_ADDRESS", "localhost:7070")
    monkeypatch.setenv("MESHWRIGHT_TOKEN", "mwt_a_b")
    settings = ServiceSettings().with_environment()
    assert settings.address == "localhost:7070"
    assert settings.read_token() == "mwt_a_b"
    assert "mwt_a_b" not in repr(settings)
    said = ServiceSettings(address="unix:/a/b").with_environment()
    assert said.address == "unix:/a/b"


def test_no_address_means_a_service_of_its_own(monkeypatch):
    monkeypatch.delenv("MESHWRIGHT_ADDRESS", raising=False)
    assert ServiceSettings().with_environment().is_embedded


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"address": "far.example:7070"}, "MESHWRIGHT_CA"),
        ({"address": "localhost:1", "certificate": "a"}, "needs its key"),
        (
            {"address": "localhost:1", "certificate": "a", "key": "b"},
            "with TLS only",
        ),
    ],
)
def test_settings_that_do_not_fit_together(given, message):
    with pytest.raises(meshwright.InvalidArgument, match=message):
        ServiceSettings(**given).with_environment()


def test_a_token_file_is_private_and_has_a_token(tmp_path):
    path = tmp_path / "token"
    path.write_text("mwt_a_b\nrest")
    settings = ServiceSettings("localhost:1", token_file=str(path))
    path.chmod(0o644)
    with pytest.raises(meshwright.FailedPrecondition, match="chmod 600"):
        settings.read_token()
    path.chmod(0o600)
    assert settings.read_token() == "mwt_a_b"
    path.write_text("\n")
    with pytest.raises(meshwright.FailedPrecondition, match="no token"):
        settings.read_token()


@pytest.mark.parametrize(
    ("owner", "mode", "is_read"),
    [(0, 0o440, True), (0, 0o444, False), (1000, 0o440, False)],
)
def test_a_token_file_of_root_may_be_lent_to_a_group(
    tmp_path, monkeypatch, owner, mode, is_read
):
    path = tmp_path / "token"
    path.write_text("mwt_a_b\n")
    info = types.SimpleNamespace(st_uid=owner, st_mode=stat.S_IFREG | mode)
    settings = ServiceSettings("localhost:1", token_file=str(path))
    with monkeypatch.context() as patch:
        patch.setattr(pathlib.Path, "stat", lambda *_, **__: info)
        patch.setattr(os, "geteuid", lambda: 1000)
        if is_read:
            assert settings.read_token() == "mwt_a_b"
        else:
            with pytest.raises(
                meshwright.FailedPrecondition, match="chmod 600"
            ):
                settings.read_token()
