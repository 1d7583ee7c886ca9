# Sourced by what reads only what changed with clang. One of them at a time: they
# share a build folder.
tidy_build=build/tidy

configure_tidy() {
  mkdir -p "$tidy_build"
  cmake --preset tidy >"$tidy_build/configure.log" 2>&1 || {
    cat "$tidy_build/configure.log"
    exit 1
  }
  cmake --build --preset tidy --target generated_sources >/dev/null
}

# changed_files PATTERN...: what differs from the upstream branch, or is of the
# last commit where nothing does, and what git does not know yet; with
# MESHWRIGHT_LONG set, all files.
changed_files() {
  local base
  if [ -n "${MESHWRIGHT_LONG:-}" ]; then
    git ls-files -- "$@"
    return
  fi
  base=$(git merge-base HEAD '@{upstream}' 2>/dev/null || git rev-parse HEAD)
  if git diff --quiet "$base"; then
    # A clone without history has nothing to compare with.
    base=$(git rev-parse -q --verify HEAD~1) || return 0
  fi
  git diff --name-only --diff-filter=d "$base" -- "$@"
  git ls-files --others --exclude-standard -- "$@"
}

# not_passed FOLDER [RULES]: of the files on standard input those that have no
# mark in the folder, each with the mark to make when it passes. Another content
# of the file, of a header that it includes or of the rules is another mark.
not_passed() {
  local file hash
  mkdir -p "$1"
  while read -r file; do
    mapfile -t headers < <(sed -n 's/^#include "\(.*\)"$/\1/p' "$file" |
      xargs -r ls -d 2>/dev/null)
    hash=$(cat "${@:2}" "$file" "${headers[@]}" | sha256sum | cut -d' ' -f1)
    [ -e "$1/$hash" ] || printf '%s\n' "$file" "$1/$hash"
  done
}
