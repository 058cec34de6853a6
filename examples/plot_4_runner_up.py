"""
How much depends on one question?
=================================

For each split: the best split on another column, with a new subtree below it, and the proven cost
of the swap. Then: how often the splits return on resampled rows.
"""

# %%

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from provetree import OptimalTreeClassifier, runner_up_splits, stability

X, y = load_wine(return_X_y=True, as_frame=True)
clf = OptimalTreeClassifier(max_depth=2).fit(X, y)
for found in runner_up_splits(clf, X, y):
    print(found.sentence)

# %%

found = stability(clf, X, y, n_refits=20)
fig, ax = plt.subplots(figsize=(7, 3), layout="constrained")
names = [split.split for split in found.splits]
ax.barh(names, [split.anywhere for split in found.splits], color="#56b4e9", label="anywhere")
ax.barh(
    names, [split.same_place for split in found.splits], 0.4, color="#0072b2", label="same place"
)
ax.invert_yaxis()
ax.set_xlabel(f"share of {found.n_refits} refits with the same column")
ax.legend(frameon=False)
plt.show()
