"""Plots best cost and proven bound of a search over time (matplotlib)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provetree.export.plot import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from provetree.export.model_file import Proof
    from provetree.solution import Solution

__all__ = ["plot_history"]

#: Two of Okabe and Ito's colours, told apart by everyone and in print.
_COST, _BOUND = "#d55e00", "#0072b2"
#: Values from here on mean that there is no tree yet.
_NO_TREE_YET = 2**59


def plot_history(
    solution: Solution | Proof, *, seconds: float | None = None, ax: Axes | None = None
) -> Axes:
    """Draw best cost and lower bound over time.

    Parameters
    ----------
    solution : Solution or Proof
        What a search gave.
    seconds : float, default=None
        When the search ended; None is the last moment of its history.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a figure. It is returned.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from provetree import OptimalTreeClassifier
    >>> from provetree.export import plot_history
    >>> clf = OptimalTreeClassifier().fit([[20.0], [30.0], [40.0]], ["no", "yes", "no"])
    >>> plot_history(clf.solution_).get_title()
    'optimal: cost 0, bound 0'
    """
    ax = new_axes((6.0, 3.2)) if ax is None else ax
    # Before the core has a tree, it reports a placeholder cost.
    moments = [moment for moment in solution.history if moment.cost < _NO_TREE_YET]
    times = [moment.seconds for moment in moments] or [0.0]
    costs = [moment.cost for moment in moments] or [solution.cost]
    bounds = [moment.lower_bound for moment in moments] or [solution.lower_bound]
    # The last moment holds until the search ended.
    times.append(max(times[-1] * 1.02, times[-1] + 1e-3, seconds or 0.0))
    costs.append(solution.cost)
    bounds.append(solution.lower_bound)
    ax.step(times, costs, where="post", color=_COST, label="best cost")
    ax.step(times, bounds, where="post", color=_BOUND, linestyle="--", label="proven bound")
    ax.fill_between(times, bounds, costs, step="post", color="0.5", alpha=0.15, linewidth=0)
    ax.set_xlabel("seconds")
    ax.set_ylabel("cost")
    ax.set_ylim(bottom=0)
    status = solution.status.replace("_", " ")
    ax.set_title(f"{status}: cost {solution.cost:g}, bound {solution.lower_bound:g}")
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
