"""Names that moved are found in their old places for one version, with a warning."""

from __future__ import annotations

from importlib import import_module

import pytest

MOVED = [
    ("provetree.mip.solver", "SolveLimits", "provetree.solvers.solver"),
    ("provetree.mip.model", "ModelBuilder", "provetree.solvers.model"),
    ("provetree.mip.formulation", "Settings", "provetree.formulations.formulation"),
    ("provetree.mip.oct", "OCT", "provetree.formulations.oct"),
    ("provetree.mip.p", "ModelP", "provetree.formulations.p"),
    ("provetree.mip.binoct", "BinOCT", "provetree.formulations.binoct"),
    ("provetree.mip.flowoct", "FlowOCT", "provetree.formulations.flowoct"),
    ("provetree.mip.engine", "InfeasibleError", "provetree.errors"),
    ("provetree.colgen.couplings", "InfeasibleError", "provetree.errors"),
    ("provetree.partitions.tuning", "choose_rho", "provetree.selection.partition_size"),
]


@pytest.mark.parametrize(("old", "name", "new"), MOVED)
def test_old_places_warn(old: str, name: str, new: str) -> None:
    with pytest.warns(FutureWarning, match=f"{old}.{name} is {new}.{name} now"):
        found = getattr(import_module(old), name)
    assert found is getattr(import_module(new), name)
    with pytest.raises(AttributeError):
        _ = import_module(old).nothing


def test_the_threads_of_a_solver_are_its_n_jobs() -> None:
    from provetree.solvers.solver import SolveLimits

    with pytest.warns(FutureWarning, match="is called n_jobs now"):
        assert SolveLimits(n_jobs=3).threads == 3
