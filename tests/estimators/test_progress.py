"""The line that verbose=1 shows."""

from __future__ import annotations

import io

import pytest

from provetree import ExactSearch, OptimalTreeClassifier, Progress, Solution, Tree
from provetree.estimators import _searched_tree
from provetree.estimators._progress import ProgressLine


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def solution(cost=7, bound=7, status="optimal"):
    leaf = Tree(feature=[-1], threshold=[0], value=[[1]], n_samples=[1], n_features=1)
    return Solution(leaf, cost, bound, status)


def test_on_a_terminal_one_line_is_drawn_over():
    stream, clock = Terminal(), Clock()
    line = ProgressLine(stream=stream, clock=clock)
    line.show(Progress(0.0, 1000000, 0))
    clock.now += 0.05
    line.show(Progress(0.05, 90, 10))  # too soon to be seen
    clock.now += 0.06
    line.show(Progress(0.11, 80, 60))
    clock.now += 0.39
    line.close(solution())
    text = stream.getvalue()
    assert text.count("\n") == 1
    assert text.endswith("\n")
    _, first, second, last = text.split("\r")
    assert first == "provetree: 0.0 s, cost 1000000, bound 0, gap 100.0 %"
    assert second.rstrip() == "provetree: 0.1 s, cost 80, bound 60, gap 25.0 %"
    assert len(second) == len(first)  # nothing of the longer line stays
    assert last.rstrip() == "provetree: 0.5 s, cost 7, bound 7, gap 0.0 %, optimal"


def test_in_a_notebook_one_line_is_drawn_over():
    # Streams of notebooks are no terminals, and are known by the package they come from.
    notebook = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})
    stream, clock = notebook(), Clock()
    line = ProgressLine(stream=stream, clock=clock)
    for seconds, cost in ((0.0, 100), (0.11, 90), (0.31, 80)):  # the second is too soon
        clock.now = seconds
        line.show(Progress(seconds, cost, 10))
    line.close(solution())
    costs = [part.partition("cost ")[2].partition(",")[0] for part in stream.getvalue().split("\r")]
    assert costs == ["", "100", "80", "7"]
    assert stream.getvalue().count("\n") == 1


def test_a_search_that_fails_leaves_the_line(monkeypatch):
    class Broken:
        def solve(self, problem, limits, on_progress):
            on_progress(Progress(0.0, 3, 1))
            raise MemoryError

    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(_searched_tree, "ExactSearch", lambda **options: Broken())
    with pytest.raises(MemoryError):
        OptimalTreeClassifier(verbose=True).fit([[0.0], [1.0]], [0, 1])
    assert stream.getvalue().count("\n") == 1
    assert stream.getvalue().endswith("\n")


def test_elsewhere_there_is_one_line_a_second():
    stream, clock = io.StringIO(), Clock()
    line = ProgressLine(stream=stream, clock=clock)
    for _ in range(25):
        line.show(Progress(clock.now - 100, 10, 5))
        clock.now += 0.1
    line.close(solution(10, 5.25, "time_limit"))
    lines = stream.getvalue().splitlines()
    assert len(lines) == 4
    assert "\r" not in stream.getvalue()
    assert lines[-1] == "provetree: 2.5 s, cost 10, bound 5.25, gap 47.5 %, time limit"


@pytest.mark.parametrize("broken", [None, "closed"])
def test_a_stream_that_cannot_be_written_to_loses_nothing(monkeypatch, broken):
    stream = io.StringIO()
    stream.close()
    monkeypatch.setattr("sys.stderr", None if broken is None else stream)
    with ProgressLine() as line:
        line.show(Progress(0.0, 1, 0))
        line.show(Progress(5.0, 1, 0))
        line.close(solution())


def test_verbose_writes_to_standard_error(capsys):
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 0]
    OptimalTreeClassifier(max_depth=1, verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1].endswith("cost 1, bound 1, gap 0.0 %, optimal")
    OptimalTreeClassifier(max_depth=1).fit(X, y)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("verbose", [False, True])
def test_progress_is_told_to_whoever_asks(monkeypatch, verbose):
    class Talks:
        def solve(self, problem, limits, on_progress):
            on_progress(Progress(0.5, 3, 1))
            return ExactSearch().solve(problem, limits)

    heard: list[Progress] = []
    monkeypatch.setattr(_searched_tree, "ExactSearch", lambda **options: Talks())
    clf = OptimalTreeClassifier(verbose=verbose).fit(
        [[0.0], [1.0]], [0, 1], on_progress=heard.append
    )
    assert heard == [Progress(0.5, 3, 1)]
    assert clf.status_ == "optimal"
