"""
For biologists: twenty thousand genes, few samples
==================================================

Counts of 20,000 genes in 150 samples of three kinds. Two questions are asked of such a table, and
they have different answers. Which genes differ at all? And which few are enough to tell the kinds
apart? At the end there is a list for further analysis, and a small panel of genes with
replacements.

The table is simulated, so that what is found can be held against the truth. It has what real tables
have: modules of genes that go together, heavy right tails, different depths of sequencing, and two
batches.
"""

import textwrap

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.feature_selection import f_classif
from sklearn.linear_model import RidgeClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from infosieve import MISelector, permutation_test, plots, relevance_test, stability

rng = np.random.default_rng(0)
n_genes, n_study, n_new = 20_000, 150, 200  # new samples are for the end
n = n_study + n_new
kinds = pd.Series(rng.choice(["healthy", "type A", "type B"], n), name="kind")
batch = rng.integers(0, 2, n)

# %%
# The truth
# ---------
# 4,000 genes belong to 100 modules of 40. What a module does is one number for each sample.
#
# - Module 0 is up in type A, and any of its genes tells something.
# - Module 1 is up in both types, a little.
# - One gene beside the modules is a switch: in type B it is either off or fully on, elsewhere in
#   between. Its mean is the same in all kinds.
#
# No other gene has to do with the kind.

module = np.full(n_genes, -1)
module[:4000] = np.repeat(np.arange(100), 40)
activity = rng.normal(size=(n, 100))
activity[:, 0] += 2.5 * (kinds == "type A")
activity[:, 1] += 1.5 * (kinds != "healthy")

own = rng.normal(size=(n, n_genes))  # what a gene does on its own
share = np.where(module >= 0, rng.uniform(0.5, 0.9, n_genes), 0)
state = share * activity[:, module] + np.sqrt(1 - share**2) * own
switch = 5000
state[:, switch] = np.where(kinds == "type B", rng.choice([-2.2, 2.2], n), 0) + 0.5 * own[:, switch]

shifted = np.where(rng.random(n_genes) < 0.2, rng.normal(0, 0.8, n_genes), 0)  # by the batch
mean = 2 ** (rng.normal(5, 1.5, n_genes) + 0.9 * state + np.outer(batch, shifted))
depth = rng.lognormal(0, 0.3, (n, 1))
counts = rng.poisson(rng.gamma(5, 0.2, (n, n_genes)) * depth * mean)

# %%
# As usual, genes with hardly any counts are left out, counts become counts per million, and
# logarithms pull in the right tails.

names = np.array([f"g{j:05d}" for j in range(n_genes)])
kept = np.median(counts[:n_study], axis=0) >= 5
per_million = 1e6 * counts / counts.sum(axis=1, keepdims=True)
table = pd.DataFrame(np.log2(per_million + 1)[:, kept], columns=names[kept])
X, y = table[:n_study], kinds[:n_study]
home = pd.Series(module, names)[table.columns]  # the module of each gene
acts = home.isin([0, 1]) | (home.index == names[switch])
print(X.shape[1], "genes are left;", int(acts.sum()), "of them tell something")
print(y.value_counts().to_string())

# %%
# Which genes differ at all?
# --------------------------
# ``relevance_test`` tests each gene by itself, whatever the shape of the dependence. Of all that it
# calls relevant, 5 % are expected to be false at most. Without ``n_permutations`` it draws so many
# that even a single relevant gene among the thousands could be found. Where dozens are expected,
# fewer are enough. The notes say what that leaves out.

test = relevance_test(X, y, n_permutations=19_999, random_state=0)
print(test)
for note in test.notes:
    print(textwrap.fill(f"- {note}", 80, subsequent_indent="  "))

# %%

relevant = pd.Series(test.relevant, X.columns)
truth = acts.map({True: "tells something", False: "tells nothing"}).rename("in truth")
pd.crosstab(truth, relevant.map({True: "relevant", False: "not"}).rename("called"))

# %%
# More than half of the genes that tell something are found, with few false ones among them, as
# promised. What is missed is weak.
#
# A test of means does not see the switch.

by_means = pd.Series(f_classif(X, y)[1], X.columns)[names[switch]]
by_information = test.p_values[X.columns.get_loc(names[switch])]
print(f"the switch: p = {by_means:.2f} by its means, p = {by_information:.5f} by its information")

# %%
# All genes, in the order of the table. The axis is stretched at the left, where the modules are.

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
at = np.arange(1, X.shape[1] + 1)
for rows, size, color, words in [
    (~relevant.to_numpy(), 2, plots.CHANCE, "not relevant"),
    (test.relevant & acts.to_numpy(), 16, plots.FOUND, "relevant, and tells something"),
    (test.relevant & ~acts.to_numpy(), 16, plots.REFUSED, "relevant, and false"),
]:
    ax.scatter(at[rows], test.statistic[rows], s=size, color=color, label=words)
where = X.columns.get_loc(names[switch])
for words, x, height in [
    ("module 0", 6, 0.31),
    ("module 1", 170, 0.105),
    ("the switch", at[where], test.statistic[where] - 0.025),
]:
    ax.text(x, height, words, ha="center")
ax.set(
    xscale="log", xlabel="gene (number in the table)", ylabel="information about the kind (nats)"
)
ax.legend(frameon=False, loc="upper right")

# %%
# Which few are enough?
# ---------------------
# The relevant genes mostly repeat each other. A search takes the best one, then the one that adds
# most to it, and so on, until what is added could be chance.

