"""Holds the tree to the rules of CONTRIBUTING.md; run from its root.

A unit is x.h and x.cc together; tests are no units.

Layers     which room may include, and link, which: layers.py, which allows
           nothing that nobody uses
Spelling   our own header is included as "path/from/the/root.h"
Clocks     the wall clock is asked in the files of WALL_CLOCK in layers.py
Foreign    a foreign header stands in the .cc files of its folder alone
Comments   a file that one names is in the tree
Cycles     none among units or folders
Size       no file over 800 lines, no folder over 24 units
Pages      docs/benchmarks.md has at most 200 lines, docs/decisions at most 18
           notes of at most 40; docs/glossary.md is in alphabetical order
Sentences  of README.md, CONTRIBUTING.md and docs have at most 25 words
Errors     a header lists the errors of what returns a status, or says whose
           they are, for all of it or for declarations that stand together
Files      C++ is in .h and .cc, and an include is spelled out
Built      every source is named in its CMakeLists.txt
Commands   targets are made by cmake/MeshwrightTargets.cmake
Links      a file includes a header only if its target depends on the header's,
           and a target depends on nothing that no file of it includes
Libraries  one for each folder
Sanitizers ./check --long runs the tests of SANITIZED with one
"""

from __future__ import annotations

import collections
import pathlib
import posixpath
import re
import statistics
import subprocess
import sys

from layers import FOREIGN, LAYERS, PARTS, TEST_LAYERS, WALL_CLOCK

MAX_LINES = 800
MAX_UNITS = 24
MAX_BENCHMARK_LINES = 200
MAX_NOTES = 18
MAX_NOTE_LINES = 40
MAX_WORDS = 25
ROOTS = ("base", "cli", "coordinator", "planner", "profiledb", "web", "worker")

# What a compiler takes for C++, and the other checks would not read.
OTHER_SOURCES = (".c", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".inc",
                 ".inl", ".ipp", ".tcc")
HIDDEN_INCLUDE = re.compile(r'^\s*#\s*include\b(?!\s*["<]).*', re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.M)


def within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def is_test(path: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    return path.startswith("tests/") or "_test." in name or "_fuzzer." in name


def is_ours(name: str) -> bool:
    return "/" in name and name.split("/", 1)[0] in (*ROOTS, "proto", "tests")


class Tree:
    """Sources by path, and what they include."""

    def __init__(self, files: dict[str, str]):
        self.files = files
        self.includes: dict[str, list[str]] = {}
        self.foreign: dict[str, list[str]] = {}
        for path, text in files.items():
            if not path.endswith((".cc", ".h")):
                continue
            found = [a or b for a, b in INCLUDE.findall(text)]
            self.includes[path] = [name for name in found if is_ours(name)]
            own = set(self.includes[path])
            self.foreign[path] = [name for name in found if name not in own]
            self.foreign[path] += [n for n in own if n.endswith(".grpc.pb.h")]

    @classmethod
    def read(cls) -> Tree:
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard"],
            check=True, capture_output=True, text=True).stdout.splitlines()
        wanted = (".cc", ".h", ".py", ".sh", ".proto", ".cmake", ".md",
                  "CMakeLists.txt", *OTHER_SOURCES)
        paths = [pathlib.Path(p) for p in listed
                 if p.endswith(wanted) or p == "check"]
        return cls({str(p): p.read_text() for p in paths if p.exists()})


def below(room: str) -> set[str]:
    """What a room may see through others, with their testing folders."""
    seen = {room}
    queue = [room]
    while queue:
        found = queue.pop()
        for folder in (*LAYERS.get(found, ()), found + "/testing"):
            if folder in LAYERS and folder not in seen:
                seen.add(folder)
                queue.append(folder)
    return seen


def may_use(room: str, folder: str, by_test: bool) -> bool:
    if by_test:
        return folder in below(room) or folder in TEST_LAYERS.get(room, ())
    return folder == room or folder in LAYERS.get(room, ())


def layer_faults(tree: Tree) -> list[str]:
    faults = []
    for path, included in tree.includes.items():
        room = folder_of(path)
        if within(room, "tests"):
            continue
        if room not in LAYERS:
            faults.append(f"{path} is in no room of layers.py")
        faults += [f"{path} includes {name}, which {room} may not"
                   for name in included
                   if not may_use(room, folder_of(name), is_test(path))]
    return faults


