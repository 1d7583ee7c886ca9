#!/usr/bin/env bash
# Lays out the root of a container: assemble.sh ROLE BIN PLUGIN ROOT
#
# ROLE is coordinator or worker, BIN the folder of the built programs, PLUGIN
# XLA's CPU plugin, and ROOT a folder that is made. The root has the programs, the
# libraries of Debian that they load, and nothing else: no shell and no package
# manager. Debian's packages whose files are there are named in
# /var/lib/dpkg/status.d, where scanners look, with their licenses in
# /usr/share/doc. Dockerfile and tests/integration/container_test.py both call it.
set -euo pipefail
role=$1 bin=$2 plugin=$3 root=$4
case "$role" in
  # /bin/kill sends SIGHUP: tokens are read again.
  coordinator) programs=("$bin/meshwright-coordinator" "$bin/meshwright" /bin/kill) ;;
  # meshwright has `doctor`. tini is the first process: it reaps what compilers
  # leave behind.
  worker) programs=("$bin/meshwright-worker" "$bin/meshwright-runner" "$bin/meshwright" /usr/bin/tini) ;;
  *)
    echo "assemble.sh: no role is called $role; give coordinator or worker" >&2
    exit 2
    ;;
esac
user=65532

mkdir -p "$root"/{dev,etc,proc,run,sys,tmp,usr/bin,usr/lib64,usr/lib/x86_64-linux-gnu,var/lib/dpkg/status.d,var/lib/meshwright}
for folder in bin lib lib64; do ln -s "usr/$folder" "$root/$folder"; done
chmod 1777 "$root/tmp"
echo "meshwright:x:$user:$user::/nonexistent:/nonexistent" >"$root/etc/passwd"
echo "meshwright:x:$user:" >"$root/etc/group"
echo "hosts: files dns" >"$root/etc/nsswitch.conf"

loaded=("${programs[@]}")
install -m 0755 "${programs[@]}" "$root/usr/bin"
if [ "$role" = worker ]; then
  mkdir "$root/usr/lib/meshwright"
  # A link, where both are on one file system: it has 250 MB.
  cp --link "$plugin" "$root/usr/lib/meshwright/xla_cpu_pjrt.so" 2>/dev/null ||
    cp "$plugin" "$root/usr/lib/meshwright/xla_cpu_pjrt.so"
  loaded+=("$plugin")
fi

libraries=$(for file in "${loaded[@]}"; do ldd "$file"; done)
if missing=$(grep 'not found' <<<"$libraries"); then
  echo "assemble.sh: libraries are missing: $missing" >&2
  exit 1
fi
# By their names in /lib, with the files that those stand for.
grep -o '/lib[^ ]*' <<<"$libraries" | sort -u | while read -r library; do
  cp --dereference "$library" "$root$library"
done

# A file is known to dpkg by its name in /lib or in /usr/lib.
for file in /bin/kill /usr/bin/tini $(grep -o '/lib[^ ]*' <<<"$libraries" | sort -u); do
  [ -e "$root$file" ] || continue
  file=$(readlink -f "$file")
  dpkg -S "$file" 2>/dev/null || dpkg -S "${file#/usr}" 2>/dev/null ||
    { echo "assemble.sh: $file is of no package of Debian" >&2; exit 1; }
done | sed 's/: .*//' | sort -u | while read -r package; do
  name=${package%%:*}
  dpkg -s "$package" >"$root/var/lib/dpkg/status.d/$name"
  install -D -m 0644 "/usr/share/doc/$name/copyright" \
    "$root/usr/share/doc/$name/copyright"
done
if [ "$(id -u)" = 0 ]; then chown "$user:$user" "$root/var/lib/meshwright"; fi
