#!/usr/bin/env bash
# Unpacks a wheel of the Python package index: fetch_wheel.sh PACKAGE VERSION FOLDER
set -euo pipefail
package=$1 version=$2 folder=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" download --quiet --no-deps --disable-pip-version-check \
  --only-binary=:all: --dest "$scratch" "$package==$version"
rm -rf "$folder.partial"
mkdir -p "$folder.partial"
python3 -m zipfile -e "$scratch"/*.whl "$folder.partial"
rm -rf "$folder"
mv "$folder.partial" "$folder"
