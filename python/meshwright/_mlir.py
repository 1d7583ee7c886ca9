"""StableHLO becomes the HLO module that JAX would make of it.

Concept: the planner reads HLO. jaxlib reads StableHLO as text, bytecode or
portable artifact, with annotations of Shardy or without. It runs in a child of
this interpreter, since a parser that dies takes only that along.
Errors: FailedPrecondition where this Python has no jaxlib; InvalidArgument for
what jaxlib refuses; DeadlineExceeded where the caller waits no longer.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time

from meshwright.errors import (
    DeadlineExceeded,
    FailedPrecondition,
    InvalidArgument,
)

_BYTECODE = b"ML\xefR"
# The first word, after comments and aliases of attributes.
_TEXT = re.compile(
    rb"(?:\s|//[^\n]*\n)*"
    rb'(?:(?:builtin\.)?module\b|func\.func\b|"builtin\.module"|'
    rb"#[A-Za-z_][\w.$-]*\s*=)"
)
_HEAD_BYTES = 1 << 16

_LIMIT_SECONDS = 300.0
# The command line has the same (cli/mlir/to_hlo.cc). Its argument is the file
# for the result.
CONVERTER = """
import sys

# With -c the working folder comes first, whatever lies there.
sys.path = [folder for folder in sys.path if folder]

import signal

signal.alarm(600)  # nobody ends it where its parent is gone

from jaxlib import xla_client

with open(sys.argv[1], "wb") as output:
    output.write(b"J")  # jaxlib is here
    output.flush()
    try:
        computation = xla_client._xla.mlir.mlir_module_to_xla_computation(
            sys.stdin.buffer.read(), use_tuple_args=False, return_tuple=False
        )
        module = computation.as_serialized_hlo_module_proto()
    except Exception as error:
        sys.exit(str(error).split("\\n", 1)[0])
    output.write(module)
"""


def looks_like_mlir(content: bytes) -> bool:
    head = content[:_HEAD_BYTES]
    return head.startswith(_BYTECODE) or _TEXT.match(head) is not None


def to_hlo(
    content: bytes,
    python: str = sys.executable,
    until: float | None = None,
) -> bytes:
    """What is no MLIR comes back as it is. ``until``: by time.monotonic."""
    if not looks_like_mlir(content):
        return content
    seconds = _LIMIT_SECONDS
    if until is not None:
        seconds = min(seconds, max(until - time.monotonic(), 0.0))
    try:
        done = subprocess.run(
            [python, "-c", CONVERTER, "/dev/stdout"],
            input=content,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        late = (
            "module: it is StableHLO that jaxlib has not converted in "
            f"{seconds:.0f} s"
        )
        if seconds < _LIMIT_SECONDS:
            raise DeadlineExceeded(
                f"{late}; wait longer, or pass a serialized HloModuleProto"
            ) from None
        raise InvalidArgument(late) from None
    said = done.stderr.decode(errors="replace").strip().split("\n")[-1]
    if not done.stdout:
        raise FailedPrecondition(
            f"module: it is StableHLO, and {python} has no jaxlib to convert "
            f"it ({said}); install jaxlib, or pass a serialized "
            "HloModuleProto or HLO text"
        )
    if done.returncode != 0:
        reason = said or f"it ended with status {done.returncode}"
        raise InvalidArgument(
            f"module: it is no StableHLO that jaxlib can convert: {reason}"
        )
    return done.stdout[1:]