def spelling_faults(tree: Tree) -> list[str]:
    """Our own header is included as "path/from/the/root.h"."""
    faults = []
    for path in tree.includes:
        for quoted, angled in INCLUDE.findall(tree.files[path]):
            name = quoted or angled
            beside = posixpath.normpath(f"{posixpath.dirname(path)}/{name}")
            if (angled and is_ours(name) or beside in tree.files
                    or {".", ".."} & set(name.split("/"))):
                faults.append(f"{path} includes {name}, which is not a quoted "
                              f"path from the root")
    return faults


def file_faults(tree: Tree) -> list[str]:
    """What the other checks do not see is not there."""
    faults = [f"{path} is C++ in a file that is neither .h nor .cc"
              for path in tree.files if path.endswith(OTHER_SOURCES)]
    return faults + [f"{path} has an include that is not spelled out: {found}"
                     for path in tree.includes
                     for found in HIDDEN_INCLUDE.findall(tree.files[path])]


def foreign_faults(tree: Tree) -> list[str]:
    faults = []
    for path, included in tree.foreign.items():
        for name in included:
            for pattern, folders in FOREIGN.items():
                if not re.match(pattern, name):
                    continue
                in_folder = any(within(path, folder) for folder in folders)
                if not in_folder or not path.endswith(".cc"):
                    faults.append(
                        f"{path} includes {name}, which belongs to the .cc "
                        f"files of {' and '.join(folders)}")
    return faults


WALL = re.compile(r"\babsl::(?:Now|GetCurrentTimeNanos)\(|\bsystem_clock::now\("
                  r"|\bgettimeofday\(|\bCLOCK_REALTIME\b")


def clock_faults(tree: Tree) -> list[str]:
    """A span of time by a clock that somebody sets is wrong by hours."""
    asked = {path for path in tree.includes
             if not is_test(path) and "/testing/" not in path
             and WALL.search(tree.files[path])}
    return [f"{path} asks for the wall clock; take base::SteadyClock for spans "
            f"of time, or say in WALL_CLOCK of layers.py why"
            for path in sorted(asked - set(WALL_CLOCK))] + [
        f"layers.py allows {path} the wall clock, which it does not ask for"
        for path in WALL_CLOCK if path in tree.files and path not in asked]


COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
FILE_NAME = re.compile(r"(?<![\w/.<-])[\w./-]*\w\.(?:h|cc)(?![\w/-])")


def comment_faults(tree: Tree) -> list[str]:
    """A file that a comment names, by the end of its path, is in the tree."""
    ends = {"/".join(parts[start:]) for path in tree.files
            for parts in [path.split("/")] for start in range(len(parts))}
    return [f"{path} has a comment that names {name}, which is no file"
            for path in tree.includes
            for comment in COMMENT.findall(tree.files[path])
            for name in FILE_NAME.findall(comment)
            if name not in ends
            and not any(re.match(pattern, name) for pattern in FOREIGN)]


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


def implemented_by(path: str, tree: Tree) -> str:
    """The unit of the header that a file implements, its own where it has one."""
    unit = unit_of(path)
    if unit + ".h" in tree.files:
        return unit
    return next((header for header, begin in PARTS.items()
                 if path.startswith(begin) and header + ".h" in tree.files), unit)


def cycle_faults(tree: Tree) -> list[str]:
    units: dict[str, set[str]] = collections.defaultdict(set)
    folders: dict[str, set[str]] = collections.defaultdict(set)
    faults = []
    for path, included in tree.includes.items():
        unit = implemented_by(path, tree)
        if is_test(path):
            # Helpers of tests; a test itself is included by nobody.
            if within(path, "tests") and "_test." not in path and (
                    unit + ".h" in tree.files):
                units[unit] |= {unit_of(n) for n in included} - {unit}
            continue
        if unit + ".h" not in tree.files and not path.endswith("main.cc"):
            faults.append(f"{path} implements no header; give it one, or name "
                          "the one that it implements in PARTS of layers.py")
        units[unit] |= {unit_of(n) for n in included} - {unit}
        own = folder_of(path)
        folders[own] |= {folder_of(n) for n in included} - {own}
    for kind, edges in (("units", units), ("folders", folders)):
        if cycle := find_cycle(edges):
            faults.append(f"include cycle of {kind}: {' -> '.join(cycle)}")
    return faults


