#!/bin/bash
# Inside a clean Debian: packages_clean_root.sh alone|booted. /test has the
# packages (old, new), wheels, a model and a script. packages_clean_root.py makes
# and enters it.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 HOME=/root
address=127.0.0.1:7433
store=/var/lib/meshwright/profiles.db
daemons=(meshwright-coordinator meshwright-worker)

say() { printf '== %s\n' "$*"; }
fail() {
  say "FAILED: $*"
  journalctl --no-pager -u 'meshwright*' 2>/dev/null | tail -n 40 || true
  exit 1
}
expect() { # MESSAGE COMMAND...
  local message=$1
  shift
  "$@" || fail "$message"
}
quietly() {
  local log
  log=$(mktemp)
  "$@" >"$log" 2>&1 || {
    cat "$log"
    fail "$*"
  }
  rm -f "$log"
}
install() { quietly apt-get install -y -q --no-install-recommends "$@"; }

# What is left of the packages: files (not in mounts), users and processes.
list_traces() {
  find / -xdev \( -path /var/log -o -path /tmp \) -prune -o \
    -iname '*meshwright*' -print
  grep -h meshwright /etc/passwd /etc/group || true
}

purge() {
  quietly apt-get purge -y -q 'meshwright*'
  local left
  left=$(list_traces)
  [ -z "$left" ] || fail "a purge leaves $left"
}

plan() { # its answer is on stdout
  meshwright plan /test/step.hlo --mesh 1x2 --coordinator $address --json \
    2>/tmp/plan.log || { cat /tmp/plan.log >&2; return 1; }
}
count() { sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p"; }
list_rows() {
  meshwright profiles stats --coordinator $address | grep '^rows: '
}
find_pid() { systemctl show -p MainPID --value "$1"; }

# The store as version 3 of its tables has it, the first with plans: the
# migrations after it (profiledb/schema/migrations.cc) backwards.
age_store() {
  quietly sqlite3 -bail $store "
    DROP TABLE workers;
    DROP TABLE audit;
    DROP TABLE program_uses;
    ALTER TABLE plan_updates DROP COLUMN checksum;
    ALTER TABLE plans DROP COLUMN plan_checksum;
    ALTER TABLE plans DROP COLUMN checksum;
    DROP TABLE worker_orders;
    ALTER TABLE epochs DROP COLUMN expires_unix_ms;
    PRAGMA user_version = 3"
}

alone() {
  say "installing where no systemd runs"
  install /test/new/*.deb
  expect "the coordinator's user" getent passwd meshwright >/dev/null
  expect "the worker's user" getent passwd meshwright-worker >/dev/null
  local unit
  for unit in "${daemons[@]}"; do
    expect "$unit is not enabled" test -L \
      /etc/systemd/system/multi-user.target.wants/$unit.service
  done
  expect "programs" meshwright --version >/dev/null
  say "removing keeps the configuration, a purge nothing"
  quietly apt-get remove -y -q 'meshwright*'
  expect "configuration" test -f /etc/meshwright/coordinator.toml
  purge
  alone_with_the_wheel
}

alone_with_the_wheel() {
  say "planning with the wheel, which brings its libraries"
  install python3-venv sqlite3  # which the other half finds in the archives
  python3 -m venv /root/venv
  quietly /root/venv/bin/pip install --no-index --find-links /test/wheels \
    meshwright
  local worker=(/root/venv/lib/python3*/site-packages/meshwright/_native/bin/meshwright-worker)
  quietly "${worker[0]}" --help
  MESHWRIGHT_CALM_SECONDS=0 quietly /root/venv/bin/meshwright plan \
    /test/step.hlo --mesh 1x2 --store /root/profiles.db --output /root/plan.json
  expect "no plan of the wheel" test -s /root/plan.json
  plan_as_a_new_user
}

