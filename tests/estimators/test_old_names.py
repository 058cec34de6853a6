"""Old names of parameters go on working for one version, with a warning; both names are refused."""

from __future__ import annotations

import pickle
import warnings

import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from provetree import ColumnGenerationClassifier, MIPTreeClassifier, PartitionTreeClassifier
from provetree.options import ParameterError, thread_count

X, Y = [[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1]
GROUPS = ["a", "a", "b", "b"]

OLD_PARAMETERS = [
    (MIPTreeClassifier, "max_rate_difference", "max_parity_gap", 0.5),
    (MIPTreeClassifier, "threads", "n_jobs", 2),
    (PartitionTreeClassifier, "threads", "n_jobs", 2),
]


@pytest.mark.parametrize(("kind", "old", "new", "value"), OLD_PARAMETERS)
def test_old_parameters_set_the_new_ones(kind, old, new, value):
    words = f"'{old}' parameter of {kind.__name__} is the old name of '{new}'"
    with pytest.warns(FutureWarning, match=words) as heard:
        clf = kind(**{old: value})
    assert len(heard) == 1
    assert heard[0].filename == __file__
    assert getattr(clf, new) == value
    with pytest.warns(FutureWarning, match=words) as heard:
        assert getattr(kind().set_params(**{old: value}), new) == value
    assert heard[0].filename == __file__
    with pytest.warns(FutureWarning, match=words):
        assert getattr(clf, old) == value
    with pytest.warns(FutureWarning, match=words):
        setattr(clf, old, None)
    assert getattr(clf, new) is None


@pytest.mark.parametrize(("kind", "old", "new", "value"), OLD_PARAMETERS)
def test_old_and_new_parameters_together_are_refused(kind, old, new, value):
    words = f"'{old}' parameter of {kind.__name__} is the old name of '{new}': give only '{new}'"
    with pytest.raises(ParameterError, match=words):
        kind(**{old: value, new: value})
    with pytest.raises(ParameterError, match=words):
        kind().set_params(**{old: value, new: value})


def test_a_new_parameter_given_by_its_place_counts_as_given():
    n_jobs = list(PartitionTreeClassifier().get_params(deep=False)).index("n_jobs")
    assert n_jobs >= 0
    places = ["igp", 0.25, "heuristic", True, True, "search", "highs", 2]
    assert PartitionTreeClassifier(*places).n_jobs == 2
    with pytest.raises(ParameterError, match="Got both"):
        PartitionTreeClassifier(*places, threads=3)


@pytest.mark.parametrize("kind", [MIPTreeClassifier, PartitionTreeClassifier])
def test_scikit_learn_sees_the_new_names_only(kind):
    with pytest.warns(FutureWarning):
        clf = kind(max_depth=1, threads=None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "threads" not in clf.get_params()
        assert clone(clf).n_jobs is None
        assert repr(clf).count("threads") == 0
        assert pickle.loads(pickle.dumps(clf.fit(X, Y))).n_jobs is None
    with pytest.warns(FutureWarning, match="old name of 'n_jobs'"):
        GridSearchCV(kind(max_depth=1), {"threads": [None]}, cv=2).fit(X, Y)


def test_pickles_with_old_names_are_read():
    state = MIPTreeClassifier(max_depth=1).__getstate__()
    state["threads"], state["max_rate_difference"] = 3, 0.25
    del state["n_jobs"], state["max_parity_gap"]
    restored = MIPTreeClassifier.__new__(MIPTreeClassifier)
    restored.__setstate__(state)
    assert (restored.n_jobs, restored.max_parity_gap) == (3, 0.25)


def test_groups_are_sensitive_features_now():
    clf = ColumnGenerationClassifier(max_depth=1, max_parity_gap=0.0)
    new = clf.fit(X, Y, sensitive_features=GROUPS).objective_
    words = r"'groups' parameter of ColumnGenerationClassifier\.fit is the old name of 'sensitive_f"
    with pytest.warns(FutureWarning, match=words) as heard:
        assert clf.fit(X, Y, groups=GROUPS).objective_ == new == 2
    assert [warning.filename for warning in heard] == [__file__]
    with pytest.raises(
        ParameterError, match=r"give only 'sensitive_features'\. Got both instead\."
    ):
        clf.fit(X, Y, groups=GROUPS, sensitive_features=GROUPS)
    with pytest.raises(ParameterError, match="Got both"):
        clf.fit(X, Y, None, GROUPS, groups=GROUPS)


def test_n_jobs_counts_as_everywhere_else():
    """The threads of a solver were a number from one on; n_jobs counts cores from the end, too."""

    class Looked(Exception):
        pass

    class Look:
        def solve(self, model, *, start, limits, on_progress):
            raise Looked(limits.n_jobs)

    for n_jobs, threads in ((None, None), (3, 3), (-1, thread_count(-1))):
        with pytest.raises(Looked) as seen:
            MIPTreeClassifier(max_depth=1, solver=Look(), n_jobs=n_jobs).fit(X, Y)
        assert seen.value.args == (threads,)
    with pytest.raises(ParameterError, match=r"must be an int other than 0 or None\. Got 0"):
        MIPTreeClassifier(n_jobs=0).fit(X, Y)
