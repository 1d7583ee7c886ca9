#!/usr/bin/env bash
# Runs launcher.py with the Python that has JAX.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
python="${MESHWRIGHT_EXPORT_PYTHON:?names no interpreter with jax}"
exec "$python" -B tests/bench/launcher.py "$@"
