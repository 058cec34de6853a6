"""Certificates: random problems are accepted by both checkers, false bounds by neither."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import provetree_check
import pytest

from provetree import ColumnGenerationClassifier, DL85Classifier, OptimalTreeClassifier
from testkit.certificates import (
    CertifiedTable,
    as_text,
    certified_table,
    claims_too_much,
    mutated,
    parts_of,
    respelled,
    sealed,
    with_digest,
)

SOURCES = sorted((Path(__file__).parents[2] / "provetree-check" / "compiled").glob("*.cpp"))


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled checker, built without optimisation to save time."""
    program = tmp_path_factory.mktemp("compiled") / "ptcheck"
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++")
    assert compiler is not None
    flags = ["-O0", "-std=c++17", "-D_GLIBCXX_ASSERTIONS", "-pthread"]
    subprocess.run([compiler, *flags, "-o", program, *SOURCES], check=True)
    return program


def run(program: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60)


def check_one(seed: int, folder: Path, program: Path | None) -> None:
    table = certified_table(seed, folder)
    said = provetree_check.check(table.path, table.cells)
    assert said.startswith("no tree of depth")
    assert table.model.status_ in ("optimal", "candidate_optimal")
    assert table.model.certificate_.bound == pytest.approx(table.model.objective_)
    if program is not None:
        found = run(program, table.path, table.write_csv(folder / "table.csv"))
        assert found.returncode == 0, found.stderr
        assert found.stdout == f"checked: {said}\n"
    table.path.unlink()


@pytest.mark.parametrize("seeds", [range(k, k + 20) for k in range(0, 120, 20)])
def test_random_problems_are_accepted(seeds: range, tmp_path: Path, compiled: Path) -> None:
    for seed in seeds:
        check_one(seed, tmp_path, compiled if seed % 2 else None)


@pytest.mark.fuzz
def test_many_random_problems_are_accepted(tmp_path: Path, compiled: Path) -> None:
    for seed in range(1000, 101_000):
        check_one(seed, tmp_path, compiled)


def accepted(certificate: bytes, table, folder: Path) -> bool:
    path = folder / "mutated.ptc"
    path.write_bytes(certificate)
    try:
        provetree_check.check(path, table.cells)
    except provetree_check.RefusedError:
        return False
    return True


def mutate_one(seed: int, folder: Path, n_mutations: int) -> None:
    rng = np.random.default_rng(seed)
    table = certified_table(seed, folder, most_rows=16)
    original = table.path.read_bytes()
    header, _ = provetree_check.read_certificate(table.path)
    weights = provetree_check.Table(header, table.cells).weights.tolist()
    for _ in range(n_mutations):
        certificate = mutated(original, rng, weights)
        if accepted(certificate, table, folder):
            assert not claims_too_much(certificate, original, table)


@pytest.mark.parametrize("seed", range(40))
def test_false_bounds_are_refused(seed: int, tmp_path: Path) -> None:
    mutate_one(seed, tmp_path, 12)


@pytest.mark.fuzz
def test_many_false_bounds_are_refused(tmp_path: Path) -> None:
    for seed in range(2000, 4500):
        mutate_one(seed, tmp_path, 40)


def same_language(path: Path, certificates: list[bytes], table, program: Path) -> list[bool]:
    """Return which certificates are accepted, by both checkers or by none."""
    csv, pairs, found = table.write_csv(path.with_suffix(".csv")), [], []
    for k, certificate in enumerate(certificates):
        found.append(accepted(certificate, table, path.parent))
        path.with_suffix(f".{k}").write_bytes(certificate)
        pairs += [path.with_suffix(f".{k}"), csv]
    said = run(program, *pairs, *pairs[:2]).stdout  # of several, each line has a name
    assert found == [f"{name}: checked: no tree" in said for name in map(str, pairs[::2])]
    return found


@pytest.mark.parametrize("seed", range(12))
def test_both_checkers_agree_on_mutated_certificates(
    seed: int, tmp_path: Path, compiled: Path
) -> None:
    rng = np.random.default_rng(seed)
    table = certified_table(seed, tmp_path, most_rows=16)
    original = table.path.read_bytes()
    changed = [mutated(original, rng) for _ in range(6)]
    respelt = [respelled(original, rng) for _ in range(20)]
    same_language(tmp_path / "changed.ptc", changed + respelt, table, compiled)


