"""The C++ core: ranks, merged rows, the exact search, and its parts one by one for the tests."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, TypedDict

import numpy as np
from numpy.typing import NDArray
from typing_extensions import NotRequired

class Certified(TypedDict):
    """Claims of a certificate, and the rows (with their weights) that they are about."""

    bound: int
    claims: int
    text: str
    weights: NDArray[np.int64]
    seconds: float

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
    status: Literal["optimal", "time_limit", "work_limit", "interrupted"]
    history: list[tuple[float, int, int]]
    counters: dict[str, int]
    certified: NotRequired[Certified]  # where it was asked for
    handover: NotRequired[Handover]  # where it was asked for and there is anything to hand over

class SizedTree(TypedDict):
    """The best tree of at most so many leaves; proven where the bound is no less than the cost."""

    column: NDArray[np.int32]
    rank_low: NDArray[np.int32]
    rank_high: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    label: NDArray[np.int32]
    cost: int
    lower_bound: int

class SizesResult(TypedDict):
    """The best trees of 1, 2, ... leaves, as many as depth and rows allow."""

    sizes: list[SizedTree]
    status: Literal["optimal", "time_limit", "interrupted"]
    counters: dict[str, int]

class Routed(TypedDict):
    """What arrives at the nodes of a tree, by node.

    ``weights`` has one column per class. Of splits: ``heavier_left`` tells whether the left child
    weighs at least as much as the right one; the rest are ranks in the column of the split, of the
    rows that arrive: the last that goes left, the first that goes right, the ends.
    """

    weights: NDArray[np.int64]
    counts: NDArray[np.int64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    depth: NDArray[np.int32]
    label: NDArray[np.int32]
    heavier_left: list[int]
    last_left: list[int]
    first_right: list[int]
    lowest: list[int]
    highest: list[int]

class NodeRows(Routed):
    """The same with the rows in the order of their leaves: a node has those from begin to end."""

    rows: NDArray[np.int64]
    begin: list[int]
    end: list[int]

class ItemsetResult(TypedDict):
    """The best tree in preorder (rows without the attribute first), and what is proven of it."""

    attribute: NDArray[np.int32]
    label: NDArray[np.int32]
    cost: float
    lower_bound: float
    status: Literal["optimal", "time_limit", "interrupted"]
    history: list[tuple[float, float, float]]
    counters: dict[str, int]

#: The bit of ``switches`` that turns each part off.
SWITCHES: dict[str, int]
#: The same of parts that only searches under rules have, or those for trees below a cost.
RULE_SWITCHES: dict[str, int]
#: Bits of ``switches`` that make parts work where they would not, for tests.
TEST_SWITCHES: dict[str, int]

class Table:
    """A table that was checked when it was made. Its arrays must not change afterwards."""

    def __init__(
        self,
        ranks: NDArray[np.uint32],
        values: NDArray[np.float64],
        value_ends: NDArray[np.int64],
        classes: NDArray[np.int32],
        weights: NDArray[np.int64],
        counts: NDArray[np.int64],
        n_classes: int,
        loss: str = "errors",
        targets: NDArray[np.float64] | None = None,
        cost_bits: int = 44,
    ) -> None: ...
    @property
    def cost_unit(self) -> float:
        """The user's cost of one unit of cost; 1 where costs are errors."""
    @property
    def constant(self) -> float:
        """What is added to the cost of every tree."""
    def digest(self) -> int:
        """Return what a certificate knows the table by: sums over its rows, in any order."""

class Handover:
    """What a search has proven of the splits of its root, for one with fewer columns."""

    def with_columns(self, kept: Sequence[int]) -> Handover:
        """Return what holds with these columns alone, which are given in order."""

def available_kernels() -> list[str]:
    """Return the kernels that run on this machine, slowest first."""

def rank_columns(
    table: NDArray[np.float64],
) -> tuple[NDArray[np.uint32], NDArray[np.float64], NDArray[np.int64], NDArray[np.uint8]]:
    """Rank each column, a missing value after the last.

    Returns ranks by column, distinct values one column after the other, where those of each column
    end, and which columns have missing values.
    """

