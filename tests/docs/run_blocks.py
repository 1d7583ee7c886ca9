"""Runs the blocks of pages of docs/: run_blocks.py PROGRAMS PAGE...

PROGRAMS is the folder of the built programs. Each page has a temporary folder,
in which its blocks run in order (blocks.py says what their marks mean). Blocks
of Python, and pages that call `python`, need MESHWRIGHT_EXPORT_PYTHON: an
interpreter with the packages of python/requirements-tests.txt. Pages that need
torch run with that of MESHWRIGHT_TORCH_PYTHON, where the first has none. Prints
how many blocks ran, and why others did not.
"""

from __future__ import annotations

import collections
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from blocks import (  # noqa: E402
    BadBlock,
    Block,
    find_blocks,
    find_uses,
    matches,
    needs_torch,
)

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT_SECONDS = 600


class Fault(Exception):
    """A block that does not do what its page says."""


def make_package(python: str, folder: pathlib.Path) -> None:
    """The package with its stubs, as an installed wheel has it."""
    shutil.copytree(ROOT / "python" / "meshwright", folder / "meshwright",
                    ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([python, "-B", ROOT / "python" / "build_stubs.py", folder],
                   check=True)


def _has_torch(python: str) -> bool:
    code = "import importlib.util as u; exit(u.find_spec('torch') is None)"
    return subprocess.run([python, "-c", code], check=False).returncode == 0


class Interpreters:
    """Those that the environment names, each with a folder of the package."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.packages: dict[str, pathlib.Path] = {}
        self.plain = os.environ.get("MESHWRIGHT_EXPORT_PYTHON", "")
        self.torch = os.environ.get("MESHWRIGHT_TORCH_PYTHON") or self.plain
        if self.torch and not _has_torch(self.torch):
            self.torch = ""

    def find(self, page: str) -> str:
        """Empty: there is none for the page."""
        return self.torch if needs_torch(page) else self.plain

    def package(self, python: str) -> pathlib.Path:
        if python not in self.packages:
            folder = self.folder / str(len(self.packages))
            make_package(python, folder)
            self.packages[python] = folder
        return self.packages[python]


def _end_with(service: subprocess.Popen) -> None:
    """Reads what it says; a page may end it, and wait until it is gone."""
    service.stdout.read()
    service.wait()


class Page:
    def __init__(self, path: pathlib.Path, programs: pathlib.Path,
                 interpreters: Interpreters):
        self.path = path
        self.text = path.read_text()
        self.python = interpreters.find(self.text)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="meshwright-docs-"))
        self.services: list[subprocess.Popen] = []
        self.printed = ""
        tools = [str(programs)]
        package = ""
        if self.python:
            (self.folder / ".bin").mkdir()
            for name, call in (("python", ""),
                               ("torchrun", "-m torch.distributed.run")):
                link = self.folder / ".bin" / name
                link.write_text(f'#!/bin/sh\nexec "{self.python}" {call} "$@"\n')
                link.chmod(0o755)
            tools.append(str(self.folder / ".bin"))
            package = str(interpreters.package(self.python))
        self.environment = {
            "PATH": ":".join([*tools, os.environ["PATH"]]),
            "HOME": str(self.folder), "XDG_DATA_HOME": str(self.folder / ".data"),
            "PYTHONPATH": package, "PYTHONDONTWRITEBYTECODE": "1",
            "MESHWRIGHT_BINARY": str(programs / "meshwright"),
            # Times of this test say nothing: it waits for no calm machine, and
            # compiles quickly.
            "MESHWRIGHT_CALM_SECONDS": "0",
            "MESHWRIGHT_XLA_FLAGS": "--xla_backend_optimization_level=0",
            "MESHWRIGHT_LOCK_FOLDER": str(self.folder),
            "JAX_PLATFORMS": "cpu", "USER": "you"}

    def run(self, block: Block) -> None:
        if block.file:
            place = self.folder / block.file
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(block.text)
        elif block.is_output:
            if not matches(block.text, self.printed, block.is_figures):
                raise Fault(f"the block before printed\n{self.printed}")
        elif block.is_service:
            self.serve(block)
        else:
            command = (["bash", "-euo", "pipefail", "-c", block.text]
                       if block.language == "sh" else
                       [self.python, "-c", block.text])
            ended = subprocess.run(
                command, cwd=self.folder, env=self.environment, text=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, timeout=LIMIT_SECONDS)
            self.printed = ended.stdout
            if ended.returncode != block.status:
                raise Fault(f"status {ended.returncode} in place of "
                            f"{block.status}:\n{ended.stdout}")

    def serve(self, block: Block) -> None:
        service = subprocess.Popen(
            ["bash", "-c", "exec " + block.text.strip()], cwd=self.folder,
            env=self.environment, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.services.append(service)
        self.printed = service.stdout.readline()
        if not self.printed:
            raise Fault("the service said nothing and ended")
        threading.Thread(target=_end_with, args=[service], daemon=True).start()

    def close(self) -> None:
        for service in reversed(self.services):
            service.send_signal(signal.SIGTERM)
            service.wait(timeout=LIMIT_SECONDS)
        shutil.rmtree(self.folder, ignore_errors=True)


def run_page(page: Page, counts: collections.Counter) -> list[str]:
    """Faults, each with its place; what follows a fault is not run."""
    text = page.text
    name = page.path.relative_to(ROOT)
    try:
        blocks = find_blocks(text)
    except BadBlock as bad:
        return [f"{name}: {bad}"]
    for file, source in find_uses(text).items():
        shutil.copyfile(ROOT / source, page.folder / file)
    if not page.python and any(
            it.language == "python" or "python " in it.text for it in blocks):
        counts["torch" if needs_torch(text) else "python"] += len(blocks)
        return []
    for block in blocks:
        if block.needs:
            counts[block.needs] += 1
            continue
        try:
            page.run(block)
        except (Fault, subprocess.TimeoutExpired) as fault:
            return [f"{name}:{block.line}: {fault}\n{block.text}"]
        counts["run"] += 1
    return []


def main() -> int:
    programs = pathlib.Path(sys.argv[1]).resolve()
    counts: collections.Counter = collections.Counter()
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        interpreters = Interpreters(pathlib.Path(folder))
        for path in sys.argv[2:]:
            page = Page(pathlib.Path(path).resolve(), programs, interpreters)
            try:
                faults += run_page(page, counts)
            finally:
                page.close()
    print(f"blocks run: {counts.pop('run', 0)}")
    for reason, count in sorted(counts.items()):
        print(f"skipped: {count} blocks of the pages need {reason}")
    print("\n".join(faults))
    return 1 if faults or not sys.argv[2:] else 0


if __name__ == "__main__":
    sys.exit(main())
