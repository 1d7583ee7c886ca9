#!/usr/bin/env bash
# Runs torch_export.py with the Python of tests/house/run_torch_tests.sh.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
python="${MESHWRIGHT_TORCH_PYTHON:-${MESHWRIGHT_EXPORT_PYTHON:?names no interpreter with torch}}"
exec "$python" -B tests/bench/torch_export.py "$@"
