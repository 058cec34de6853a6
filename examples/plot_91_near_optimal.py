"""
All trees that are nearly as good
=================================

The best tree is rarely alone. How many trees make at most two errors more, which columns do they
need, and about which rows do they all agree?
"""

# %%

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from provetree import near_optimal_trees

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
found = near_optimal_trees(X, y, slack=2, max_depth=2)
print(found.sentence)
for cost, number in found.counts.items():
    print(f"{number:5} trees make {cost} errors")

# %%
# Which columns are in all, some or none of them, and what the best tree without each costs.

found.plot()
plt.show()

# %%
# A row on which all trees agree is a safe one; where they differ, the data do not decide.

agreement = found.agreement()
print(f"All trees agree on {agreement.share_agreed:.1%} of the rows.")
print(f"The tree with the fewest columns asks about {found.fewest_columns().value:.0f}.")
wide = found.widest_margins()
print(wide.tree.to_text())
