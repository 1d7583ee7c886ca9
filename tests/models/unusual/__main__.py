"""``python -m unusual KIND --layers N -o FILE.hlo.pb``, as meshwright_models."""

from __future__ import annotations

from meshwright_models import __main__ as command_line
from meshwright_models.model_shape import ModelShape

import unusual


def _build(name: str, shape: ModelShape, metrics: bool):
    from meshwright_models import export

    export.configure_jax()
    if metrics:
        raise ValueError(f"{name} has no metrics")
    return unusual.build(name, shape)


def main() -> None:
    command_line.main(
        command_line.Catalogue(
            "unusual", unusual.KINDS, unusual.WITH_KV_HEADS, _build
        )
    )


if __name__ == "__main__":
    main()
