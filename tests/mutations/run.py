#!/usr/bin/env python3
"""Puts one named fault at a time into the product; a test must fail each time.

    tests/mutations/run.py [NAME...]    the faults of these names, or all
    tests/mutations/run.py --list       what there is
    tests/mutations/run.py --check      only whether each can be put in

A fault is a changed line (faults.py). It is put into a copy of the tree under
build/mutations, with a build folder of its own; your files stay as they are.
The tests of a fault pass there without it, else the fault proves nothing.
Exit status: 1 where a fault survives, does not compile or has no place.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
import time

from faults import FAULTS, Fault

ROOT = pathlib.Path(__file__).resolve().parents[2]
TREE = ROOT / "build" / "mutations" / "tree"
BUILD = TREE / "build" / "release"
MIN_FAULTS = 30


def find_misplaced(faults: list[Fault]) -> list[str]:
    """What is wrong with the list itself: it needs no build to tell."""
    wrong = []
    names = [fault.name for fault in faults]
    for name in sorted({name for name in names if names.count(name) > 1}):
        wrong.append(f"{name} is the name of several faults")
    if len(faults) < MIN_FAULTS:
        wrong.append(f"there are {len(faults)} faults, fewer than {MIN_FAULTS}")
    for fault in faults:
        path = ROOT / fault.file
        count = path.read_text().count(fault.old) if path.exists() else 0
        if count != 1:
            wrong.append(f"{fault.name}: its old text occurs {count} times in "
                         f"{fault.file}, not once")
        if fault.old == fault.new:
            wrong.append(f"{fault.name} changes nothing")
    return wrong


def copy_tree() -> None:
    """What differs only, so that ninja sees what differs."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT,
        check=True, capture_output=True, text=True).stdout.split("\0")
    wanted = {name for name in listed if name and (ROOT / name).is_file()}
    for name in sorted(wanted):
        source, target = ROOT / name, TREE / name
        data = source.read_bytes()
        if target.exists() and target.read_bytes() == data:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        target.chmod(source.stat().st_mode)
    for path in TREE.rglob("*"):
        name = str(path.relative_to(TREE))
        if path.is_file() and not name.startswith("build/"):
            if name not in wanted:
                path.unlink()


def run(command: list[str], **more) -> subprocess.CompletedProcess:
    return subprocess.run(
        command, cwd=TREE, text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)


def configure() -> None:
    done = run(["cmake", "--preset", "release",
                f"-DMESHWRIGHT_DOWNLOADS={ROOT / 'build' / 'downloads'}"])
    if done.returncode != 0:
        sys.exit(done.stdout + "mutations: cmake could not configure the copy")


def build(targets: list[str], jobs: int) -> subprocess.CompletedProcess:
    return run(["cmake", "--build", str(BUILD), "--target", *targets, "--",
                f"-j{jobs}"])


def test(fault: Fault) -> subprocess.CompletedProcess:
    environment = dict(os.environ, GTEST_FILTER=fault.cases,
                       GTEST_FAIL_FAST="1")
    return run(["ctest", "--test-dir", str(BUILD), "-V", "--no-tests=error",
                "-R", f"^({fault.tests})$"], env=environment)


def tail(text: str, lines: int = 25) -> str:
    return "\n".join("    " + line for line in text.splitlines()[-lines:])


def try_without(faults: list[Fault], jobs: int) -> None:
    targets = sorted({target for fault in faults for target in fault.targets})
    done = build(targets, jobs)
    if done.returncode != 0:
        sys.exit(tail(done.stdout) + "\nmutations: the tree does not build")
    tried = set()
    for fault in faults:
        if (fault.tests, fault.cases) in tried:
            continue
        tried.add((fault.tests, fault.cases))
        done = test(fault)
        if done.returncode != 0:
            sys.exit(tail(done.stdout) + f"\nmutations: {fault.tests} "
                     f"({fault.cases}) fails without any fault")
        if "[  PASSED  ] 0 tests" in done.stdout:
            sys.exit(f"mutations: {fault.name}: no test of {fault.tests} is "
                     f"called {fault.cases}")


def try_fault(fault: Fault, jobs: int) -> str:
    path = TREE / fault.file
    before = path.read_text()
    path.write_text(before.replace(fault.old, fault.new))
    try:
        built = build(list(fault.targets), jobs)
        if built.returncode != 0:
            print(tail(built.stdout))
            return "does not compile"
        return "found" if test(fault).returncode != 0 else "SURVIVED"
    finally:
        path.write_text(before)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    flags = parser.parse_args()
    known = {fault.name: fault for fault in FAULTS}
    unknown = [name for name in flags.names if name not in known]
    if unknown:
        parser.error(f"{unknown[0]} is no fault; --list names them")
    if flags.list:
        for fault in FAULTS:
            print(f"{fault.name:34} {fault.file}\n    {fault.cost}")
        return 0
    wrong = find_misplaced(FAULTS)
    for line in wrong:
        print(f"mutations: {line}")
    if wrong or flags.check:
        return 1 if wrong else 0
    faults = [known[name] for name in flags.names] or FAULTS
    copy_tree()
    configure()
    try_without(faults, flags.jobs)
    missed = 0
    for fault in faults:
        began = time.monotonic()
        verdict = try_fault(fault, flags.jobs)
        missed += verdict != "found"
        print(f"{fault.name:34} {verdict:16} "
              f"{time.monotonic() - began:5.0f} s  {fault.tests}", flush=True)
    print(f"{len(faults) - missed} of {len(faults)} faults are found by tests")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
