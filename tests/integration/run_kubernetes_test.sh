#!/usr/bin/env bash
# The test of deploy/kubernetes: run_kubernetes_test.sh BUILD
# BUILD is the build folder; its bin/ has the daemons. kubectl and the schemas
# come from PyPI into a virtual environment there, once.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
build=$1
wanted=python/requirements-kubernetes-tests.txt
venv=$build/kubernetes-venv
if ! cmp -s "$wanted" "$venv/installed.txt"; then
  rm -rf "$venv"
  python3 -m venv "$venv"
  if ! "$venv/bin/pip" install --quiet --disable-pip-version-check \
    --only-binary=:all: -r "$wanted" >"$venv/pip.log" 2>&1; then
    echo "skipped: integration_kubernetes_test: pip cannot install $wanted:" \
      "$(tail -n 1 "$venv/pip.log")"
    exit 77
  fi
  cp "$wanted" "$venv/installed.txt"
fi
PATH="$venv/bin:$PATH" exec "$venv/bin/python" -B \
  tests/integration/kubernetes_test.py "$build/bin"
