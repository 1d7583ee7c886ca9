#!/usr/bin/env bash
# The tests of tests/web, pages in headless Chromium: run_web_tests.sh PROGRAM
# PROGRAM is meshwright, in bin/ of the build folder. They run with the
# interpreter that MESHWRIGHT_EXPORT_PYTHON names: it has the packages of
# python/requirements-tests.txt. Without one they run with Debian's Selenium. The
# packages that traces are read with come from PyPI into a virtual environment
# in the build folder, once; where pip cannot, these tests are skipped.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
export MESHWRIGHT_BINARY="$1"
python=${MESHWRIGHT_EXPORT_PYTHON:-/usr/bin/python3}
if ! "$python" -c 'import pytest, selenium' 2>/dev/null; then
  echo "skipped: web_tests: $python has no pytest or no selenium"
  exit 77
fi
if [ -z "${MESHWRIGHT_EXPORT_PYTHON:-}" ]; then
  wanted=python/requirements-web-tests.txt
  venv=$(dirname "$(dirname "$MESHWRIGHT_BINARY")")/web-venv
  if ! cmp -s "$wanted" "$venv/installed.txt"; then
    rm -rf "$venv"
    if "$python" -m venv --system-site-packages "$venv" >/dev/null &&
      "$venv/bin/pip" install --quiet --disable-pip-version-check --retries 1 \
        --only-binary=:all: -r "$wanted" >"$venv/pip.log" 2>&1; then
      cp "$wanted" "$venv/installed.txt"
    fi
  fi
  [ ! -f "$venv/installed.txt" ] || python=$venv/bin/python
fi
cd tests/web
exec "$python" -B -m pytest -q -rs -p no:cacheprovider
