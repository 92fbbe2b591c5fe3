"""
On a GPU, where there is one
============================

``device="auto"`` takes an NVIDIA GPU where there is one and the work is large enough, and the CPU
otherwise. So the same script runs everywhere, with the same result to the last bit.
"""

import matplotlib.pyplot as plt
import numpy as np

from infosieve import permutation_test, plots

rng = np.random.default_rng(0)
n, m = 1000, 100
X = rng.normal(size=(n, m))
y = np.abs(X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n)

# %%
# Many permuted columns
# ---------------------
# Each permutation scores all columns anew and keeps the best. That is many estimates, all of the
# same kind: what a GPU is good at.

test = permutation_test(
    X, y, list(range(m)), n_neighbors=5, device="auto", n_jobs=-1, random_state=0
)
print("computed on:", test.device)
print("estimates:", (test.n_permutations + 1) * m)
test

# %%
# ``device="cuda"`` insists: without a GPU it says what is missing. ``device="cpu"`` is the
# default.
#
# What was found
# --------------
# Columns 0, 1 and 2 enter the target. Column 0 does so by its absolute value, columns 1 and 2 as a
# product: the marginal information of each is small, and has to be told from chance.

order = np.argsort(-test.observed)[:20]
figure, ax = plt.subplots(figsize=(7.5, 4), layout="constrained")
passed = test.p_values[order] <= 0.05
ax.bar(range(20), test.observed[order], color=np.where(passed, plots.FOUND, "#c9d1d9"))
limit = np.quantile(test.null, 0.95)
ax.axhline(limit, color=plots.CHANCE, ls="--", label="95 % of the best permuted columns lie below")
ax.set_xticks(range(20), [str(j) for j in order])
ax.set(xlabel="column", ylabel="information about the target (nats)")
ax.legend(frameon=False)

# %%

plt.show()
