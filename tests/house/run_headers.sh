#!/usr/bin/env bash
# Every header compiles alone: those that changed (changed.sh), and those that
# include one of them. What passed once, with the headers that it includes, is
# not looked at again.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/changed.sh"
build=build/tidy
passed=$build/passed_headers
mkdir -p "$passed"
cmake --preset tidy >"$build/configure.log" 2>&1 || {
  cat "$build/configure.log"
  exit 1
}
cmake --build --preset tidy --target generated_sources >/dev/null

# Where the packages of any target lie.
grep -oE -- '-(isystem |I)[^ "\\]+' "$build/compile_commands.json" |
  sort -u >"$build/header_flags"

product() { grep -E '^(base|cli|coordinator|planner|profiledb|worker)/' || true; }
mapfile -t changed < <(changed_files '*.h' | product)
[ "${#changed[@]}" -eq 0 ] && exit 0
{
  printf '%s\n' "${changed[@]}"
  { git grep -lF -f <(printf '#include "%s"\n' "${changed[@]}") -- '*.h' || true; } |
    product
} | sort -u | while read -r header; do
  mapfile -t includes < <(sed -n 's/^#include "\(.*\)"$/\1/p' "$header" |
    xargs -r ls -d 2>/dev/null)
  hash=$(cat "$header" "${includes[@]}" | sha256sum | cut -d' ' -f1)
  [ -e "$passed/$hash" ] || printf '%s\n' "$header" "$passed/$hash"
done | xargs -r -d '\n' -n 2 -P 2 sh -c '
  clang++ @'"$build"'/header_flags -std=c++20 -fsyntax-only -Wall -Wextra \
    -Wno-unused-parameter -Wno-missing-field-initializers -Werror \
    -include "$0" -x c++ /dev/null && touch "$1"' 2>&1