def order_columns(
    ranks: NDArray[np.uint32],
    values: NDArray[np.float64],
    value_ends: NDArray[np.int64],
    has_missing: NDArray[np.uint8],
    n_categories: NDArray[np.int64],
    rows: NDArray[np.int64],
    keep_duplicates: bool,
) -> tuple[
    NDArray[np.uint32],
    NDArray[np.int32],
    NDArray[np.uint8],
    NDArray[np.int32],
    NDArray[np.float64],
    NDArray[np.int64],
]:
    """Turn ranked features into ordered columns.

    Returns ranks by column, and of each column the feature, the kind (numeric, missing first,
    missing last, category), the category; then values one column after the other, and their ends.
    """

def merge_rows(
    ranks: NDArray[np.uint32],
    classes: NDArray[np.int32],
    weights: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Merge rows of equal ranks and class: one original row of each, sums of weights and counts."""

def mean_and_squares(
    targets: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[float, float]:
    """Return the weighted mean, and the sum of squares around it; weights are whole numbers."""

def order_binary_table(
    table: NDArray[np.float64],
    classes: NDArray[np.int32],
    weights: NDArray[np.int64],
    counts: NDArray[np.int64],
    keep_duplicates: bool,
    kernel: str = ...,
) -> (
    tuple[
        tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
        tuple[
            NDArray[np.uint32],
            NDArray[np.int32],
            NDArray[np.uint8],
            NDArray[np.int32],
            NDArray[np.float64],
            NDArray[np.int64],
        ],
    ]
    | None
):
    """Merge the rows and order the columns of a table of numbers with at most two values each.

    Returns what ``merge_rows`` and ``order_columns`` return, or None where there are more values.
    """

def route_rows(
    table: Table, column: Sequence[int], rank: Sequence[int], keep_rows: bool = False
) -> NodeRows:
    """Send rows down a tree in preorder (column -1 for a leaf; rank and below go left).

    The rows themselves come with `keep_rows` only.
    """

def node_means(
    numbers: NDArray[np.float64],
    weights: NDArray[np.int64],
    rows: NDArray[np.int64],
    begin: Sequence[int],
    end: Sequence[int],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean of each number over the rows of each node, and the squares around it."""

def node_totals(
    numbers: NDArray[np.float64],
    weights: NDArray[np.int64],
    rows: NDArray[np.int64],
    begin: Sequence[int],
    end: Sequence[int],
) -> NDArray[np.float64]:
    """Return the weighted sum of each number over the rows of each node."""

class SumsProof(TypedDict):
    """What is proven of all trees, and the sums of one that costs less than what was known."""

    cost: int
    lower_bound: int
    end: Literal["complete", "time_limit", "interrupted"]
    sums: list[int]
    counters: dict[str, int]

#: The numbers behind each row, then of each sum: whether it is a ratio, two columns, two factors.
_Sums = tuple[Any, ...]

def sum_stumps(
    table: Table, sums: _Sums, *, min_samples_leaf: int, time_limit: float, kernel: str = "auto"
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]] | str:
    """Find the fewest errors of a split of each ordered column, or say why that was stopped.

    With any leaf sizes, then with the minimum; last the sum it orders (-1: a column of the table).
    """

def prove_sums(
    table: Table,
    sums: _Sums,
    relaxed: NDArray[np.int32],
    *,
    known: int,
    max_splits: int,
    min_samples_leaf: int,
    error_scale: int,
    split_penalty: int,
    time_limit: float,
    room: int,
    kernel: str = "auto",
    switches: int = 0,
    on_progress: Callable[[float, int, int], None] | None = None,
) -> SumsProof:
    """Prove that no tree of depth two costs less than what is known, or find one that does."""

class Exchange(Protocol):
    """Who has the splits of a root solved elsewhere."""

    def begin(self, job: str) -> None:
        """Begin a search; what was out before is no longer wanted."""

    def trade(
        self, tasks: list[tuple[int, bytes]], cut: int
    ) -> tuple[list[tuple[int, bytes]], int, int] | None:
        """Hand out tasks; return answers, how many may be out, and how many workers there are.

        None to give up.
        """

    def end(self) -> None:
        """Take back all that is out."""

