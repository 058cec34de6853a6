"""The session behind the studio: wishes, versions, searches, and what is kept of them."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from provetree import OptimalTreeClassifier, StoredModel
from provetree.export.words import proof_sentence
from provetree.studio.beginning import settings_of, wishes_of
from provetree.studio.jobs import Job
from provetree.studio.saving import code_of, model_of, report_of
from provetree.studio.session import Session
from provetree.studio.session_file import SessionFile, SessionFileError
from provetree.studio.solving import keeps_directions
from provetree.studio.splits import paths
from provetree.studio.table import StudioTable
from provetree.studio.views import (
    compare_view,
    node_view,
    other_view,
    state_view,
    table_view,
    version_view,
)
from provetree.studio.wishes import WishError, Wishes
from testkit.studio_cases import done, hard_table, small_table


@pytest.fixture(scope="module")
def table() -> StudioTable:
    return small_table()


@pytest.fixture
def session(table: StudioTable) -> Iterator[Session]:
    found = Session(table, Wishes(max_depth=2))
    done(found)
    yield found
    found.close()


def others(session: Session, path: str, number: int | None = None) -> list[Any]:
    job = Job(lambda job: None, "test")
    return list(session.others(session.shown().number if number is None else number, path, job))


def test_begins_with_the_best_tree(table: StudioTable, session: Session) -> None:
    plain = OptimalTreeClassifier(max_depth=2).fit(table.train, table.y_train)
    version = done(session, figures=True)
    assert (version.tree, version.cost, version.status) == (
        plain.tree_,
        plain.objective_,
        "optimal",
    )
    figures = version.figures
    assert figures["train"]["errors"] == plain.objective_
    assert figures["test"]["accuracy"] == pytest.approx(plain.score(table.test, table.y_test))
    assert 0 < figures["cv"]["accuracy"] < 1
    assert figures["cv"]["folds"] == 5


def test_every_other_split_costs_what_it_says(table: StudioTable, session: Session) -> None:
    """Taking a split gives the tree of the cost that was told before: for each node and column."""
    first = session.shown()
    for path in paths(first.tree):
        if len(path) >= 2:
            continue
        for other in others(session, path, first.number):
            assert other.status == "optimal"
            assert other.extra == other.extra_at_least >= 0
            session.go(first.number)
            split = {"leaf": True} if other.tree is None else split_of_root(other.tree)
            session.wish({"do": "take", "version": first.number, "path": path, "split": split})
            found = done(session)
            assert found.status == "optimal"
            assert found.cost == first.cost + other.extra, (path, split)


def split_of_root(tree: Any) -> Any:
    from provetree.studio.splits import split_of
    from provetree.studio.wishes import plain_split

    return json.loads(json.dumps(plain_split(split_of(tree, 0))))


def test_a_fixed_question_stays_and_the_rest_is_the_best(
    table: StudioTable, session: Session
) -> None:
    best = session.shown().cost
    session.wish({"do": "take", "path": "", "split": {"column": 1, "threshold": 3000.0}})
    version = done(session)
    tree = version.tree
    assert (tree.feature[0], tree.threshold[0]) == (1, 3000.0)
    left = tree.predict(table.prepared.encoded) >= 0  # all rows
    assert left.all()
    income = table.train["income"].to_numpy()
    parts = [
        OptimalTreeClassifier(max_depth=1).fit(table.train[side], np.asarray(table.y_train)[side])
        for side in (income <= 3000, income > 3000)
    ]
    assert version.cost == sum(part.objective_ for part in parts)
    assert session.best_of(version.wishes).cost == best
    summary = state_view(session)["versions"][-1]
    assert summary["rules"] == f"Your rules cost {version.cost - best} errors."


def test_forbidden_columns_are_not_asked_about(table: StudioTable, session: Session) -> None:
    session.wish({"do": "forbid", "column": 0})
    version = done(session)
    rest = [name for name in table.train.columns if name != table.names[0]]
    plain = OptimalTreeClassifier(max_depth=2).fit(table.train[rest], table.y_train)
    assert version.cost == plain.objective_
    assert 0 not in version.tree.feature
    assert all(other.feature != 0 for other in others(session, ""))
    with pytest.raises(WishError, match="is forbidden"):
        session.wish({"do": "take", "path": "", "split": {"column": 0, "threshold": 30}})
    session.wish({"do": "allow", "column": 0})
    assert done(session).cost == session.version(1).cost


def test_forbidding_a_column_frees_questions_about_it(session: Session) -> None:
    session.wish({"do": "take", "path": "", "split": {"column": 1, "threshold": 3000.0}})
    done(session)
    session.wish({"do": "forbid", "column": 1})
    assert done(session).wishes.fixed == {}


def test_leaves_follow_the_frontier(session: Session) -> None:
    done(session, figures=True)
    while len(session.sizes_of(session.shown().wishes)) == 0:
        time.sleep(0.01)
    for point in session.sizes_of(session.shown().wishes):
        session.wish({"do": "leaves", "leaves": point.n_leaves})
        version = done(session)
        assert version.cost == point.cost
        assert version.tree.n_leaves <= point.n_leaves


def test_freeing_a_question_frees_what_was_held_for_it(session: Session) -> None:
    tree = session.shown().tree
    assert tree.feature[1] >= 0
    session.wish({"do": "keep", "path": "L"})
    version = done(session)
    assert set(version.wishes.fixed) == {"", "L"}
    assert version.wishes.pinned == {"L"}
    assert version.cost == session.version(1).cost
    session.wish({"do": "free", "path": "L"})
    assert done(session).wishes.is_free


def test_a_new_wish_ends_the_old_search(table: StudioTable) -> None:
    session = Session(hard_table(), Wishes(max_depth=5), seconds=36000.0)
    try:
        while session.progress is None:
            time.sleep(0.01)
        job = session._job
        assert job is not None
        session.wish({"do": "depth", "depth": 1})
        assert job.join(600.0)  # a fraction of a second on an idle machine; the search takes hours
        assert done(session).status == "optimal"
        assert session.version(session.current).wishes.max_depth == 1
    finally:
        session.close()


def test_two_wishes_in_a_row_are_both_kept(session: Session) -> None:
    with session.locked():  # no search can end between the two
        session.wish({"do": "forbid", "column": 0})
        session.wish({"do": "forbid", "column": 1})
        assert session.current == 2
    version = done(session)
    assert version.wishes.forbidden == {0, 1}
    assert version.parent == 1
    assert version.step.count("not '") == 2


def test_a_movement_is_one_version(session: Session) -> None:
    for threshold in (2000.0, 2500.0, 3000.0):
        split = {"column": 1, "threshold": threshold}
        session.wish({"do": "take", "path": "", "split": split, "gesture": "a"})
        done(session)
    assert list(session.versions) == [1, 2]
    assert session.shown().tree.threshold[0] == 3000.0
    session.undo()
    assert session.current == 1


def test_a_limit_that_is_reached_is_told_and_can_be_raised() -> None:
    session = Session(hard_table(), Wishes(max_depth=4), seconds=0.3)
    try:
        version = done(session)
        assert version.status == "time_limit"
        assert 0 <= version.bound < version.cost
        words = state_view(session)["versions"][0]["sentence"]
        assert "so far" in words
        assert f"makes fewer than {version.bound}" in words
        session.search_on(1)
        again = done(session)
        assert again.limit == 0.6
        assert again.cost <= version.cost
        with pytest.raises(WishError, match="no version 7"):
            session.search_on(7)
    finally:
        session.close()


def test_undo_rename_and_going_back(session: Session) -> None:
    with pytest.raises(WishError, match="nothing to undo"):
        session.undo()
    session.wish({"do": "depth", "depth": 1})
    done(session)
    session.rename(2, "  shallow <b> ")
    assert session.version(2).name == "shallow <b>"
    session.undo()
    assert session.current == 1
    session.go(2)
    assert session.shown().wishes.max_depth == 1
    with pytest.raises(WishError, match="at most 80"):
        session.rename(2, "x" * 81)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ({"do": "fly"}, "no step 'fly'"),
        ({"do": "forbid", "column": 9}, "no column 9"),
        ({"do": "forbid", "column": "income"}, "no column 'income'"),
        ({"do": "direction", "column": 2, "way": 1}, "have no direction"),
        ({"do": "direction", "column": 1, "way": 7}, "1 .up., -1 .down. or 0"),
        ({"do": "leaves", "leaves": 0}, "from 1 to 4"),
        ({"do": "leaves", "leaves": "many"}, "from 1 to 4"),
        ({"do": "depth", "depth": 99}, "from 0 to 6"),
        ({"do": "depth", "depth": float("nan")}, "from 0 to 6"),
        ({"do": "least_rows", "rows": 0}, "from 1"),
        ({"do": "take", "path": "LLL", "split": {"leaf": True}}, "no node at 'LLL'"),
        ({"do": "take", "path": 5, "split": {"leaf": True}}, "no node at 5"),
        ({"do": "take", "path": "", "split": None}, "A question is an object"),
        ({"do": "take", "path": "", "split": {"column": 1}}, "must be a number"),
        ({"do": "take", "path": "", "split": {"column": 2, "threshold": 1}}, "name one of them"),
        ({"do": "take", "path": "", "split": {"column": 2, "categories": ["Z"]}}, "no category"),
        ({"do": "take", "version": 55, "path": ""}, "no version 55"),
    ],
)
def test_bad_wishes_are_refused_in_a_sentence(
    session: Session, step: dict[str, Any], words: str
) -> None:
    before = state_view(session)
    with pytest.raises(WishError, match=words):
        session.wish(step)
    assert state_view(session)["versions"] == before["versions"]


def test_a_question_that_no_row_passes_is_told(session: Session) -> None:
    session.wish({"do": "take", "path": "", "split": {"column": 1, "threshold": -5.0}})
    version = done(session)
    assert version.status == "failed"
    words = state_view(session)["versions"][-1]["sentence"]
    assert words == "No tree keeps the question at the top: no training row of its 160 answers yes."
    assert session.shown().number == 1
    session.undo()
    assert done(session).status == "optimal"


def test_views_are_json_and_escape_names(table: StudioTable, session: Session) -> None:
    done(session, figures=True)
    session.wish({"do": "depth", "depth": 1})
    done(session, figures=True)
    view = version_view(session, session.version(1))
    assert "<img" not in view["svg"]
    assert "&lt;" in view["svg"]
    found = [table_view(table), state_view(session), view, compare_view(session, 1, 2)]
    json.dumps([*found, node_view(session, 1, "")], allow_nan=False)
    assert found[3]["differ"] >= 0


def test_thresholds_of_a_node_are_told_with_their_rows(
    table: StudioTable, session: Session
) -> None:
    session.wish({"do": "take", "path": "", "split": {"column": 1, "threshold": 3000.0}})
    done(session)
    facts = node_view(session, 2, "")
    income = table.train["income"].to_numpy()
    counts = [int((income <= place).sum()) for place in facts["places"]]
    assert facts["below"] == counts
    assert income[income <= 3000].max() <= facts["places"][facts["at"]]


def test_goes_on_after_a_restart(table: StudioTable, session: Session, tmp_path: Path) -> None:
    session.wish({"do": "take", "path": "", "split": {"column": 1, "threshold": 3000.0}})
    done(session, figures=True)
    session.rename(2, "mine")
    file = SessionFile(tmp_path / "s.json")
    file.save(session.to_data())
    again = Session(table, data=file.load())
    assert again.current == 2
    assert list(again.versions.values()) == list(session.versions.values())
    again.close()


def test_a_search_that_was_cut_off_begins_again(table: StudioTable) -> None:
    session = Session(hard_table(), Wishes(max_depth=5))
    kept = json.loads(json.dumps(session.to_data()))
    session.close()
    assert kept["versions"][0]["status"] == "searching"
    again = Session(session.table, data=kept, seconds=0.3)
    assert again.version(1).status == "searching"
    again.close()


def test_damaged_session_files_are_told(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    for words in ("", "{}", "[1]", '{"format": "provetree-studio", "version": 1, "session": 3}'):
        path.write_text(words)
        with pytest.raises(SessionFileError, match="not a session of the studio"):
            SessionFile(path).load()


def test_the_token_of_a_file_that_others_may_read_is_not_used(tmp_path: Path) -> None:
    file = SessionFile(tmp_path / "s.json")
    file.address = {"port": 1, "token": "secret"}
    file.save({"versions": []})
    again = SessionFile(file.path)
    again.load()
    assert again.address == file.address
    file.path.chmod(0o644)
    others = SessionFile(file.path)
    others.load()
    assert others.address == {}


def test_saves_model_report_and_code(table: StudioTable, session: Session) -> None:
    session.wish({"do": "take", "path": "", "split": {"column": 1, "threshold": 3000.0}})
    version = done(session)
    model = StoredModel.from_json(model_of(session, 2).to_json())
    assert model.tree == version.tree
    expected = version.tree.predict(table.prepared.encoded)
    assert (model.predict(table.train) == table.prepared.classes[expected]).all()
    page = report_of(session, 2)
    assert "A decision tree for answer" in page
    assert "<img src=x" not in page


def test_the_code_gives_the_same_tree(table: StudioTable, session: Session) -> None:
    steps: list[dict[str, Any]] = [
        {"do": "take", "path": "", "split": {"column": 1, "threshold": 3000.0}},
        {"do": "take", "path": "R", "split": {"column": 2, "categories": ["S"]}},
        {"do": "take", "path": "L", "split": {"column": 2, "categories": [None]}},
        {"do": "keep", "path": "LL"},
        {"do": "forbid", "column": 3},
        {"do": "leaves", "leaves": 4},
        {"do": "least_rows", "rows": 2},
        {"do": "depth", "depth": 3},
        {"do": "free", "path": "L"},
        {"do": "take", "path": "", "split": {"column": 0, "threshold": None}},
    ]
    for step in steps:
        session.wish(step)
        version = done(session)
        assert version.status == "optimal", (step, version.failure)
    for version in session.versions.values():
        names: dict[str, Any] = {"X": table.train, "y": table.y_train}
        exec(code_of(session, version.number), {**names, "print": lambda words: None}, names)
        assert names["clf"].tree_ == version.tree
        again = wishes_of(names["clf"], table)
        assert again.parameters() == version.wishes.parameters()


@pytest.mark.skipif(not keeps_directions(), reason="searches know no directions yet")
def test_directions_are_kept(table: StudioTable, session: Session) -> None:
    for way in (1, -1):
        session.wish({"do": "direction", "column": 1, "way": way})
        version = done(session, figures=True)
        assert version.status == "optimal", version.failure
        ruled = OptimalTreeClassifier(max_depth=2, monotonic_cst={"income": way})
        assert version.tree == ruled.fit(table.train, table.y_train).tree_
        assert version.cost >= session.version(1).cost
        # The other questions do not keep it, and must not be told as proven.
        job = Job(lambda job: None, "test")
        found = list(session.others(version.number, "", job))
        view = other_view(table, found[0], floor=True)
        assert view["proven"] is False
    session.wish({"do": "direction", "column": 1, "way": 0})
    assert done(session).cost == session.version(1).cost


def test_a_saved_proof_is_about_trees_that_keep_the_rules(session: Session) -> None:
    session.wish({"do": "take", "path": "", "split": {"column": 1, "threshold": 3000.0}})
    done(session)
    proof = model_of(session, 2).proof
    assert proof is not None
    assert "no tree of depth 2 that keeps the rules makes fewer" in proof_sentence(proof)
    assert "The root asks income <= 3000." in proof.parameters["rules"]


def test_what_the_studio_does_not_show_is_refused() -> None:
    for given, words in (
        ({"criterion": "gini"}, "criterion='errors'"),
        ({"splits": "pairs"}, "splits='columns'"),
        ({"max_depth": 9}, "depth 6 at most"),
    ):
        with pytest.raises(WishError, match=words):
            settings_of(OptimalTreeClassifier(**given))
    from provetree import OptimalTreeRegressor

    with pytest.raises(WishError, match="Got OptimalTreeRegressor"):
        settings_of(OptimalTreeRegressor())


def test_an_ended_job_leaves_no_thread() -> None:
    session = Session(hard_table(), Wishes(max_depth=5))
    session.close()
    end = time.monotonic() + 600
    while any(t.name.startswith("studio") for t in threading.enumerate()):
        assert time.monotonic() < end
        time.sleep(0.02)
