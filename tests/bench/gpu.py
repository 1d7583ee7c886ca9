#!/usr/bin/env python3
"""Plans of whole steps on the GPU of this machine, against the whole steps.

  tests/bench/gpu.py export FOLDER [NAME...]
  tests/bench/gpu.py plan --meshwright PATH --plugin PATH --work FOLDER STEP...
      [--solo MESH --links FILE] [--forbid STRATEGY...]

`export` writes the steps (it needs python/requirements-export.txt). `plan`
plans every STEP on one GPU and runs it whole. With --solo it plans for MESH with
one GPU that stands for all of it; such a plan cannot be run here. Both print
figures for tests/bench/report, which takes them with `report take gpu FILE`.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time


ROOT = pathlib.Path(__file__).resolve().parents[2]

TRANSFORMER = "--layers 12 --hidden 768 --heads 12 --ffn 3072 --bfloat16"
STEPS = {
    "gpt2": f"gpt2 {TRANSFORMER} --vocab 50304 --batch 8 --seq 1024",
    "bert": f"bert {TRANSFORMER} --vocab 30528 --batch 16 --seq 512",
    "vit": f"vit {TRANSFORMER} --image 224 --patch 16 --vocab 1000 --batch 64",
    "llama": "llama --layers 8 --hidden 2048 --heads 16 --ffn 5632 --vocab 32000"
             " --batch 4 --seq 1024 --bfloat16",
    "llama7b": "llama --layers 2 --hidden 4096 --heads 32 --ffn 11008 --vocab"
               " 32000 --batch 8 --seq 2048 --bfloat16",
    "gpt26b": "gpt2 --layers 2 --hidden 2560 --heads 32 --ffn 10240 --vocab"
              " 50304 --batch 8 --seq 1024 --bfloat16",
}


def export(folder, names):
    for name in names or STEPS:
        output = pathlib.Path(folder).resolve() / f"{name}.hlo.pb"
        subprocess.run([sys.executable, "-m", "meshwright_models",
                        *STEPS[name].split(), "-o", output],
                       cwd=ROOT / "python", check=True)


def run(command, limit):
    start = time.monotonic()
    try:
        done = subprocess.run([str(it) for it in command], capture_output=True,
                              text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None, f"took more than {limit} s"
    seconds = time.monotonic() - start
    print(f"   {seconds:.1f} s, exit {done.returncode}", flush=True)
    if not done.stdout.startswith("{"):
        return None, (done.stderr.strip() or done.stdout).splitlines()[-1][:300]
    return json.loads(done.stdout), done.stderr[-2000:]


def figure(what, wanted, got):
    print(f"figure\t{what}\t{wanted}\t{got}", flush=True)


def main():
    if sys.argv[1:2] == ["export"] and len(sys.argv) > 2:
        return export(sys.argv[2], sys.argv[3:])
    if sys.argv[1:2] != ["plan"]:
        sys.exit(__doc__)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--meshwright", required=True)
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--solo")
    parser.add_argument("--links")
    parser.add_argument("--forbid", nargs="*", default=[],
                        help="strategies, as plan takes them")
    parser.add_argument("--limit", type=int, default=120)
    parser.add_argument("steps", nargs="+", type=pathlib.Path)
    options = parser.parse_args(sys.argv[2:])
    device = ["--platform", "cuda", "--plugin", options.plugin]
    errors = []
    for step in options.steps:
        name = step.name.split(".")[0]
        print(f"== {name}", flush=True)
        plan = options.work / f"{name}.plan.json"
        store = options.work / ("solo.db" if options.solo else "gpu.db")
        mesh = ["--mesh", "1x1"]
        device_flags = [*device]
        for strategy in options.forbid:
            device_flags += ["--forbid", strategy]
        if options.solo:
            mesh = ["--mesh", options.solo, "--solo", "--links", options.links]
        planned, note = run(
            [options.meshwright, "plan", step, *mesh, *device_flags, "--store",
             store, "--json", "-o", plan], options.limit)
        if planned is None:
            print(f"{name}: {note}", flush=True)
            continue
        seconds = planned["predicted"]["step_seconds"]
        print(f"{name}: planned {seconds * 1e3:.3f} ms, programs "
              f"{planned['programs']}, quality {planned['quality']}", flush=True)
        if options.solo:
            took = planned["seconds"]["total"]
            figure(f"{name} for {options.solo} planned on one GPU", "a plan",
                   f"{seconds * 1e3:.1f} ms a step, "
                   f"{planned['programs']['profiled']} programs in {took:.0f} s")
            continue
        report, note = run([options.meshwright, "validate", step, plan, *device,
                            "--store", store, "--json"], options.limit)
        if report is None:
            print(f"{name}: {note}", flush=True)
            continue
        chosen = report["plans"][0]
        errors.append(abs(chosen["error_as_planned"]))
        print(f"{name}: predicted {chosen['predicted_seconds']:.6f} s, measured "
              f"{chosen['measured_seconds']:.6f} s, outputs differ by "
              f"{chosen['max_relative_difference']:.1e}", flush=True)
    if errors:
        figure(f"whole steps on one GPU ({len(errors)}), error as planned",
               "median <= 3 %",
               f"median {100 * statistics.median(errors):.1f} %, worst "
               f"{100 * max(errors):.1f} %")


if __name__ == "__main__":
    sys.exit(main())
