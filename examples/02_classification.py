"""
Classes, categories and names
=============================

A workshop looks at parts and notes what is wrong with them: nothing, a scratch or a bend. Some
columns are numbers, some are words. The target is words, too. Nothing has to be encoded.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from infosieve import MISelector, plots

rng = np.random.default_rng(0)
n = 400
X = pd.DataFrame(
    {
        "machine": rng.choice(["old", "new", "rented"], n),
        "shift": rng.choice(["day", "night"], n),
        "heat": rng.normal(180, 10, n),
        "force": rng.normal(50, 5, n),
        "humidity": rng.normal(40, 8, n),
        "batch": rng.integers(1, 4, n),  # a number that is none
    }
)
X["heat_display"] = X["heat"] + rng.normal(0, 3, n)  # a noisy copy: a worse instrument

# %%
# What really happens: the old machine scratches parts when it is hot. Too much or too little
# force bends them, on any machine. Now and then somebody overlooks it.

scratched = (X["machine"] == "old") & (X["heat"] > 175)
bent = (X["force"] - 50).abs() > 6
y = pd.Series(np.select([scratched, bent], ["scratch", "bend"], "fine"), name="note")
y[rng.uniform(size=n) < 0.05] = "fine"
y.value_counts()

# %%
# Select
# ------
# Text is taken for categories. Numbers are taken for numbers, so the batch has to be declared:
# batch 3 is not more than batch 1.

selector = MISelector(discrete_features=["machine", "shift", "batch"], random_state=0).fit(X, y)
print("selected:", ", ".join(selector.get_feature_names_out()))
selector.path_[["action", "feature", "gain", "p_value", "level"]].round(3)

# %%
# The marginal information of each column. The display of the heat has about as much as the heat
# itself, but is redundant with it: it is not selected.

plots.RelevanceDisplay.from_result(selector.result_).plot()

# %%
# What was found, seen
# --------------------
# The machines side by side. Scratches are where the old machine is hot. Bends are at both ends of
# the force.

figure, axes = plt.subplots(1, 3, figsize=(9, 3.6), layout="constrained", sharex=True, sharey=True)
styles = {"fine": ("#c9d1d9", "o"), "bend": (plots.REFUSED, "s"), "scratch": (plots.FOUND, "^")}
for ax, machine in zip(axes, ["old", "new", "rented"], strict=True):
    for note, (color, marker) in styles.items():
        rows = (X["machine"] == machine) & (y == note)
        ax.scatter(X["heat"][rows], X["force"][rows], s=16, color=color, marker=marker, label=note)
    ax.set(title=machine, xlabel="heat")
axes[0].set_ylabel("force")
axes[-1].legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))

# sphinx_gallery_thumbnail_number = 2

# %%

plt.show()
