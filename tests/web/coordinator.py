"""A real coordinator with a dashboard, on a store that has plans already."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import subprocess
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "tests/testdata/gpt2_tiny.hlo.pb"


@dataclasses.dataclass(frozen=True)
class Served:
    url: str
    address: str
    bin: pathlib.Path
    token: str  # of the role submit; empty: none is asked for
    process: subprocess.Popen[str]

    def run(self, *words: str) -> str:
        done = subprocess.run(
            [self.bin / "meshwright", *words, "--coordinator", self.address],
            capture_output=True, text=True, check=False, timeout=60,
            env={**os.environ, "MESHWRIGHT_TOKEN": self.token})
        assert done.returncode == 0, done.stderr
        return done.stdout

    def submit_waiting(self, count: int, owner: str = "") -> list[str]:
        """Plans for devices that nobody has; their ids."""
        named = ["--owner", owner] if owner else []
        return [json.loads(self.run(
            "plans", "submit", str(MODEL), "--mesh", f"1x{2 ** (1 + i % 3)}",
            "--platform", "cuda", *named, "--json"))["id"] for i in range(count)]


@contextlib.contextmanager
def start(binaries: pathlib.Path, folder: pathlib.Path, *, plans: int,
          rows: int, tokens: pathlib.Path | None = None,
          token: str = "") -> Iterator[Served]:
    store = folder / "store.db"
    subprocess.run([binaries / "dashboard_store", store, str(plans), str(rows)],
                   check=True)
    words = [binaries / "meshwright-coordinator", "--json", "--listen",
             "127.0.0.1:0", "--store", store, "--dashboard", "0"]
    if tokens:
        words += ["--tokens", tokens]
    with open(folder / "coordinator.log", "w", encoding="utf-8") as log, \
            subprocess.Popen(words, stdout=subprocess.PIPE, stderr=log,
                             text=True) as process:
        try:
            line = process.stdout.readline()
            assert line, (folder / "coordinator.log").read_text()
            said = json.loads(line)
            yield Served(said["dashboard"], said["address"], binaries, token,
                         process)
        finally:
            process.terminate()


def make_token(binaries: pathlib.Path, tokens: pathlib.Path, role: str) -> str:
    done = subprocess.run(
        [binaries / "meshwright", "tokens", "create", "--tokens", tokens,
         "--name", role, "--role", role, "--json"],
        capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["token"]
