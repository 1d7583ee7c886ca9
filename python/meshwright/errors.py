"""The exceptions of this package: one for each status of the service.

Concept: every message is one sentence that names the way out. A status keeps
its meaning whether it comes from a call, from a plan that failed or from the
binary on this machine.
"""

from __future__ import annotations

import os
import sys
import warnings


class MeshwrightError(Exception):
    """The base of all of them."""


class InvalidArgument(MeshwrightError, ValueError):
    """The request or the step is wrong; the sentence names the argument."""


class PlanMismatch(InvalidArgument):
    """The plan is of another step: a shape, a type or a tree differs."""


class InfeasiblePlan(MeshwrightError):
    """No plan was found that fits the device memory. ``plan`` holds the verdict."""

    def __init__(self, message: str, plan: object = None):
        super().__init__(message)
        self.plan = plan


class NotFound(MeshwrightError, LookupError):
    """There is no such plan."""


class Unauthenticated(MeshwrightError):
    """The token is missing, unknown or expired."""


class PermissionDenied(MeshwrightError):
    """The token is known and its role is too small."""


class ResourceExhausted(MeshwrightError):
    """A quota or a limit of the service is used up."""


class FailedPrecondition(MeshwrightError):
    """The state of the service or of this machine stands in the way."""


class Unimplemented(MeshwrightError):
    """The service, or the step, needs what this version does not have."""


class Cancelled(MeshwrightError):
    """Somebody cancelled the plan."""


class Unavailable(MeshwrightError, ConnectionError):
    """Nothing answers at the address; the same call may succeed later."""


class DeadlineExceeded(MeshwrightError, TimeoutError):
    """The time limit passed; a service that lasts goes on with the plan."""


class Internal(MeshwrightError):
    """A fault of Meshwright."""


class MeshwrightWarning(UserWarning):
    """What a person should know and the program need not."""


def warn(message: str) -> None:
    """A MeshwrightWarning at the line of the caller of this package."""
    package = os.path.dirname(__file__)
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(
        package
    ):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, MeshwrightWarning, stacklevel=level)


# Numbers of google.rpc.Code.
_BY_CODE: dict[int, type[MeshwrightError]] = {
    1: Cancelled,
    3: InvalidArgument,
    4: DeadlineExceeded,
    5: NotFound,
    6: FailedPrecondition,
    7: PermissionDenied,
    8: ResourceExhausted,
    9: FailedPrecondition,
    10: Unavailable,
    11: InvalidArgument,
    12: Unimplemented,
    14: Unavailable,
    16: Unauthenticated,
}


def error_of_code(code: int, message: str) -> MeshwrightError:
    """The exception of a google.rpc.Code."""
    return _BY_CODE.get(code, Internal)(message)
