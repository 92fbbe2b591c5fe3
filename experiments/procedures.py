"""What is compared: settings of MISelector, and others. Each maps (X, y, seed) to columns."""

import time
from contextlib import redirect_stdout
from io import StringIO

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import (
    RFECV,
    SequentialFeatureSelector,
    mutual_info_classif,
    mutual_info_regression,
)
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
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
# All but the default, and those whose name says so, test by estimates (statistic="ksg").
SETTINGS = {
    "default": {"statistic": "auto"},
    "estimates only": {},
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
    "stop cv": {"stop": "cv"},
}


def ours(setting, further=0):
    def select(X, y, seed):
        how = {"statistic": "ksg", **setting, "random_state": seed + further}
        return MISelector(**how).fit(X, y).selected_

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


def coded(select):
    """For those that know no text: its codes."""

    def select_from_codes(X, y, seed):
        return select(codes(X) if isinstance(X, pd.DataFrame) else X, y, seed)

    return select_from_codes


OTHERS = {
    "kNN wrapper": wrapper,
    "Boruta": boruta,
    "RFECV": recursive,
    "univariate MI": univariate,
    "mRMR": minimal_redundancy,
}
PROCEDURES = {name: ours(setting) for name, setting in SETTINGS.items()}
PROCEDURES["today, other permutations"] = ours(TODAY, 1_000_000)
PROCEDURES |= {name: coded(select) for name, select in OTHERS.items()}


# ---- rankings: each maps a table (see quality_curves.py) and a seed to at most MOST columns

MOST = 50


def is_text(column):
    return not pd.api.types.is_numeric_dtype(column)


def codes_with_gaps(X):
    """Numbers, and codes of text."""
    text = [name for name in X if is_text(X[name])]
    return X.assign(**{n: pd.factorize(X[n], sort=True)[0] for n in text}).to_numpy(float)


def codes(X):
    """What selectors see that know neither text nor gaps: codes and medians."""
    numbers = codes_with_gaps(X)
    return np.where(np.isnan(numbers), np.nanmedian(numbers, axis=0), numbers)


def as_numbers(table):
    """The target, classes as codes."""
    return pd.factorize(table.y, sort=True)[0] if table.classes else table.y


def groups_of(table):
    return table.groups if table.grouped else None


def ranked_by(**how):
    """Ours, which sees the table as it is: text as categories, gaps."""

    def rank(table, seed):
        most = min(MOST, table.X.shape[1])
        search = MISelector(stop=None, max_features=most, lookahead=1, random_state=seed, **how)
        return search.fit(table.X, table.y, groups=groups_of(table)).selected_

    return rank


FIRST_PAIRS = "cmi, pairs among the first"


def first_pairs(table, inner, seed):
    """The rankings of ``stop="cv"`` by "cmi": of all samples, and without each inner fold."""
    nobody = DummyClassifier() if table.classes else DummyRegressor()
    search = MISelector(stop="cv", criterion="cmi", model=nobody, cv=inner, random_state=seed)
    found = search.fit(table.X, table.y, groups=groups_of(table)).result_.cv_scores
    return list(found.order), [list(order) for order in found.fold_orders]


def n_different(table):
    """How many columns vary and are no copies of others: no more can be asked for."""
    most = min(MOST, table.X.shape[1])
    first = MISelector(stop=None, max_features=most, lookahead=1, criterion="mi")
    return len(first.fit(table.X, table.y).selected_)


def with_pairs(table, seed):
    """Ours, which also takes pairs that are only jointly informative."""
    search = MISelector(n_features_to_select=min(MOST, n_different(table)), random_state=seed)
    return search.fit(table.X, table.y, groups=groups_of(table)).selected_


def by_relevance(table, seed):
    """Ours, the information of each column alone."""
    search = MISelector(stop=None, max_features=1, lookahead=1, random_state=seed)
    values = search.fit(table.X, table.y, groups=groups_of(table)).relevance_
    return np.argsort(-np.nan_to_num(values), kind="stable")[:MOST]


def mean_ranks(orders, m):
    """The columns by their mean rank in several orders; those left out come after the others."""
    ranks = np.full((len(orders), m), max(map(len, orders)))
    for row, order in zip(ranks, orders, strict=True):
        row[order] = np.arange(len(order))
    return np.argsort(ranks.mean(axis=0), kind="stable")[: len(orders[0])]


def merged(table, seed):
    """Ours, the mean of the ranks by three criteria."""
    orders = [ranked_by(criterion=name)(table, seed) for name in ("cmi", "mi", "cmim")]
    return mean_ranks(orders, table.X.shape[1])


def importance(table, seed):
    """Mean decrease of impurity in 200 extremely randomised trees."""
    kind = ExtraTreesClassifier if table.classes else ExtraTreesRegressor
    trees = kind(200, n_jobs=1, random_state=seed).fit(codes(table.X), table.y)
    return np.argsort(-trees.feature_importances_, kind="stable")[:MOST]


def by_information(table, seed):
    information = mutual_info_classif if table.classes else mutual_info_regression
    values = information(codes(table.X), table.y, random_state=seed)
    return np.argsort(-values, kind="stable")[:MOST]


def by_mrmr(table, seed):
    from mrmr import mrmr_classif, mrmr_regression

    rank = mrmr_classif if table.classes else mrmr_regression
    how = {"K": min(MOST, table.X.shape[1]), "show_progress": False, "n_jobs": 1}
    return np.array(rank(pd.DataFrame(codes(table.X)), pd.Series(table.y), **how), int)


