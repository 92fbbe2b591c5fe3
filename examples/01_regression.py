"""
A table of numbers
==================

Ten columns, one target. Five of the columns enter a formula, the other five are noise. Which are
which?
"""

import matplotlib.pyplot as plt
import numpy as np

from infosieve import MISelector, plots
from infosieve.datasets import make_friedman

friedman = make_friedman(n_samples=200, random_state=0, as_frame=True)
X, y = friedman.data, friedman.target
X.head().round(2)

# %%
# Select
# ------
# Columns are added one after the other, each time the one that adds most to those selected
# already. A permutation test decides when to stop.

selector = MISelector(random_state=0).fit(X, y)
print("selected:", ", ".join(selector.get_feature_names_out()))
print("in the formula:", ", ".join(X.columns[friedman.relevant]))

# %%
# How sure is that?
# -----------------
# ``path_`` has a row for each step: which column was added, how much information it adds, and how
# often chance does as well. The last row is the column that did not pass.

selector.path_[["action", "feature", "mi", "gain", "p_value", "level"]].round(3)

# %%
# The same as a picture. A dot is what a column adds. A grey box is what the best of the
# permuted columns adds, over many permutations. A dot far above its box is no accident.

plots.PathDisplay.from_result(selector.result_).plot()

# %%
# Why not a correlation?
# ----------------------
# ``X3`` enters the formula as a square. Its correlation with the target is close to none, and a
# correlation would leave it out. Mutual information has no shape in mind.

correlation = [abs(np.corrcoef(X[name], y)[0, 1]) for name in X]
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
colors = np.where(selector.support_, plots.FOUND, "#c9d1d9")
left.barh(X.columns, correlation, color=colors)
left.set_xlabel("correlation with the target (absolute)")
right.barh(X.columns, selector.relevance_, color=colors)
right.set_xlabel("information about the target (nats)")
left.invert_yaxis()

# %%
# To send around
# --------------
# ``selector.result_.report("report.html")`` writes one page that needs nothing else. In a
# notebook, the result shows itself:

selector.result_

# %%

plt.show()