@pytest.mark.parametrize(
    ("written", "instead", "is_good"),
    [
        ('"depth":', '"depth": ', False),
        ('"depth":', '"depth":0', False),
        ('"depth":', '"depth":+', False),
        ('"penalty":0', '"penalty":-0', False),
        ('"penalty":0', '"penalty":0.0', False),
        ('"penalty":0', '"penalty":0e0', False),
        ('"penalty":0', '"penalty":false', False),
        ('"penalty":0', '"penalty":0,"penalty":0', False),
        ('"tree":[', '"tree":[[', False),
        ('"made_by":"', '"made_by":"\\u00e9\\/\\ud83d\\ude00', True),
        ('"made_by":"', '"made_by":"\x7f\u2028', True),
        ('"made_by":"', '"made_by":"\t', False),
        ('"made_by":"', '"made_by":"\\ud83d', False),
        ('"made_by":"', '"made_by":"\\x41', False),
        ('"made_by":"provetree"', '"made_by":0', False),
        ('"sample":null', '"sample":[]', False),
        ('"number"', '"num\\u0062er"', False),
        ('"number"', '"number","1"', False),
        ("\n[[", "\n[ [", False),
        ("\n[[", "\n[[0", False),
        ("]]]\n", "],]]\n", False),
        ("]]]\n", "]]]\r\n", False),
        ("]]]\n", "]]]\n\n", False),
    ],
)
def test_what_is_written_in_another_way_is_refused(
    written: str, instead: str, is_good: bool, tmp_path: Path, compiled: Path
) -> None:
    path, cells = certify(tmp_path)
    content = path.read_bytes().rpartition(b"digest ")[0].decode()
    assert written in content
    content = content.replace(written, instead, 1)
    table = CertifiedTable(cells, None, path)
    changed = with_digest(content.encode())
    assert same_language(path, [changed], table, compiled) == [is_good]


@pytest.mark.parametrize(
    ("cell", "is_good"),
    [
        ("2", True),
        (" +02.50e-1\t", True),
        ("0" * 30 + ".25" + "0" * 30, True),
        ("25e-0002", True),
        ("1e9999", False),
        ("0.2500000000000000001", False),
        ("-1", False),
        ("0.1", False),
        ("inf", False),
        ("1_0", False),
        ("1/4", False),
        ("", False),
        (".", False),
    ],
)
def test_weights_are_read_alike(cell: str, is_good: bool, tmp_path: Path, compiled: Path) -> None:
    """The weight of a row without a label: whatever it is, the certificate is about the others."""
    X, y, path = [[0.0], [1.0], [2.0]], [0, 1, 0], tmp_path / "proof.ptc"
    OptimalTreeClassifier(max_depth=1).certify(X, y, path, [0.25, 1.0, 1.0], weight="w")
    cells = {"x0": ["0", "1", "2", "3"], "y": ["0", "1", "0", None], "w": ["0.25", "1", "1", cell]}
    found = same_language(path, [path.read_bytes()], CertifiedTable(cells, None, path), compiled)
    assert found == [is_good]


def certify(folder: Path) -> tuple[Path, dict[str, list[str | None]]]:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 9, (60, 3)).astype(float), rng.integers(0, 2, 60)
    path = folder / "proof.ptc"
    OptimalTreeClassifier(max_depth=3).certify(X, y, path)
    return path, as_text(named(X, y))


def test_another_order_of_the_rows_is_fine(tmp_path: Path) -> None:
    path, cells = certify(tmp_path)
    order = np.random.default_rng(1).permutation(60)
    provetree_check.check(
        path, {name: [column[i] for i in order] for name, column in cells.items()}
    )


def test_another_table_is_refused(tmp_path: Path) -> None:
    path, cells = certify(tmp_path)
    cells["x1"][5] = "0.5"
    with pytest.raises(provetree_check.RefusedError, match="is about another table"):
        provetree_check.check(path, cells)


