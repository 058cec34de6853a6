"""The C++ core: ranks, merged rows, the exact search, and its parts one by one for the tests."""

from collections.abc import Callable, Sequence
from typing import Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

class SearchResult(TypedDict):
    """The best tree as arrays over its nodes in preorder, and what is proven about it."""

    column: NDArray[np.int32]
    rank_low: NDArray[np.int32]
    rank_high: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    label: NDArray[np.int32]
    cost: int
    lower_bound: int
    status: Literal["optimal", "time_limit", "interrupted"]
    history: list[tuple[float, int, int]]
    counters: dict[str, int]

class ItemsetResult(TypedDict):
    """The best tree in preorder (rows without the attribute first), and what is proven of it."""

    attribute: NDArray[np.int32]
    label: NDArray[np.int32]
    cost: float
    lower_bound: float
    status: Literal["optimal", "time_limit", "interrupted"]
    history: list[tuple[float, float, float]]
    counters: dict[str, int]

#: Names of the parts that bit 0, 1, ... of ``switches`` turn off.
SWITCHES: tuple[str, ...]

def available_kernels() -> list[str]:
    """Return the kernels that run on this machine, slowest first."""

def dense_ranks(x: NDArray[np.float64]) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """Return the dense rank of each value, and the distinct values in order."""

def merge_rows(
    ranks: NDArray[np.uint32],
    classes: NDArray[np.int32],
    weights: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Merge rows of equal ranks and class: one original row of each, sums of weights and counts."""

def route_rows(
    ranks: NDArray[np.uint32],
    classes: NDArray[np.int32],
    weights: NDArray[np.int64],
    counts: NDArray[np.int64],
    n_classes: int,
    column: list[int],
    rank: list[int],
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[int], list[int], list[int], list[int]]:
    """Send rows down a tree in preorder (column -1 for a leaf; rank and below go left).

    Returns the class weights and the row counts of the leaves, node by node, and for each split
    the last rank that goes left, the first that goes right, the lowest and the highest.
    """

def search(
    ranks: NDArray[np.uint32],
    values: list[NDArray[np.float64]],
    classes: NDArray[np.int32],
    weights: NDArray[np.int64],
    counts: NDArray[np.int64],
    n_classes: int,
    max_depth: int,
    max_splits: int,
    min_samples_leaf: int,
    error_scale: int,
    split_penalty: int,
    time_limit: float,
    memory_limit: int,
    on_progress: Callable[[float, int, int], object] | None = None,
    kernel: str = "auto",
    switches: int = 0,
) -> SearchResult:
    """Find the best tree and prove it, as far as the limits allow."""

def itemset_search(
    values: NDArray[np.uint8],
    classes: NDArray[np.int32],
    weights: NDArray[np.int64],
    n_classes: int,
    max_depth: int,
    min_support: int,
    algorithm: str,
    branching: str,
    cache_partial_results: bool,
    count_itemsets: bool,
    time_limit: float,
    memory_limit: int,
    lower_bound: float,
    row_numbers: NDArray[np.int64],
    cost_matrix: NDArray[np.float64] | None = None,
    whole_costs: bool = True,
    function: Callable[..., object] | None = None,
    function_address: int = 0,
    function_data: int = 0,
    of_rows: bool = False,
    weight_numerator: float = 1.0,
    weight_denominator: float = 1.0,
    on_progress: Callable[[float, float, float], None] | None = None,
) -> ItemsetResult:
    """Find the best tree over Boolean attributes (attribute-major bytes) by DL8 or DL8.5."""

class parts:
    """A module of its own: kernels and bounds one by one."""

    TINY_SAMPLES: int

    @staticmethod
    def evaluate_panel(
        ranks: NDArray[np.uint32],
        values: list[NDArray[np.float64]],
        classes: NDArray[np.int32],
        weights: NDArray[np.int64],
        counts: NDArray[np.int64],
        n_classes: int,
        min_samples_leaf: int,
        lanes: Sequence[tuple[int, int]],
        kernel: str = "auto",
    ) -> list[list[int]]:
        """Evaluate splits (column, rows going left), sorted so.

        For each: leaf, stump, feasible split (-1: none) and feasible leaf of the left, then of
        the right.
        """

    @staticmethod
    def depth_one(
        ranks: NDArray[np.uint32],
        values: list[NDArray[np.float64]],
        classes: NDArray[np.int32],
        weights: NDArray[np.int64],
        counts: NDArray[np.int64],
        n_classes: int,
        min_samples_leaf: int,
        error_scale: int,
        split_penalty: int,
    ) -> tuple[int, int, int, int]:
        """Return (cost, relaxed, column or -1, rows going left) of the best depth-one tree."""

    @staticmethod
    def depth_two(
        ranks: NDArray[np.uint32],
        values: list[NDArray[np.float64]],
        classes: NDArray[np.int32],
        weights: NDArray[np.int64],
        counts: NDArray[np.int64],
        n_classes: int,
        min_samples_leaf: int,
        splits: int,
        limit: int,
        error_scale: int,
        split_penalty: int,
        kernel: str = "auto",
        switches: int = 0,
    ) -> tuple[int, int, int]:
        """Return (lower, relaxed, upper) of the trees of depth two with 2 or 3 splits."""

    @staticmethod
    def open_range(
        left_a: int,
        right_a: int,
        weight_a: int,
        left_b: int,
        right_b: int,
        weight_b: int,
        cut: int,
        scale: int,
    ) -> tuple[bool, int, int, int]:
        """Return (open, bound, from, upto): which splits between a and b may cost under cut."""