class TaskSolver:
    """Solves tasks of a search on a worker; one table, one thread."""

    def __init__(self, table: Table, job: str, memory_limit: int, kernel: str = "auto") -> None: ...
    def solve(self, task: bytes, seconds: float, steps: int = ...) -> bytes | None:
        """Return the answer; None where it was stopped."""

    def lower_cut(self, cut: int) -> None:
        """Tell, from any thread, that trees of this cost and more are of no use any longer."""

    def stop(self) -> None:
        """Stop it, from any thread."""

def search(
    table: Table,
    on_progress: Callable[[float, int, int], object] | None = None,
    workers: Exchange | None = None,
    *,
    max_depth: int,
    max_splits: int,
    min_samples_leaf: int,
    error_scale: int,
    split_penalty: int,
    time_limit: float,
    memory_limit: int,
    kernel: str = "auto",
    switches: int = 0,
    max_work: int = 0,
    initial_column: Sequence[int] = ...,
    initial_rank: Sequence[int] = ...,
    n_jobs: int = 1,
    certify: bool = False,
    checkpoint: str = "",
    checkpoint_seconds: float = 20.0,
    directions: Sequence[int] = ...,
    groups: Sequence[Sequence[int]] = ...,
    prices: Sequence[int] = ...,
    priced: Sequence[Sequence[int]] = ...,
    known: Handover = ...,
    hands_over: bool = False,
) -> SearchResult:
    """Find the best tree and prove it, as far as the limits allow."""

#: Bits of ``switches`` that take away what the proof of ``search`` needs, for tests.
UNSOUND_SWITCHES: dict[str, int]
#: Bits of ``switches`` that turn parts of ``search_sizes`` off.
SIZE_SWITCHES: dict[str, int]
#: Bits that take away what its proof needs, for tests.
UNSOUND_SIZE_SWITCHES: dict[str, int]
#: The deepest trees that ``search_sizes`` takes.
DEEPEST_BY_SIZES: int

def search_sizes(
    table: Table,
    *,
    max_depth: int,
    max_leaf_nodes: int,
    min_samples_leaf: int,
    time_limit: float,
    memory_limit: int,
    kernel: str = "auto",
    switches: int = 0,
    on_tick: Callable[[], None] | None = None,
) -> SizesResult:
    """Find the best tree of every number of leaves and prove it, as far as the time allows.

    `on_tick` is called every few milliseconds; what it raises ends the search and is raised here.
    """

def searched_on_bits(table: Table, max_depth: int) -> bool:
    """Tell whether ``search`` takes a table of few values on bits, rather than by sweeps."""

#: The deepest trees that ``count_trees`` takes.
DEEPEST_COUNTED: int

def count_trees(
    table: Table,
    features: NDArray[np.int32],
    kinds: NDArray[np.uint8],
    *,
    depth: int,
    limit: int,
    error_scale: int,
    split_penalty: int,
    min_samples_leaf: int,
    redundant_splits: bool,
    time_limit: float,
    memory_limit: int,
    kernel: str = "auto",
    switches: int = 0,
    path: Sequence[tuple[int, int, bool]] = ...,
    keep_splits: bool = True,
) -> dict[str, Any]:
    """Count the trees of a node that cost at most a limit, by cost and by split."""

