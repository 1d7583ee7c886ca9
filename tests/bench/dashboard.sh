#!/usr/bin/env bash
# Runs dashboard.py with the Python of tests/house/run_web_tests.sh.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
exec "${MESHWRIGHT_EXPORT_PYTHON:-/usr/bin/python3}" -B \
  tests/bench/dashboard.py "$@"
