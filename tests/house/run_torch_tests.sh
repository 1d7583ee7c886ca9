#!/usr/bin/env bash
# The tests of meshwright.torch: run_torch_tests.sh PROGRAM
# PROGRAM is meshwright. They run with the interpreter that
# MESHWRIGHT_TORCH_PYTHON names, else with that of MESHWRIGHT_EXPORT_PYTHON,
# which has the packages of python/requirements-torch-tests.txt. They run once
# more with each of MESHWRIGHT_TORCH_PYTHONS, which have other versions of torch
# (a colon between two).
set -euo pipefail
python="${MESHWRIGHT_TORCH_PYTHON:-${MESHWRIGHT_EXPORT_PYTHON:-}}"
if [ -z "$python" ]; then
  echo "skipped: python_torch_tests: MESHWRIGHT_EXPORT_PYTHON names no interpreter with torch"
  exit 77
fi
if ! "$python" -c "import importlib.util as u; exit(u.find_spec('torch') is None)"; then
  echo "skipped: python_torch_tests: the interpreter of MESHWRIGHT_EXPORT_PYTHON has no torch (python/requirements-torch-tests.txt)"
  exit 77
fi
export MESHWRIGHT_BINARY="$1"
cd python
IFS=: read -ra pythons <<<"$python:${MESHWRIGHT_TORCH_PYTHONS:-}"
for python in "${pythons[@]}"; do
  "$python" -m pytest -q -p no:cacheprovider tests/package/pytorch
done
