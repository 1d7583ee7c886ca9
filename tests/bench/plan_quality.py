#!/usr/bin/env python3
"""How good are the plans: prediction error, rank agreement, the best plan known.

For every model: plan it into an empty store, plan it again, plan the deeper
copy, then run the chosen plan, the baselines and random plans of the whole
model in interleaved rounds and compare with what was predicted.

  tests/bench/plan_quality.py --bin build/release/bin [--models llama gpt2]
      [--random 10] [--seed 1] [--work FOLDER]

Prints one row per model and, with --json FILE, all figures.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

from agreement import distinct, kendall_tau

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(command):
    """Standard output of a command that must succeed, as JSON, and seconds."""
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return json.loads(done.stdout), time.monotonic() - start


def judge(model, options):
    meshwright = pathlib.Path(options.bin) / "meshwright"
    work = pathlib.Path(options.work)
    work.mkdir(parents=True, exist_ok=True)
    store, plan = work / f"{model}.db", work / f"{model}.plan.json"
    for old in work.glob(f"{model}.db*"):
        old.unlink()
    data = ROOT / "tests" / "testdata"
    shallow, deep = data / f"{model}_2l.hlo.pb", data / f"{model}_4l.hlo.pb"
    common = ["--mesh", "1x2", "--store", store, "--json"]
    first, first_seconds = run(
        [meshwright, "plan", shallow, *common, "-o", plan])
    again, again_seconds = run([meshwright, "plan", shallow, *common])
    deeper, _ = run([meshwright, "plan", deep, *common])
    report, validate_seconds = run(
        [meshwright, "validate", shallow, plan, "--store", store, "--json",
         "--random", str(options.random), "--seed", str(options.seed)])
    rows = distinct(report["plans"])
    tau, pairs = kendall_tau(rows)
    chosen = rows[0]["measured_seconds"]
    best = min(row["measured_seconds"] for row in rows)
    memory = [row["predicted_peak_bytes"] / row["measured_peak_bytes"] - 1
              for row in rows]
    return {
        "model": model,
        "programs": first["programs"],
        "first_seconds": first_seconds,
        "again_seconds": again_seconds,
        "again_profiled": again["programs"].get("profiled", 0),
        "deeper_profiled": deeper["programs"].get("profiled", 0),
        "validate_seconds": validate_seconds,
        "max_relative_difference":
            max(row["max_relative_difference"] for row in rows),
        "median_error": statistics.median(abs(row["error_now"]) for row in rows),
        "chosen_over_best": chosen / best,
        "kendall_tau": tau,
        "pairs": pairs,
        "memory_error": [min(memory), max(memory)],
        "plans": report["plans"],
    }


def print_figures(results, random):
    """The lines that tests/bench/report collects."""
    def print_figure(what, wanted, got):
        print(f"figure\t{names} on 1x2, {random} random plans each: {what}"
              f"\t{wanted}\t{got}")

    def worst(key):
        return max(it[key] for it in results)

    names = " and ".join(f"{it['model']}_2l" for it in results)
    taus = [it["kendall_tau"] for it in results
            if it["kendall_tau"] is not None]
    print_figure("median error now, worst", "≤ 5 %",
                 f"{worst('median_error') * 100:.1f} %")
    print_figure("chosen over best, worst", "≤ 1.05",
                 f"{worst('chosen_over_best'):.3f}")
    print_figure("Kendall's tau above the noise, worst", "≥ 0.8",
                 f"{min(taus):.2f}" if taus else "no pair above the noise")
    print_figure("outputs differ, worst", "≤ 1e-3",
                 f"{worst('max_relative_difference'):.1e}")
    print_figure("programs measured first, maximum", "≤ 60",
                 max(it["programs"]["profiled"] for it in results))
    print_figure("programs measured again, maximum", "0",
                 worst("again_profiled"))
    print_figure("programs measured for twice the layers, maximum", "0",
                 worst("deeper_profiled"))
    print_figure("plan again, worst", "≤ 5 s", f"{worst('again_seconds'):.2f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    parser.add_argument("--models", nargs="+",
                        default=["llama", "gpt2", "bert", "moe"])
    parser.add_argument("--random", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", default=str(ROOT / "build/plan_quality"))
    parser.add_argument("--json")
    options = parser.parse_args()
    print("model  measured  plan     again  again+deeper  difference  "
          "median error  chosen/best  tau (pairs)  memory error")
    results = []
    for model in options.models:
        it = judge(model, options)
        results.append(it)
        tau = "-" if it["kendall_tau"] is None else f"{it['kendall_tau']:.2f}"
        low, high = it["memory_error"]
        print(f"{model:6} {it['programs']['profiled']:3}/{it['programs']['distinct']:<4} "
              f"{it['first_seconds']:6.0f} s {it['again_seconds']:6.2f} s "
              f"{it['again_profiled']:6}+{it['deeper_profiled']:<6} "
              f"{it['max_relative_difference']:10.1e} "
              f"{it['median_error'] * 100:11.1f} % "
              f"{it['chosen_over_best']:11.3f} {tau:>7} ({it['pairs']}) "
              f"{low * 100:+.0f}..{high * 100:+.0f} %", flush=True)
    print_figures(results, options.random)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
