"""The fenced blocks of a page of docs/, and what their marks ask for.

A block begins with three backticks, its language and its marks:

    sh                run by bash; it ends with status 0
    sh status=2       it ends with this status
    sh service        runs until the end of the page; its first line says that it
                      is up
    python            run by the interpreter with JAX
    ANY file=NAME     written to a file and not run
    text output       what the block before prints; ... stands for any text
    text output figures   any figure, time or width of a column will do
    sh gpu            not run: needs a GPU. Likewise hosts (several machines),
                      registry (the Python index) and root

A page names the files of the tree that it takes for the reader's own in a
comment: <!-- uses step.hlo.pb = tests/testdata/llama_tiny.hlo.pb -->. One that
runs with PyTorch says <!-- needs torch -->.
"""

from __future__ import annotations

import dataclasses
import re

NEEDS = ("gpu", "hosts", "registry", "root")
FENCE = re.compile(r"^```(.*)$")
USES = re.compile(r"^<!-- uses (\S+) = (\S+) -->$", re.M)
TORCH = re.compile(r"^<!-- needs torch -->$", re.M)


class BadBlock(Exception):
    """A block whose marks mean nothing, so that nobody would run it."""


@dataclasses.dataclass
class Block:
    line: int
    language: str
    text: str
    file: str = ""
    status: int = 0
    is_service: bool = False
    is_output: bool = False
    is_figures: bool = False
    needs: str = ""  # one of NEEDS; empty: it runs here


def _parse(line: int, info: str, text: str) -> Block:
    language, *marks = info.split()
    block = Block(line, language, text)
    for mark in marks:
        if mark.startswith("file="):
            block.file = mark.removeprefix("file=")
        elif mark.startswith("status="):
            block.status = int(mark.removeprefix("status="))
        elif mark == "service":
            block.is_service = True
        elif mark == "output":
            block.is_output = True
        elif mark == "figures":
            block.is_figures = True
        elif mark in NEEDS:
            block.needs = mark
        else:
            raise BadBlock(f"line {line}: the mark {mark} means nothing")
    if not (block.file or block.is_output or language in ("sh", "python")):
        raise BadBlock(f"line {line}: a block of {language} is neither run, "
                       "written to a file nor compared")
    return block


def find_blocks(page: str) -> list[Block]:
    """Raises BadBlock."""
    blocks = []
    info, start, lines = None, 0, []
    for number, line in enumerate(page.split("\n"), 1):
        fence = FENCE.match(line)
        if not fence:
            lines.append(line)
        elif info is None:
            info, start, lines = fence.group(1), number, []
            if not info.strip():
                raise BadBlock(f"line {number}: a block has no language")
        else:
            if not info.startswith("{"):  # a directive of the site
                blocks.append(_parse(start, info, "\n".join(lines) + "\n"))
            info = None
    if info is not None:
        raise BadBlock(f"line {start}: a block has no end")
    return blocks


def find_uses(page: str) -> dict[str, str]:
    return dict(USES.findall(page))


def needs_torch(page: str) -> bool:
    return TORCH.search(page) is not None


# The line that `plan` prints every half minute where there is no terminal: a
# slow machine prints some, a fast one none. It has no bar where nothing is left
# to be counted.
PROGRESS = re.compile(
    r"^(?:wait|compile|measure|search) +(?:\[[#-]+\] |\d+ cached\b|best ).*\n",
    re.M)
FIGURE = r"\d+(?:\.\d+)?(?:e[+-]?\d+)?(?: (?:us|ms|s|min)\b)?"


def _pattern(text: str, figures: bool) -> str:
    if not figures:
        return re.escape(text)
    parts = [r"\s+".join(re.escape(word) for word in re.split(r"\s+", part))
             for part in re.split(FIGURE, text)]
    return FIGURE.join(parts)


def matches(expected: str, printed: str, figures: bool = False) -> bool:
    """Whether a screen is the expected one.

    Spaces at its ends and bars of progress do not count.
    """
    printed = PROGRESS.sub("", printed)
    pattern = ".*".join(_pattern(part, figures)
                        for part in expected.strip().split("..."))
    return re.fullmatch(pattern, printed.strip(), re.S) is not None
