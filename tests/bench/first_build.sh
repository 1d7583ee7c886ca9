#!/usr/bin/env bash
# CPU time of the first build of what ./quickstart builds, without a compiler
# cache, beside that of an older commit:
#
#   tests/bench/first_build.sh [COMMIT]
#
# Both are configured in build/first_build and built one after the other, each
# with two jobs; user and system seconds of all compilers and linkers.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
root=$PWD
work=$root/build/first_build
rm -rf "$work"
mkdir -p "$work"

# build NAME COMMIT: prints "CPU WALL" in seconds.
build() {
  git worktree prune
  git worktree add -q --detach "$work/$1" "$2"
  (
    cd "$work/$1"
    mkdir -p build
    cp -r "$root/build/downloads" build/
    cmake --preset release >build/configure.log 2>&1
    export CCACHE_DISABLE=1 TIMEFORMAT='%U %S %R'
    { time cmake --build --preset release --target meshwright \
      meshwright-runner -- -j2 >build/build.log 2>&1; } 2>&1 |
      awk '{ printf "%.0f %.0f\n", $1 + $2, $3 }'
  )
  git worktree remove --force "$work/$1"
}

now=($(build now HEAD))
printf 'now: %d s of CPU, %d s\n' "${now[@]}"
[ $# -gt 0 ] || exit 0
before=($(build before "$1"))
printf '%s: %d s of CPU, %d s\n' "$1" "${before[@]}"
awk -v now="${now[0]}" -v wall="${now[1]}" -v before="${before[0]}" -v old="$1" '
  BEGIN {
    printf "figure\tfirst build of ./quickstart: CPU time over that of commit "
    printf "%s\t≤ 40 %%\t%.1f %%\n", old, 100 * now / before
    printf "CPU time %d s of %d s; wall time on two cores %d s\n",
           now, before, wall
  }'