selector = MISelector(random_state=0).fit(X, y)
path = selector.path_[["action", "feature", "gain", "p_value", "level"]].round(3)
path["module"] = home[path["feature"]].to_numpy()
path

# %%

chosen = list(selector.result_.to_frame().query("action == 'add'")["feature"])
figure, axes = plt.subplots(1, len(chosen), figsize=(9, 3.4), layout="constrained")
places = {"healthy": 0, "type A": 1, "type B": 2}
for ax, name in zip(axes, chosen, strict=True):
    across = y.map(places) + rng.uniform(-0.25, 0.25, n_study)
    ax.scatter(across, X[name], s=8, color=plots.FOUND if acts[name] else plots.REFUSED)
    ax.set_xticks(range(3), ["healthy", "A", "B"])
    ax.set_title(name)
axes[0].set_ylabel("log2 counts per million")

# %%
# What could stand in?
# --------------------
# If there is no good antibody or primer for a gene, which other one would do? ``alternatives``
# lists genes that are informative in its place and leave it little to add.

stand_ins = selector.alternatives(X, y)
stand_ins.groupby("feature")["stand_in"].agg(", ".join).reindex(chosen, fill_value="").to_frame()

# %%

same = home[stand_ins["feature"]].to_numpy() == home[stand_ins["stand_in"]].to_numpy()
print(int(same.sum()), "of", len(same), "stand-ins are of the same module as the gene")

# %%
# The gene of module 0 can be replaced by any of these. The switch has no relatives. The gene of
# module 1 has, but none of them is listed: they share too little with it to take its place.
#
# Would other samples choose the same?
# ------------------------------------
# The samples are halved, and each half selects on its own. Five times is few, to save time: fifty
# is the default. For the same reason halves choose among the genes that vary most, and try no
# pairs (``lookahead=1``). The variance does not look at the kinds, so the tests still hold. Of a
# module any gene may come: so modules are counted, beside genes. Orange is what tells nothing.

variable = X.var().nlargest(4000).index
again = stability(MISelector(lookahead=1), X[variable], y, n_resamples=5, random_state=0)
halves = [[variable[j] for j in half] for half in again.chosen]


def shown(name):
    """A gene by its module, or by its name if it has none."""
    return f"module {home[name]}" if home[name] >= 0 else name


genes = pd.Series([name for half in halves for name in half]).value_counts()
units = pd.Series(
    [unit for half in halves for unit in sorted(set(map(shown, half)))]
).value_counts()
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharex=True)
for ax, values in (left, genes), (right, units):
    good = [acts.get(name, name in ("module 0", "module 1")) for name in values.index]
    ax.barh(values.index, values, color=np.where(good, plots.FOUND, plots.REFUSED))
    ax.set(xlabel=f"chosen from so many of {len(halves)} halves", xlim=(0, len(halves)))
    ax.invert_yaxis()
left.set_title("genes")
right.set_title("modules, and genes without one")

# %%
# Something of module 0 is chosen from every half, mostly the same gene. The switch is chosen
# twice, and module 1 not at all. That does not make them false: they need more samples than a half
# has. What is chosen only now and then wants a second look, in other samples.
#
# The batch
# ---------
# Samples were assigned to batches at random, so the batch tells nothing about the kind. Otherwise
# every gene that the batch shifts would seem to. ``given`` asks what a gene tells beside the batch.
# (These p-values are about the batch only: the same samples have chosen the genes.)

beside = X[chosen].assign(batch=pd.Categorical(batch[:n_study]))
for name in chosen:
    print(name, permutation_test(beside, y, name, given="batch", random_state=0).p_value)

# %%
# New samples
# -----------
# The last word is that of samples which nobody has looked at. Support vectors, with the genes that
# were selected; with a stand-in where there is one; without the last, which adds least; with all
# relevant ones. And a ridge, which can take all genes.

first = stand_ins.drop_duplicates("feature").set_index("feature")["stand_in"]
vectors, ridge = SVC(), RidgeClassifierCV(np.logspace(2, 6, 9))
panels = {
    "selected": (vectors, chosen),
    "a stand-in where there is one": (vectors, [first.get(name, name) for name in chosen]),
    "without the last": (vectors, chosen[:-1]),
    "all that are relevant": (vectors, list(X.columns[test.relevant])),
    "all genes, by a ridge": (ridge, list(X.columns)),
}
accuracy = {}
for words, (model, panel) in panels.items():
    model = make_pipeline(StandardScaler(), model).fit(X[panel], y)
    right = model.score(table.loc[n_study:, panel], kinds[n_study:])
    accuracy[words] = {"genes": len(panel), "right (%)": round(100 * right)}
most = kinds[n_study:].value_counts(normalize=True).max()
print(f"the most frequent kind, always: {100 * most:.0f} %")
pd.DataFrame(accuracy).T

# %%
# What to decide
# --------------
# - **For a pathway analysis, take all relevant genes.** They are what differs, whether it repeats
#   itself or not. A few of them are false.
# - **For a panel, take a gene of module 0, and the switch.** For the first you have eight to choose
#   from: take the one with the best assay. The switch has no replacement: its assay has to be good.
# - **Put the third gene on trial.** It adds least, no half of the samples chose it, and new samples
#   are predicted no better with it.
# - **Do not predict from all genes.** Two genes did better on new samples than a model of all.
# - **Do not trust means alone.** They would have lost the switch.
#
# More: :doc:`what the tests of every gene find </relevant>`, :doc:`stand-ins </alternatives>`,
# :doc:`stability, and what it promises </stability>`, :doc:`limits </limits>`.

# sphinx_gallery_thumbnail_number = 1

# %%

plt.show()
