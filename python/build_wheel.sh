#!/usr/bin/env bash
# Writes the wheel that carries the programs: build_wheel.sh FOLDER OUTPUT PLUGIN
# FOLDER has meshwright and meshwright-runner, PLUGIN is the PJRT plugin of the
# CPU. The tools of the build come from PyPI.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export MESHWRIGHT_WHEEL_BINARIES=$1 MESHWRIGHT_WHEEL_CPU_PLUGIN=$3
output=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
rm -f "$output"/meshwright-*.whl
"$scratch/venv/bin/pip" wheel --quiet --no-deps --disable-pip-version-check \
  --wheel-dir "$output" "$here"
