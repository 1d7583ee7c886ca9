"""``python -m meshwright_models MODEL --layers N -o FILE.hlo.pb``."""

from __future__ import annotations

import argparse
import dataclasses
import pathlib
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from meshwright_models.model_shape import (
    DEFAULT_FFN,
    WITH_KV_HEADS,
    ModelShape,
)
from meshwright_models.step_options import (
    ACCUMULATION_LOOPS,
    OPTIMIZERS,
    StepOptions,
)

if TYPE_CHECKING:
    from meshwright_models.own_step import OwnStep
    from meshwright_models.training_step import Model


@dataclasses.dataclass(frozen=True)
class Catalogue:
    """The models that a command line exports."""

    package: str
    names: Collection[str]
    with_kv_heads: Collection[str]
    build: Callable[[str, ModelShape, bool], Model | OwnStep]
    """Name, sizes, metrics; ValueError for what the model does not have."""


def _parser(catalogue: Catalogue) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"python -m {catalogue.package}",
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

    parser.add_argument(
        "model",
        choices=sorted(catalogue.names),
        metavar="MODEL",
        help=f"one of {', '.join(sorted(catalogue.names))}",
    )
    parser.add_argument("--layers", type=int, required=True)
    size("hidden", "width of the residual stream")
    size("heads", "attention heads")
    size("kv-heads", "key-value heads, as many as heads if not given")
    parser.add_argument(
        "--ffn",
        type=int,
        help="width of the feed-forward, of one expert for moe and gshard; "
        "704 for llamas, 512 for mixtures of experts, else 1024",
    )
    size("vocab", "tokens of the vocabulary; classes")
    size("batch", "sequences per step")
    size("seq", "tokens per sequence")
    size("target", "tokens of a decoder behind an encoder, seq if not given")
    size("image", "height and width of an image")
    size("patch", "height and width of a patch of a vision transformer")
    size("window", "tokens or patches of a window of attention")
    size("levels", "resolutions of a picture")
    size("experts", "experts per layer")
    size("capacity-factor", "room per expert over an even share", float)
    size("dropout", "probability; the batch gets a random key", float)
    flag = {"action": "store_true"}
    parser.add_argument(
        "--bfloat16", **flag, help="compute in bfloat16, state in float32"
    )
    parser.add_argument(
        "--checkpoint", **flag, help="recompute each layer for the backward"
    )
    parser.add_argument(
        "--metrics", **flag, help="several losses as outputs (llama_*)"
    )
    _add_step_options(parser)
    parser.add_argument(
        "-o", "--output", type=pathlib.Path, required=True, metavar="FILE"
    )
    parser.add_argument(
        "--no-names",
        dest="names",
        action="store_false",
        help="leave out what the operations were called; half the size",
    )
    parser.add_argument(
        "--text", type=pathlib.Path, metavar="FILE", help="HLO text as well"
    )
    return parser


def _add_step_options(parser: argparse.ArgumentParser) -> None:
    step = parser.add_argument_group("training step")
    step.add_argument("--optimizer", choices=OPTIMIZERS, default="adamw")
    step.add_argument(
        "--clip-norm", type=float, help="clip gradients to this global norm"
    )
    step.add_argument(
        "--accumulate", type=int, default=1, help="micro-batches per update"
    )
    step.add_argument(
        "--accumulation-loop", choices=ACCUMULATION_LOOPS, default="scan"
    )
    step.add_argument(
        "--loss-scale", action="store_true", help="dynamic loss scale"
    )
    step.add_argument("--no-donate", dest="donate", action="store_false")
    step.add_argument("--inference", action="store_true", help="loss only")


def _build(name: str, shape: ModelShape, metrics: bool) -> Model | OwnStep:
    from meshwright_models import export

    return export.build_model(name, shape, metrics)


FAMILIES = Catalogue("meshwright_models", DEFAULT_FFN, WITH_KV_HEADS, _build)


def main(catalogue: Catalogue = FAMILIES) -> None:
    parser = _parser(catalogue)
    arguments = parser.parse_args()
    if (
        arguments.kv_heads is not None
        and arguments.model not in catalogue.with_kv_heads
    ):
        parser.error(f"{arguments.model} has no --kv-heads")
    given = vars(arguments)

    def fields(plain: type) -> dict:
        names = (field.name for field in dataclasses.fields(plain))
        return {name: given[name] for name in names if name in given}

    sizes = fields(ModelShape)
    if sizes["ffn"] is None:
        default = 4 * arguments.hidden
        sizes["ffn"] = DEFAULT_FFN.get(arguments.model, default)
    # JAX takes seconds to import; --help and bad sizes should not wait for it.
    try:
        shape = ModelShape(**sizes)
        options = StepOptions(**fields(StepOptions))
        from meshwright_models import export

        model = catalogue.build(arguments.model, shape, arguments.metrics)
        proto = export.export_hlo(model, options, names=arguments.names)
    except ValueError as error:
        parser.error(str(error))

    try:
        arguments.output.write_bytes(proto)
        if arguments.text is not None:
            arguments.text.write_text(export.hlo_text(proto))
    except OSError as error:
        parser.exit(2, f"cannot write {error.filename}: {error.strerror}\n")
    print(f"{arguments.output}: {len(proto)} bytes")


if __name__ == "__main__":
    main()
