"""The ``provetree`` command."""

from __future__ import annotations

from provetree.cli.main import main

__all__ = ["main"]
