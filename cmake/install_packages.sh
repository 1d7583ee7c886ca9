#!/usr/bin/env bash
# Installs what is missing of cmake/packages.txt: install_packages.sh SECTION...
# Exit status 2: a right or a tool is missing; one sentence says which.
set -euo pipefail
list=$(dirname "${BASH_SOURCE[0]}")/packages.txt

give_up() {
  echo "install_packages: $1" >&2
  exit 2
}

wanted=()
for section in "$@"; do
  while read -r package; do wanted+=("$package"); done < <(
    awk -v section="[$section]" '
      /^#/ || NF == 0 { next }
      /^\[/ { inside = $0 == section; next }
      inside { print $1 }' "$list")
done

command -v dpkg-query >/dev/null ||
  give_up "this is no Debian system; install the packages of cmake/packages.txt by hand, in their names here"

missing=()
for package in "${wanted[@]}"; do
  # Of a package for several architectures one line each is printed.
  if ! dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null |
    grep -qx installed; then
    missing+=("$package")
  fi
done
[ "${#missing[@]}" -eq 0 ] && exit 0

if [ "$(id -u)" -eq 0 ]; then
  as_root=()
elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
  as_root=(sudo)
else
  give_up "these Debian packages are missing and only root may install them: ${missing[*]}"
fi

echo "   installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -q \
    -o DPkg::Lock::Timeout=300 "$@" </dev/null >"$log" 2>&1
}
if ! apt update || ! apt install --no-install-recommends "${missing[@]}"; then
  tail -n 20 "$log" >&2
  give_up "apt-get could not install ${missing[*]}"
fi
