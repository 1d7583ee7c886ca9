#!/usr/bin/env bash
# The checks of a GPU: conformance of its plugin, whole steps against their
# plans, kernel times by two collectors, a plan over gRPC, and one GPU that
# stands for eight.
#
#   tests/bench/gpu.sh BIN PLUGIN MODELS WORK [plans|service|solo]...
#
# BIN has the programs of a build, MODELS what `tests/bench/gpu.py export` wrote.
# The programs and their libraries may have been carried there; nothing is built.
set -euo pipefail
bin=$(readlink -f "$1") plugin=$(readlink -f "$2") models=$(readlink -f "$3")
mkdir -p "$4"
work=$(readlink -f "$4")
shift 4
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
export MESHWRIGHT_CUDA_PLUGIN=$plugin

plan() {
  "$here/gpu.py" plan --meshwright "$bin/meshwright" --plugin "$plugin" \
    --work "$work" "$@"
}

plans() {
  "$bin/meshwright" doctor --platform cuda --plugin "$plugin" \
    --store "$work/doctor.db"
  MESHWRIGHT_TEST_PLATFORM=cuda MESHWRIGHT_TEST_DEVICES=1 \
    "$bin/worker_pjrt_test" --gtest_filter='ClientTest*'
  plan "$models"/{gpt2,llama,vit,bert}.hlo.pb
  "$bin/kernel_rows_bench" "$work/gpu.db"
}

service() {
  local at=(--coordinator "unix:$work/socket")
  "$bin/meshwright-coordinator" --listen "unix:$work/socket" \
    --store "$work/service.db" &
  local coordinator=$!
  "$bin/meshwright-worker" "${at[@]}" --platform cuda --plugin "$plugin" &
  local worker=$!
  trap 'kill "$worker" "$coordinator" 2>/dev/null || true' EXIT
  # It waits for the coordinator's socket, and the plan for the worker.
  until [ -S "$work/socket" ]; do sleep 0.1; done
  local id
  id=$("$bin/meshwright" plans submit "$models/vit.hlo.pb" --mesh 1x1 \
    --platform cuda --plugin "$plugin" "${at[@]}")
  "$bin/meshwright" plans watch "$(grep -o 'plan-[0-9]*' <<<"$id")" "${at[@]}"
  "$bin/meshwright" workers list "${at[@]}"
  "$bin/meshwright" jobs list "${at[@]}"
}

solo() {
  echo '{"alpha": [0, 1e-5], "beta": [0, 4e-12]}' >"$work/links.json"
  plan --solo 1x8 --links "$work/links.json" --limit 300 \
    "$models"/{gpt26b,llama7b}.hlo.pb
  "$bin/kernel_rows_bench" "$work/solo.db"
}

for check in "${@:-plans}"; do "$check"; done
