"""Makes the stubs of proto/v1 in build/, and finds a service to ask."""

from __future__ import annotations

import hashlib
import os
import pathlib
import shutil
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]


def _find_binary() -> str | None:
    built = ROOT / "build" / "release" / "bin" / "meshwright"
    named = os.environ.get("MESHWRIGHT_BINARY", str(built))
    return named if os.access(named, os.X_OK) else None


def _add_stubs() -> None:
    """The package in the tree has none: they come from build/."""
    try:
        import google.protobuf
        import grpc_tools  # noqa: F401

        import build_stubs
        import meshwright
    except ImportError:
        return
    protos = ROOT / "proto" / "v1"
    content = b"".join(p.read_bytes() for p in sorted(protos.glob("*.proto")))
    digest = hashlib.sha256(content).hexdigest()[:12]
    version = google.protobuf.__version__
    output = ROOT / "build" / "python" / f"stubs-{version}-{digest}"
    if not output.exists():
        output.parent.mkdir(parents=True, exist_ok=True)
        fresh = pathlib.Path(tempfile.mkdtemp(dir=output.parent))
        build_stubs.build_stubs(protos, fresh)
        try:
            fresh.rename(output)
        except OSError:  # another run of the tests was first
            shutil.rmtree(fresh)
    meshwright.__path__.append(str(output / "meshwright"))


os.environ.pop("MESHWRIGHT_ADDRESS", None)
if (found := _find_binary()) is not None:
    os.environ["MESHWRIGHT_BINARY"] = found
# Times of these tests say nothing: they wait neither for a calm machine nor
# for others that measure.
os.environ.setdefault("MESHWRIGHT_CALM_SECONDS", "0")
os.environ.setdefault("MESHWRIGHT_LOCK_FOLDER", tempfile.mkdtemp())
# Before JAX is imported.
os.environ.setdefault(
    "XLA_FLAGS", "--xla_force_host_platform_device_count=4"
)
os.environ.setdefault("JAX_PLATFORMS", "cpu")
_add_stubs()


@pytest.fixture(scope="session")
def binary() -> str:
    """The meshwright program."""
    if found is None:
        pytest.skip("no meshwright program: build it or set MESHWRIGHT_BINARY")
    return found


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store for all tests of a session."""
    return str(tmp_path_factory.mktemp("store") / "profiles.db")
