"""ServiceSettings: where the service is and how this client proves itself.

Concept: what the caller does not say comes from the environment:
MESHWRIGHT_ADDRESS, MESHWRIGHT_TOKEN and MESHWRIGHT_CA, as for the verbs
that always ask a service (`meshwright plans`).
No address: a service of this process's own is started.
Errors, one sentence with the way out: InvalidArgument for what is given and
does not fit together, FailedPrecondition for a file that cannot be used here.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import stat

from meshwright.errors import FailedPrecondition, InvalidArgument


@dataclasses.dataclass(frozen=True)
class ServiceSettings:
    address: str = ""  # HOST:PORT or unix:PATH; empty: embedded
    token: str = dataclasses.field(default="", repr=False)
    token_file: str = ""  # its first line; read again for every call
    ca: str = ""  # PEM; empty: no TLS
    certificate: str = ""  # this client's own, for mutual TLS
    key: str = ""
    insecure: bool = False  # no TLS beyond this machine either

    @property
    def is_embedded(self) -> bool:
        return not self.address

    def with_environment(self) -> ServiceSettings:
        """Fills what is empty, and checks that it fits together."""
        environ = os.environ
        filled = dataclasses.replace(
            self,
            address=self.address or environ.get("MESHWRIGHT_ADDRESS", ""),
            token=self.token or environ.get("MESHWRIGHT_TOKEN", ""),
            ca=self.ca or environ.get("MESHWRIGHT_CA", ""),
        )
        filled._check()
        return filled

    def _check(self) -> None:
        if bool(self.certificate) != bool(self.key):
            raise InvalidArgument(
                "a certificate needs its key; give certificate= and key="
            )
        if self.certificate and not self.ca:
            raise InvalidArgument(
                "a certificate is of use with TLS only; give ca= too"
            )
        if self.is_embedded or self.ca or self.insecure:
            return
        if not _is_local(self.address):
            raise InvalidArgument(
                f"{self.address} is beyond this machine and MESHWRIGHT_CA "
                "names no CA; set it for TLS, or give insecure=True to send "
                "everything in the clear"
            )

    def read_token(self) -> str:
        """The token to send with the next call; empty: none."""
        if not self.token_file:
            return self.token
        path = pathlib.Path(self.token_file)
        try:
            _check_private(path)
            token = path.read_text().split("\n", 1)[0].strip()
        except OSError as error:
            raise FailedPrecondition(f"token_file: {error}") from None
        if not token:
            raise FailedPrecondition(
                f"{path} has no token in its first line; put there what "
                '"meshwright tokens create" printed'
            )
        return token


def _check_private(path: pathlib.Path) -> None:
    """The rule of the program (base/rpc/channel_security.cc)."""
    info = path.stat()
    # A file of root is lent to this user by its group: so do secrets of
    # Kubernetes come to a container that is not root.
    is_lent = info.st_uid == 0 and os.geteuid() != 0
    if stat.S_ISREG(info.st_mode) and info.st_mode & (
        0o037 if is_lent else 0o077
    ):
        raise FailedPrecondition(
            f"{path} may be read by other users; run chmod 600 {path}"
        )


def _is_local(address: str) -> bool:
    if address.startswith(("unix:", "unix-abstract:")):
        return True
    return address.rpartition(":")[0] in ("localhost", "127.0.0.1", "[::1]")
