#!/usr/bin/env python3
"""What becomes of many model families: blocks, segments, plans, their truth.

For every family: export its training step where the file is missing, analyze
it, and with --plan also plan it into a store of its own and validate the plan.

  tests/bench/families.py [--python PYTHON] [--bin build/release/bin]
      [--zoo build/zoo] [--mesh 1x2 ...] [--plan] [--random 4] [--full-space]
      [--json FILE [--resume]] [FAMILY ...]

A run over all families takes hours. With --resume, rows that FILE has of the
same binaries, options and models are printed and not measured again.

With --full-space, what a plan left out is measured as well, and the plan over
all measurements is run beside the plan's own; that takes an hour a family.

Without FAMILY all are analyzed, and with --plan those in PLANNED are planned.
PYTHON ($MESHWRIGHT_EXPORT_PYTHON) has the packages of
python/requirements-export.txt. Prints one row per family and mesh; a family
that fails says why in its row and does not end the run, but the exit status
is 1.
"""

import argparse
import concurrent.futures
import hashlib
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

from agreement import distinct, kendall_pairs, quantile

ROOT = pathlib.Path(__file__).resolve().parents[2]

SMALL = ("--hidden 256 --heads 8 --ffn 1024 --vocab 1024 --batch 8 --seq 64 "
         "--layers 2")
DEEP = SMALL.replace("--layers 2", "--layers 4")
CONVOLUTIONS = "--hidden 64 --heads 4 --vocab 16 --batch 8 --image 32"
LLAMA = f"llama_plain {SMALL}"

HUGGING_FACE = {
    name: f"{name} {SMALL}"
    for name in (
        "gpt2 bert llama mistral gemma t5 bart mbart pegasus marian whisper "
        "vit beit dinov2 roberta albert electra distilbert roformer clip opt "
        "gptj gpt_neo bloom xglm wav2vec2").split()
}
HUGGING_FACE |= {
    "llama_gqa": f"llama {SMALL} --kv-heads 2",
    "albert_4l": f"albert {DEEP}",
    "t5_4l": f"t5 {DEEP}",
    "gpt_neo_4l": f"gpt_neo {DEEP}",
    "resnet": f"resnet {CONVOLUTIONS} --layers 2",
    "regnet": f"regnet {CONVOLUTIONS} --layers 2",
    "bert_checkpoint": f"bert {DEEP} --checkpoint",
    "gpt2_dropout": f"gpt2 {SMALL} --dropout 0.1",
    "gpt2_bfloat16": f"gpt2 {SMALL} --bfloat16",
    "t5_dropout": f"t5 {SMALL} --dropout 0.1",
}
BY_HAND = {
    "moe": f"moe {SMALL}",
    "gshard": f"gshard {DEEP}",
    "unet": "unet --hidden 32 --heads 4 --batch 8 --image 16 --layers 1",
    "llama_plain": LLAMA,
    "llama_scan": f"llama_scan {DEEP}",
    "llama_scan_gqa": f"llama_scan {DEEP} --kv-heads 2",
    "accumulate": f"{LLAMA} --accumulate 4 --batch 4",
    "accumulate_fori": f"{LLAMA} --accumulate 2 --accumulation-loop fori",
    "accumulate_scan_layers": f"llama_scan {DEEP} --accumulate 2",
    "checkpoint": f"llama_plain {DEEP} --checkpoint",
    "checkpoint_scan": f"llama_scan {DEEP} --checkpoint",
    "dropout": f"{LLAMA} --dropout 0.1",
    "dropout_scan": f"llama_scan {DEEP} --dropout 0.1",
    "bfloat16": f"{LLAMA} --bfloat16",
    "bfloat16_scan": f"llama_scan {DEEP} --bfloat16",
    "sgd": f"{LLAMA} --optimizer sgd",
    "momentum": f"{LLAMA} --optimizer momentum",
    "adam": f"{LLAMA} --optimizer adam",
    "adafactor": f"{LLAMA} --optimizer adafactor",
    "clip_norm": f"{LLAMA} --clip-norm 1.0",
    "clip_norm_scan": f"llama_scan {DEEP} --clip-norm 1.0",
    "no_donation": f"{LLAMA} --no-donate",
    "inference": f"{LLAMA} --inference",
    "inference_scan": f"llama_scan {DEEP} --inference",
    "loss_scale": f"{LLAMA} --loss-scale --bfloat16",
    "several_losses": f"{LLAMA} --metrics",
    "everything": f"llama_scan {DEEP} --accumulate 2 "
                  "--checkpoint --dropout 0.1 --bfloat16 --clip-norm 1.0",
}
KINDS = ("--hidden 64 --heads 4 --vocab 256 --batch 8 --seq 32 --image 16 "
         "--patch 4 --levels 2 --layers 2")
