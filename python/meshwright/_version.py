"""The version of the package, which is that of the programs beside it."""

from __future__ import annotations

__version__ = "0.1.0"
