"""
Spectra: features and clusters
==============================

Near infrared spectra of meat. How much fat is in it? Neighbouring channels of a spectrum are nearly
redundant, and what matters may be a slope or a bend rather than a height.
"""

import matplotlib.pyplot as plt

from infosieve import CurveFeatures, FeatureClustering, MISelector, plots
from infosieve.datasets import load_tecator

meat = load_tecator(as_frame=True)
X, fat = meat.data, meat.target
print(X.shape[0], "spectra of", X.shape[1], "channels")

# %%
# Compute features
# ----------------
# Heights, slopes, curvatures, means, areas and more, at many places. Each is named by where it
# comes from.

curves = CurveFeatures(meat.axis, unit="nm").set_output(transform="pandas")
features = curves.fit_transform(X)
print(features.shape[1], "features, such as", ", ".join(features.columns[[130, 230, 380]]))

# %%
# Select a few of them
# --------------------
# ``stop=None`` takes the best four without a test, which is quick. ``MISelector()`` would test
# each step and stop by itself.

selector = MISelector(stop=None, max_features=4, n_jobs=-1).fit(features, fat)
selector.path_[["feature", "mi", "gain"]].round(2)

# %%
# Where they lie: the selected features are computed from the shaded stretches of the axis.

about = curves.describe().set_index("feature", drop=False).loc[selector.get_feature_names_out()]
plots.CurvesDisplay.from_features(X, about, axis=meat.axis, xlabel="nm").plot()

# %%
# Fat against the first of them:

best = selector.get_feature_names_out()[0]
figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
ax.scatter(features[best], fat, s=14, color=plots.FOUND)
ax.set(xlabel=best, ylabel="fat (%)")

# %%
# Which channels are redundant?
# -----------------------------
# Two channels are alike if they are wrong about the same samples: in the channel alone, others are
# nearer to the sample than the one that is nearest in channel and target together. Those are its
# false neighbours. ``connectivity="chain"`` joins neighbouring channels only, so that clusters are
# pieces of the spectrum.

clusters = FeatureClustering(8, connectivity="chain").fit(X, fat)
plots.CurvesDisplay.from_clusters(X, clusters.result_, axis=meat.axis, xlabel="nm").plot()

# %%
# The whole tree. Where it is cut decides how many clusters there are.

plots.DendrogramDisplay.from_result(clusters.result_).plot()

# sphinx_gallery_thumbnail_number = 3

# %%

plt.show()