def room_faults(tree: Tree) -> list[str]:
    units: dict[str, set[str]] = collections.defaultdict(set)
    for path in tree.includes:
        if not is_test(path):
            units[folder_of(path)].add(unit_of(path))
    return [f"{folder} has {len(found)} units, more than {MAX_UNITS}"
            for folder, found in sorted(units.items())
            if len(found) > MAX_UNITS]


def size_faults(tree: Tree) -> list[str]:
    return [f"{path} has {lines} lines, more than {MAX_LINES}"
            for path, text in tree.files.items()
            if (lines := text.count("\n")) > MAX_LINES]


def page_faults(tree: Tree) -> list[str]:
    lines = {path: text.count("\n") for path, text in tree.files.items()
             if path.endswith(".md")}
    notes = [path for path in lines if within(path, "docs/decisions")]
    limits = {path: MAX_NOTE_LINES for path in notes}
    limits["docs/benchmarks.md"] = MAX_BENCHMARK_LINES
    faults = [f"{path} has {lines[path]} lines, more than {limit}"
              for path, limit in limits.items() if lines.get(path, 0) > limit]
    if len(notes) > MAX_NOTES:
        faults.append(f"docs/decisions has {len(notes)} notes, more than "
                      f"{MAX_NOTES}")
    return faults


def glossary_faults(tree: Tree) -> list[str]:
    """Rows stand by the letters and digits of their words."""
    page = tree.files.get("docs/glossary.md", "")
    words = re.findall(r"^\| ([^|]+?) \| ", page, re.M)[2:]
    keys = [re.sub(r"[^a-z0-9 ]", "", word.lower()) for word in words]
    return [f"docs/glossary.md has \"{word}\" after \"{words[i]}\""
            for i, word in enumerate(words[1:]) if keys[i + 1] < keys[i]]


LIST_ITEM = re.compile(r"^ *(?:[*+-]|\d+\.) +")


