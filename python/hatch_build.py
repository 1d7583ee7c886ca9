"""The wheel's build: stubs of proto/v1, and the programs where they are named.

Concept: MESHWRIGHT_WHEEL_BINARIES names a folder with PROGRAMS (a build's
``bin``), MESHWRIGHT_WHEEL_CPU_PLUGIN a PJRT plugin. They go to
``meshwright/_native``, a command ``meshwright`` starts the first, and the wheel
is one of this platform; auditwheel adds the libraries that they need
(build_wheel.sh). Without them it is one for every platform, and planning needs
a service.
"""

from __future__ import annotations

import os
import pathlib
import sys
import sysconfig
import tempfile
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# The worker: `meshwright up --slurm` starts it on the nodes of a job.
PROGRAMS = ("meshwright", "meshwright-runner", "meshwright-worker")


class Hook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            raise RuntimeError(
                "an editable install has no stubs: put python/ in PYTHONPATH "
                "and run build_stubs.py"
            )
        root = pathlib.Path(self.root)
        self.folder = tempfile.TemporaryDirectory()
        self._add_stubs(root, build_data["force_include"])
        if folder := os.environ.get("MESHWRIGHT_WHEEL_BINARIES"):
            self._add_programs(
                pathlib.Path(folder), build_data["force_include"]
            )
            platform = sysconfig.get_platform().replace("-", "_")
            build_data["shared_scripts"][str(root / "command.py")] = (
                "meshwright"
            )
            build_data["tag"] = f"py3-none-{platform}"
            build_data["pure_python"] = False

    def finalize(self, *_: object) -> None:
        self.folder.cleanup()

    def _add_stubs(self, root: pathlib.Path, include: dict[str, str]) -> None:
        sys.path.insert(0, str(root))
        from build_stubs import PACKAGE, build_stubs

        inside, beside = root / "proto" / "v1", root.parent / "proto" / "v1"
        protos = inside if inside.is_dir() else beside
        build_stubs(protos, pathlib.Path(self.folder.name))
        include[f"{self.folder.name}/{PACKAGE}"] = PACKAGE

    def _add_programs(
        self, folder: pathlib.Path, include: dict[str, str]
    ) -> None:
        programs = [folder / name for name in PROGRAMS]
        for program in programs:
            if not os.access(program, os.X_OK):
                raise RuntimeError(
                    f"MESHWRIGHT_WHEEL_BINARIES: there is no {program}"
                )
            include[str(program)] = f"meshwright/_native/bin/{program.name}"
        if plugin := os.environ.get("MESHWRIGHT_WHEEL_CPU_PLUGIN"):
            include[plugin] = "meshwright/_native/plugins/pjrt_cpu.so"
