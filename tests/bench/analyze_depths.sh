#!/usr/bin/env bash
# Runs analyze_bench on GPT-2 training steps of 12 to 192 layers.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
models=()
for layers in 12 24 48 96 192; do
  models+=("$(tests/bench/export_depth.sh "$layers")")
done
exec build/release/bin/analyze_bench "${models[@]}"
