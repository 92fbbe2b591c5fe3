"""What is compared: settings of MISelector, and others. Each maps (X, y, seed) to columns."""

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import SequentialFeatureSelector
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
SETTINGS = {
    "default": {},
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


def ours(setting):
    def select(X, y, seed):
        return MISelector(**setting, random_state=seed).fit(X, y).selected_

    return select


def wrapper(X, y, seed):
    """Forward selection by cross-validated nearest neighbours."""
    classes = y.dtype.kind not in "fiu"
    model = KNeighborsClassifier(6) if classes else KNeighborsRegressor(6)
    selector = SequentialFeatureSelector(
        make_pipeline(StandardScaler(), model),
        n_features_to_select="auto",
        tol=1e-3,
        cv=5,
        scoring=None if classes else "r2",
    )
    return np.flatnonzero(selector.fit(X, y).get_support())


def boruta(X, y, seed):
    from boruta import BorutaPy

    kind = RandomForestRegressor if y.dtype.kind in "fiu" else RandomForestClassifier
    forest = kind(max_depth=5, n_jobs=1, random_state=seed)
    found = BorutaPy(forest, n_estimators="auto", random_state=seed).fit(X, y)
    return np.flatnonzero(found.support_)


PROCEDURES = {name: ours(setting) for name, setting in SETTINGS.items()}
PROCEDURES |= {"kNN wrapper": wrapper, "Boruta": boruta}
