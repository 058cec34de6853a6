"""
Predicting a number
===================

A regression tree of eight leaves: the proven best one beside CART of the same size, and how the
size is chosen.
"""

# %%

from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeRegressor

from provetree import OptimalTreeRegressor, OptimalTreeRegressorCV

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
reg = OptimalTreeRegressor(max_depth=3, min_samples_leaf=5).fit(X_train, y_train)
cart = DecisionTreeRegressor(max_depth=3, min_samples_leaf=5, random_state=0).fit(X_train, y_train)
reg.plot()

# %%
# Squared errors in all: no tree of depth three has less.

for name, model in (("optimal", reg), ("CART", cart)):
    print(
        f"{name}: R² {model.score(X_train, y_train):.3f} in training, "
        f"{model.score(X_test, y_test):.3f} on new rows"
    )
print(reg.status_, f"{reg.objective_:.1f}")

# %%
# Cross-validation chooses the number of leaves and the least rows of a leaf.

cv = OptimalTreeRegressorCV(max_depth=2).fit(X_train, y_train)
print(f"{cv.n_leaves_} leaves of {cv.min_samples_leaf_} rows or more")
print(f"R² on new rows: {cv.score(X_test, y_test):.3f}")
cv.plot_frontier()
