#!/usr/bin/env bash
# What the service's tests of lost coordinators, stopped workers and held
# connections measure, as figures.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
export MESHWRIGHT_BUILD_DIR=$PWD/build/release
for test in takeover stopped_worker connections; do
  "build/release/bin/integration_${test}_test"
done
