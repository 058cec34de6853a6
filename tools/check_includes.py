"""Checks that each folder of core/ includes only folders above it, and opens by saying its job.

The order is the architecture: a file may include headers of its own folder and of folders that
stand above it in ``FOLDERS``. Includes are written from the root of core/.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

#: From what knows nothing of the others down to the Python module.
FOLDERS = (
    "base",
    "kernels",
    "table",
    "tree",
    "loss",
    "run",
    "sweeps",
    "measures",
    "proof",
    "tasks",
    "intervals",
    "bits",
    "start",
    "sizes",
    "streamed",
    "near_optimal",
    "certify",
    "improve",
    "search",
    "itemsets",
    "partitions",
    "colgen",
    "python",
)

#: Methods of their own, which share no more than base/ and table/.
APART = {"itemsets", "partitions", "colgen"}

#: Two searches that know nothing of each other.
STRANGERS = {("bits", "intervals")}

INCLUDE = re.compile(r'^\s*#include "([^"]+)"', re.MULTILINE)


def faults_of(core: Path) -> list[str]:
    """Return one sentence for each include or file that breaks the rules."""
    faults = []
    for file in sorted(path for path in core.rglob("*") if path.suffix in {".hpp", ".cpp", ".h"}):
        name, text = file.relative_to(core).as_posix(), file.read_text(encoding="utf-8")
        folder = name.split("/")[0]
        if folder not in FOLDERS:
            faults.append(
                f"{name}: the folder {folder} is not in the order of tools/check_includes.py"
            )
            continue
        if not text.startswith("//"):
            faults.append(f"{name}: a file opens by saying its job in a comment")
        for header in INCLUDE.findall(text):
            above = header.split("/")[0]
            if not (core / header).is_file():
                faults.append(f"{name}: {header} is not a header by its path from core/")
            elif FOLDERS.index(above) > FOLDERS.index(folder):
                faults.append(f"{name}: {folder}/ may not include {above}/, which stands below it")
            elif folder in APART and above != folder and above not in {"base", "table"}:
                faults.append(
                    f"{name}: {folder}/ is a method of its own and may not include {above}/"
                )
            elif (folder, above) in STRANGERS:
                faults.append(f"{name}: {folder}/ may not include {above}/: they are independent")
    for folder in FOLDERS:
        if not (core / folder / "README.md").is_file():
            faults.append(f"{folder}/README.md is missing: each folder opens by saying its job")
    return faults


def main() -> int:
    """Print the faults; return 1 where there are any."""
    faults = faults_of(Path(__file__).resolve().parent.parent / "core")
    for fault in faults:
        sys.stdout.write(f"core/{fault}\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
