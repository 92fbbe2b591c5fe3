"""What is compared: settings of MISelector, and others. Each maps (X, y, seed) to columns."""

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import (
    RFECV,
    SequentialFeatureSelector,
    mutual_info_classif,
    mutual_info_regression,
)
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from infosieve import MISelector

CHAPTER = {
    "n_neighbors": "auto",
    "criterion": "mi",
    "stop": "permutation",
    "null": "global",
    "correction": None,
    "lookahead": 1,
}
# What the default was before candidates were screened and tests ended early.
TODAY = {"screen": None, "n_permutations": 199}
SETTINGS = {
    "default": {},
    "today": TODAY,
    "fixed number": {"n_permutations": 199},
    "all candidates": {"screen": None},
    "each test at alpha": {"stop": "permutation"},
    "each test at alpha = 0.1": {"stop": "permutation", "alpha": 0.1},
    "no correction": {"stop": "permutation", "correction": None, "lookahead": 1},
    "criterion mi": {"criterion": "mi"},
    "criterion mi, no correction": {
        "criterion": "mi",
        "stop": "permutation",
        "correction": None,
        "n_neighbors": (3, 10),
        "lookahead": 1,
    },
    "K 3 to 10": {"n_neighbors": (3, 10)},
    "K 3 to 20": {"n_neighbors": (3, 20)},
    "maximum norm": {"metric": "chebyshev"},
    "normal scores": {"scale": "normal-scores"},
    "forward-backward": {"search": "forward-backward"},
    "no pairs (lookahead 1)": {"lookahead": 1},
    "no pairs, each test at alpha": {"lookahead": 1, "stop": "permutation"},
    "no pairs, each test at alpha, K auto": {
        "lookahead": 1,
        "stop": "permutation",
        "n_neighbors": "auto",
    },
    "the chapter's": CHAPTER,
    "the chapter's, K 3 to 10": CHAPTER | {"n_neighbors": (3, 10)},
    "the chapter's, cross-validated": CHAPTER | {"resample": "cv"},
    "classical stop": CHAPTER | {"stop": "max-mi"},
}


def ours(setting, further=0):
    def select(X, y, seed):
        return MISelector(**setting, random_state=seed + further).fit(X, y).selected_

    return select


def classes(y):
    return y.dtype.kind not in "fiu"


def nearest(y):
    model = KNeighborsClassifier(6) if classes(y) else KNeighborsRegressor(6)
    return make_pipeline(StandardScaler(), model)


def folds(y):
    """Five, in random order: tables are often sorted."""
    kind = StratifiedKFold if classes(y) else KFold
    return kind(5, shuffle=True, random_state=0)


def forest(y, seed, **how):
    kind = RandomForestClassifier if classes(y) else RandomForestRegressor
    return kind(n_jobs=1, random_state=seed, **how)


def wrapper(X, y, seed):
    """Forward selection by cross-validated nearest neighbours."""
    selector = SequentialFeatureSelector(
        nearest(y),
        n_features_to_select="auto",
        tol=1e-3,
        cv=5,
        scoring=None if classes(y) else "r2",
    )
    return np.flatnonzero(selector.fit(X, y).get_support())


def boruta(X, y, seed):
    from boruta import BorutaPy

    model = forest(y, seed, max_depth=5)
    found = BorutaPy(model, n_estimators="auto", random_state=seed).fit(X, y)
    return np.flatnonzero(found.support_)


def recursive(X, y, seed):
    """scikit-learn's recursive elimination, a tenth of the columns at a time, by a forest."""
    found = RFECV(forest(y, seed), step=0.1, cv=folds(y)).fit(X, y)
    return np.flatnonzero(found.support_)


def first_of(ranked, X, y, model):
    """As many of the first columns of a ranking as 5-fold cross-validation of a model wants.

    The ranking is made anew without each fold.
    """
    sizes = [k for k in (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100) if k <= X.shape[1]]
    scores = np.zeros(len(sizes))
    for learn, judge in folds(y).split(X, y):
        order = ranked(X[learn], y[learn])
        for i, k in enumerate(sizes):
            columns = order[:k]
            behind = model.fit(X[learn][:, columns], y[learn])
            scores[i] += behind.score(X[judge][:, columns], y[judge])
    return ranked(X, y)[: sizes[int(np.argmax(scores))]]


def univariate(X, y, seed, model=None):
    """The columns with most information each, by scikit-learn."""
    information = mutual_info_classif if classes(y) else mutual_info_regression

    def ranked(X, y):
        return np.argsort(-information(X, y, random_state=seed), kind="stable")

    return first_of(ranked, X, y, model or nearest(y))


def minimal_redundancy(X, y, seed, model=None):
    """The columns in the order of mRMR (package mrmr_selection)."""
    from mrmr import mrmr_classif, mrmr_regression

    rank = mrmr_classif if classes(y) else mrmr_regression

    def ranked(X, y):
        how = {"K": min(100, X.shape[1]), "show_progress": False, "n_jobs": 1}
        return np.array(rank(pd.DataFrame(X), pd.Series(y), **how), int)

    return first_of(ranked, X, y, model or nearest(y))


PROCEDURES = {name: ours(setting) for name, setting in SETTINGS.items()}
PROCEDURES |= {
    "today, other permutations": ours(TODAY, 1_000_000),
    "kNN wrapper": wrapper,
    "Boruta": boruta,
    "RFECV": recursive,
    "univariate MI": univariate,
    "mRMR": minimal_redundancy,
}
