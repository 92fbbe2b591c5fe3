"""
For spectroscopists: from a spectrum to a few wavelengths
=========================================================

Near infrared spectra of meat, 100 channels each, and the fat content from the laboratory. Which
places of the spectrum tell the fat? Would an instrument with a few wavelengths do? The data are
real: Tecator's, which come with infosieve. At the end there is a list of wavelengths, with an error
to set against that of partial least squares on all channels.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, GroupShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from infosieve import CurveFeatures, FeatureClustering, MISelector, plots
from infosieve.datasets import load_tecator

meat = load_tecator(as_frame=True)
X, fat, axis = meat.data, meat.target, meat.axis
print(f"{len(X)} spectra of {X.shape[1]} channels, {axis[0]:.0f} to {axis[-1]:.0f} nm")

# %%
# First of all: samples that are the same
# ---------------------------------------
# Some spectra occur twice, with the same fat. If one of the two trains a model and the other one
# tests it, the model looks better than it is. So each pair gets one number, and whatever has that
# number stays on one side, here and in all that follows.

_, sample = np.unique(X.to_numpy(), axis=0, return_inverse=True)
sample = sample.ravel()
print("spectra that occur twice:", int((np.bincount(sample) == 2).sum()))

split = GroupShuffleSplit(1, test_size=1 / 3, random_state=0)
train, test = next(split.split(X, fat, sample))
print(len(train), "spectra to learn from,", len(test), "to judge by")

# %%
# The spectra, coloured by fat. They differ most in their level, which depends on how the light
# scatters, and less in their shape. What tells the fat is hard to see.

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
scale = plt.Normalize(fat.min(), fat.max())
for row in train:
    ax.plot(axis, X.iloc[row], color=plt.cm.viridis(scale(fat[row])), lw=0.6)
figure.colorbar(plt.cm.ScalarMappable(scale, "viridis"), ax=ax, label="fat (%)")
ax.set(xlabel="wavelength (nm)", ylabel="absorbance", xlim=(axis[0], axis[-1]))

# %%
# Heights
# -------
# The plain question first: which channels? Only the training spectra are asked. ``groups`` says
# which rows are one sample, so that a repeated spectrum does not count as evidence.

heights = MISelector(random_state=0).fit(X.iloc[train], fat.iloc[train], groups=sample[train])
heights.path_[["action", "feature", "gain", "p_value", "level"]].round(3)

# %%
# Five channels pass, far apart but for two that lie close together: what tells the fat are
# differences between heights, and each of them takes several channels.
#
# Shapes
# ------
# So let the candidates be slopes, curvatures, areas and more, computed at many places. The target
# is not used for that, so all spectra may be transformed at once. Each feature is named by its
# place.

curves = CurveFeatures(axis, unit="nm").set_output(transform="pandas")
features = curves.fit_transform(X)
print(features.shape[1], "features")

selector = MISelector(random_state=0)
selector.fit(features.iloc[train], fat.iloc[train], groups=sample[train])
selector.path_[["action", "feature", "gain", "p_value", "level"]].round(3)

# %%
# The first curvature alone has far more information than the best height. Each dot is the evidence
# for a feature given those above it; the grey boxes are that of the best of all permuted features.

plots.PathDisplay.from_result(selector.result_).plot()

# %%
# Where on the spectrum? The shaded stretches are what the features are computed from.

about = curves.describe().set_index("feature", drop=False)
chosen = about.loc[selector.result_.to_frame().query("action == 'add'")["feature"]]
display = plots.CurvesDisplay.from_features(
    X.iloc[train], chosen, axis=axis, xlabel="wavelength (nm)"
).plot()
display.ax_.set_ylabel("absorbance")

# %%
# What could stand in?
# --------------------
# Neighbouring places say nearly the same, and which of them was taken is up to chance. Before an
# instrument is built it is good to know how far each place may be moved. ``alternatives``
# lists the features that are informative in the place of a selected one, and leave it little to
# add. It asks about the samples that were selected from.

stand_ins = selector.alternatives(features.iloc[train], fat.iloc[train], sample[train])
stand_ins.groupby("feature", sort=False)["stand_in"].agg(", ".join).to_frame()

# %%
# Each selected feature at its wavelength, with all that could stand in for it.


def place(name):
    """The wavelength in the middle of what a feature is computed from."""
    return about.loc[name, ["from", "to"]].mean()


figure, ax = plt.subplots(figsize=(8, 2.6), layout="constrained")
for row, name in enumerate(chosen["feature"]):
    others = stand_ins.loc[stand_ins["feature"] == name, "stand_in"]
    for kind, marker in {"curvature": "o", "slope": "^"}.items():
        at = [place(other) for other in others if other.startswith(kind)]
        ax.plot(at, [row] * len(at), marker, ms=7, color=plots.CHANCE)
    ax.plot(place(name), row, "s", ms=10, color=plots.FOUND)
for marker, color, words in [
    ("s", plots.FOUND, "selected"),
    ("o", plots.CHANCE, "a curvature could stand in"),
    ("^", plots.CHANCE, "a slope could"),
]:
    ax.plot([], [], marker, color=color, label=words)
ax.set_yticks(range(len(chosen)), chosen["feature"])
ax.set(xlabel="wavelength (nm)", ylim=(len(chosen) - 0.5, -0.5))
ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))

# %%
# Which channels go together?
# ---------------------------
# Another way to fewer columns: join the channels that are wrong about the same samples.
# ``connectivity="chain"`` joins neighbours only, so that a cluster is a band of the spectrum.

clusters = FeatureClustering(8, connectivity="chain").fit(X.iloc[train], fat.iloc[train])
display = plots.CurvesDisplay.from_clusters(
    X.iloc[train], clusters.result_, axis=axis, xlabel="wavelength (nm)"
).plot()
display.ax_.set_ylabel("absorbance")
display.ax_.set_title("cluster: channels")

# %%
# In a band one height is wrong about the same samples as the next. The selected curvatures are
# differences of heights inside such a band, or across its edge. A mean over the band keeps the
# height and loses the difference. How much that costs is seen below.
#
# Eleven wavelengths
# ------------------
# A curvature needs three heights only: those at both ends, less twice the one in the middle. A
# slope needs two. So the selected features can be had from single wavelengths, without a
# spectrometer. The ends are those of the stretches above.


def by_few_wavelengths(names):
    """Curvatures from three channels and slopes from two; and which channels these are."""
    columns, used = {}, set()
    for name in names:
        start, end = (int(np.abs(axis - at).argmin()) for at in about.loc[name, ["from", "to"]])
        columns[name] = X.iloc[:, end] - X.iloc[:, start]
        if name.startswith("curvature"):
            middle = (start + end) // 2
            columns[name] = X.iloc[:, end] + X.iloc[:, start] - 2 * X.iloc[:, middle]
            used.add(middle)
        used |= {start, end}
    return pd.DataFrame(columns), sorted(used)


simple, channels = by_few_wavelengths(chosen["feature"])
print(len(channels), "wavelengths (nm):", ", ".join(f"{axis[j]:.0f}" for j in channels))

# %%
# How well does it predict?
# -------------------------
# All models learn from the same spectra, choose their settings by the same folds, and are judged by
# the same test spectra. Errors are in percent of fat (root of the mean square).


def error(model, grid, table, train, test):
    """The error on the test spectra, settings chosen by cross-validation on the others."""
    folds = list(GroupKFold(5).split(train, groups=sample[train]))
    search = GridSearchCV(model, grid, cv=folds, scoring="neg_mean_squared_error")
    search.fit(table.iloc[train], fat.iloc[train])
    wrong = search.predict(table.iloc[test]).ravel() - fat.iloc[test]
    return np.sqrt(np.mean(wrong**2))


pls = PLSRegression(scale=False), {"n_components": range(2, 21, 2)}
few_pls = PLSRegression(scale=False), {"n_components": range(1, 9)}
kernel = make_pipeline(StandardScaler(), SVR())
kernel = kernel, {"svr__C": [100, 1000], "svr__gamma": [0.01, 0.1, 1]}
bands = pd.DataFrame(clusters.transform(X))
models = {
    "PLS, all channels": (pls, X),
    "PLS, means of the bands": (few_pls, bands),
    "support vectors, all channels": (kernel, X),
    "support vectors, selected heights": (kernel, X[heights.get_feature_names_out()]),
    "support vectors, selected features": (kernel, features[chosen["feature"]]),
    "support vectors, few wavelengths": (kernel, simple),
    "a linear model, few wavelengths": ((LinearRegression(), {}), simple),
}
errors = pd.Series(
    {name: error(*how, table, train, test) for name, (how, table) in models.items()},
    name="error (% fat)",
)
errors.round(2).to_frame()

# %%
# One split is one split: with some 70 test spectra, a few of them decide. So all of it is done
# again on three others, from the selection to the wavelengths.

rows = {0: (errors["PLS, all channels"], errors["support vectors, few wavelengths"])}
taken = {0: channels}
for seed in range(1, 4):
    split = GroupShuffleSplit(1, test_size=1 / 3, random_state=seed)
    parts = next(split.split(X, fat, sample))
    again = MISelector(random_state=0)
    again.fit(features.iloc[parts[0]], fat.iloc[parts[0]], groups=sample[parts[0]])
    table, taken[seed] = by_few_wavelengths(again.get_feature_names_out())
    rows[seed] = error(*pls, X, *parts), error(*kernel, table, *parts)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3), layout="constrained", sharey=True)
for seed, (all_channels, few) in rows.items():
    left.plot([few, all_channels], [seed, seed], color="#c9d1d9", zorder=0)
    left.plot(all_channels, seed, "o", color=plots.CHANCE, label="PLS, all channels")
    left.plot(few, seed, "o", color=plots.FOUND, label="few wavelengths")
    right.plot(axis[taken[seed]], [seed] * len(taken[seed]), "|", ms=14, mew=2, color=plots.FOUND)
left.set(
    xlabel="error (% fat)", ylabel="split", xlim=(0, None), yticks=list(rows), ylim=(3.5, -0.5)
)
handles, labels = left.get_legend_handles_labels()
left.legend(
    handles[:2], labels[:2], frameon=False, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1)
)
right.set(xlabel="wavelengths that are measured (nm)", xlim=(axis[0], axis[-1]))

# %%
# What to decide
# --------------
# A few wavelengths, between about 895 and 965 nm, have less error than partial least squares on all
# channels in each of the four splits: less than half of it. So:
#
# - **An instrument with filters, or diodes**, is worth a trial at the wavelengths printed above.
#   The table of stand-ins says by how much each group of three may be moved together.
# - **If you keep the spectrometer**, resolve that range well. The rest of the spectrum, which most
#   channels are spent on, was not asked for in any split.
# - **The model counts, too.** The same support vectors do worse on all channels than partial least
#   squares, and worse still on heights: it is the choice of the features that makes them work.
#   A linear model does not make good use of few wavelengths. If only a linear calibration is
#   allowed, keep all channels.
# - **Bands do not replace channels** here. They show where the spectrum is redundant.
#
# :doc:`Thirty splits and other models </tecator>` say how much the errors vary, and
# :doc:`clusters, measured </clustering>` when bands are enough. Measure new samples before you
# order the instrument.

# sphinx_gallery_thumbnail_number = 3

# %%

plt.show()
