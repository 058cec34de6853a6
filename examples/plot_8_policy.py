"""
Whom to treat
=============

Which customers should get a call, which a voucher, and which neither? A policy tree answers with a
few questions. Nobody sees what the other actions would have brought, so the rewards are estimated:
doubly robust scores, as EconML and DoubleML compute them. Here they are written out.
"""

# %%
# Data as companies have them: actions were not assigned at random. Because the data are simulated,
# the true effects are known and can be compared with at the end.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from provetree import OptimalPolicyTree

rng = np.random.default_rng(0)
n, actions = 5000, ["nothing", "call", "voucher"]
X = pd.DataFrame(
    {
        "age": rng.integers(18, 80, n),
        "visits": rng.poisson(4, n),
        "spend": rng.gamma(2, 40, n).round(),
        "member": rng.integers(0, 2, n),
        "distance": rng.exponential(10, n).round(1),
    }
)
gain_call = np.where((X["age"] > 50) & (X["visits"] < 4), 18.0, -4.0)
gain_voucher = np.where(X["spend"] > 90, 12.0, -6.0)
means = 0.2 * X["spend"].to_numpy()[:, None] + np.column_stack(
    [np.zeros(n), gain_call, gain_voucher]
)
odds = np.exp(np.column_stack([np.zeros(n), (X["age"] - 50) / 30, (X["spend"] - 80) / 80]))
chance = odds / odds.sum(axis=1, keepdims=True)
given = (rng.random(n)[:, None] > chance.cumsum(axis=1)).sum(axis=1)
profit = means[np.arange(n), given] + rng.normal(0, 15, n)

# %%
# Doubly robust scores. For each row and action: what a model expects, corrected by what was seen
# where the row got that action, weighted by the chance that it got it. The models never see the row
# that they are used for (cross-fitting).


def scores(X, given, profit):
    """Return the estimated profit of each action for each row."""
    found = np.empty((len(X), 3))
    for train, test in KFold(3, shuffle=True, random_state=0).split(X):
        chance = LogisticRegression(max_iter=1000).fit(X.iloc[train] / X.std(), given[train])
        chance = chance.predict_proba(X.iloc[test] / X.std())
        for action in range(3):
            seen = train[given[train] == action]
            model = ExtraTreesRegressor(40, min_samples_leaf=10, random_state=0)
            model.fit(X.iloc[seen], profit[seen])
            expected = model.predict(X.iloc[test])
            got = given[test] == action
            found[test, action] = expected + got / chance[:, action] * (profit[test] - expected)
    return pd.DataFrame(found, columns=actions)


train, test = np.arange(n) < n // 2, np.arange(n) >= n // 2
rewards = scores(X[train], given[train], profit[train])

# %%
# The best policy of four leaves, over all thresholds, with its proof.

policy = OptimalPolicyTree(max_depth=2).fit(X[train], rewards)
shares = dict(zip(actions, policy.treatment_shares_.round(2).tolist(), strict=True))
print(policy.status_, round(policy.value_, 2), shares)
policy.plot()
plt.show()

# %%
# What is it worth? On the rows that chose the tree, the value is too optimistic. Held-out rows,
# with scores of their own, give an honest one, with its standard error. The last bars are what only
# a simulation can tell: the true value of the policy, and of the best action for every single row.

held = scores(X[test], given[test], profit[test])
honest = policy.value(X[test], held)
bars = {f"{action} for all": held[action].agg(["mean", "sem"]) for action in actions}
bars["policy tree"] = honest
chosen = policy.predict_index(X[test])
bars["policy tree, true value"] = (means[test][np.arange(len(chosen)), chosen].mean(), 0.0)
bars["oracle, true value"] = (means[test].max(axis=1).mean(), 0.0)
value, error = np.array([tuple(bar) for bar in bars.values()]).T
for name, mean, spread in zip(bars, value, error, strict=True):
    print(f"{name:25} {mean:6.2f}" + (f" ± {spread:.2f}" if spread else ""))

fig, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
colours = ["#999999"] * 3 + ["#009e73"] * 2 + ["#0072b2"]
ax.barh(list(bars), value, xerr=1.96 * error, color=colours)
ax.invert_yaxis()
ax.set_xlabel("profit per customer on new rows, with 95 % intervals")
plt.show()

# %%
# Calls cost 3 each, and there are people for 10 % of the customers. The budget becomes a price, at
# which the tree is proven best. No tree within the budget has a value above the bound.

limited = OptimalPolicyTree(max_depth=2, action_costs={"call": 3.0}, budget={"call": 0.1})
limited.fit(X[train], rewards)
print(limited.export_text())
print(f"price of a call: {limited.prices_[1]:.2f}")
print(f"share of calls: {limited.treatment_shares_[1]:.1%}")
print(f"value: {limited.value_:.3f}, at most: {limited.value_bound_:.3f}")
