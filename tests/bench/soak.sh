#!/usr/bin/env bash
# A coordinator under load for SECONDS: memory, open files and threads stay.
#
#   tests/bench/soak.sh SECONDS [--postgres]
#
# ctest runs it for less than a minute; a night has room for 30,000.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
if [ $# -lt 1 ]; then
  echo "usage: tests/bench/soak.sh SECONDS [--postgres]" >&2
  exit 2
fi
export MESHWRIGHT_BUILD_DIR=$PWD/build/release
exec build/release/bin/soak_bench --seconds "$@"