def blocks_of(page: str) -> list[tuple[int, str]]:
    """The paragraphs, list items and cells of a page, by line; no code."""
    fenced = re.sub(r"^```.*?^```$", lambda found: "\n" * found.group().count("\n"),
                    page, flags=re.M | re.S)
    blocks: list[tuple[int, str]] = []
    is_open = False
    for number, line in enumerate(fenced.split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            is_open = False
        elif line.startswith("|"):
            is_open = False
            blocks += [(number, cell)
                       for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        elif is_open and not LIST_ITEM.match(line):
            start, text = blocks.pop()
            blocks.append((start, f"{text} {line.strip()}"))
        elif is_open or not line.startswith("    "):
            is_open = True
            blocks.append((number, LIST_ITEM.sub("", line)))
    return blocks


def sentence_faults(tree: Tree) -> list[str]:
    """Code counts as one word, and a cell of nothing but code has none."""
    faults = []
    for path, page in tree.files.items():
        if not path.endswith(".md") or "/" in path and not within(path, "docs"):
            continue
        for number, text in blocks_of(page):
            if not re.search(r"\w", re.sub(r"`[^`]*`", "", text)):
                continue
            prose = re.sub(r"`[^`]*`", "X", text)
            prose = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", prose)
            for sentence in re.split(r"(?<=[.!?])[)*\"]*\s+", prose):
                words = sum(bool(re.search(r"\w", word))
                            for word in sentence.split())
                if words > MAX_WORDS:
                    faults.append(f"{path}:{number} has a sentence of {words} "
                                  f"words, more than {MAX_WORDS}: "
                                  f"{' '.join(sentence.split()[:6])} ...")
    return faults


RETURNS_STATUS = re.compile(r"\babsl::Status(?:Or<[^;{]*>)?\s+(\w+)\s*\(")
PRIVATE = re.compile(r"^ private:.*?^\};", re.M | re.S)
CODE = re.compile(
    r"\bk(?:Cancelled|Unknown|InvalidArgument|DeadlineExceeded|NotFound"
    r"|AlreadyExists|PermissionDenied|ResourceExhausted|FailedPrecondition"
    r"|Aborted|OutOfRange|Unimplemented|Internal|Unavailable|DataLoss"
    r"|Unauthenticated)\b")
# The list in a comment, up to its next heading ("Threads:") or empty line.
ERROR_LIST = re.compile(r"\b[Ee]rrors?\b[^:.\n]*:(.*?)(?=\n *\n|(?<=\. )[A-Z]\w*:"
                        r"|\n[A-Z][\w ]*:|\Z)", re.S)
ERROR_SOURCE = re.compile(r"\bthose\s+of\b|\berrno's\b|^\s*none\b")


def comments_of(text: str) -> str:
    """The comments of a text, without their slashes."""
    return "\n".join(re.sub(r"^ */+ ?", "", line, flags=re.M)
                     for line in COMMENT.findall(text))


def lists_errors(comment: str) -> bool:
    """Whether it names a code, or says whose errors are handed on."""
    return any(CODE.search(listed) or ERROR_SOURCE.search(listed)
               for listed in ERROR_LIST.findall(comment))


def error_faults(tree: Tree) -> list[str]:
    """Who calls what returns a status knows which errors come: the comment that
    opens the header lists them, or that of the class or of the declarations
    that stand together."""
    faults = []
    for path in tree.includes:
        if not path.endswith(".h") or within(path, "tests"):
            continue
        text = PRIVATE.sub("};", tree.files[path])
        opening = re.match(r"(?:\s*//[^\n]*\n)*", text).group()
        if lists_errors(comments_of(opening)):
            continue
        code = COMMENT.sub(lambda found: " " * len(found.group()), text)
        for declared in RETURNS_STATUS.finditer(code):
            before = text[:declared.start()]
            together = comments_of(before[before.rfind("\n\n") + 1:])
            ended = before.rfind("\n};") + 1
            classes = re.findall(r"((?:^//[^\n]*\n)*)^(?:class|struct) [^;]*?\{",
                                 before[ended:], re.M)
            if (CODE.search(together) or lists_errors(together)
                    or classes and lists_errors(comments_of(classes[-1]))):
                continue
            faults.append(f"{path}: {declared.group(1)} returns a status, and no "
                          "comment lists its errors or says whose they are")
    return faults


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

CALL = re.compile(r"\bmeshwright_(library|test|binary|proto)\s*\(([^)]*)\)", re.I)
KEYWORDS = {"SRCS", "DEPS", "PRIVATE_DEPS", "PROTOS", "TIMEOUT", "COST", "GRPC",
            "HOT", "QUICK_COMPILES"}

COMMAND = re.compile(r"\b(?:add_library|add_executable|(?:target_)?link_libraries"
                     r"|target_sources)\s*\([^)]*\)", re.I)
# Only this call, word for word: the archives of the self-contained runner.
OWN_COMMANDS = {
    "target_link_libraries( meshwright-runner PRIVATE "
    "${MESHWRIGHT_PROTOBUF_ARCHIVE} ${MESHWRIGHT_ZLIB_ARCHIVE} "
    "-Wl,--start-group ${abseil_archives} -Wl,--end-group)",
}


class Target:
    """One call of cmake/MeshwrightTargets.cmake."""

    def __init__(self, folder: str, kind: str, body: str):
        self.folder = folder
        self.kind = kind.lower()
        self.name, *words = body.split()
        values: dict[str, list[str]] = collections.defaultdict(list)
        section = ""
        for word in words:
            if word in KEYWORDS:
                section = word
            else:
                values[section].append(word)
        self.sources = [f"{folder}/{name}"
                        for name in values["SRCS"] + values["PROTOS"]]
        self.public = set(values["DEPS"])
        self.private = set(values["PRIVATE_DEPS"])
        self.is_test = self.kind == "test" or self.kind == "binary" and all(
            map(is_test, self.sources))


def cmake_texts(tree: Tree) -> dict[str, str]:
    """Each file of CMake outside cmake/, without comments."""
    return {path: re.sub(r"#.*", "", text)
            for path, text in tree.files.items()
            if path.endswith(("CMakeLists.txt", ".cmake"))
            and not within(path, "cmake")}


def read_targets(tree: Tree) -> dict[str, Target]:
    found = [Target(folder_of(path), kind, body)
             for path, text in cmake_texts(tree).items()
             for kind, body in CALL.findall(text)]
    return {target.name: target for target in found}


def command_faults(tree: Tree) -> list[str]:
    """Targets are made by cmake/, so that the other checks see their links."""
    return [f"{path} calls {call.split('(')[0]} itself, not a function of "
            f"cmake/MeshwrightTargets.cmake"
            for path, text in cmake_texts(tree).items()
            for call in (" ".join(c.split()) for c in COMMAND.findall(text))
            if call not in OWN_COMMANDS]


def closure(names: set[str], targets: dict[str, Target]) -> set[str]:
    """These targets, and what they hand on to whoever links them."""
    seen = set(names)
    queue = list(names)
    while queue:
        target = targets.get(queue.pop())
        for name in target.public - seen if target else ():
            seen.add(name)
            queue.append(name)
    return seen


def makers_of(path: str, targets: dict[str, Target]) -> set[str]:
    """The targets that a file, or what a header declares, is compiled into."""
    stem = re.sub(r"(\.grpc)?(\.pb)?\.(h|cc)$", "", path)
    wanted = {stem + ".cc", stem + ".proto"}
    found = {t.name for t in targets.values() if wanted & set(t.sources)}
    library = {t.name for t in targets.values() if t.kind == "library"
               and t.folder == folder_of(path)}
    return found or (library if len(library) == 1 else set())


def link_faults(tree: Tree) -> list[str]:
    """A private dependency serves a library's .cc files, not its headers."""
    targets = read_targets(tree)
    faults = []
    for path, included in tree.includes.items():
        for maker in sorted(makers_of(path, targets)):
            target = targets[maker]
            private = target.private if path.endswith(".cc") else set()
            seen = closure({maker} | private, targets)
            for name in included:
                makers = makers_of(name, targets)
                if makers and not makers & seen:
                    faults.append(f"{path} includes {name}, but its target "
                                  f"{maker} does not depend on "
                                  f"{' or '.join(sorted(makers))}")
    return faults


def idle_link_faults(tree: Tree) -> list[str]:
    """A target depends on a library only if a file of it includes from it;
    the files of proto/ import instead."""
    targets = read_targets(tree)
    used: dict[str, set[str]] = collections.defaultdict(set)
    for path, included in tree.includes.items():
        for maker in makers_of(path, targets):
            for name in included:
                used[maker] |= makers_of(name, targets)
    return [f"{target.name} depends on {name}, and includes nothing of it"
            for target in targets.values()
            for name in sorted(target.public | target.private)
            if name in targets and name not in used[target.name]
            and target.name in used and not within(target.folder, "proto")]


def library_faults(tree: Tree) -> list[str]:
    """A folder with units has one library; only a binary's main needs none."""
    targets = read_targets(tree).values()
    units: dict[str, set[str]] = collections.defaultdict(set)
    for path in tree.includes:
        if not is_test(path):
            units[folder_of(path)].add(path)
    faults = []
    for folder in sorted(set(units) | {t.folder for t in targets}):
        found = [t.name for t in targets
                 if t.kind == "library" and t.folder == folder]
        if within(folder, "tests"):
            continue
        if len(found) > 1:
            faults.append(f"{folder} has {len(found)} libraries, not one: "
                          f"{' '.join(found)}")
        mains = {f"{folder}/main.cc"} & {
            source for t in targets if t.kind == "binary" for source in t.sources}
        if not found and units[folder] - mains:
            faults.append(f"{folder} has units and no library")
    return faults


def links_between_rooms(tree: Tree) -> list[tuple[Target, Target]]:
    targets = read_targets(tree)
    return [(target, targets[name]) for target in targets.values()
            if not within(target.folder, "tests")
            for name in sorted(target.public | target.private)
            if name in targets]


def linked_layer_faults(tree: Tree) -> list[str]:
    """A target links what the files of its room may include."""
    return [f"{target.name} links {other.name}, which {target.folder} may not"
            for target, other in links_between_rooms(tree)
            if not may_use(target.folder, other.folder, target.is_test)]


def unused_faults(tree: Tree) -> list[str]:
    """Whatever the tables allow, somebody uses."""
    used = {(is_test(path), folder_of(path), folder_of(name))
            for path, included in tree.includes.items() for name in included}
    used |= {(target.is_test, target.folder, other.folder)
             for target, other in links_between_rooms(tree)}
    rooms = {folder_of(path) for path in tree.files}
    faults = [f"layers.py has {room}, which is no folder"
              for room in LAYERS if room not in rooms]
    for table, by_test in ((LAYERS, False), (TEST_LAYERS, True)):
        faults += [f"layers.py allows {room} {folder}, which no "
                   f"{'test of it' if by_test else 'file of it'} uses"
                   for room, folders in table.items() for folder in folders
                   if (by_test, room, folder) not in used]
    return faults


# The rooms, with their subfolders, whose tests ./check --long runs with a
# sanitizer: what plans, what serves, what reads foreign bytes, what moves tensors.
SANITIZED = ("base", "planner", "profiledb", "coordinator/daemon", "coordinator/dashboard",
             "coordinator/http", "coordinator/ir", "coordinator/jobs", "coordinator/metrics",
             "coordinator/plans", "coordinator/security", "coordinator/segmenter", "coordinator/service",
             "coordinator/space", "coordinator/stages", "worker/comm",
             "worker/service")


def sanitizer_faults(tree: Tree) -> list[str]:
    calls = re.findall(r"^ +sanitized (?:.*\\\n)*.*", tree.files.get("check", ""),
                       re.M)
    words = [re.fullmatch(r"(\w*)(?:\{([\w,]*)\})?(_test)", word)
             for word in " ".join(calls).split()]
    listed = {before + part + after for before, parts, after in
              (word.groups(default="") for word in words if word)
              for part in parts.split(",")}
    tests = {target.name: target.folder
             for target in read_targets(tree).values() if target.kind == "test"}
    return [f"./check runs {name} with no sanitizer"
            for name, folder in tests.items() if name not in listed
            and any(within(folder, room) for room in SANITIZED)] + [
        f"./check runs {name} with a sanitizer, which is no test"
        for name in sorted(listed - set(tests))]


CHECKS = (layer_faults, spelling_faults, file_faults, foreign_faults,
          clock_faults, comment_faults, cycle_faults, size_faults, room_faults, page_faults,
          glossary_faults, sentence_faults, error_faults, built_faults, command_faults,
          link_faults, idle_link_faults, library_faults, linked_layer_faults, unused_faults,
          sanitizer_faults)


def figures(tree: Tree) -> str:
    code = {p: t.count("\n") for p, t in tree.files.items()
            if p.endswith((".cc", ".h", ".py"))}
    lengths = sorted(code.values())
    tests = sum(n for p, n in code.items() if is_test(p) or "/test_" in p)
    return (f"{len(lengths)} files; median {statistics.median(lengths):.0f} "
            f"lines, p90 {lengths[len(lengths) * 9 // 10]}, largest "
            f"{lengths[-1]}; tests are {100 * tests / sum(lengths):.0f} % of "
            f"{sum(lengths)} lines")


def bench_lines(tree: Tree) -> list[str]:
    """For tests/bench/report."""
    code = {p: t.count("\n") for p, t in tree.files.items()
            if p.endswith((".cc", ".h"))}
    product = [n for p, n in code.items()
               if not is_test(p) and "/testing/" not in p]
    search = sum(n for p, n in code.items() if within(p, "planner/search"))
    return [f"figure\t{what}\t{wanted}\t{got}" for what, wanted, got in (
        ("lines of product code in C++", "≤ 80,000", f"{sum(product):,}"),
        ("lines of planner/search with its tests", "≤ 9,000", f"{search:,}"),
        ("lines of a product file, median", "≤ 150",
         f"{statistics.median(product):.0f}"),
        ("lines of a product file, largest", "≤ 800", max(product)))]


def main() -> int:
    tree = Tree.read()
    print(figures(tree))
    if "--figures" in sys.argv:
        print("\n".join(bench_lines(tree)))
    faults = [fault for check in CHECKS for fault in check(tree)]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
