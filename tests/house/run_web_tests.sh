#!/usr/bin/env bash
# The tests of tests/web, pages in headless Chromium: run_web_tests.sh PROGRAM
# PROGRAM is meshwright. They run with the interpreter that
# MESHWRIGHT_EXPORT_PYTHON names, which has the packages of
# python/requirements-tests.txt.
set -euo pipefail
if [ -z "${MESHWRIGHT_EXPORT_PYTHON:-}" ]; then
  echo "skipped: web_tests: MESHWRIGHT_EXPORT_PYTHON names no interpreter with selenium"
  exit 77
fi
export MESHWRIGHT_BINARY="$1"
cd tests/web
exec "$MESHWRIGHT_EXPORT_PYTHON" -m pytest -q -p no:cacheprovider
