#!/usr/bin/env bash
# Exports a GPT-2 training step of so many layers, where it is missing, and says
# where it is. MESHWRIGHT_EXPORT_PYTHON names an interpreter with the packages of
# python/requirements-export.txt.
set -euo pipefail
layers=$1
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
model=$PWD/build/zoo/gpt2_${layers}_layers.hlo.pb
mkdir -p "$PWD/build/zoo"
[ -e "$model" ] ||
  (cd python && "${MESHWRIGHT_EXPORT_PYTHON:?names no interpreter}" \
    -m meshwright_models gpt2 --hidden 256 --heads 8 --ffn 1024 --vocab 1024 \
    --batch 8 --seq 64 --layers "$layers" -o "$model" >&2)
echo "$model"
