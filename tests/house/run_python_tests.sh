#!/usr/bin/env bash
# The tests of python/meshwright_models and tests/models, with the interpreter that
# MESHWRIGHT_EXPORT_PYTHON names: it has the packages of
# python/requirements-export.txt and pytest.
set -euo pipefail
if [ -z "${MESHWRIGHT_EXPORT_PYTHON:-}" ]; then
  echo "skipped: python_tests: MESHWRIGHT_EXPORT_PYTHON names no interpreter with jax"
  exit 77
fi
cd python
exec "$MESHWRIGHT_EXPORT_PYTHON" -m pytest -q -p no:cacheprovider \
  --ignore=tests/package
