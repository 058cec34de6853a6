"""Lets ``python -m provetree.cli`` stand in for the ``provetree`` command."""

from __future__ import annotations

import sys

from provetree.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
