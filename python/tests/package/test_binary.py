"""What the program is told of this Python."""

from __future__ import annotations

import sys

from meshwright._binary import environment


def test_the_cuda_plugin_of_jaxs_packages_is_named(tmp_path, monkeypatch):
    for name in ("xla_cuda12", "xla_cuda13", "xla_rocm60"):
        folder = tmp_path / "jax_plugins" / name
        folder.mkdir(parents=True)
        (folder / "xla_cuda_plugin.so").touch()
    monkeypatch.delitem(sys.modules, "jax_plugins", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("MESHWRIGHT_CUDA_PLUGIN", raising=False)
    assert environment()["MESHWRIGHT_CUDA_PLUGIN"] == str(
        tmp_path / "jax_plugins" / "xla_cuda13" / "xla_cuda_plugin.so"
    )
    monkeypatch.setenv("MESHWRIGHT_CUDA_PLUGIN", "/opt/mine.so")
    assert environment()["MESHWRIGHT_CUDA_PLUGIN"] == "/opt/mine.so"