def test_a_missing_column_is_refused(tmp_path: Path) -> None:
    path, cells = certify(tmp_path)
    del cells["x2"]
    with pytest.raises(provetree_check.RefusedError, match="the table has no column 'x2'"):
        provetree_check.check(path, cells)


def test_a_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    path, cells = certify(tmp_path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(provetree_check.RefusedError, match="is cut off or damaged"):
        provetree_check.check(path, cells)


def test_a_foreign_file_and_an_unknown_version_are_refused(tmp_path: Path) -> None:
    path, cells = certify(tmp_path)
    data = path.read_bytes()
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(provetree_check.RefusedError, match="this is no certificate"):
        provetree_check.check(path, cells)
    path.write_bytes(data.replace(b"certificate 1\n", b"certificate 2\n", 1))
    with pytest.raises(provetree_check.RefusedError, match="its version is not known"):
        provetree_check.check(path, cells)


def proof_of(path: Path, cells: dict[str, list[str | None]]) -> provetree_check.Proof:
    header, claims = provetree_check.read_certificate(path)
    return provetree_check.Proof(header, claims, provetree_check.Table(header, cells))


def test_a_claim_about_itself_or_a_later_one_is_refused(tmp_path: Path) -> None:
    path, cells = certify(tmp_path)
    proof = proof_of(path, cells)
    *statement, points = proof.claims[-1]
    last = len(proof.claims)
    proof.check_claim(last)
    for number in (last, last + 1):
        proof.claims[-1] = [*statement, [[*place, number, number] for *place, _, _ in points]]
        with pytest.raises(provetree_check.RefusedError, match="itself or to a later"):
            proof.check_claim(last)


@pytest.mark.parametrize("low", [5, 9, 2**40])
def test_a_claim_of_no_rows_is_refused(low: int, tmp_path: Path, compiled: Path) -> None:
    """Ranks from beyond the last one on made the compiled checker read beyond its table."""
    path, csv = tmp_path / "proof.ptc", tmp_path / "table.csv"
    X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 1, 0, 1, 1, 0]
    OptimalTreeClassifier(max_depth=2).certify(X, y, path)
    csv.write_text("x0,y\n" + "".join(f"{x[0]},{label}\n" for x, label in zip(X, y, strict=True)))
    header, claims = parts_of(path.read_bytes())
    path.write_bytes(sealed(header, [[[2, 3], 0, 1, [[0, low, 0]]], *claims]))
    found = run(compiled, path, csv)
    assert found.returncode == 1
    assert found.stderr.startswith("not checked: ")
    cells = {"x0": [str(x[0]) for x in X], "y": [str(label) for label in y]}
    with pytest.raises(provetree_check.RefusedError):
        provetree_check.check(path, cells)


@pytest.mark.parametrize("part", ["cover", "claim"])
def test_a_budget_with_more_divisions_than_rows_is_refused(part: str, tmp_path: Path) -> None:
    """Trying all of 2**40 divisions would never end."""
    path, cells = certify(tmp_path)
    proof = proof_of(path, cells)
    shape, *statement, cover, points = proof.claims[-1]
    huge = [60, 2**45]
    shape, cover = (huge, huge) if part == "claim" else (shape, huge)
    proof.claims[-1] = [shape, *statement, cover, points]
    with pytest.raises(provetree_check.RefusedError, match="more divisions than rows"):
        proof.check_claim(len(proof.claims))


def test_a_table_whose_columns_are_constant_has_no_splits(tmp_path: Path) -> None:
    """The limits allowed splits that no column offers."""
    path = tmp_path / "proof.ptc"
    OptimalTreeClassifier(max_depth=2).certify([[1.0], [1.0], [1.0]], [0, 1, 1], path)
    said = provetree_check.check(path, {"x0": ["1", "1", "1"], "y": ["0", "1", "1"]})
    assert said == "no tree of depth 2 makes fewer than 1 errors on these 3 rows"


def test_parts_together_are_the_whole(tmp_path: Path) -> None:
    path, cells = certify(tmp_path)
    said = {provetree_check.check(path, cells, part, 3) for part in (1, 2, 3)}
    assert said == {provetree_check.check(path, cells)}


