"""
A first tree, and how its proof came about
==========================================

Of all trees of depth three on scikit-learn's breast cancer table, none makes fewer training errors
than this one. The second plot shows how best tree and proven bound met.
"""

# %%
# Fit, and print what is proven.

from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

from provetree import OptimalTreeClassifier

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
clf = OptimalTreeClassifier(max_depth=3).fit(X, y)
cart = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
print(f"{clf.status_}: {clf.objective_} errors, bound {clf.lower_bound_}")
print(f"CART of the same depth: {(cart.predict(X) != y).sum()} errors")

# %%
# The tree. The bar below a leaf shows the shares of its classes.

clf.plot()

# %%
# How cost and bound met.

clf.plot_history()
