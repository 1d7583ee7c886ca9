#!/usr/bin/env bash
# Every header compiles alone: those that changed (changed.sh), and those that
# include one of them. What passed once, with the headers that it includes, is
# not looked at again.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/changed.sh"
configure_tidy

# Where the packages of any target lie.
grep -oE -- '-(isystem |I)[^ "\\]+' "$tidy_build/compile_commands.json" |
  sort -u >"$tidy_build/header_flags"

product() { grep -E '^(base|cli|coordinator|planner|profiledb|worker)/' || true; }
mapfile -t changed < <(changed_files '*.h' | product)
[ "${#changed[@]}" -eq 0 ] && exit 0
{
  printf '%s\n' "${changed[@]}"
  git grep -lF -f <(printf '#include "%s"\n' "${changed[@]}") -- '*.h' || true
} | product | sort -u | not_passed "$tidy_build/passed_headers" |
  xargs -r -d '\n' -n 2 -P 2 sh -c '
  clang++ @'"$tidy_build"'/header_flags -std=c++20 -fsyntax-only -Wall -Wextra \
    -Wno-unused-parameter -Wno-missing-field-initializers -Werror \
    -include "$0" -x c++ /dev/null && touch "$1"' 2>&1
