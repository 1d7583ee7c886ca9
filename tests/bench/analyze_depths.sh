#!/usr/bin/env bash
# Exports GPT-2 training steps of 12 to 192 layers where they are missing, and
# runs analyze_bench on them. MESHWRIGHT_EXPORT_PYTHON names an interpreter with
# the packages of python/requirements-export.txt.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
zoo=$PWD/build/zoo
mkdir -p "$zoo"
models=()
for layers in 12 24 48 96 192; do
  model=$zoo/gpt2_${layers}_layers.hlo.pb
  models+=("$model")
  [ -e "$model" ] && continue
  (cd python && "${MESHWRIGHT_EXPORT_PYTHON:?names no interpreter}" \
    -m meshwright_models gpt2 --hidden 256 --heads 8 --ffn 1024 --vocab 1024 \
    --batch 8 --seq 64 --layers "$layers" -o "$model")
done
exec build/release/bin/analyze_bench "${models[@]}"
