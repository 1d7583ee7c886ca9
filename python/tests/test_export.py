"""The files in tests/testdata are what their README says they are."""

from __future__ import annotations

import collections
import pathlib
import re
import shlex

import pytest

pytest.importorskip("jax", reason="jax is not installed")
xla_client = pytest.importorskip("jaxlib.xla_client")

TESTDATA = pathlib.Path(__file__).parents[2] / "tests" / "testdata"
FILES = sorted(path.name for path in TESTDATA.glob("*.hlo.pb"))
TINY = [name for name in FILES if name.endswith("_tiny.hlo.pb")]
MAX_BYTES = 1_000_000
BATCH_ARGUMENTS = 3

_OPCODE = re.compile(r"^ +(?:ROOT )?\S+ = (?:\(.*?\)|\S+) ([a-z-]+)\(", re.M)
_ALIAS = re.compile(r"\{(\d+)\}: \((\d+), \{\}, may-alias\)")
_PARAMETER = re.compile(r"\sparameter\((\d+)\)")


def hlo_text(proto: bytes) -> str:
    return xla_client.XlaComputation(proto).as_hlo_text()


def opcodes(proto: bytes) -> collections.Counter[str]:
    return collections.Counter(_OPCODE.findall(hlo_text(proto)))


def readme_commands() -> dict[str, list[str]]:
    """Arguments of ``python -m meshwright_models`` by file name."""
    rows = re.findall(
        r"^\| `(\S+\.hlo\.pb)` \|.*\| `(.*)` \|$",
        (TESTDATA / "README.md").read_text(),
        re.M,
    )
    return {name: shlex.split(command) for name, command in rows}


def test_readme_lists_every_file():
    assert FILES
    assert sorted(readme_commands()) == FILES


@pytest.mark.parametrize("name", FILES)
def test_file_is_small_and_names_no_machine(name):
    proto = (TESTDATA / name).read_bytes()
    assert len(proto) < MAX_BYTES
    assert b"site-packages" not in proto


@pytest.mark.parametrize("name", FILES)
def test_state_is_donated_and_loss_is_last(name):
    text = hlo_text((TESTDATA / name).read_bytes())
    entry = text[text.index("\nENTRY ") :]
    arguments = len(_PARAMETER.findall(entry))
    aliases = _ALIAS.findall(text.split("\n", 1)[0])
    state = [(str(i), str(i)) for i in range(arguments - BATCH_ARGUMENTS)]
    assert aliases == state

    root = re.search(r"ROOT \S+ = \((.*)\) tuple\(", entry).group(1)
    outputs = re.findall(r"[a-z0-9]+\[[\d,]*\]", root)
    assert len(outputs) == len(state) + 1
    assert outputs[-1] == "f32[]"


@pytest.mark.parametrize("name", TINY)
def test_export_again_gives_the_same_opcodes(name, tmp_path, monkeypatch):
    pytest.importorskip("transformers", reason="transformers is not installed")
    from meshwright_models import __main__ as command_line

    output = tmp_path / name
    arguments = readme_commands()[name]
    monkeypatch.setattr(
        "sys.argv", ["meshwright_models", *arguments, "-o", str(output)]
    )
    command_line.main()
    assert opcodes(output.read_bytes()) == opcodes(
        (TESTDATA / name).read_bytes()
    )
