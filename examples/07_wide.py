"""
A wide table on disk
====================

Some thousand columns, a few hundred rows, in a Parquet file. The table stays on disk, and columns
are read when they are needed.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from infosieve import MISelector, open_columns, permutation_test, plots, relevance

rng = np.random.default_rng(0)
n, m = 400, 3000
frame = pd.DataFrame(rng.normal(size=(n, m)), columns=[f"gene{j:04d}" for j in range(m)])
frame["response"] = (
    np.sin(2 * frame["gene0007"]) + frame["gene0042"] ** 2 / 2 + 0.4 * rng.normal(size=n)
)
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "expression.parquet"
frame.to_parquet(path)

# %%
# Open it
# -------
# Only the description is read. Columns are chosen as in a frame. (A table as small as this one is
# then read at once; a large one in blocks. The code is the same, and so is the result.)

table = open_columns(path)
X, y = table.drop("response"), table["response"]
X

# %%
# Select
# ------
# The best of thousands looks good by chance, so each step is compared with the best of all
# permuted columns. A table of counts says which of them are worth an estimate, in each permutation
# anew: ``screened`` is how many.

selector = MISelector(random_state=0, n_jobs=-1).fit(X, y)
selector.path_[["action", "feature", "gain", "p_value", "candidates", "screened"]].round(3)

# %%
# What was done, in words:

print("\n".join(selector.result_.notes))

# %%
# Without the correction
# ----------------------
# ``correction=None`` compares a column with permutations of itself only. The best column of noise
# passes that test, too: its p-value is not that of the best of thousands.

noise = X.drop(list(selector.get_feature_names_out()))
best = relevance(noise, y).idxmax()
permutation_test(noise, y, best, random_state=0)

# %%
# The marginal information of each column: thousands of columns of noise reach quite high.

nats, picked = selector.relevance_, selector.selected_
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
ax.plot(nats, ".", ms=2, color=plots.CHANCE)
for j, color, text in [
    *((j, plots.FOUND, X.columns[j]) for j in picked),
    (list(X.columns).index(best), plots.REFUSED, best),
]:
    ax.plot(j, nats[j], "o", color=color)
    ax.annotate(text, (j, nats[j]), (6, 4), textcoords="offset points", color=color)
ax.plot([], [], "o", color=plots.FOUND, label="selected")
ax.plot([], [], "o", color=plots.REFUSED, label="the best of the rest: chance")
ax.margins(y=0.12)
ax.set(xlabel="column", ylabel="marginal information (nats)")
ax.legend(frameon=False, loc="upper right")

# %%

folder.cleanup()
plt.show()
