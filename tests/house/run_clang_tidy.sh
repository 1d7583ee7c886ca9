#!/usr/bin/env bash
# clang-tidy on what changed (changed.sh). A changed header is read with its .cc
# file, or without one with a .cc file that includes it. What passed once, with
# the headers that it includes, is not looked at again.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/changed.sh"
build=build/tidy
passed=$build/passed
mkdir -p "$passed"

fresh=$(mktemp)
trap 'rm -f "$fresh"' EXIT
cmake --preset tidy >"$build/configure.log" 2>&1 || {
  cat "$build/configure.log"
  exit 1
}
cmake --build --preset tidy --target generated_sources >/dev/null

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
changed_files '*.cc' '*.h' | sources >"$fresh"

wanted=()
while read -r file; do
  mapfile -t headers < <(sed -n 's/^#include "\(.*\)"$/\1/p' "$file" |
    xargs -r ls -d 2>/dev/null)
  hash=$(cat .clang-tidy "$file" "${headers[@]}" | sha256sum | cut -d' ' -f1)
  [ -e "$passed/$hash" ] || wanted+=("$file" "$passed/$hash")
done <"$fresh"
[ "${#wanted[@]}" -eq 0 ] && exit 0
printf '%s\n' "${wanted[@]}" | xargs -d '\n' -n 2 -P 2 sh -c '
  if found=$(clang-tidy -p '"$build"' --quiet --warnings-as-errors="*" "$0" \
    2>/dev/null); then
    touch "$1"
  else
    printf "%s\n" "$found"
    exit 1
  fi'
