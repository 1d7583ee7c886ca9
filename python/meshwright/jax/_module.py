"""The annotated module as a function of JAX.

Concept: the planner's module has a sharding at every instruction. It becomes
StableHLO and takes the place of the body of a ``jax.export.Exported`` whose
signature is the step's. Calling that runs the plan's shardings inside.
The Exported is made from a function that only has the step's signature, so
that a large step is lowered once.
Shardings stay as the planner writes them (GSPMD attributes): jaxlib sees them
and partitions so, whichever partitioner is its default.
Source: names of JAX that are not public are used here alone.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any

import jax
import jax.export
import jax.numpy as jnp

from meshwright.errors import Internal
from meshwright.jax._loops import annotate_loops
from meshwright.jax._trace import Leaf, StepTrace

# Services and programs of before write copies, and plans that were kept then
# have them. StableHLO has none; a constraint of JAX says the same.
_COPY = re.compile(
    r'mhlo\.copy (%\S+) (\{mhlo\.sharding = "[^"]*"\}) : (\S+)'
)


def planned_call(
    trace: StepTrace,
    annotated: bytes,
    in_shardings: Any,
    out_shardings: Any,
    platform: str,
) -> jax.export.Exported:
    """``annotated``: a serialized HloModuleProto with the plan's shardings."""

    def signature(*arguments: Any) -> Any:
        return jax.tree.unflatten(
            trace.out_tree, [_zeros(leaf) for leaf in trace.outputs]
        )

    signature.__name__ = trace.name
    jitted = jax.jit(
        signature,
        in_shardings=in_shardings,
        out_shardings=out_shardings,
        keep_unused=True,
    )
    exported = jax.export.export(jitted, platforms=(platform,))(
        *trace.arguments
    )
    exported = dataclasses.replace(
        exported,
        mlir_module_serialized=_to_bytecode(annotated),
        out_avals=trace.out_avals,
    )
    return _without_key_shardings(exported)


def _zeros(leaf: Leaf) -> Any:
    if not jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jnp.zeros(leaf.shape, leaf.dtype)
    key = jax.eval_shape(
        jax.random.key_data, jax.ShapeDtypeStruct(leaf.shape, leaf.dtype)
    )
    impl = leaf.dtype._impl.name
    return jax.random.wrap_key_data(jnp.zeros(key.shape, key.dtype), impl=impl)


def _to_bytecode(annotated: bytes) -> bytes:
    from jax._src.export import _export
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir
    from jaxlib import xla_client

    try:
        text = xla_client._xla.mlir.xla_computation_to_mlir_module(
            xla_client.XlaComputation(annotated)
        )
        if isinstance(text, bytes):
            text = text.decode()
        text = _COPY.sub(
            r"stablehlo.custom_call @Sharding(\1) \2 : (\3) -> \3", text
        )
        with mlir.make_ir_context():
            module = ir.Module.parse(text)
            annotate_loops(module, ir)
            attributes = module.operation.attributes
            for attribute in list(attributes):
                name = getattr(attribute, "name", attribute)
                if name.startswith("mhlo."):
                    del attributes[name]
            serialize = _export._module_to_bytecode
            signature = inspect.signature(serialize).parameters
            flags = (
                {"shardy_enabled": False}
                if "shardy_enabled" in signature
                else {}
            )
            return bytes(serialize(module, **flags))
    except Exception as error:
        reason = str(error).split("\n", 1)[0]
        raise Internal(
            f"JAX {jax.__version__} cannot read the annotated module: {reason}"
        ) from error


def _without_key_shardings(exported: Any) -> Any:
    """JAX 0.9 lowers the named shardings of typed random keys wrongly."""
    if not hasattr(exported, "_in_named_shardings"):
        return exported

    def drop(shardings: Any, avals: Any) -> Any:
        return tuple(
            None
            if jax.dtypes.issubdtype(aval.dtype, jax.dtypes.prng_key)
            else sharding
            for sharding, aval in zip(shardings, avals)
        )

    return dataclasses.replace(
        exported,
        _in_named_shardings=drop(
            exported._in_named_shardings, exported.in_avals
        ),
        _out_named_shardings=drop(
            exported._out_named_shardings, exported.out_avals
        ),
    )