def test_a_search_that_is_cut_off_has_a_certificate_of_its_bound(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(300, 5)), rng.integers(0, 2, 300)
    path = tmp_path / "proof.ptc"
    model = OptimalTreeClassifier(max_depth=4, max_work=3_000_000).certify(X, y, path)
    assert model.status_ == "work_limit"
    assert 0 <= model.certificate_.bound <= model.lower_bound_
    provetree_check.check(path, as_text(named(X, y)))


def agree(path: Path, table: dict[str, list], folder: Path, compiled: Path) -> str:
    """Return what both checkers say."""
    rows = zip(*table.values(), strict=True)
    lines = [",".join(table), *(",".join(map(str, row)) for row in rows)]
    (folder / "agreed.csv").write_text("\n".join(lines).replace("nan", "") + "\n")
    said = provetree_check.check(path, as_text(table))
    found = run(compiled, path, folder / "agreed.csv")
    assert found.stdout == f"checked: {said}\n", found.stderr
    return said


def named(X: np.ndarray, y: np.ndarray) -> dict[str, list]:
    return {f"x{i}": X[:, i].tolist() for i in range(X.shape[1])} | {"y": y.tolist()}


@pytest.mark.parametrize("seed", range(8))
def test_sums_of_two_columns_are_certified(seed: int, tmp_path: Path, compiled: Path) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 40))
    X, y = rng.normal(size=(n, 3)).round(1), rng.integers(0, 2, n)
    X[rng.random(X.shape) < (0.1 if seed % 2 else 0.0)] = np.nan
    model = OptimalTreeClassifier(max_depth=2 + seed % 2, splits="pairs")
    model.certify(X, y, tmp_path / "p.ptc")
    agree(tmp_path / "p.ptc", named(X, y), tmp_path, compiled)
    assert model.certificate_.bound == model.objective_


