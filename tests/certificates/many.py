"""Certificates by the hundred thousand, in blocks of processes of their own; counts as JSON lines.

    python tests/certificates/many.py accepted --compiled ./ptcheck --record accepted.jsonl
    python tests/certificates/many.py mutated --compiled ./ptcheck --record mutated.jsonl

`accepted`: random small problems of all kinds are solved, certified and checked; all must be
accepted. `mutated`: certificates of problems whose optimum is known are changed; none that claims
more than is true may be accepted, none by one checker alone, and none may crash or hang one. The
compiled checker sees all of them, a block at a time; the Python one every tenth problem, and every
mutation. What a block has found is added to the record, and blocks that are there are not run
again. The exit status is 1 where anything went wrong.
"""

from __future__ import annotations

import argparse
import json
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import provetree_check

from provetree.bench.process import limited

sys.path.insert(0, str(Path(__file__).parents[1]))
from testkit.certificates import certified_table, claims_too_much, least_cost, mutated

MOST_SECONDS = 120  # of the processor for one certificate: no small one takes so long
MOST_BYTES = 4 * 2**30  # of memory, for a process
MUTATIONS = 40  # of a certificate


def by_python(path: Path, cells: dict[str, list[str | None]]) -> str | None:
    """Return what the Python checker says of a certificate; None where it refuses it.

    Whatever is no refusal comes out: an alarm where it hangs, and any crash.
    """
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    try:
        return str(provetree_check.check(path, cells))
    except provetree_check.RefusedError:
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def by_compiled(program: Path, pairs: list[tuple[Path, Path]]) -> list[str | None]:
    """Return what the compiled checker says of certificates; RuntimeError where it fails.

    A crash or an endless loop ends the whole run, and there is no line for what comes after it.
    """
    words = limited([program, *chain.from_iterable(pairs)], MOST_SECONDS + len(pairs))
    done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
    told = (done.stdout + done.stderr).split("\n")  # names in them may have other ends of lines
    lines = dict(line.split(": ", 1) for line in told if line)
    said = [lines[str(path)] for path, _ in pairs]
    if done.returncode not in (0, 1) or len(lines) != len(pairs):
        raise RuntimeError(f"The compiled checker ended with {done.returncode}: {done.stderr}")
    if any(not text.startswith(("checked: ", "not checked: ")) for text in said):
        raise RuntimeError(f"The compiled checker said: {said}")
    return [
        text.removeprefix("checked: ") if text.startswith("checked: ") else None for text in said
    ]


def accepted_block(first: int, last: int, program: Path, folder: Path) -> dict[str, Any]:
    """Return the counts of random problems."""
    counts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    failures: list[str] = []
    said: dict[int, str | None] = {}
    pairs: list[tuple[Path, Path]] = []
    for seed in range(first, last):
        table = certified_table(seed, folder, all_kinds=True)
        counts["problems"] += 1
        counts["proven"] += table.model.status_ in ("optimal", "candidate_optimal")
        counts["claims"] += table.model.certificate_.n_claims
        kinds.update(table.kinds)
        if seed % 10 == 0:
            counts["checked by Python"] += 1
            said[len(pairs)] = by_python(table.path, table.cells)
        pairs.append((table.path, table.write_csv(folder / f"{seed}.csv")))
    for k, found in enumerate(by_compiled(program, pairs)):
        counts["checked by the compiled"] += 1
        if found is None or said.get(k, found) != found:
            failures.append(f"{first + k}: {found!r} and {said.get(k)!r}")
    return {"counts": counts, "kinds": kinds, "failures": failures}


