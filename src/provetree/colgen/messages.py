"""Messages of column generation, for errors and warnings."""

from __future__ import annotations

from collections.abc import Collection

from provetree.colgen.paths import PathModel
from provetree.solution import Status

#: Warn if rounding changes a weight by more than this share of it.
TOLD_WEIGHT_ERROR = 0.01
SAMPLING_CUT = "The time limit cut the sampling of candidate splits short."
_MOST_NODES = 10


def infeasible(model: PathModel, proven: bool, status: Status) -> str:
    """Say that there is no tree that keeps the constraints, or that none was found."""
    if proven:
        rows = model.problem.min_samples_leaf
        asked = [row.name for row in model.rows]
        asked += [f"at least {rows} rows per leaf"] if rows > 1 else []
        return (
            f"No tree of the candidate splits keeps all constraints ({', '.join(asked)}). "
            "Relax a constraint or allow more candidates."
        )
    return (
        "No tree that keeps all constraints was found before the search was stopped "
        f"({status.replace('_', ' ')}). Allow more time or relax a constraint."
    )


def solved_again(times: int) -> list[str]:
    """Say that the master had to be solved from scratch, if it had to."""
    if times == 0:
        return []
    return [
        "The master problem was numerically bad and had to be solved again from scratch "
        f"({times} time{'s' if times > 1 else ''}). Value and bound are those of the last solve."
    ]


def empty_nodes(nodes: Collection[int]) -> list[str]:
    """Say which nodes the user's own candidates leave without a split, if they do."""
    if not nodes:
        return []
    names = ", ".join(str(j) for j in sorted(nodes)[:_MOST_NODES])
    more = f" and {len(nodes) - _MOST_NODES} more" if len(nodes) > _MOST_NODES else ""
    return [
        f"The 'candidates' have no split for node {names}{more} that tells two rows apart. "
        "Such a node does not split."
    ]


def rounded_weights(error: float) -> list[str]:
    """Say that weights lie too far apart to be kept, if they do."""
    if error <= TOLD_WEIGHT_ERROR:
        return []
    return [
        "The row weights lie too far apart to be kept: their total counts 2**30 units, and the "
        "smallest weights were rounded up to one. Costs, bounds and shares are those of the "
        f"rounded weights (largest relative error of one weight: {error:.2g})."
    ]
