"""
Few representatives for many rows
=================================

Rows of one class that are close to each other form a cluster. A tree is found for the
representatives of the clusters. Clusters that the tree cuts are divided until it cuts none.
"""

# %%
# Three ways to cluster the rows of iris, shown for two columns. In the second, rows next to another
# class stay alone.

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from provetree import (
    PartitionTreeClassifier,
    closest_representatives_merge,
    greedy_partition,
    improved_greedy_partition,
)

X, y = load_iris(return_X_y=True)
X = X[:, 2:]
made = {
    "GP": greedy_partition(X, y, rho=0.25),
    "IGP": improved_greedy_partition(X, y),
    "CRM": closest_representatives_merge(X, y),
}
figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for ax, (name, partition) in zip(axes, made.items(), strict=True):
    partition.plot(ax)
    ax.set_title(
        f"{name}: {partition.n_clusters} clusters, consistency {partition.consistency:.2f}"
    )

# %%
# The heuristic ends with a tree that cuts no cluster; the exact variant goes on to a proof.

for refinement in ("heuristic", "exact"):
    clf = PartitionTreeClassifier(refinement=refinement, max_depth=2).fit(X, y)
    print(f"{refinement}: {clf.status_}, {clf.objective_} errors, bound {clf.lower_bound_}")
    for one in clf.rounds_:
        print(f"  {one.n_clusters} clusters, {one.n_cut} cut, {one.errors} errors on the rows")
