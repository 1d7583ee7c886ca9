# Sourced. changed_files PATTERN...: what differs from the upstream branch, or
# is of the last commit where nothing does; with MESHWRIGHT_LONG set, all files.
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
}
