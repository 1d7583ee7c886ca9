#!/usr/bin/env bash
# clang-tidy on what changed: files that differ from the upstream branch, or
# those of the last commit where nothing does; at most MAX_FILES of them. With
# MESHWRIGHT_LONG set, on every file. What passed once is not looked at again.
set -euo pipefail
readonly MAX_FILES=16
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

sources() { grep -E '\.cc$' | grep -vE '^python/' | sort -u || true; }
if [ -n "${MESHWRIGHT_LONG:-}" ]; then
  git ls-files '*.cc' | sources >"$fresh"
else
  base=$(git merge-base HEAD '@{upstream}' 2>/dev/null || git rev-parse HEAD)
  if git diff --quiet "$base"; then
    # A clone without history has nothing to compare with.
    base=$(git rev-parse -q --verify HEAD~1) || exit 0
  fi
  git diff --name-only --diff-filter=d "$base" | sources >"$fresh"
fi

wanted=()
while read -r file; do
  stamp=$passed/$(cat .clang-tidy "$file" | sha256sum | cut -d' ' -f1)
  [ -e "$stamp" ] || wanted+=("$file" "$stamp")
done <"$fresh"
count=$((${#wanted[@]} / 2))
if [ -z "${MESHWRIGHT_LONG:-}" ] && [ "$count" -gt "$MAX_FILES" ]; then
  echo "clang-tidy: $MAX_FILES of $count changed files; ./check --long has all"
  wanted=("${wanted[@]:0:$((2 * MAX_FILES))}")
fi
[ "${#wanted[@]}" -eq 0 ] && exit 0
printf '%s\n' "${wanted[@]}" | xargs -d '\n' -n 2 -P 2 sh -c '
  if found=$(clang-tidy -p '"$build"' --quiet --warnings-as-errors="*" "$0" \
    2>/dev/null); then
    touch "$1"
  else
    printf "%s\n" "$found"
    exit 1
  fi'
