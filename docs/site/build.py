"""Builds the documentation site: build.py PROGRAMS OUTPUT

PROGRAMS is a folder with meshwright, meshwright-coordinator and
meshwright-worker. OUTPUT gets source/, the pages of docs/ with the generated
reference beside them, and html/. The reference is made from the programs' flags
and configuration, from proto/v1 and from the titles of docs/formats. A warning
of Sphinx is an error.
"""

from __future__ import annotations

import importlib.util
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
SITE = pathlib.Path(__file__).resolve().parent
DOCS = SITE.parent
ROOT = DOCS.parent
SKIPPED = 77
PACKAGES = {"sphinx": "python3-sphinx", "myst_parser": "python3-myst-parser",
            "furo": "furo", "google": "python3-protobuf"}


def toctree(title: str, text: str, pages: list[str]) -> str:
    listed = "\n".join(pages)
    return f"# {title}\n\n{text}\n\n```{{toctree}}\n{listed}\n```\n"


def copy_pages(source: pathlib.Path) -> None:
    for page in DOCS.rglob("*.md"):
        place = source / page.relative_to(DOCS)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(page, place)


def write_reference(programs: pathlib.Path, source: pathlib.Path) -> None:
    import api_pages
    import config_page

    folder = source / "reference"
    cli = folder / "cli"
    subprocess.run([programs / "meshwright", "reference-pages", cli],
                   check=True, stderr=subprocess.DEVNULL)
    (cli / "index.md").write_text(toctree(
        "Command line", "Made from the flags that the programs parse.",
        sorted(page.stem for page in cli.glob("*.md"))))
    (folder / "configuration.md").write_text(config_page.make(programs))
    with tempfile.TemporaryDirectory() as temporary:
        pages = api_pages.make(ROOT, pathlib.Path(temporary))
    api = folder / "api"
    api.mkdir()
    for name, text in pages.items():
        (api / f"{name}.md").write_text(text)
    (api / "index.md").write_text(toctree(
        "API and JSON",
        "Made from `proto/v1`. Each message is a message of gRPC, and the JSON "
        "that `--json` prints and that files hold: fields have the same names, "
        "and values of enumerations are in lower case.",
        sorted(pages)))
    notes = sorted(page.stem for page in (source / "decisions").glob("*.md"))
    (source / "decisions" / "index.md").write_text(toctree(
        "Decisions", "Choices, what was rejected, and why.", notes))
    formats = sorted(page.stem for page in (source / "formats").glob("*.md"))
    (folder / "formats.md").write_text(toctree(
        "Files", "Every file that Meshwright reads or writes.",
        [f"../formats/{name}" for name in formats]))


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    for module, package in PACKAGES.items():
        if importlib.util.find_spec(module) is None:
            print(f"skipped: docs_site: the Debian package {package} is not "
                  "installed")
            return SKIPPED
    programs, output = (pathlib.Path(it).resolve() for it in sys.argv[1:])
    source = output / "source"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    copy_pages(source)
    write_reference(programs, source)
    return subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-c", SITE,
         "-d", output / "doctrees", source, output / "html"]).returncode


if __name__ == "__main__":
    sys.exit(main())
