"""KeptPlans: a folder of plans with their annotated modules, by step.

Concept: the key of a step holds what the plan depends on (the step without
names and source lines, the mesh, the devices, the request) and nothing else.
A plan is written beside its place and moved there, so that processes that
plan the same step at once do not see half of one.
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import secrets
import shutil
from collections.abc import Sequence

from meshwright.errors import MeshwrightError
from meshwright.plan import Plan

_FORMAT = 1


def default_folder() -> pathlib.Path:
    if named := os.environ.get("MESHWRIGHT_PLANS"):
        return pathlib.Path(named)
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(cache) / "meshwright" / "plans"


def make_key(parts: Sequence[object]) -> str:
    text = json.dumps([_FORMAT, *parts], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class KeptPlans:
    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder

    def find(self, key: str) -> tuple[Plan, bytes] | None:
        place = self._folder / key
        try:
            plan = Plan.load(place / "plan.json")
            return plan, (place / "annotated.hlo.pb").read_bytes()
        except (OSError, MeshwrightError):
            return None  # it is made once more

    def keep(self, key: str, plan: Plan, annotated: bytes) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        fresh = self._folder / f".{key}.{secrets.token_hex(4)}"
        fresh.mkdir()
        try:
            (fresh / "annotated.hlo.pb").write_bytes(annotated)
            plan.save(fresh / "plan.json")
            self._move(fresh, key)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)

    def _move(self, fresh: pathlib.Path, key: str) -> None:
        place = self._folder / key
        try:
            fresh.rename(place)
        except OSError:  # another process was first, or half of one is there
            if self.find(key) is None:
                shutil.rmtree(place, ignore_errors=True)
                fresh.rename(place)
