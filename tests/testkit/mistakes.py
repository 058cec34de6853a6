"""Mistakes put into the search on purpose, each in a core of its own.

A mistake is one line of the core that says something else: a bound is one higher than it may be.
The core is built once and then again with each of them, which compiles a file or a few.
"""

from __future__ import annotations

import json
import os
import shutil
import site
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Mistake:
    """What a file of the core says, and what it says wrongly."""

    file: str
    right: str
    wrong: str


#: Each loosens one bound.
MISTAKES = {
    "between splits": Mistake(
        "sweeps/open_splits.hpp",
        "const Cost rise_left = loss.slack(b.weight - a.weight)",
        "const Cost rise_left = loss.slack(b.weight - a.weight - 1)",
    ),
    "neighbours": Mistake(
        "sweeps/open_splits.hpp",
        "points[i].*right = std::max(points[i].*right, points[i - 1].*right - between);",
        "points[i].*right = std::max(points[i].*right, points[i - 1].*right - between + 1);",
    ),
    "least of a side": Mistake(
        "intervals/frontier.cpp",
        "task.least_left = std::max({task.least_left, high.left - loss_",
        "task.least_left = std::max({task.least_left, high.left + 1 - loss_",
    ),
    "hints": Mistake(
        "intervals/hints.cpp",
        "point.left = std::max<Cost>(0, point.left - loss.slack(at.gone_left));",
        "point.left = std::max<Cost>(0, point.left + 1 - loss.slack(at.gone_left));",
    ),
    "stumps of a superset": Mistake(
        "sweeps/depth_two.cpp",
        "point.stump_right = std::max(0, point.stump_right - at.gone_right);",
        "point.stump_right = std::max(0, point.stump_right + 1 - at.gone_right);",
    ),
    "counted classes": Mistake(
        "sweeps/depth_two.cpp",
        "weight_left - left[0] - left[1], weight_right - right[0] - right[1], false});",
        "weight_left - left[0] - left[1] + 1, weight_right - right[0] - right[1] + 1, false});",
    ),
    "floors on bits": Mistake(
        "bits/bit_node.cpp",
        "const SplitProof proof{static_cast<std::int32_t>(least.right),",
        "const SplitProof proof{static_cast<std::int32_t>(least.right) + 1,",
    ),
    "depth two on bits": Mistake(
        "bits/bit_recursion.cpp",
        "cost = std::min(cost, loss_.tree(errors.by_splits[k - 1], k));",
        "cost = std::min(cost, loss_.tree(errors.by_splits[k - 1] + 1, k));",
    ),
    "known sides on bits": Mistake(
        "bits/bit_recursion.cpp",
        "known = {sides[0].lower, sides[1].lower};",
        "known = {sides[0].lower + 1, sides[1].lower};",
    ),
    "bounds of claims": Mistake(
        "certify/interval_claims.cpp",
        "found.left[i] = std::max(found.left[i], found.left[i - 1]);",
        "found.left[i] = std::max(found.left[i], found.left[i - 1] + (found.left[i - 1] > 0));",
    ),
    "claims of sides": Mistake(
        "certify/interval_claims.cpp",
        "if (shape.on(right ? task.node.rows - position : position).depth <= 2)",
        "if (ClaimBounds more{bounds.relaxed + 1, bounds.lower + 1};\n"
        "        shape.on(right ? task.node.rows - position : position).depth <= 2 && more.lower)\n"
        "        return log_.add(where, shape, more);\n"
        "    if (shape.on(right ? task.node.rows - position : position).depth <= 2)",
    ),
    "borrowed claims on bits": Mistake(
        "certify/bit_claims.cpp",
        "if (bound > best.bound) best = {t, of_right, bound};",
        "if (bound + 1 > best.bound) best = {t, of_right, bound + 1};",
    ),
}

#: These come into play on structured tables alone: classes are counted in sets of more than 64 rows
#: of several classes, and bounds handed on to a part of more than 1,000 such rows (`many_rows`).
STRUCTURED = {"counted classes": False, "stumps of a superset": True}