@pytest.mark.parametrize(("noise", "why"), [("0.5", "are taken for equal"), ("inf", "is wrong")])
def test_sums_that_differ_cannot_be_taken_for_equal(
    noise: str, why: str, tmp_path: Path, compiled: Path
) -> None:
    """With a wide noise all sums would be one, and no tree could split by them."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(20, 2)).round(1), rng.integers(0, 2, 20)
    path = tmp_path / "p.ptc"
    OptimalTreeClassifier(max_depth=1, splits="pairs").certify(X, y, path)
    header, claims = parts_of(path.read_bytes())
    for feature in header["features"]:
        if feature[1] == "sum":
            feature[-1] = noise
    path.write_bytes(sealed(header, claims))
    with pytest.raises(provetree_check.RefusedError, match=why):
        provetree_check.check(path, as_text(named(X, y)))
    (tmp_path / "t.csv").write_text(
        "x0,x1,y\n" + "".join(f"{a},{b},{c}\n" for (a, b), c in zip(X.tolist(), y, strict=True))
    )
    found = run(compiled, path, tmp_path / "t.csv")
    assert found.returncode == 1
    assert why in found.stderr


def test_columns_that_the_proof_leaves_aside_are_told(tmp_path: Path, compiled: Path) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 9, (30, 3)).astype(float), rng.integers(0, 2, 30)
    OptimalTreeClassifier(max_depth=2).certify(X[:, :2], y, tmp_path / "p.ptc")
    said = agree(tmp_path / "p.ptc", named(X, y), tmp_path, compiled)
    assert said.endswith("on these 30 rows over 2 of 3 columns")


@pytest.mark.parametrize("seed", range(6))
def test_boolean_columns_of_dl85_are_certified(seed: int, tmp_path: Path, compiled: Path) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 2, (30, 5)), rng.integers(0, 3, 30)
    model = DL85Classifier(max_depth=(2, 3, None)[seed % 3], min_support=1 + seed % 2)
    model.certify(X, y, tmp_path / "p.ptc")
    agree(tmp_path / "p.ptc", named(X, y), tmp_path, compiled)
    assert model.certificate_.bound == model.objective_


@pytest.mark.parametrize("candidates", ["quantiles", "sampled", [(0, 0.1), (1, 0.4), (1, -0.3)]])
def test_candidate_splits_are_certified(candidates, tmp_path: Path, compiled: Path) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 2)).round(1), rng.integers(0, 2, 40)
    X[:3, 1] = np.nan
    model = ColumnGenerationClassifier(max_depth=2, candidates=candidates)
    model.certify(X, y, tmp_path / "p.ptc")
    said = agree(tmp_path / "p.ptc", named(X, y), tmp_path, compiled)
    assert "over the listed splits" in said
    assert model.certificate_.bound <= model.objective_
    if candidates != "sampled":  # all nodes have the same candidates
        assert model.candidate_optimal_
        assert model.certificate_.bound == model.objective_


def test_rates_have_no_certificate(tmp_path: Path) -> None:
    model = ColumnGenerationClassifier(max_depth=1, min_recall={1: 1.0})
    with pytest.raises(ValueError, match=r"the 'min_recall' parameter .* must be None"):
        model.certify([[1.0], [2.0], [3.0]], [0, 1, 0], tmp_path / "p.ptc")


@pytest.mark.parametrize(
    ("parameters", "more", "message"),
    [
        ({"criterion": "gini"}, {}, "Certificates are about errors"),
        ({}, {"sample_weight": [1, 2, 3]}, "must name the column of weights"),
        ({"splits": "ratios"}, {}, "the 'splits' must be 'columns' or 'pairs'"),
        ({"fixed_splits": {"": {"leaf": True}}}, {}, "the 'fixed_splits' must be None"),
        ({"max_depth": 65}, {}, r"int in the range \[0, 64\]"),
        ({}, {"sample_weight": [1, 2**0.5, 3.3], "weight": "w"}, "were rounded by up to"),
    ],
)
def test_what_cannot_be_certified_is_said(parameters, more, message, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        OptimalTreeClassifier(**parameters).certify(
            [[1.0], [2.0], [3.0]], [0, 1, 0], tmp_path / "p.ptc", **more
        )


@pytest.mark.parametrize("more", [{"n_jobs": 2}, {"max_memory": "1MB"}, {"checkpoint": "kept"}])
def test_threads_and_limits_change_nothing(more, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 4)).round(1), rng.integers(0, 2, 90)
    if "checkpoint" in more:
        more = {"checkpoint": tmp_path / "kept"}
        OptimalTreeClassifier(max_depth=4, max_work=100_000, **more).fit(X, y)
        assert more["checkpoint"].exists()  # what is certified goes on from here
    for depth in (3, 4):
        model = OptimalTreeClassifier(max_depth=depth, **(more if depth == 4 else {}))
        model.certify(X, y, tmp_path / "p.ptc")
        provetree_check.check(tmp_path / "p.ptc", as_text(named(X, y)))
        assert model.certificate_.bound == model.objective_


def test_workers_elsewhere_are_not_used(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r"a search in this process: executor='dask' is not used"):
        OptimalTreeClassifier(max_depth=1, executor="dask").certify(
            [[1.0], [2.0]], [0, 1], tmp_path / "p.ptc"
        )


def test_a_table_of_dask_is_refused(tmp_path: Path) -> None:
    array = pytest.importorskip("dask.array")
    X = array.from_array(np.ones((4, 1)))
    with pytest.raises(ValueError, match="Certificates are about tables in memory"):
        OptimalTreeClassifier().certify(X, [0, 1, 0, 1], tmp_path / "p.ptc")


def test_a_proof_of_fewer_splits_says_nothing_of_more(tmp_path: Path) -> None:
    """Sides were claimed to need two splits, which a search for trees of few splits had shown."""
    table = certified_table(141, tmp_path, most_rows=18)
    assert provetree_check.check(table.path, table.cells).startswith("no tree of depth 4")


def test_a_certificate_is_about_the_last_fit(tmp_path: Path) -> None:
    clf = OptimalTreeClassifier(max_depth=1).certify([[1], [2]], [0, 1], tmp_path / "proof.ptc")
    assert clf.certificate_.bound == 0
    assert not hasattr(clf.fit([[1], [2], [3]], [0, 1, 0]), "certificate_")
