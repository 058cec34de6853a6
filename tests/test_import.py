from __future__ import annotations

import subprocess
import sys

import pytest

import provetree


def test_every_public_name_is_there() -> None:
    assert set(provetree.__all__) <= set(dir(provetree))
    for name in provetree.__all__:
        assert getattr(provetree, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Forest'"):
        provetree.Forest  # noqa: B018


def test_importing_loads_nothing_heavy() -> None:
    code = (
        "import sys, provetree;"
        "heavy = {'numpy', 'sklearn', 'scipy', 'pandas'} & set(sys.modules);"
        "assert not heavy, heavy;"
        "provetree.Tree; provetree.ExactSearch; provetree.build_problem; provetree.verify;"
        "heavy = {'sklearn', 'scipy', 'pandas', 'polars'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_classifier_loads_of_scikit_learn_its_base_only() -> None:
    code = (
        "import sys; from provetree import OptimalTreeClassifier;"
        "heavy = {'sklearn.tree', 'sklearn.model_selection', 'matplotlib', 'highspy', 'polars'};"
        "assert 'sklearn.base' in sys.modules;"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