UNUSUAL = {
    name: f"{name} {KINDS}"
    for name in (
        "bfloat16_average conformer detr dino dit dlrm dots_saveable dpo fnet "
        "graph_attention graph_network hyena kfac latent_attention "
        "linear_attention lora lstm mamba maml masked_autoencoder mixtral "
        "mixture_of_depths mlp_mixer multi_token muon nerf parallel_blocks "
        "perceiver ppo quantized ring_cache rwkv s4 sliding_window "
        "sorted_experts swin switch whitening").split()
}
UNUSUAL |= {
    name: f"{name} {KINDS} --hidden 32"
    for name in "convnext gan latent_diffusion vq_vae wgan_gp".split()
}
UNUSUAL["video"] = f"video {KINDS} --hidden 16 --seq 8"
FAMILIES = HUGGING_FACE | BY_HAND | UNUSUAL
# One of each kind: planning all takes half a day.
PLANNED = ("bert gpt2 llama vit whisper t5 albert resnet accumulate unet gshard "
           "llama_scan").split()


class Failed(Exception):
    """A program of ours ended with an error; says which and why."""


def run(command, timeout, env=None):
    """Standard output of a command that must succeed, and its seconds."""
    start = time.monotonic()
    try:
        done = subprocess.run([str(word) for word in command], env=env,
                              capture_output=True, text=True, timeout=timeout)
    except OSError as error:
        raise Failed(f"{command[0]} cannot be run: {error.strerror}; build it "
                     "or say where it is with --bin or --python") from None
    except subprocess.TimeoutExpired:
        raise Failed(f"{command[1]}: more than {timeout} s") from None
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise Failed(f"{command[1]}: status {done.returncode}: {last}")
    return done.stdout, time.monotonic() - start


def export(name, options):
    """Makes the family's HLO file where it is missing."""
    zoo = pathlib.Path(options.zoo).resolve()
    zoo.mkdir(parents=True, exist_ok=True)
    model = zoo / f"{name}.hlo.pb"
    if model.exists() and not options.again:
        return
    if options.python is None:
        raise Failed(f"{model} is missing; --python makes it")
    package = "unusual" if name in UNUSUAL else "meshwright_models"
    run([options.python, "-m", package, *FAMILIES[name].split(),
         "-o", model, "--text", zoo / f"{name}.hlo.txt"],
        options.timeout, env={**os.environ, "PYTHONPATH": os.pathsep.join(
            str(ROOT / folder) for folder in ("python", "tests/models"))})


def runs(sequence):
    """A sequence of types with equal neighbours counted: 0 1x4 2."""
    words = []
    for kind, same in itertools.groupby(sequence):
        count = len(list(same))
        words.append(f"{kind}x{count}" if count > 1 else f"{kind}")
    return " ".join(words)


def strategies(block):
    """The letters of a block's strategies: r(ows), c(olumns), ..."""
    letters = {"contraction": "k", "replicated": "-"}
    return "".join(letters.get(s, s[0]) for s in block["strategies"])


def analyze(name, mesh, options):
    meshwright = pathlib.Path(options.bin) / "meshwright"
    model = pathlib.Path(options.zoo).resolve() / f"{name}.hlo.pb"
    out, seconds = run([meshwright, "analyze", model, "--mesh", mesh,
                        "--json"], options.timeout)
    it = json.loads(out)
    types = it["segment_types"]
    return {
        "family": name,
        "mesh": mesh,
        "instructions": it["instructions"],
        "contractions": it["contractions"],
        "blocks": len(it["parallel_blocks"]),
        "strategies": " ".join(map(strategies, it["parallel_blocks"])),
        "types": [[t["blocks"], t["configurations"]] for t in types],
        "sequence": runs(it["segment_sequence"]),
        "barriers": it["barriers"],
        "programs": it["programs"]["distinct"],
        "seconds": seconds,
    }


