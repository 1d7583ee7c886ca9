#!/usr/bin/env bash
# Runs a fuzzer of the preset fuzz: run_fuzzer.sh NAME SECONDS SEEDS
# With MESHWRIGHT_LONG set (./check --long): 120 times as long.
# SEEDS are files.
# Exit status 77 skips: the build of the preset fuzz is not there.
set -euo pipefail
name=$1
seconds=$2
shift 2
if [ -n "${MESHWRIGHT_LONG:-}" ]; then
  seconds=$((seconds * 120))
fi
fuzzer=build/fuzz/bin/$name
work=build/fuzz/run/$name
if [ ! -x "$fuzzer" ]; then
  echo "skipped: $name: $fuzzer is not built (./check builds it)"
  exit 77
fi
rm -rf "$work"
mkdir -p "$work/seeds" "$work/corpus" "$work/crashes"
for seed in "$@"; do
  cp "$seed" "$work/seeds"
done
# The system's protobuf is not instrumented, so containers that it shares with
# our code look overrun. A fixed seed: a failure comes again.
export ASAN_OPTIONS=detect_container_overflow=0 UBSAN_OPTIONS=print_stacktrace=1
"$fuzzer" -seed=1 -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 \
  -max_len=1048576 -artifact_prefix="$work/crashes/" -print_final_stats=1 \
  "$work/corpus" "$work/seeds" >"$work/log" 2>&1 || {
  grep -vE '(NEW|REDUCE|pulse) ' "$work/log" | tail -n 60
  echo "the input is in $work/crashes; keep it in tests/testdata"
  exit 1
}
grep -E '^(Done|stat::)' "$work/log"
