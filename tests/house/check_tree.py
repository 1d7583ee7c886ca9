"""Holds the tree to the rules of CONTRIBUTING.md; run from its root.

A unit is x.h and x.cc together; tests are no units.

Layers: which room may include, and link, which. Links: a file may include a
header only if its CMake target depends on the header's. Foreign headers: only
in the .cc files of their folder. Cycles: none among units or folders. Size: no
file over 800 lines, no folder over 24 units. Libraries: one for each folder.
Built: every test and fuzzer is named in its CMakeLists.txt.
"""

from __future__ import annotations

import collections
import pathlib
import re
import statistics
import subprocess
import sys

MAX_LINES = 800
MAX_UNITS = 24
ROOTS = ("base", "cli", "coordinator", "planner", "profiledb", "worker")

# Folder -> what it may include beside itself. A name covers its subfolders.
LAYERS = {
    "base": (),
    "coordinator/ir": ("base", "proto/hlo"),
    "coordinator/ir/testing": ("proto/hlo",),
    "coordinator/ir/text": ("base", "proto/hlo"),
    "coordinator/segmenter": ("base", "proto/hlo", "coordinator/ir"),
    "coordinator/segmenter/blocks": (
        "base", "proto/hlo", "coordinator/ir",
        "coordinator/segmenter/direction"),
    "coordinator/segmenter/direction": ("base", "proto/hlo", "coordinator/ir"),
    "coordinator/segmenter/segments": (
        "base", "proto/hlo", "coordinator/ir", "coordinator/segmenter/blocks",
        "coordinator/segmenter/direction"),
    "coordinator/segmenter/testing": (
        "base", "coordinator/ir", "coordinator/segmenter"),
    "coordinator/operators": (
        "base", "proto/hlo", "coordinator/ir", "coordinator/segmenter",
        "planner"),
    "coordinator/space": (
        "base", "proto", "coordinator/ir", "coordinator/segmenter"),
    "coordinator/space/annotation": (
        "base", "proto/hlo", "coordinator/ir", "coordinator/segmenter"),
    "coordinator/space/rematerialization": (
        "base", "coordinator/ir", "coordinator/segmenter"),
    "coordinator/space/configurations": (
        "base", "coordinator/ir", "coordinator/segmenter",
        "coordinator/space/annotation", "coordinator/space/rematerialization"),
    "coordinator/space/programs": (
        "base", "proto", "coordinator/ir", "coordinator/segmenter",
        "coordinator/space/annotation", "coordinator/space/configurations",
        "coordinator/space/rematerialization"),
    "coordinator/space/testing": ("proto",),
    "coordinator/export": (
        "base", "proto", "coordinator/ir", "coordinator/segmenter",
        "coordinator/operators", "coordinator/space", "planner"),
    "coordinator/launch": (
        "base", "proto", "coordinator/ir", "coordinator/segmenter",
        "coordinator/space", "coordinator/export", "coordinator/planning",
        "coordinator/stages"),
    "coordinator/jobs": ("base", "proto/v1", "profiledb/store"),
    "coordinator/resharding": ("base", "proto/v1", "planner/reshard"),
    "coordinator/jobs/testing": (
        "base", "proto", "coordinator/jobs", "profiledb/store"),
    "coordinator/estimation": (
        "base", "proto", "coordinator/ir", "coordinator/segmenter",
        "coordinator/space", "planner/problem", "profiledb/store"),
    "coordinator/problem": (
        "base", "proto", "coordinator/segmenter", "coordinator/space",
        "coordinator/export", "coordinator/estimation", "planner/problem",
        "profiledb/store"),
    "coordinator/selection": (
        "base", "proto", "coordinator/segmenter", "coordinator/space",
        "coordinator/export", "coordinator/estimation", "coordinator/problem",
        "planner/problem", "planner/search", "profiledb/store"),
    "coordinator/planning": (
        "base", "proto", "coordinator/ir", "coordinator/segmenter",
        "coordinator/space", "coordinator/estimation", "coordinator/export",
        "coordinator/operators", "coordinator/problem",
        "coordinator/selection", "coordinator/jobs", "planner",
        "profiledb/store"),
    "coordinator/service": (
        "base", "proto", "coordinator/jobs", "coordinator/resharding",
        "planner/reshard"),
    "coordinator/daemon": (
        "base", "proto", "coordinator/jobs", "coordinator/resharding",
        "coordinator/service"),
    "coordinator/stages": (
        "base", "proto", "coordinator/ir", "coordinator/segmenter",
        "coordinator/space", "coordinator/export", "coordinator/estimation",
        "coordinator/problem", "coordinator/planning", "planner/pipeline",
        "planner/problem", "planner/reshard", "planner/search",
        "profiledb/store"),
    "coordinator/explain": (
        "base", "proto/v1", "coordinator/space", "coordinator/export",
        "coordinator/jobs", "coordinator/estimation", "coordinator/planning",
        "coordinator/stages", "planner/pipeline", "planner/search",
        "profiledb/store"),
    "coordinator/validation": (
        "base", "proto/v1", "coordinator/ir", "coordinator/space",
        "coordinator/estimation", "coordinator/export", "coordinator/jobs",
        "coordinator/planning", "coordinator/selection",
        "coordinator/stages", "coordinator/launch", "coordinator/explain",
        "profiledb/store"),
    "planner": ("base",),
    "planner/problem": ("base",),
    "planner/checkpoint": ("base", "planner/problem"),
    "planner/layout": ("base", "planner/problem"),
    "planner/pipeline": ("base", "planner/problem"),
    "planner/symbolic": ("base", "planner/problem"),
    "planner/intraop": (
        "base", "planner/layout", "planner/problem", "planner/search"),
    "planner/search/graph": ("base", "planner/problem"),
    "planner/search/elimination": (
        "base", "planner/problem", "planner/search/graph"),
    "planner/search/constrained": (
        "base", "planner/problem", "planner/search/elimination",
        "planner/search/graph"),
    "planner/search/tradeoffs": (
        "base", "planner/problem", "planner/search"),
    "planner/search/testing": ("base", "planner/problem"),
    "planner/search": ("base", "planner/problem"),
    "planner/reshard/problem": ("base",),
    "planner/reshard/decompose": ("base", "planner/reshard/problem"),
    "planner/reshard/bounds": (
        "base", "planner/problem", "planner/reshard/problem"),
    "planner/reshard/paper": ("base", "planner/reshard/problem"),
    "planner/reshard/heuristics": (
        "base", "planner/reshard/paper", "planner/reshard/problem"),
    "planner/reshard/exact": (
        "base", "planner/reshard/bounds", "planner/reshard/problem"),
    "planner/reshard/testing": (
        "base", "planner/reshard/decompose", "planner/reshard/problem"),
    "planner/reshard": ("base", "planner/problem"),
    "profiledb": ("base", "proto/v1"),
    "profiledb/schema": ("base",),
    "profiledb/store": ("base", "proto/v1"),
    "profiledb/sqlite": (
        "base", "proto/v1", "profiledb/schema", "profiledb/store"),
    "worker/pjrt": ("base", "proto"),
    "worker/devices": ("base", "proto/v1"),
    "worker/timing": ("base", "proto/v1"),
    "worker/sandbox": ("base", "proto/v1", "worker/timing"),
    "worker/runner": (
        "base", "proto", "worker/devices", "worker/pjrt", "worker/sandbox",
        "worker/timing"),
    "worker/service": ("base", "proto/v1", "worker/sandbox"),
    "worker/comm/protocol": ("base",),
    "worker/comm/transport": ("base", "worker/comm/protocol"),
    "worker/comm/executor": (
        "base", "worker/comm/protocol", "worker/comm/transport"),
    "worker/comm/testing": (
        "base", "worker/comm/executor", "worker/comm/protocol",
        "worker/comm/transport"),
    "cli": ("cli/verbs",),
    "cli/text": (
        "base", "proto/v1", "coordinator/explain", "coordinator/stages",
        "planner/pipeline"),
    "cli/flags": (
        "base", "proto/v1", "cli/text", "coordinator/estimation",
        "planner/problem"),
    "cli/local": (
        "base", "proto/v1", "cli/flags", "cli/text", "coordinator/daemon",
        "coordinator/explain", "coordinator/planning", "coordinator/service",
        "coordinator/stages", "profiledb", "worker/sandbox",
        "worker/service"),
    "cli/verbs": (
        "base", "proto/v1", "cli/flags", "cli/local", "cli/text",
        "coordinator/space", "coordinator/export", "coordinator/planning",
        "coordinator/resharding", "coordinator/service", "coordinator/launch",
        "coordinator/explain", "coordinator/validation", "planner",
        "profiledb/store", "worker/sandbox", "worker/service"),
    "cli/testing": ("cli/verbs",),
}

