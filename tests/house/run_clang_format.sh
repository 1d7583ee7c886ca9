#!/usr/bin/env bash
# Every C++ file is formatted as .clang-format says.
set -euo pipefail
if ! command -v clang-format >/dev/null; then
  echo "skipped: clang_format: clang-format is not installed"
  exit 77
fi
git ls-files -z --cached --others --exclude-standard '*.cc' '*.h' |
  xargs -0 ls -d 2>/dev/null | xargs clang-format --dry-run -Werror
