#!/usr/bin/env bash
# Runs service_bench with a model of 96 layers.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
model=$(tests/bench/export_depth.sh 96)
exec build/release/bin/service_bench --model "$model"