# Pattern of a foreign header -> the folders whose .cc files may include it.
FOREIGN = {
    r"sqlite3\.h|zstd\.h": ("profiledb/sqlite",),
    r"libpq": ("profiledb/postgres",),
    r"grpc|.*\.grpc\.pb\.h": (
        "coordinator/daemon", "coordinator/service", "worker/service",
        "tests/integration"),
    r"(xla/pjrt/c/|.*/)?pjrt_c_api\.h": ("worker/pjrt",),
    r"cupti|cuda|nvml": ("worker/collect", "worker/comm/transport"),
    r"nccl": ("worker/comm/transport",),
    r"boost/": ("base", "worker/comm/transport", "worker/comm/testing"),
    r"xxhash\.h": ("worker/comm/protocol",),
    r"openssl/": ("base",),
    r"spdlog/": ("base",),
    r"CLI/": ("cli", "tests/bench", "worker/comm/executor",
             "worker/service"),
}

# A test may look at a neighbour below it that its library does not use.
TEST_LAYERS = {
    "coordinator/segmenter": ("coordinator/segmenter",),
    "cli": ("cli", "coordinator"),
    "coordinator/daemon": ("planner/reshard",),
    "coordinator/estimation": ("coordinator/jobs/testing",),
    "coordinator/explain": ("coordinator/segmenter/testing",),
    "coordinator/problem": ("coordinator/jobs/testing", "planner/search"),
    "coordinator/space": ("coordinator/space", "proto"),
    "coordinator/stages": ("coordinator/jobs/testing",),
    "coordinator/validation": ("coordinator/segmenter/testing",),
    "planner/reshard": ("planner/reshard",),
    "planner/search": ("planner/search",),
    "profiledb": ("proto", "profiledb/store/testing"),
    "worker": ("proto", "worker/pjrt/testing", "worker/comm/testing"),
}

INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', re.M)


def within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def is_test(path: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    return path.startswith("tests/") or "_test." in name or "_fuzzer." in name


class Tree:
    """Sources by path, and what they include."""

    def __init__(self, files: dict[str, str]):
        self.files = files
        self.includes: dict[str, list[str]] = {}
        self.foreign: dict[str, list[str]] = {}
        for path, text in files.items():
            if not path.endswith((".cc", ".h")):
                continue
            quoted = [a for a, _ in INCLUDE.findall(text) if a]
            self.includes[path] = [
                name for name in quoted if "/" in name
                and name.split("/", 1)[0] in (*ROOTS, "proto", "tests")]
            own = set(self.includes[path])
            self.foreign[path] = [
                a or b for a, b in INCLUDE.findall(text) if (a or b) not in own]
            self.foreign[path] += [n for n in own if n.endswith(".grpc.pb.h")]

    @classmethod
    def read(cls) -> Tree:
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard"],
            check=True, capture_output=True, text=True).stdout.splitlines()
        wanted = (".cc", ".h", ".py", ".sh", ".proto", "CMakeLists.txt")
        paths = [pathlib.Path(p) for p in listed if p.endswith(wanted)]
        return cls({str(p): p.read_text() for p in paths if p.exists()})


def room_of(path: str) -> str | None:
    """The entry of LAYERS that speaks of a path: the longest."""
    return next((l for l in sorted(LAYERS, key=len, reverse=True)
                 if within(path, l)), None)


