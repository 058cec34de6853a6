"""
Categories and missing values
=============================

A synthetic passenger list. The search chooses the side of missing ages, nothing is imputed. The
port is a category.
"""

# %%

import numpy as np
import pandas as pd

from provetree import OptimalTreeClassifier

rng = np.random.default_rng(0)
n = 400
table = pd.DataFrame(
    {
        "age": rng.integers(1, 80, n).astype(float),
        "port": pd.Categorical(rng.choice(["Southampton", "Cherbourg", "Queenstown"], n)),
        "fare": np.round(rng.lognormal(3, 0.8, n), 2),
    }
)
child = table["age"] < 12
survived = np.where(child | ((table["port"] == "Cherbourg") & (table["fare"] > 20)), "yes", "no")
survived = np.where(rng.random(n) < 0.1, "yes", survived)
table.loc[rng.random(n) < 0.2, "age"] = np.nan

clf = OptimalTreeClassifier(max_depth=3, min_samples_leaf=5).fit(table, survived)
print(clf.export_text())

# %%

clf.plot()
