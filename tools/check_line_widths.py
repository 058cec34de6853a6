"""Names the lines of documentation and C++ that are wider than 120 columns; ``make lint`` runs it.

A URL cannot be broken, so it counts as one column. Python has its own limit, which ruff checks.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

WIDTH = 120
PATTERNS = ("*.md", "docs/*.md", "core/**/*.cpp", "core/**/*.hpp", "core/**/*.h", "core/**/*.md")
URL = re.compile(r"https?://[^\s)>\]]+")


def find_wide_lines(root: Path) -> list[str]:
    """One message for each line that is too wide."""
    messages = []
    for path in sorted({path for pattern in PATTERNS for path in root.glob(pattern)}):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            width = len(URL.sub("-", line))
            if width > WIDTH:
                where = f"{path.relative_to(root)}:{number}"
                messages.append(f"{where}: {width} columns, at most {WIDTH} are allowed")
    return messages


if __name__ == "__main__":
    sys.exit("\n".join(find_wide_lines(Path(__file__).resolve().parents[1])) or 0)
