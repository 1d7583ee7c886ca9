#!/usr/bin/env bash
# Runs service_bench with a model of 96 layers: a million profiles in SQLite, or
# 200,000 in PostgreSQL, which takes longer to fill.
#
#   tests/bench/service.sh [postgres]
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
model=$(tests/bench/export_depth.sh 96)
flags=()
if [ "${1:-}" = postgres ]; then
  flags=(--store postgres --profiles 200000)
fi
exec build/release/bin/service_bench --model "$model" "${flags[@]}"
