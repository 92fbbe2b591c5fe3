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

from infosieve import MISelector, open_columns, permutation_test, plots

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
# The default compares each step with the best of all permuted columns. With so many columns that
# takes long. ``correction=None`` compares the best column with permutations of itself only.
# It is far quicker, and too kind: the best of thousands looks good by chance. So take only the
# first few steps, use half of the rows, and keep the other half.

half = np.arange(n) < n // 2
selector = MISelector(correction=None, lookahead=1, max_features=4, random_state=0, n_jobs=-1)
selector.fit(X.take_rows(np.flatnonzero(half)), y[half])
selector.path_[["action", "feature", "gain", "p_value"]].round(3)

# %%
# Check on the other half
# -----------------------
# These rows had no part in the choice, and only the chosen columns are read. Each is tested
# against the best of the permuted ones.

chosen = list(selector.get_feature_names_out())
rest = X[chosen].take_rows(np.flatnonzero(~half))
test = permutation_test(rest, y[~half], chosen, random_state=0)
test.to_frame()[["feature", "observed", "p_value"]].round(3)

# %%
# The marginal information of each column, in the first half: thousands of columns of noise reach
# quite high.

relevance, picked = selector.relevance_, selector.selected_
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
ax.plot(relevance, ".", ms=2, color=plots.CHANCE)
passed = test.p_values <= 0.05
for j, name, good in zip(picked, chosen, passed, strict=True):
    color = plots.FOUND if good else plots.REFUSED
    ax.plot(j, relevance[j], "o", color=color)
    ax.annotate(name, (j, relevance[j]), (6, 4), textcoords="offset points", color=color)
ax.plot([], [], "o", color=plots.FOUND, label="selected, passed on the other half")
ax.plot([], [], "o", color=plots.REFUSED, label="selected, did not pass")
ax.margins(y=0.12)
ax.set(xlabel="column", ylabel="marginal information (nats)")
ax.legend(frameon=False, loc="upper right")

# %%

folder.cleanup()
plt.show()
