"""
In a pipeline, and in a grid search
===================================

``MISelector`` is a scikit-learn selector. It goes before a model, in a pipeline, and its settings
can be searched like any others. Here: how many columns should the model get?
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from infosieve import MISelector, plots
from infosieve.datasets import make_friedman

friedman = make_friedman(n_samples=200, n_features=20, random_state=0, as_frame=True)
X, y = friedman.data, friedman.target
folds = KFold(5, shuffle=True, random_state=0)

# %%
# Search
# ------
# ``stop=None`` selects as many columns as it is told, without tests. Cross-validation then
# chooses the number. The selection happens anew in each fold, on its training samples only.

model = make_pipeline(MISelector(stop=None), StandardScaler(), SVR(C=30))
grid = {"miselector__max_features": list(range(1, 13))}
search = GridSearchCV(model, grid, cv=folds, scoring="r2").fit(X, y)
best = search.best_estimator_
print("chosen by cross-validation:", ", ".join(best[0].get_feature_names_out()))

# %%
# Or ask the tests
# ----------------
# The default needs no model and no grid. It stops where the best column left adds no more than
# chance.

tested = MISelector(random_state=0).fit(X, y)
print("chosen by tests:", ", ".join(tested.get_feature_names_out()))
print("in the formula:", ", ".join(X.columns[friedman.relevant]))

# %%
# Too few columns, and the model lacks something. Too many, and noise disturbs it.

results = search.cv_results_
numbers = np.array(grid["miselector__max_features"])
means, spread = results["mean_test_score"], results["std_test_score"]
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.fill_between(numbers, means - spread, means + spread, color=plots.FOUND, alpha=0.15, lw=0)
ax.plot(numbers, means, "o-", color=plots.FOUND, label="cross-validated")
ax.axvline(len(tested.selected_), color=plots.CHANCE, ls="--", label="where the tests stop")
ax.set(xlabel="columns selected", ylabel="r2 on the fold left out (mean, standard deviation)")
ax.set_xticks(numbers)
ax.legend(frameon=False)

# %%
# Why the selection belongs into the pipeline
# -------------------------------------------
# A target that has nothing to do with 200 columns of noise. Whoever selects on all samples first,
# and cross-validates only the model, finds something all the same. In the pipeline the score is
# below zero: worse than the mean of the target, as it should be.

rng = np.random.default_rng(0)
noise, nothing = rng.normal(size=(60, 200)), rng.normal(size=60)
selector = MISelector(stop=None, max_features=3)
first = selector.fit_transform(noise, nothing)
scores = {
    "selected first": cross_val_score(
        make_pipeline(StandardScaler(), SVR()), first, nothing, cv=folds
    ),
    "in the pipeline": cross_val_score(
        make_pipeline(selector, StandardScaler(), SVR()), noise, nothing, cv=folds
    ),
}
for name, values in scores.items():
    print(f"{name}: mean r2 {values.mean():.2f}")

# %%
# The tests find nothing, either. That is a normal outcome: a warning names the best candidate
# and its p-value.

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    empty = MISelector(random_state=0, lookahead=1).fit(noise, nothing)
print(len(empty.selected_), "columns selected.", caught[-1].message)

# %%

plt.show()
