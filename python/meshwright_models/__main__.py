"""``python -m meshwright_models MODEL --layers N -o FILE.hlo.pb``."""

from __future__ import annotations

import argparse
import dataclasses
import pathlib

from meshwright_models.model_shape import (
    DEFAULT_FFN,
    WITH_KV_HEADS,
    ModelShape,
)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m meshwright_models",
        description="Export a whole training step as a serialized "
        "HloModuleProto.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    sizes = {field.name: field for field in dataclasses.fields(ModelShape)}

    def size(flag: str, meaning: str, kind: type = int) -> None:
        default = sizes[flag.replace("-", "_")].default
        parser.add_argument(
            f"--{flag}", type=kind, default=default, help=meaning
        )

    parser.add_argument("model", choices=sorted(DEFAULT_FFN))
    parser.add_argument("--layers", type=int, required=True)
    size("hidden", "width of the residual stream")
    size("heads", "attention heads")
    size("kv-heads", "key-value heads, as many as heads if not given")
    parser.add_argument(
        "--ffn",
        type=int,
        help="width of the feed-forward, of one expert for moe; "
        + ", ".join(f"{name} {ffn}" for name, ffn in DEFAULT_FFN.items()),
    )
    size("vocab", "tokens of the vocabulary")
    size("batch", "sequences per step")
    size("seq", "tokens per sequence")
    size("experts", "experts per layer (moe)")
    size("capacity-factor", "room per expert over an even share", float)
    parser.add_argument(
        "-o", "--output", type=pathlib.Path, required=True, metavar="FILE"
    )
    parser.add_argument(
        "--text", type=pathlib.Path, metavar="FILE", help="HLO text as well"
    )
    return parser


def main() -> None:
    parser = _parser()
    arguments = parser.parse_args()
    if arguments.kv_heads is not None and arguments.model not in WITH_KV_HEADS:
        parser.error(f"{arguments.model} has no --kv-heads")
    sizes = {
        field.name: getattr(arguments, field.name)
        for field in dataclasses.fields(ModelShape)
    }
    if sizes["ffn"] is None:
        sizes["ffn"] = DEFAULT_FFN[arguments.model]
    try:
        shape = ModelShape(**sizes)
    except ValueError as error:
        parser.error(str(error))

    # JAX takes seconds to import; --help and bad sizes should not wait for it.
    from meshwright_models import export

    proto = export.export_hlo(arguments.model, shape)
    try:
        arguments.output.write_bytes(proto)
        if arguments.text is not None:
            arguments.text.write_text(export.hlo_text(proto))
    except OSError as error:
        parser.exit(2, f"cannot write {error.filename}: {error.strerror}\n")
    print(f"{arguments.output}: {len(proto)} bytes")


if __name__ == "__main__":
    main()
