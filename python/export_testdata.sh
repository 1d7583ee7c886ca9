#!/usr/bin/env bash
# Writes tests/testdata/*.hlo.pb again: the commands of its README.md.
#
#   python/export_testdata.sh [PYTHON] [FILE...]
#
# PYTHON (or the environment's) has the packages of requirements-export.txt.
# FILE: only these, as the README names them.
set -euo pipefail

python=${1:-${PYTHON:-python3}}
shift || true
cd "$(dirname "$0")"
testdata=../tests/testdata

export PYTHONDONTWRITEBYTECODE=1
sed -n 's/^| `\(\S*\.hlo\.pb\)` |.*| `\(.*\)` |$/\1 \2/p' "$testdata/README.md" |
  while read -r file arguments; do
    if [ $# -eq 0 ] || [[ " $* " == *" $file "* ]]; then
      # shellcheck disable=SC2086  # the arguments are several words
      "$python" -m meshwright_models $arguments -o "$testdata/$file"
    fi
  done
