#!/usr/bin/env bash
# Writes tests/testdata/*.hlo.pb anew.
#
#   python/export_testdata.sh [PYTHON]     (or PYTHON=... in the environment)
#
# PYTHON has the packages of requirements-export.txt. The files come out byte
# for byte the same under the same versions; tests/testdata/README.md lists the
# commands, and python/tests/test_export.py holds the two together.
set -euo pipefail

python=${1:-${PYTHON:-python3}}
cd "$(dirname "$0")"
testdata=../tests/testdata
tiny=(--hidden 32 --heads 4 --ffn 64 --vocab 64 --batch 4 --seq 8)

export PYTHONDONTWRITEBYTECODE=1
for model in llama gpt2 bert moe; do
  for layers in 2 4; do
    "$python" -m meshwright_models "$model" --layers "$layers" \
      -o "$testdata/${model}_${layers}l.hlo.pb"
  done
  "$python" -m meshwright_models "$model" --layers 2 "${tiny[@]}" \
    -o "$testdata/${model}_tiny.hlo.pb"
done
