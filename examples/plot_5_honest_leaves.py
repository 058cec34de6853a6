"""
Honest leaves
=============

The class shares in the leaves come from the rows that chose the splits, so they are too optimistic.
Held-out rows give honest shares. Laplace's correction helps where leaves are small.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from provetree import OptimalTreeClassifier, refit_leaves

X, y = make_classification(1200, 8, n_informative=4, flip_y=0.2, random_state=0)
X_train, X_rest, y_train, y_rest = train_test_split(X, y, train_size=300, random_state=0)
X_held, X_test, y_held, y_test = train_test_split(X_rest, y_rest, random_state=0)

clf = OptimalTreeClassifier(max_depth=3).fit(X_train, y_train)
honest = refit_leaves(clf, X_held, y_held, laplace=1.0)
losses = {
    "as trained": log_loss(y_test, np.clip(clf.predict_proba(X_test), 1e-6, 1 - 1e-6)),
    "Laplace": log_loss(y_test, clf.predict_proba(X_test, laplace=1.0)),
    "held out and Laplace": log_loss(y_test, honest.predict_proba(X_test)),
}

fig, ax = plt.subplots(figsize=(6, 2.4), layout="constrained")
ax.barh(list(losses), list(losses.values()), color=["#d55e00", "#e69f00", "#009e73"])
ax.set_xlabel("log loss on new rows (lower is better)")
plt.show()
