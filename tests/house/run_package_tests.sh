#!/usr/bin/env bash
# The tests of the Python package: run_package_tests.sh PROGRAM
# PROGRAM is meshwright. They run with the interpreter that
# MESHWRIGHT_EXPORT_PYTHON names, which has the packages of
# python/requirements-tests.txt, and once more with each of
# MESHWRIGHT_JAX_PYTHONS, which have other versions of JAX (a colon between
# two). Of the newest these are in python/requirements-jax-tests.txt.
set -euo pipefail
if [ -z "${MESHWRIGHT_EXPORT_PYTHON:-}" ]; then
  echo "skipped: python_package_tests: MESHWRIGHT_EXPORT_PYTHON names no interpreter with jax"
  exit 77
fi
export MESHWRIGHT_BINARY="$1"
cd python
IFS=: read -ra pythons <<<"$MESHWRIGHT_EXPORT_PYTHON:${MESHWRIGHT_JAX_PYTHONS:-}"
for python in "${pythons[@]}"; do
  "$python" -m pytest -q -p no:cacheprovider tests/package \
    --ignore=tests/package/pytorch
done