def ideal_wall(spent, cores):
    """Seconds to compile on all cores and then to time. Of the programs' times in
    the compiler, as many pass at once as runner_main.cc has threads."""
    threads = min(max(cores // 2, 1), 4)
    timing = spent["profile"] - spent["compile"] / threads
    return spent["compile"] / cores + timing


def validate(row, options):
    """Plans the family and holds the plan to its outputs and times."""
    meshwright = pathlib.Path(options.bin) / "meshwright"
    zoo = pathlib.Path(options.zoo).resolve()
    stem = f"{row['family']}.{row['mesh']}"
    model, plan = zoo / f"{row['family']}.hlo.pb", zoo / f"{stem}.plan.json"
    store = zoo / f"{stem}.db"
    for old in zoo.glob(f"{stem}.db*"):
        old.unlink()
    out, row["plan_seconds"] = run(
        [meshwright, "plan", model, "--mesh", row["mesh"], "--store", store,
         "--json", "-o", plan], options.timeout)
    made = json.loads(out)
    row["measured"], spent = made["programs"], made["seconds"]
    row["over_ideal_wall"] = row["plan_seconds"] / ideal_wall(
        spent, os.cpu_count())
    out, _ = run([meshwright, "profiles", "coverage", model, "--mesh",
                  row["mesh"], "--store", store, "--json"], options.timeout)
    known = json.loads(out)  # as plans judge rows: by their anchors, too
    measured, noisy = int(known["measured"]), int(known["noisy"])
    row["qualities"] = {"good": measured - noisy, "noisy": noisy}
    out, row["validate_seconds"] = run(
        [meshwright, "validate", model, plan, "--store", store, "--json",
         "--random", options.random, "--seed", 1], options.timeout)
    it = json.loads(out)
    plans = it["plans"]
    failed = [p for p in plans if "failure" in p]
    if failed:
        raise Failed(f"validate: {failed[0]['name']}: {failed[0]['failure']}")
    # A random plan may pair splits of a shared parameter that nothing joins.
    predicted = [p for p in plans if p["error_now"] is not None]
    planned = [p for p in plans if p["error_as_planned"] is not None]
    times = [plan["measured_seconds"] for plan in plans]
    row |= {
        "difference": max(p["max_relative_difference"] for p in plans),
        "drift": it["machine_drift"],
        "median_error": statistics.median(abs(p["error_now"]) for p in predicted),
        "median_error_as_planned": statistics.median(
            abs(p["error_as_planned"]) for p in planned),
        "chosen_over_best": times[0] / min(times),
        "plans": plans,
    }


def measure_full_space(row, options):
    """Is there a faster plan among what was not measured? Both run beside each
    other: `meshwright validate` of the fuller plan predicts it, and of ours."""
    meshwright = pathlib.Path(options.bin) / "meshwright"
    zoo = pathlib.Path(options.zoo).resolve()
    stem = f"{row['family']}.{row['mesh']}"
    model, store = zoo / f"{row['family']}.hlo.pb", zoo / f"{stem}.db"
    full = zoo / f"{stem}.full.json"
    made = json.loads(run(
        [meshwright, "plan", model, "--mesh", row["mesh"], "--store", store,
         "--full-space", "--json", "-o", full], 20 * options.timeout)[0])
    ours = json.loads((zoo / f"{stem}.plan.json").read_text())
    same = [s["describe"] for s in ours["segments"]] == [
        s["describe"] for s in made["segments"]]
    row["full_space"] = {"profiled": made["programs"]["profiled"], "same": same}
    measured = []
    for plan in (zoo / f"{stem}.plan.json", full):
        out = run([meshwright, "validate", model, plan, "--store", store,
                   "--json"], options.timeout)[0]
        times = json.loads(out)["plans"]
        dp = next(p for p in times if p["name"] == "dp")
        # Of two validations: each relative to the same baseline beside it.
        measured.append(times[0]["measured_seconds"] / dp["measured_seconds"])
    row["full_space"]["ours_over_full"] = 1 if same else (
        measured[0] / measured[1])


def line(row):
    if "blocks" not in row:
        return f"{row['family']:22} {row['mesh']:4} FAILED {row['failed']}"
    kinds = " ".join(f"{blocks}b/{configs}"
                     for blocks, configs in row["types"])
    text = (f"{row['family']:22} {row['mesh']:4} {row['instructions']:6} "
            f"{row['contractions']:4} {row['blocks']:3} {row['programs']:5} "
            f"{row['seconds']:5.2f} s | {kinds} | {row['sequence']} | ")
    text += ",".join(f"{b['opcode']}:{b['count']}" for b in row["barriers"])
    if "difference" in row:
        text += (f" | {row['difference']:.1e} "
                 f"{row['median_error'] * 100:.1f} % "
                 f"{row['chosen_over_best']:.3f} "
                 f"{row['plan_seconds']:.0f}+{row['validate_seconds']:.0f} s")
    if "full_space" in row:
        text += f" | full space {row['full_space']['ours_over_full']:.3f}"
    if "failed" in row:
        text += f" | FAILED {row['failed']}"
    return text


def percent(value):
    return f"{value * 100:.1f} %"


def worst(rows, key, show):
    """The largest figures of a key and their families: 7.2 % (t5), ..."""
    values = {row["family"]: row["measured"]["profiled"]
              if key == "profiled" else row[key] for row in rows}
    largest = sorted(values, key=values.get, reverse=True)[:3]
    return ", ".join(f"{show(values[name])} ({name})" for name in largest)


def print_summary(mesh, rows):
    """The figures of all families on a mesh, over all their plans."""
    plans = [p for row in rows for p in distinct(row["plans"])]
    now = [abs(p["error_now"]) for p in plans if p["error_now"] is not None]
    planned = [abs(p["error_as_planned"]) for p in plans
               if p["error_as_planned"] is not None]
    memory = [abs(p["predicted_peak_bytes"] / p["measured_peak_bytes"] - 1)
              for p in plans]
    ranked = [kendall_pairs([p for p in distinct(row["plans"])
                             if p["predicted_seconds"] is not None])
              for row in rows]
    agree, disagree = (sum(counts) for counts in zip(*ranked))
    tau = (agree - disagree) / max(1, agree + disagree)
    measured = sum(sum(row["qualities"].values()) for row in rows)
    flagged = measured - sum(row["qualities"].get("good", 0) for row in rows)

    def median(values):
        return percent(statistics.median(values))

    def p95(values):
        return percent(quantile(values, 0.95))

    of = f"{len(rows)} families on {mesh}, {len(plans)} plans"
    for what, wanted, got in (
            ("error now, median", "≤ 2 %", median(now)),
            ("error now, p95", "≤ 6 %", p95(now)),
            ("error as planned, median", "≤ 4 %", median(planned)),
            ("error as planned, p95", "≤ 10 %", p95(planned)),
            ("peak memory predicted, median error", "≤ 3 %", median(memory)),
            ("peak memory predicted, p95 of error", "≤ 6 %", p95(memory)),
            ("Kendall's tau over pairs above the noise", "≥ 0.9",
             f"{tau:.2f} ({agree + disagree} pairs)"),
            ("chosen over best measured, worst", "≤ 1.03",
             f"{max(r['chosen_over_best'] for r in rows):.3f}"),
            ("median error now of a family, worst", "≤ 5 %",
             worst(rows, "median_error", percent)),
            ("outputs differ from one device's, worst", "≤ 1e-3",
             worst(rows, "difference", "{:.1e}".format)),
            ("programs measured for a family, maximum", "≤ 60 (transformers)",
             worst(rows, "profiled", str)),
            ("measured rows flagged, not good", "≤ 20 %",
             f"{flagged} of {measured}"),
            ("wall time of a first plan over compiling on all cores and "
             "timing, worst", "≤ 1.3",
             f"{max(r['over_ideal_wall'] for r in rows):.2f}")):
        print(f"figure\t{of}: {what}\t{wanted}\t{got}")


def print_full_space(mesh, rows):
    ratios = [row["full_space"]["ours_over_full"] for row in rows]
    same = sum(row["full_space"]["same"] for row in rows)
    print(f"figure\t{len(rows)} families on {mesh}: chosen over the plan of the "
          f"full space ({same} are the same plan), both measured, worst\t≤ 1.03"
          f"\t{max(ratios):.3f}")


def digest(family, mesh, options):
    """Of all that the row of a family says something about."""
    digest = hashlib.sha256(repr(
        (mesh, options.plan, options.random, options.full_space)).encode())
    for path in (pathlib.Path(options.bin) / "meshwright",
                 pathlib.Path(options.bin) / "meshwright-runner",
                 pathlib.Path(options.zoo) / f"{family}.hlo.pb"):
        digest.update(path.read_bytes() if path.exists() else b"")
    return digest.hexdigest()


def read_rows(options):
    """The rows of an earlier run, by what they are of; failed ones are not."""
    if not options.resume or not pathlib.Path(options.json).exists():
        return {}
    rows = json.loads(pathlib.Path(options.json).read_text())
    return {row["of"]: row for row in rows if "failed" not in row}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("families", nargs="*", metavar="FAMILY",
                        help=f"of {' '.join(FAMILIES)}; all if none is given, "
                        f"with --plan {' '.join(PLANNED)}")
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    parser.add_argument("--zoo", default=str(ROOT / "build/zoo"))
    parser.add_argument("--python", help="interpreter that exports",
                        default=os.environ.get("MESHWRIGHT_EXPORT_PYTHON"))
    parser.add_argument("--again", action="store_true",
                        help="export files that are there as well")
    parser.add_argument("--mesh", nargs="+", default=["1x2"])
    parser.add_argument("--plan", action="store_true",
                        help="plan and validate as well")
    parser.add_argument("--full-space", action="store_true",
                        help="plan over everything as well; implies --plan")
    parser.add_argument("--random", type=int, default=4)
    parser.add_argument("--timeout", type=float, default=1800)
    parser.add_argument("--json")
    parser.add_argument("--resume", action="store_true",
                        help="measure what the file of --json lacks")
    options = parser.parse_intermixed_args()
    if options.resume and not options.json:
        parser.error("--resume takes its rows from a file: add --json FILE")
    unknown = sorted(set(options.families) - set(FAMILIES))
    if unknown:
        parser.error(f"no family is called {', '.join(unknown)}")
    options.plan |= options.full_space
    names = options.families or (PLANNED if options.plan else list(FAMILIES))

    unexported = {}

    def exported(name):
        try:
            export(name, options)
        except Failed as failure:
            unexported[name] = str(failure)

    with concurrent.futures.ThreadPoolExecutor(2) as two:
        list(two.map(exported, names))
    print("family                 mesh instr. dots blk prog.   time | types "
          "(blocks/configurations) | sequence | barriers | difference, median "
          "error, chosen/best, plan+validate")
    rows = []
    known = read_rows(options)
    for name, mesh in itertools.product(names, options.mesh):
        of = digest(name, mesh, options)
        if of in known:
            rows.append(known[of])
            print(line(known[of]), flush=True)
            continue
        row = {"family": name, "mesh": mesh, "of": of}
        try:
            if name in unexported:
                raise Failed(unexported[name])
            row |= analyze(name, mesh, options)
            if options.plan:
                validate(row, options)
            if options.full_space:
                measure_full_space(row, options)
        except Failed as failure:
            row["failed"] = str(failure)
        rows.append(row)
        print(line(row), flush=True)
        if options.json:  # as far as it got, for a run that is stopped
            pathlib.Path(options.json).write_text(json.dumps(rows, indent=1))
    for mesh in options.mesh:
        done = [r for r in rows if r["mesh"] == mesh and "difference" in r]
        if done:
            print_summary(mesh, done)
        full = [row for row in done if "full_space" in row]
        if full:
            print_full_space(mesh, full)
    return 1 if any("failed" in row for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
