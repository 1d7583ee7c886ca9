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

_OPCODE = re.compile(r"^ +(?:ROOT )?\S+ = (?:\(.*?\)|\S+) ([a-z-]+)\(", re.M)
_ALIAS = re.compile(r"\{(\d+)\}: \((\d+), \{\}, may-alias\)")
_PARAMETER = re.compile(r"\sparameter\((\d+)\)")


def hlo_text(proto: bytes) -> str:
    return xla_client.XlaComputation(proto).as_hlo_text()


def opcodes(proto: bytes) -> collections.Counter[str]:
    return collections.Counter(_OPCODE.findall(hlo_text(proto)))


def readme_rows() -> dict[str, list[str]]:
    """The columns behind the file's name, by file name."""
    rows = re.findall(
        r"^\| `(\S+\.hlo\.pb)` \| (.*) \|$",
        (TESTDATA / "README.md").read_text(),
        re.M,
    )
    return {name: columns.split(" | ") for name, columns in rows}


def test_readme_lists_every_file():
    assert FILES
    assert sorted(readme_rows()) == FILES


@pytest.mark.parametrize("name", FILES)
def test_file_is_small_and_names_no_machine(name):
    proto = (TESTDATA / name).read_bytes()
    assert len(proto) < MAX_BYTES
    assert b"site-packages" not in proto


@pytest.mark.parametrize("name", FILES)
def test_readme_counts_what_is_in_the_file(name):
    proto = (TESTDATA / name).read_bytes()
    text = hlo_text(proto)
    found = collections.Counter(_OPCODE.findall(text))
    entry = text[text.index("\nENTRY ") :]
    columns = [int(it.replace(",", "")) for it in readme_rows()[name][:4]]
    assert columns[1:] == [
        sum(found.values()),
        found["dot"] + found["convolution"],
        len(_PARAMETER.findall(entry)),
    ]


@pytest.mark.parametrize("name", FILES)
def test_state_is_donated_and_loss_is_last(name):
    text = hlo_text((TESTDATA / name).read_bytes())
    entry = text[text.index("\nENTRY ") :]
    aliases = _ALIAS.findall(text.split("\n", 1)[0])
    state = [(str(i), str(i)) for i in range(len(aliases))]
    assert len(aliases) > 1
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
    arguments = shlex.split(readme_rows()[name][-1].strip("`"))
    monkeypatch.setattr(
        "sys.argv", ["meshwright_models", *arguments, "-o", str(output)]
    )
    command_line.main()
    assert opcodes(output.read_bytes()) == opcodes(
        (TESTDATA / name).read_bytes()
    )