def may_use(path: str, other: str) -> bool:
    room = room_of(path)
    return room is None or any(
        within(other, folder) for folder in (room, *LAYERS[room]))


def layer_faults(tree: Tree) -> list[str]:
    faults = []
    for path, included in tree.includes.items():
        room = room_of(path)
        if room is None:
            if not path.startswith("tests/"):
                faults.append(f"{path} is in no layer of check_tree.py")
            continue
        for name in included:
            if may_use(path, name) or is_test(path) and any(
                    within(name, folder)
                    for home, folders in TEST_LAYERS.items()
                    if within(room, home) for folder in folders):
                continue
            faults.append(f"{path} includes {name}, which {room} may not")
    return faults


def foreign_faults(tree: Tree) -> list[str]:
    faults = []
    for path, included in tree.foreign.items():
        for name in included:
            for pattern, folders in FOREIGN.items():
                if not re.match(pattern, name):
                    continue
                at_home = any(within(path, folder) for folder in folders)
                if not at_home or not path.endswith(".cc"):
                    faults.append(
                        f"{path} includes {name}, which belongs to the .cc "
                        f"files of {' and '.join(folders)}")
    return faults


def find_cycle(edges: dict[str, set[str]]) -> list[str] | None:
    state: dict[str, int] = {}
    for start in sorted(edges):
        stack = [(start, iter(sorted(edges[start])))]
        if state.setdefault(start, 1) == 2:
            continue
        while stack:
            node, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                state[node] = 2
                stack.pop()
            elif state.get(following) == 1:
                names = [name for name, _ in stack]
                return [*names[names.index(following):], following]
            elif following not in state:
                state[following] = 1
                stack.append(
                    (following, iter(sorted(edges.get(following, ())))))
    return None


def unit_of(path: str) -> str:
    return path.rsplit(".", 1)[0]


def cycle_faults(tree: Tree) -> list[str]:
    units: dict[str, set[str]] = collections.defaultdict(set)
    folders: dict[str, set[str]] = collections.defaultdict(set)
    for path, included in tree.includes.items():
        if is_test(path):
            continue
        units[unit_of(path)] |= {unit_of(n) for n in included} - {unit_of(path)}
        home = path.rsplit("/", 1)[0]
        folders[home] |= {n.rsplit("/", 1)[0] for n in included} - {home}
    faults = []
    for kind, edges in (("units", units), ("folders", folders)):
        if cycle := find_cycle(edges):
            faults.append(f"include cycle of {kind}: {' -> '.join(cycle)}")
    return faults


def room_faults(tree: Tree) -> list[str]:
    units: dict[str, set[str]] = collections.defaultdict(set)
    for path in tree.includes:
        if not is_test(path):
            units[path.rsplit("/", 1)[0]].add(unit_of(path))
    return [f"{folder} has {len(found)} units, more than {MAX_UNITS}"
            for folder, found in sorted(units.items())
            if len(found) > MAX_UNITS]


def size_faults(tree: Tree) -> list[str]:
    return [f"{path} has {lines} lines, more than {MAX_LINES}"
            for path, text in tree.files.items()
            if (lines := text.count("\n")) > MAX_LINES]


def built_faults(tree: Tree) -> list[str]:
    faults = []
    for path in tree.includes:
        folder, name = path.rsplit("/", 1)
        if not path.endswith(".cc"):
            continue
        text = tree.files.get(f"{folder}/CMakeLists.txt", "")
        if not re.search(rf"(?<![\w/.-]){re.escape(name)}(?![\w.-])", text):
            faults.append(f"{path} is named in no CMakeLists.txt")
    return faults


# ---- links: includes and rooms against the CMake targets ----

CALL = re.compile(r"\b(meshwright_(?:library|test|binary|proto))\s*\(([^)]*)\)")
KEYWORDS = {"SRCS", "DEPS", "PRIVATE_DEPS", "PROTOS", "TIMEOUT", "GRPC"}