def mutated_block(first: int, last: int, program: Path, folder: Path) -> dict[str, Any]:
    """Return the counts of mutated certificates."""
    counts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    failures: list[str] = []
    for seed in range(first, last):
        rng = np.random.default_rng(seed)
        table = certified_table(seed, folder, most_rows=16)
        original = table.path.read_bytes()
        header, _ = provetree_check.read_certificate(table.path)
        if least_cost(original, table.cells) != table.optimum:
            failures.append(f"{seed}: the optimum is another one")
        weights = provetree_check.Table(header, table.cells).weights.tolist()
        csv = table.write_csv(folder / f"{seed}.csv")
        certificates, pairs, said = [], [], []
        for number in range(MUTATIONS):
            done: list[str] = []
            certificates.append(mutated(original, rng, weights, done))
            path = folder / f"{seed}-{number}.ptc"
            path.write_bytes(certificates[-1])
            pairs.append((path, csv))
            said.append(by_python(path, table.cells))
            kinds.update(done)
        for k, found in enumerate(by_compiled(program, pairs)):
            counts["mutations"] += 1
            counts["accepted by Python"] += said[k] is not None
            counts["accepted by the compiled"] += found is not None
            if found is None and said[k] is None:
                continue
            if found != said[k]:
                failures.append(f"{seed}, {k}: only one accepts it, {said[k]!r} and {found!r}")
            if certificates[k] == original:
                counts["accepted, as it was"] += 1
            elif claims_too_much(certificates[k], original, table):
                failures.append(f"{seed}, {k}: a false bound, {said[k]!r} and {found!r}")
        for path, _ in pairs:
            path.unlink()
    return {"counts": counts, "kinds": kinds, "failures": failures}


BLOCKS = {"accepted": (accepted_block, 2000), "mutated": (mutated_block, 125)}


def run_block(what: str, first: int, program: Path) -> dict[str, Any]:
    """Run a block in this process, and return what is recorded of it."""
    signal.signal(signal.SIGPROF, signal.default_int_handler)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    block, size = BLOCKS[what]
    begin = time.process_time()
    with tempfile.TemporaryDirectory(prefix="provetree-many-") as folder:
        found = block(first, first + size, program, Path(folder))
    return {"what": what, "first": first, **found, "seconds": time.process_time() - begin}


def run_apart(what: str, first: int, program: Path) -> dict[str, Any]:
    """Run a block in a process of its own; a crash or a hang is a failure of the block."""
    words = [sys.executable, __file__, what, "--compiled", str(program), "--block", str(first)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        found: dict[str, Any] = json.loads(done.stdout)
        return found
    failure = f"{first}: status {done.returncode}: {done.stderr[-2000:]}"
    return {"what": what, "first": first, "counts": {}, "kinds": {}, "failures": [failure]}


def main() -> int:
    parser = argparse.ArgumentParser(description="Certificates by the hundred thousand.")
    parser.add_argument("what", choices=BLOCKS)
    parser.add_argument("--compiled", type=Path, required=True, help="the compiled checker")
    parser.add_argument("--record", type=Path, default="record.jsonl", help="file of JSON lines")
    parser.add_argument("--count", type=int, default=100_000, help="problems or mutations")
    parser.add_argument("--first", type=int, default=200_000, help="first seed")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--block", type=int, help="run the block of this seed alone")
    given = parser.parse_args()
    program = given.compiled.resolve()
    if given.block is not None:
        sys.stdout.write(json.dumps(run_block(given.what, given.block, program)) + "\n")
        return 0
    _, size = BLOCKS[given.what]
    seeds = given.count // (MUTATIONS if given.what == "mutated" else 1)
    firsts = range(given.first, given.first + seeds, size)
    done = {}
    if given.record.exists():
        lines = map(json.loads, given.record.read_text().splitlines())
        done = {one["first"]: one for one in lines if one["what"] == given.what}
    left = [first for first in firsts if first not in done]
    with ThreadPoolExecutor(given.jobs) as pool, given.record.open("a") as record:
        for one in pool.map(lambda first: run_apart(given.what, first, program), left):
            done[one["first"]] = one
            record.write(json.dumps(one) + "\n")
            record.flush()
    counts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for first in firsts:
        counts.update(done[first]["counts"])
        kinds.update(done[first]["kinds"])
    failures = [text for first in firsts for text in done[first]["failures"]]
    found = {"counts": counts, "kinds": kinds, "failures": failures}
    sys.stdout.write(json.dumps(found, indent=1) + "\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
