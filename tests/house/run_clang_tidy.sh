#!/usr/bin/env bash
# clang-tidy on what changed (changed.sh). A changed header is read with its .cc
# file, or without one with a .cc file that includes it. What passed once, with
# the headers that it includes, is not looked at again.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/changed.sh"
configure_tidy

sources() {
  while read -r file; do
    if [[ $file == *.h && ! -e ${file%.h}.cc ]]; then
      for place in "${file%/*}/*.cc" '*.cc'; do
        git grep -lF "#include \"$file\"" -- "$place" || true
      done | sed -n 1p
    else
      echo "${file%.*}.cc"
    fi
  done | sort -u
}
changed_files '*.cc' '*.h' | sources |
  not_passed "$tidy_build/passed" .clang-tidy |
  xargs -r -d '\n' -n 2 -P 2 sh -c '
  if found=$(clang-tidy -p '"$tidy_build"' --quiet --warnings-as-errors="*" "$0" \
    2>/dev/null); then
    touch "$1"
  else
    printf "%s\n" "$found"
    exit 1
  fi'