def read_targets(tree: Tree):
    """Returns source -> targets, and target -> direct dependencies."""
    owners: dict[str, set[str]] = collections.defaultdict(set)
    depends: dict[str, set[str]] = {}
    for path, text in tree.files.items():
        if not path.endswith("/CMakeLists.txt"):
            continue
        folder = path.rsplit("/", 1)[0]
        for _, body in CALL.findall(re.sub(r"#.*", "", text)):
            name, *words = body.split()
            depends[name] = set()
            section = ""
            for word in words:
                if word in KEYWORDS:
                    section = word
                elif section in ("SRCS", "PROTOS", "GRPC"):
                    owners[f"{folder}/{word}"].add(name)
                elif section in ("DEPS", "PRIVATE_DEPS"):
                    depends[name].add(word)
    return owners, depends


def closure(target: str, depends: dict[str, set[str]]) -> set[str]:
    seen = {target}
    queue = [target]
    while queue:
        for name in depends.get(queue.pop(), ()):
            if name not in seen:
                seen.add(name)
                queue.append(name)
    return seen


def link_faults(tree: Tree) -> list[str]:
    owners, depends = read_targets(tree)
    by_folder: dict[str, set[str]] = collections.defaultdict(set)
    for source, targets in owners.items():
        by_folder[source.rsplit("/", 1)[0]] |= targets
    faults = set()
    for source, targets in owners.items():
        for name in tree.includes.get(source, ()):
            stem = re.sub(r"(\.grpc)?(\.pb)?\.h$", "", name)
            homes = (owners.get(stem + ".cc") or owners.get(stem + ".proto")
                     or by_folder.get(name.rsplit("/", 1)[0], set()))
            for target in targets:
                if homes and not homes & closure(target, depends):
                    faults.add(f"{source} includes {name}, but its target "
                               f"{target} does not depend on "
                               f"{' or '.join(sorted(homes))}")
    return sorted(faults)


def library_faults(tree: Tree) -> list[str]:
    """A folder with units has one library, which links what its room may."""
    owners, depends = read_targets(tree)
    homes: dict[str, str] = {}       # library -> its folder
    libraries: dict[str, list[str]] = collections.defaultdict(list)
    for path, text in tree.files.items():
        if path.endswith("/CMakeLists.txt"):
            folder = path.rsplit("/", 1)[0]
            for kind, body in CALL.findall(re.sub(r"#.*", "", text)):
                if kind in ("meshwright_library", "meshwright_proto"):
                    homes[body.split()[0]] = folder
                if kind == "meshwright_library":
                    libraries[folder].append(body.split()[0])
    faults = []
    for folder in sorted({p.rsplit("/", 1)[0] for p in tree.includes
                          if not is_test(p)} | set(libraries)):
        found = libraries.get(folder, [])
        if folder.startswith("tests/"):
            continue
        if len(found) > 1:
            faults.append(f"{folder} has {len(found)} libraries, not one: "
                          f"{' '.join(found)}")
        for library in found:
            for name in sorted(depends[library]):
                if name in homes and not may_use(folder, homes[name]):
                    faults.append(f"{library} links {name}, which "
                                  f"{room_of(folder)} may not")
    return faults


CHECKS = (layer_faults, foreign_faults, cycle_faults, size_faults, room_faults,
          built_faults, link_faults, library_faults)


def figures(tree: Tree) -> str:
    code = {p: t.count("\n") for p, t in tree.files.items()
            if p.endswith((".cc", ".h", ".py"))}
    lengths = sorted(code.values())
    tests = sum(n for p, n in code.items() if is_test(p) or "/test_" in p)
    return (f"{len(lengths)} files; median {statistics.median(lengths):.0f} "
            f"lines, p90 {lengths[len(lengths) * 9 // 10]}, largest "
            f"{lengths[-1]}; tests are {100 * tests / sum(lengths):.0f} % of "
            f"{sum(lengths)} lines")


def main() -> int:
    tree = Tree.read()
    print(figures(tree))
    faults = [fault for check in CHECKS for fault in check(tree)]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
