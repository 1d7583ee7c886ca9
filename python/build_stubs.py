"""Makes ``meshwright/_stubs`` of proto/v1: messages, services and their types.

Concept: the messages keep their names on the wire (package meshwright.v1). The
Python modules lie in the package itself, because a module ``proto`` at the top
belongs to another project.

    python build_stubs.py FOLDER     writes FOLDER/meshwright/_stubs
"""

from __future__ import annotations

import pathlib
import sys
import tempfile

IMPORT = 'import "proto/v1/'
PACKAGE = "meshwright/_stubs"


def build_stubs(protos: pathlib.Path, output: pathlib.Path) -> None:
    """``protos``: the folder proto/v1. ``output``: where meshwright/ lies."""
    from grpc_tools import protoc

    with tempfile.TemporaryDirectory() as folder:
        sources = pathlib.Path(folder, PACKAGE)
        sources.mkdir(parents=True)
        for path in sorted(protos.glob("*.proto")):
            text = path.read_text().replace(IMPORT, f'import "{PACKAGE}/')
            (sources / path.name).write_text(text)
        output.mkdir(parents=True, exist_ok=True)
        flags = [f"--{kind}_out={output}" for kind in
                 ("python", "pyi", "grpc_python")]
        names = [f"{PACKAGE}/{path.name}" for path in sources.iterdir()]
        if protoc.main(["protoc", f"-I{folder}", *flags, *sorted(names)]):
            raise RuntimeError(f"protoc cannot compile {protos}")
    (output / PACKAGE / "__init__.py").write_text(
        '"""Made by build_stubs.py; not written by hand."""\n'
    )


if __name__ == "__main__":
    build_stubs(
        pathlib.Path(__file__).resolve().parent.parent / "proto" / "v1",
        pathlib.Path(sys.argv[1]),
    )