#: Run with the core that has the mistake: a table in, what came of it out.
_SCRIPT = """
import json
import sys
from pathlib import Path
import provetree
import provetree_check
from testkit.certificates import certified_table, least_cost, structured_table
assert Path(provetree._core.__file__).is_relative_to(sys.argv[1]), "another core was found"
folder, first, last = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
options, optima = json.loads(sys.argv[4]), json.load(sys.stdin)
keys = "problems", "wrong", "refused", "false and refused", "not written", "lower bound", "fooled"
seen = dict.fromkeys(keys, 0)
for seed in range(first, last):
    seen["problems"] += 1
    try:
        if options is None:
            table = certified_table(seed, folder, most_rows=18)
        else:
            table = structured_table(seed, folder, **options)
    except (RuntimeError, ValueError):  # the writer, or the last check of the search, has seen it
        seen["not written"] += 1
        continue
    data = table.path.read_bytes()
    header, _ = provetree_check.read_certificate(table.path)
    optimum = least_cost(data, table.cells) if options is None else optima[seed - first]
    try:
        provetree_check.check(table.path, table.cells)
    except provetree_check.RefusedError:
        seen["refused"] += 1
        seen["false and refused"] += header.bound > optimum
        continue
    if table.optimum > optimum:  # the search was wrong
        seen["wrong"] += 1
        seen["lower bound"] += header.bound <= optimum
    seen["fooled"] += header.bound > optimum
    table.path.unlink()
print(seen)
"""


class MistakenCore:
    """A copy of the package whose core can be built with a mistake."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.source = folder / "source"
        self.build = self.source / "build" / "dev"
        # What other builds have compiled serves this one, too.
        self.environment = os.environ | {
            "CCACHE_BASEDIR": str(self.source),
            "CCACHE_NOHASHDIR": "1",
        }
        ignored = shutil.ignore_patterns("_core*.so", "__pycache__")
        for name in ("core", "src"):
            shutil.copytree(ROOT / name, self.source / name, ignore=ignored)
        shutil.copy(ROOT / "CMakeLists.txt", self.source)
        python = f"-DPython_EXECUTABLE={sys.executable}"
        command = [
            "cmake",
            "-S",
            self.source,
            "-B",
            self.build,
            "-DCMAKE_BUILD_TYPE=Release",
            python,
        ]
        if shutil.which("ninja"):
            command += ["-G", "Ninja"]
        if shutil.which("ccache"):
            command += ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"]
        subprocess.run(command, check=True, capture_output=True, env=self.environment)

    def with_mistake(
        self,
        mistake: Mistake,
        first: int,
        last: int,
        structured: dict[str, bool] | None = None,
        optima: Sequence[int] = (),
    ) -> dict[str, int]:
        """Return what became of random problems under a mistake; `optima` of structured tables."""
        path = self.source / "core" / mistake.file
        text = path.read_text()
        assert text.count(mistake.right) == 1, f"the core says no more: {mistake.right}"
        path.write_text(text.replace(mistake.right, mistake.wrong))
        try:
            command = ["cmake", "--build", self.build, "--parallel", "2"]
            subprocess.run(command, check=True, capture_output=True, env=self.environment)
        finally:
            path.write_text(text)
        package = self.source / "src"
        for old in (package / "provetree").glob("_core*.so"):
            old.unlink()
        built = next(self.build.glob("_core*.so"))
        shutil.copy(built, package / "provetree")
        # Without site: an editable install would be found before this copy of the package.
        paths = [package, ROOT / "provetree-check", ROOT / "tests", *site.getsitepackages()]
        words = [str(self.folder), str(first), str(last), json.dumps(structured)]
        environment = self.environment | {"PYTHONPATH": os.pathsep.join(map(str, paths))}
        found = subprocess.run(
            [sys.executable, "-S", "-c", _SCRIPT, *words],
            input=json.dumps(list(optima)),
            check=True,
            capture_output=True,
            text=True,
            env=environment,
        )
        counts: dict[str, int] = eval(found.stdout)  # a dict of the script above
        return counts
