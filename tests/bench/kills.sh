#!/usr/bin/env bash
# kill -9 of coordinators and workers at failpoints, in rounds of 50, each with
# a seed and a store of its own:
#
#   tests/bench/kills.sh KILLS FIRST_SEED [AT_A_TIME] [--postgres]
#
# --postgres: three coordinators over PostgreSQL, of which one leads.
# A round mostly waits, so some run at a time. The first fault ends the run and
# names its seed. Nothing else is asked of a plan that lost a program when its
# workers died three times: no more than a tenth may. A thousand kills meet each
# failpoint.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
export MESHWRIGHT_BUILD_DIR=$PWD/build/release
kills=$1 first=$2 at_a_time= stores=OneCoordinator of="coordinators and workers"
for given in "${@:3}"; do
  if [ "$given" = --postgres ]; then
    stores=ThreeCoordinators of="workers and of three coordinators on PostgreSQL"
  else
    at_a_time=$given
  fi
done
if ! [ "$kills" -ge 50 ] 2>/dev/null; then
  echo "kills.sh: KILLS is $kills and a round has 50: ask for 50 or more" >&2
  exit 2
fi
# Four PostgreSQL servers and twelve coordinators would wait for two processors.
at_a_time=${at_a_time:-$([ "$stores" = OneCoordinator ] && echo 4 || echo 2)}
test=$MESHWRIGHT_BUILD_DIR/bin/integration_kills_test
round() { "$test" --gtest_filter="*$stores" --kills 50 --seed "$1" || exit 255; }
export -f round
export test stores

log=$(mktemp)
trap 'rm -f "$log"' EXIT
seq "$first" $((first + kills / 50 - 1)) |
  xargs -P "$at_a_time" -I SEED bash -c 'round SEED' >"$log" 2>&1 || {
    cat "$log"
    exit 1
  }
awk -v seed="$first" -v of="$of" -v stores="$stores" '
  / kills, seed / {
    kills += $1; plans += $5
    match($0, /[0-9]+ that lost/); lost += substr($0, RSTART)
    match($0, /[0-9]+ updates/); updates += substr($0, RSTART)
    match($0, /[0-9]+ rows committed/); rows += substr($0, RSTART)
    match($0, /[0-9]+ runners/); runners += substr($0, RSTART)
  }
  / at (coordinator|worker|[a-z_]+)[.]/ { points[$3] += $1 }
  END {
    if (kills == 0) {
      print "kills.sh: nothing was killed; is PostgreSQL installed?" >"/dev/stderr"
      exit 77
    }
    for (point in points) {
      printf "%7d at %s\n", points[point], point
      if (points[point] > 0 || kills < 1000) continue
      printf "kills.sh: no kill at %s\n", point >"/dev/stderr"
      status = 1
    }
    printf "%d kills, %d updates read\n", kills, updates
    printf "figure\tkill -9 of %s at failpoints, seeds ", of
    printf "from %d: kills, and runners killed beside them; plans, rows that ", seed
    printf "lost or doubled something\t%s; 0 of all\t", \
      stores == "OneCoordinator" ? "10,000" : "200"
    printf "%d, %d; 0 of %d, 0 of %d\n", kills, runners, plans, rows
    printf "figure\tof these plans, those that lost a program with its workers"
    printf "\t<= 10 %%\t%d of %d\n", lost, plans
    if (lost > plans / 10) {
      printf "kills.sh: %d of %d plans lost a program\n", lost, plans >"/dev/stderr"
      status = 1
    }
    exit status
  }' "$log"
