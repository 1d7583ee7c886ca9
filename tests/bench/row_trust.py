#!/usr/bin/env python3
"""Whether rows can be trusted: how they vary, and what a busy machine does.

  tests/bench/row_trust.py [--bin build/release/bin] [--mesh 1x2] [MODEL ...]

Every model is planned three times into stores of their own: twice on the quiet
machine, once beside a process that keeps one processor busy. Rows of one key are
compared; `good` rows are those that nothing flags. Times are brought to one base
by the anchor of their batches, as plans do. MODEL: *.hlo.pb; without one,
three of tests/testdata. Prints a line per model, and figures.
"""

import argparse
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

from agreement import quantile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = [ROOT / f"tests/testdata/{name}.hlo.pb"
          for name in ("gpt2_2l", "llama_2l", "moe_2l")]
BUSY = [sys.executable, "-c", "while True: pass"]
GOOD = 1  # v1.Quality
SLOW_PERIOD = 0.04  # coordinator/estimation/time_base.h


def decode(result):
    """The time of a v1.ProfileResult and its anchor's, in nanoseconds."""
    text = subprocess.run(
        ["protoc", "--decode=meshwright.v1.ProfileResult", f"-I{ROOT}",
         "proto/v1/profile.proto"], cwd=ROOT, input=result, check=True,
        capture_output=True).stdout.decode()
    anchor = re.search(
        r'anchors \{\s*name: "products"[^}]*time_ns: (\d+)', text)
    own = re.sub(r"anchors \{.*?\}", "", text, flags=re.DOTALL)
    return (int(re.search(r"\btime_ns: (\d+)", own).group(1)),
            int(anchor.group(1)))


def read_rows(store):
    """Key -> quality, time and anchor of the measured rows."""
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as connection:
        return {key: (quality, *decode(result))
                for key, quality, result in connection.execute(
                    "SELECT key, quality, result FROM profiles "
                    "WHERE outcome = 1")}


def plan(options, model, store):
    subprocess.run([options.bin / "meshwright", "plan", model, "--mesh",
                    options.mesh, "--store", store], check=True,
                   capture_output=True)
    return read_rows(store)


def flagged(rows):
    """Keys of the rows that a plan does not believe: not good, or with an anchor
    that is slow beside the fastest quarter of all."""
    anchors = sorted(anchor for _, _, anchor in rows.values())
    slow = (1 + SLOW_PERIOD) * anchors[len(anchors) // 4]
    return {key for key, (quality, _, anchor) in rows.items()
            if quality != GOOD or anchor > slow}


def deviations(first, second):
    """Of rows that are good in both: by how much the second is off."""
    off = []
    for key in first.keys() & second.keys() - flagged(first) - flagged(second):
        _, time, anchor = second[key]
        _, known, base = first[key]
        off.append(time * base / anchor / known - 1)
    return off


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", type=pathlib.Path, default=MODELS)
    parser.add_argument("--bin", type=pathlib.Path,
                        default=ROOT / "build/release/bin")
    parser.add_argument("--mesh", default="1x2")
    options = parser.parse_args()
    quiet, beside = [], []
    counts = {"quiet": [0, 0], "busy": [0, 0]}
    for model in options.models:
        with tempfile.TemporaryDirectory() as folder:
            stores = [pathlib.Path(folder) / f"{n}.db" for n in range(3)]
            rows = [plan(options, model, store) for store in stores[:2]]
            with subprocess.Popen(BUSY) as busy:
                try:
                    rows.append(plan(options, model, stores[2]))
                finally:
                    busy.kill()
        quiet += deviations(rows[0], rows[1])
        beside += deviations(rows[0], rows[2])
        for name, some in (("quiet", rows[:2]), ("busy", rows[2:])):
            counts[name][0] += sum(len(flagged(it)) for it in some)
            counts[name][1] += sum(map(len, some))
        print(f"{model.name}: flagged {[len(flagged(it)) for it in rows]} of "
              f"{[len(it) for it in rows]}; good rows off "
              f"{max(map(abs, deviations(rows[0], rows[1])), default=0):.1%}, "
              f"beside a busy process "
              f"{max(map(abs, deviations(rows[0], rows[2])), default=0):.1%}",
              flush=True)

    def worst(off, share):
        if not off:
            return "no row"
        return f"{quantile(list(map(abs, off)), share) * 100:.1f} %"

    names = f"{len(options.models)} models on {options.mesh}"
    print(f"figure\t{names}: good rows between two batches, p95\t≤ 3 %\t"
          f"{worst(quiet, 0.95)} ({len(quiet)} rows)")
    print(f"figure\t{names}: rows flagged on the quiet machine\t≤ 20 %\t"
          f"{counts['quiet'][0]} of {counts['quiet'][1]}")
    print(f"figure\t{names}: beside a busy process, good rows off, worst, and "
          f"rows flagged\t≤ 5 %, -\t{worst(beside, 1)} ({len(beside)} rows), "
          f"{counts['busy'][0]} of {counts['busy'][1]}")


if __name__ == "__main__":
    main()