def by_hsic_lasso(table, seed):
    """The order in which HSIC Lasso (package pyHSICLasso, block version) takes columns."""
    from pyHSICLasso import HSICLasso

    y = as_numbers(table)
    np.linalg.linalg = np.linalg  # the package names it as NumPy 1 did
    search = HSICLasso()
    np.random.seed(seed)  # noqa: NPY002 (it permutes the samples with that)
    with redirect_stdout(StringIO()):
        search.input(codes(table.X), y)
        fit = search.classification if table.classes else search.regression
        # asked for all columns it fails, where the path takes them all
        fit(min(MOST, table.X.shape[1] - 1), n_jobs=1, max_neighbors=1)
    return np.array(search.get_index(), int)


RANKINGS = {
    "all columns": lambda table, seed: np.arange(table.X.shape[1]),
    "cmi": ranked_by(criterion="cmi"),
    "mi": ranked_by(criterion="mi"),
    "cmim": ranked_by(criterion="cmim"),
    "jmi": ranked_by(criterion="jmi"),
    "cmi with pairs": with_pairs,
    FIRST_PAIRS: None,  # makes those of the inner folds, too: see quality_curves.py
    "relevance": by_relevance,
    "cmi, mi and cmim merged": merged,
    "forest importance": importance,
    "univariate MI": by_information,
    "mRMR": by_mrmr,
    "HSIC Lasso": by_hsic_lasso,
}

# ---- selectors that choose the number themselves: from a table, inner folds and a seed

ONE_BY_ONE = 20  # the most columns where a procedure goes one by one


def near_others(Z, rng):
    """The nearest other sample of each; ties at random (at a distance: of the nearest two)."""
    _, group = np.unique(Z, axis=0, return_inverse=True)
    near = NearestNeighbors(n_neighbors=2).fit(Z)
    distances, two = near.kneighbors()
    tied = (distances[:, 0] == distances[:, 1]) & (rng.random(len(Z)) < 0.5)
    found = np.where(tied, two[:, 1], two[:, 0])
    order = np.lexsort((rng.random(len(Z)), group))
    starts = np.flatnonzero(np.r_[True, np.diff(group[order]) > 0])
    for members in np.split(order, starts[1:]):
        if len(members) > 1:  # equal samples: each the next one in a random circle
            found[members] = np.roll(members, 1)
    return found


def foci(table, inner, seed):
    """FOCI of Azadkia and Chatterjee (2021), classes as codes: until dependence falls."""
    rng = np.random.default_rng(seed)
    X = StandardScaler().fit_transform(codes(table.X))
    y = as_numbers(table)
    rank = rankdata(y, "max")
    above = len(y) + 1 - rankdata(y, "min")
    selected, most = [], 0.0
    while len(selected) < min(ONE_BY_ONE, X.shape[1]):
        left = [j for j in range(X.shape[1]) if j not in selected]
        values = [
            np.sum(
                np.minimum(rank, rank[near_others(X[:, [*selected, j]], rng)]) - above**2 / len(y)
            )
            for j in left
        ]
        if max(values) <= most:
            break
        most = max(values)
        selected.append(left[int(np.argmax(values))])
    return np.array(selected, int)


def integrated_paths(table, inner, seed):
    """IPSS (package ipss) by gradient boosting, at a false discovery rate of 0.1."""
    from ipss import ipss

    y = as_numbers(table)
    np.random.seed(seed)  # noqa: NPY002 (it draws subsamples with that)
    found = ipss(codes(table.X), y, target_fdr=0.1, n_jobs=1)
    return np.array(sorted(found["selected_features"]), int)


def recursive_on(table, inner, seed):
    how = RFECV(forest(table.y, seed), step=0.1, cv=inner)
    return np.flatnonzero(how.fit(codes(table.X), table.y).support_)


def boruta_on(table, inner, seed):
    return boruta(codes(table.X), table.y, seed)


class NotEndedError(Exception):
    """A selection would take longer than it may."""


def sequential(table, inner, model, limit):
    """Forward selection with the model that is used afterwards, as scikit-learn's with tol=0.001.

    At most ONE_BY_ONE columns, which scikit-learn's does not offer beside ``tol``. Gives up where
    the first ten candidates show that so many steps would take more than ``limit`` seconds.
    """
    X, y = codes(table.X), table.y
    m, model = X.shape[1], make_pipeline(StandardScaler(), model)
    steps = min(ONE_BY_ONE, m)
    selected, best, start = [], -np.inf, time.process_time()
    while len(selected) < steps:
        scores = np.full(m, -np.inf)
        for j in set(range(m)) - set(selected):
            scores[j] = cross_val_score(model, X[:, [*selected, j]], y, cv=inner).mean()
            if not selected and j == min(9, m - 1):
                spent = time.process_time() - start
                if spent / (j + 1) * m * steps > limit:
                    raise NotEndedError
        if scores.max() - best < 1e-3:
            break
        best = scores.max()
        selected.append(int(np.argmax(scores)))
    return np.array(selected, int)


SELECTORS = {
    "FOCI": foci,
    "IPSS": integrated_paths,
    "RFECV": recursive_on,
    "Boruta": boruta_on,
}
