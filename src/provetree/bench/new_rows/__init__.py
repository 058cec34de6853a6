"""``provetree bench new-rows``: how good trees are on rows that nobody has seen, method by method.

Every fit is kept as a line of JSON, and a later call goes on from there. ``--summary`` makes the
page of the results.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from provetree.bench.arguments import among, words
from provetree.bench.new_rows.methods import METHODS
from provetree.bench.new_rows.papers import paper_work
from provetree.bench.new_rows.results import all_work, part_of, read_failures, read_results, run_all
from provetree.bench.new_rows.tables import largest_first, wanted_tables

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Run ``provetree bench new-rows``."""
    usual = tuple(name for name, method in METHODS.items() if method.by_default)
    methods = words(arguments.methods) or usual
    among("--methods", methods, METHODS)
    known = wanted_tables()
    tables = words(arguments.tables) or known
    among("--tables", tables, known)
    folder: Path = arguments.results
    if arguments.summary is not None:
        from provetree.bench.new_rows.page import write_page

        write_page(read_results(folder), read_failures(folder), arguments.summary)
        return 0
    if arguments.papers:
        work = paper_work(tables, methods, arguments.limit)
    else:
        sizes = _sizes(arguments.leaves)
        splits = range(arguments.splits)
        work = all_work(largest_first(tables), methods, splits, arguments.limit, sizes)
    work = part_of(work, arguments.part)
    done = read_results(folder)
    work = [one for one in work if one.key not in done]
    print(f"{len(work)} fits to make", file=sys.stderr, flush=True)
    file = folder / f"part-{arguments.part.replace('/', '-of-')}.jsonl"
    failed = 0
    for message in run_all(work, file, arguments.jobs, arguments.stop_after):
        failed += 1
        print(message, file=sys.stderr, flush=True)
    return 1 if failed else 0


def _sizes(text: str) -> tuple[int, ...]:
    """Return the numbers of leaves that were asked for."""
    asked = words(text)
    if not all(word.isdigit() and int(word) >= 2 for word in asked):
        raise ValueError(f"--leaves must be whole numbers from 2 up, as 4,8. Got {text!r} instead.")
    return tuple(int(word) for word in asked)