plan_as_a_new_user() {
  say "planning a step by README's lines, in a new virtual environment"
  expect "there is a compiler" test -z "$(command -v cc gcc g++ clang)"
  local began=$SECONDS seconds
  python3 -m venv /root/fresh
  quietly /root/fresh/bin/pip install --no-index --find-links /test/wheels \
    'meshwright[jax]'
  JAX_PLATFORMS=cpu XLA_FLAGS=--xla_force_host_platform_device_count=2 \
    quietly /root/fresh/bin/python3 /test/readme.py
  seconds=$((SECONDS - began))
  say "a planned step after $seconds s"
  expect "no planned step within 180 s" test "$seconds" -le 180
}

expect_running() {
  local unit
  for unit in "${daemons[@]}"; do
    expect "$unit is not active" systemctl --quiet is-active $unit
  done
}

booted() {
  say "installing the version before"
  mkdir -p /etc/systemd/system/meshwright-worker.service.d
  # Times of this test say nothing: it waits for no calm machine.
  printf '[Service]\nEnvironment=MESHWRIGHT_CALM_SECONDS=0\n' \
    >/etc/systemd/system/meshwright-worker.service.d/test.conf
  install /test/old/*.deb /test/new/meshwright-plugin-cpu_*.deb
  expect_running
  expect "units" systemd-analyze --man=no verify "${daemons[@]/%/.service}"
  for unit in "${daemons[@]}"; do
    local pid
    pid=$(find_pid $unit)
    expect "$unit runs as root" test "$(stat -c %U /proc/$pid)" = \
      "$(systemctl show -p User --value $unit)"
  done
  say "configuring the worker"
  sed -i 's/^#devices = .*/devices = 2/' /etc/meshwright/worker.toml
  systemctl restart meshwright-worker

  say "planning"
  local answer
  answer=$(plan) || fail "plan"
  expect "nothing was measured: $answer" test "$(count profiled <<<"$answer")" -gt 0

  say "reloading"
  systemctl reload "${daemons[@]}"
  expect_running

  say "upgrading, over a store of an older version"
  local before rows
  rows=$(list_rows) || fail "rows"
  before=$(find_pid meshwright-worker)
  install sqlite3
  systemctl stop meshwright-coordinator
  age_store
  install /test/new/*.deb
  expect_running
  expect "the old worker still runs" test "$before" != \
    "$(find_pid meshwright-worker)"
  expect "the changed file" grep -q '^devices = 2' /etc/meshwright/worker.toml
  expect "the store has its old version" test \
    "$(sqlite3 $store "PRAGMA user_version")" -gt 3
  expect "rows are lost" test "$(list_rows)" = "$rows"
  expect "the plan of before is lost" grep -q '"state": "done"' < <(
    meshwright plans get plan-1 --coordinator $address --json)
  answer=$(plan) || fail "plan after the upgrade"
  expect "measured again: $answer" test "$(count profiled <<<"$answer")" -eq 0

  say "upgrading a coordinator that runs"
  before=$(find_pid meshwright-coordinator)
  quietly dpkg -i /test/new/meshwright-coordinator_*.deb
  expect_running
  expect "the old coordinator still runs" test "$before" != \
    "$(find_pid meshwright-coordinator)"

  say "restoring a backup, as the incident book says"
  cd /root
  quietly meshwright store backup --coordinator $address backup.db
  systemctl stop meshwright-coordinator
  rm $store*
  quietly bash /test/restore.sh
  systemctl start meshwright-coordinator
  answer=$(plan) || fail "plan on the backup"
  expect "measured again: $answer" test "$(count profiled <<<"$answer")" -eq 0

  say "stopping"
  systemctl stop "${daemons[@]}"
  for unit in "${daemons[@]}"; do
    expect "$unit did not end well" test \
      "$(systemctl show -p Result --value $unit)" = success
  done
  expect "the store" test -s $store
  systemctl start "${daemons[@]}"

  say "purging"
  rm -r /etc/systemd/system/meshwright-worker.service.d
  purge
  expect "a daemon still runs" test -z "$(pgrep meshwright || true)"
  say "passed"
}

case $1 in
  alone) alone ;;
  booted) booted ;;
esac