def count_row_votes(
    table: Table,
    features: NDArray[np.int32],
    kinds: NDArray[np.uint8],
    *,
    depth: int,
    limit: int,
    error_scale: int,
    split_penalty: int,
    min_samples_leaf: int,
    redundant_splits: bool,
    time_limit: float,
    memory_limit: int,
    kernel: str = "auto",
    switches: int = 0,
) -> tuple[NDArray[np.float64], str]:
    """Count the trees within a limit that predict each class, for each row of the table."""

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

    @staticmethod
    def evaluate_panel(
        table: Table,
        min_samples_leaf: int,
        lanes: Sequence[tuple[int, int]],
        kernel: str = "auto",
    ) -> list[list[int]]:
        """Evaluate splits (column, rows going left), sorted so.

        For each: leaf, stump, feasible split (-1: none) and feasible leaf of the left, then of
        the right.
        """

    @staticmethod
    def measured_lanes(
        table: Table,
        min_samples_leaf: int,
        column: int,
        positions: Sequence[int],
        way: str = "fast",
        kernel: str = "auto",
        switches: int = 0,
    ) -> list[list[int]]:
        """Evaluate splits of a column (rows going left, ascending) under a measure.

        For each: leaf, stump, feasible split and feasible leaf of the left, then of the right, and
        whether all is exact. Ways: "plain" (row by row), "fast", "again" (fast, a second time),
        "refined" (fast, then exact).
        """

    @staticmethod
    def opposed_rows(
        table: Table, directions: Sequence[int], errors: int, switches: int = 0
    ) -> tuple[int, list[bool]]:
        """Return what trees that keep directions get wrong at least, and rows that are decided.

        Of each row, whether every tree has it wrong that gets less than `errors` wrong.
        """

    @staticmethod
    def added_errors(weight: float, errors: float) -> float:
        """Return what C4.5 adds to the errors of a leaf of that weight."""

    @staticmethod
    def measured_survey(
        table: Table, kernel: str = "auto"
    ) -> list[tuple[int, list[tuple[int, int, int, int, int]]]]:
        """Return lower bounds at some splits of every column under a measure.

        For each column: rows going left, leaf and stump of the left, leaf and stump of the right.
        """

    @staticmethod
    def depth_one(
        table: Table,
        min_samples_leaf: int,
        error_scale: int,
        split_penalty: int,
    ) -> tuple[int, int, int, int]:
        """Return (cost, relaxed, column or -1, rows going left) of the best depth-one tree."""

    @staticmethod
    def depth_two(
        table: Table,
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
    def depth_two_steps(
        table: Table, limit: int, error_scale: int, split_penalty: int, heard: bool
    ) -> tuple[int, int, int, int]:
        """Return (lower, upper, panels, lanes) of the trees of depth two with 3 splits.

        Heard: somebody listens to what is closed.
        """

    @staticmethod
    def closings(
        table: Table, **options: object
    ) -> tuple[
        int,
        bool,
        int,
        int,
        list[tuple[list[tuple[int, int, bool]], bool, int, int, int, int, int, int, int, str]],
    ]:
        """Search and tell what the proof closed.

        Returns the cost, whether it is proven, error scale and split penalty of the proof, and for
        each closing: the path to the node (column, rank, right), whether it is all splits of the
        node, column, first and last rank, splits of the left side (-1: any), depth and splits of
        the node's trees, the bound, the reason.
        """

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

class colgen:
    """A module of its own: the candidate problem of column generation."""

    class FoundPaths(TypedDict):
        """Paths of positive reduced cost, and the largest of each leaf."""

        leaf: NDArray[np.int32]
        target: NDArray[np.int32]
        candidates: NDArray[np.int32]
        reduced_cost: NDArray[np.float64]
        largest: NDArray[np.float64]
        status: Literal["complete", "time_limit", "interrupted"]
        visited: int

    class FoundTree(TypedDict):
        """The best tree of the candidates."""

        status: Literal["complete", "time_limit", "interrupted"]
        feasible: bool
        value: int
        candidates: NDArray[np.int32]
        targets: NDArray[np.int32]

    class FoundRows(TypedDict):
        """Unlabelled rows whose constraint is violated."""

        rows: list[NDArray[np.int32]]
        values: NDArray[np.float64]
        bound: float
        nodes: int
        status: Literal["complete", "time_limit", "interrupted"]

    class CandidateProblem:
        """Candidate splits of a complete tree, the items that walk through it, and routes."""

        def __init__(
            self, depth: int, groups_per_node: list[int], group_sizes: list[int]
        ) -> None: ...
        @property
        def n_items(self) -> int: ...
        @property
        def n_routes(self) -> int: ...
        def add_items(self, buckets: NDArray[np.uint16]) -> int: ...
        def price(
            self,
            worth: NDArray[np.float64],
            count: NDArray[np.int64],
            alpha: NDArray[np.float64],
            gamma: NDArray[np.float64],
            route_price: NDArray[np.float64],
            allowed_candidate: NDArray[np.uint8],
            allowed_target: NDArray[np.uint8],
            leaf_price: float,
            min_count: int,
            least: float,
            best: int,
            time_limit: float,
        ) -> colgen.FoundPaths: ...
        def best_tree(
            self,
            profit: NDArray[np.int64],
            count: NDArray[np.int64],
            allowed_candidate: NDArray[np.uint8],
            allowed_target: NDArray[np.uint8],
            leaf_price: int,
            min_count: int,
            max_leaves: int,
            time_limit: float,
        ) -> colgen.FoundTree: ...
        def activity(
            self, leaf: NDArray[np.int32], candidates: NDArray[np.int32], value: NDArray[np.float64]
        ) -> tuple[NDArray[np.float64], NDArray[np.uint64]]: ...
        def goes_left(self) -> NDArray[np.uint8]: ...
        def totals(
            self, leaf: NDArray[np.int32], candidates: NDArray[np.int32], values: NDArray[np.int64]
        ) -> NDArray[np.int64]: ...
        def incidence(
            self, leaf: NDArray[np.int32], candidates: NDArray[np.int32], items: NDArray[np.int32]
        ) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
        def route_incidence(
            self, leaf: NDArray[np.int32], candidates: NDArray[np.int32], first: int
        ) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
        def separate_routes(
            self,
            leaf: NDArray[np.int32],
            candidates: NDArray[np.int32],
            value: NDArray[np.float64],
            reference: int,
            least: float,
            most: int,
        ) -> list[float]: ...
        def separate_rows(
            self,
            leaf: NDArray[np.int32],
            candidates: NDArray[np.int32],
            value: NDArray[np.float64],
            column: NDArray[np.int32],
            threshold: NDArray[np.int32],
            thresholds_per_column: list[int],
            least: float,
            most_rows: int,
            most_nodes: int,
            time_limit: float,
        ) -> colgen.FoundRows: ...

    @staticmethod
    def add_gram(
        starts: NDArray[np.int64],
        rows: NDArray[np.int32],
        values: NDArray[np.float64],
        weights: NDArray[np.float64],
        out: NDArray[np.float64],
    ) -> None: ...
    @staticmethod
    def sample_trees(
        table: Table,
        depth: int,
        share: float,
        seed: int,
        first: int,
        n_trees: int,
        threads: int,
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Grow CART trees on random parts of the rows: column and rank by tree and node."""

class partitions:
    """A module of its own: data-partitions."""

    class FoundTree(TypedDict):
        """The best tree of a partition, in preorder; columns are -1 at leaves."""

        found: bool
        cost: int
        lower_bound: int
        status: Literal["complete", "time_limit", "interrupted"]
        column: NDArray[np.int32]
        rank: NDArray[np.int32]
        nodes: int

    @staticmethod
    def partition(
        method: str,
        rows: NDArray[np.float64],
        classes: NDArray[np.int32],
        weights: NDArray[np.float64],
        most_clusters: int,
        time_limit: float,
    ) -> tuple[
        NDArray[np.int32], NDArray[np.int32], Literal["complete", "time_limit", "interrupted"]
    ]:
        """Return the lowest row and the medoid of each row's cluster, and how it ended."""

    @staticmethod
    def nearest_neighbours(rows: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return the closest other row of each row, -1 where there is none."""

    @staticmethod
    def search_clusters(
        ranks: NDArray[np.uint32],
        cluster: NDArray[np.int32],
        label: NDArray[np.int32],
        weight: NDArray[np.int64],
        n_classes: int,
        max_depth: int,
        max_splits: int,
        cutoff: int,
        time_limit: float,
    ) -> partitions.FoundTree:
        """Find the cheapest tree below a cutoff, or prove that there is none."""
