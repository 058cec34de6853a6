"""The version number of provetree: the one place it is written down."""

from __future__ import annotations

__version__ = "0.1.0"
