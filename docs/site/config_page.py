"""The reference of the configuration, from what --print-config says."""

from __future__ import annotations

import pathlib
import re
import subprocess

PROGRAMS = {
    "meshwright up": ("meshwright", "up"),
    "meshwright-coordinator": ("meshwright-coordinator",),
    "meshwright-worker": ("meshwright-worker",),
}
KEY = re.compile(r"^(#?)([a-z0-9-]+) = (.*)$")


def read_keys(printed: str) -> list[tuple[str, str, str]]:
    """(key, default, meaning); the comment above a key is its meaning."""
    keys = []
    comment: list[str] = []
    for line in printed.splitlines():
        found = KEY.match(line)
        if found:
            unset, key, value = found.groups()
            keys.append((key, "" if unset else f"`{value}`", " ".join(comment)))
            comment = []
        elif line.startswith("# "):
            comment.append(line[2:])
        else:
            comment = []
    return keys


def make(programs: pathlib.Path) -> str:
    page = ("# Configuration\n\nMade from `--print-config` of each program. "
            "[The file](../formats/config.md) is TOML; a flag on the command "
            "line wins over its key.\n")
    for title, (program, *verb) in PROGRAMS.items():
        printed = subprocess.run(
            [programs / program, *verb, "--print-config"], check=True,
            capture_output=True, text=True).stdout
        keys = read_keys(printed)
        if not keys:
            raise SystemExit(f"{title} --print-config lists no keys")
        page += f"\n## {title}\n\n| key | default | meaning |\n| --- | --- | --- |\n"
        for key, default, meaning in keys:
            meaning = meaning.replace("|", "\\|").replace("*", "\\*")
            page += f"| `{key}` | {default} | {meaning} |\n"
    return page
