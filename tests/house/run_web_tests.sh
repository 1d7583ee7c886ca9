#!/usr/bin/env bash
# The tests of tests/web, pages in headless Chromium: run_web_tests.sh PROGRAM
# PROGRAM is meshwright. They run with Debian's Selenium, or with the interpreter
# that MESHWRIGHT_EXPORT_PYTHON names: it has the packages of
# python/requirements-tests.txt, with which traces are read too.
set -euo pipefail
export MESHWRIGHT_BINARY="$1"
python=${MESHWRIGHT_EXPORT_PYTHON:-/usr/bin/python3}
if ! "$python" -c 'import pytest, selenium' 2>/dev/null; then
  echo "skipped: web_tests: $python has no pytest or no selenium"
  exit 77
fi
cd tests/web
exec "$python" -B -m pytest -q -p no:cacheprovider
