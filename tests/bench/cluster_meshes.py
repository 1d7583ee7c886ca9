#!/usr/bin/env python3
"""Whether `plan --cluster` tries every mesh, measured, and takes the best one.

  tests/bench/cluster_meshes.py [--bin build/release/bin] [--devices 4]
      [--models convnet_tiny vit_tiny]

The links of the virtual devices are detected, then every model is planned on
the cluster into an empty store, and on each of its meshes alone from the same
store. So both predict from the same rows.
"""

import argparse
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULT = re.compile(r"([0-9x]+) estimated [^,;]*, planned")


def run(*command) -> dict:
    """Standard output of a command that must succeed, as JSON."""
    done = subprocess.run([str(word) for word in command], capture_output=True,
                          text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def factorise(devices: int, axes: int = 2) -> set[tuple[int, ...]]:
    """Meshes of at most so many axes; one axis is 1xN."""
    shapes = {(1, devices)}
    for shape in itertools.product(range(2, devices), repeat=axes):
        if shape[0] * shape[1] == devices:
            shapes.add(shape)
    return shapes


def name(shape) -> str:
    return "x".join(map(str, shape))


def judge(program, cluster, model: str, shapes, work) -> dict:
    step = ROOT / f"tests/testdata/{model}.hlo.pb"
    common = ["--store", work / f"{model}.db", "--json"]
    chosen = run(program, "plan", step, "--cluster", cluster, *common)
    note = next(it for it in chosen["notes"] if "the mesh was chosen" in it)
    alone = {}
    for shape in shapes:
        plan = run(program, "plan", step, "--mesh", name(shape), *common)
        if plan["feasible"]:
            alone[name(shape)] = plan["predicted"]["step_seconds"]
    order = RESULT.findall(note)
    best = min(alone, key=alone.get)
    for mesh in order:
        print(f"| {model} | {mesh} | "
              f"{alone.get(mesh, float('nan')) * 1e3:.3f} | "
              f"{'chosen' if mesh == name(chosen['mesh']) else ''} |",
              flush=True)
    return {
        "planned": len(set(order) & {name(shape) for shape in shapes}),
        "over_best": alone[name(chosen["mesh"])] / alone[best],
        "first_over_best": alone[order[0]] / alone[best],
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path,
                        default=ROOT / "build/release/bin")
    parser.add_argument("--devices", type=int, default=4)
    parser.add_argument("--models", nargs="+",
                        default=["convnet_tiny", "vit_tiny"])
    options = parser.parse_args()
    program = options.bin / "meshwright"
    shapes = factorise(options.devices)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        cluster = work / "cluster.json"
        run(program, "cluster", "detect", "--json", "--devices",
            options.devices, "--max-bytes", "1MiB", "-o", cluster)
        print("| model | mesh, best estimate first | step ms | |\n"
              "| --- | --- | --- | --- |")
        results = [judge(program, cluster, model, shapes, work)
                   for model in options.models]
    print(f"figure\tplan --cluster of {options.devices} devices: meshes "
          f"planned, fewest of {len(results)} models\t{len(shapes)}\t"
          f"{min(it['planned'] for it in results)}")
    print("figure\tpredicted step of the mesh chosen over that of the best mesh, "
          f"worst\t≤ 1.00\t{max(it['over_best'] for it in results):.2f}")
    print("figure\tpredicted step of the mesh planned first over that of the best "
          f"mesh, worst\t\t{max(it['first_over_best'] for it in results):.2f}")


if __name__ == "__main__":
    main()
