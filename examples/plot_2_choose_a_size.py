"""
How large should the tree be?
=============================

For every number of leaves, the plot shows the proven best training tree and the score of such trees
on held-out rows. The ring marks the smallest size within one standard error of the best.
"""

# %%

from sklearn.datasets import load_breast_cancer

from provetree import OptimalTreeCV

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
clf = OptimalTreeCV(max_depth=3, max_leaf_nodes=7).fit(X, y)
clf.plot_frontier()

# %%
# The numbers behind it.

for point in clf.path_.points:
    print(
        f"{point.n_leaves} leaves: {point.errors} errors ({point.status}), "
        f"held out {point.cv_score:.3f} ± {point.cv_error:.3f}"
    )
print("chosen:", clf.n_leaves_)
