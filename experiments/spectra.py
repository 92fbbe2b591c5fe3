"""What experiments share: spectra, splits, errors, intervals; seeds, kept results, pages."""

import argparse
import json
from pathlib import Path

import numpy as np
from scipy.signal import savgol_filter
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import KFold

from infosieve.clustering._pls import Path as Components
from infosieve.clustering._pls import exponents
from infosieve.datasets import load_spectra, load_tecator

HERE = Path(__file__).parent
WINE_OUTLIERS = [33, 34, 83]
N_SHUFFLES = 5  # of the folds that choose the components; errors are averaged over them


def load(name, folder=None):
    """X, y, and the rows of the published training set."""
    if name == "Tecator":
        X, y = load_tecator(return_X_y=True)
        return X, y, np.arange(150)
    wine = load_spectra(folder / "wine.csv")
    keep = np.setdiff1d(np.arange(len(wine.target)), WINE_OUTLIERS)
    train = np.flatnonzero(wine.text["split"].to_numpy()[keep] == "train")
    return wine.data[keep], wine.target[keep], train


def splits(X, train, n_random, seed):
    """(train, test) of the published split, then random ones of the same size.

    Spectra that are identical stay on the same side of the random ones.
    """
    everyone = np.arange(len(X))
    yield train, np.setdiff1d(everyone, train)
    _, group = np.unique(X, axis=0, return_inverse=True)
    rng = np.random.default_rng(seed)
    for _ in range(n_random):
        order = rng.permutation(group.max() + 1)
        sizes = np.cumsum(np.bincount(group)[order])
        chosen = np.isin(group, order[sizes <= len(train)])
        yield everyone[chosen], everyone[~chosen]


def snv(X):
    """Standard normal variate: each spectrum centred and divided by its standard deviation."""
    return (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)


def second_derivative(X):
    return savgol_filter(X, 9, 2, deriv=2)


class PLSRegressionCV(RegressorMixin, BaseEstimator):
    """PLSRegression with the number of components of the least error in 4-fold cross-validation.

    Parameters
    ----------
    max_components : int, default=20
        The most components that are tried.
    random_state : int, RandomState or None, default=None
        Shuffles the samples before they are cut into folds.
    """

    def __init__(self, max_components=20, random_state=None):
        self.max_components = max_components
        self.random_state = random_state

    def fit(self, X, y):
        """Choose the number of components, then fit to all samples."""
        y = np.asarray(y, np.float64)
        self._sizes = exponents(np.asarray(X, np.float64)), exponents(y.reshape(len(y), -1))
        X = np.ldexp(np.asarray(X, np.float64), -self._sizes[0])
        y2 = np.ldexp(y.reshape(len(y), -1), -self._sizes[1])
        n, m = X.shape
        n_folds = min(4, n)
        most = max(1, min(self.max_components, m, n - -(-n // n_folds) - 1))
        errors = np.zeros(most)
        if most > 1:
            folds = KFold(n_folds, shuffle=True, random_state=self.random_state)
            for train, test in folds.split(X):
                path = Components(X[train], y2[train], most).predict(X[test])
                errors += ((path - y2[test]) ** 2).sum(axis=(1, 2))
        self.cv_errors_ = errors / n
        self.n_components_ = int(np.argmin(errors)) + 1
        self._path = Components(X, y2, self.n_components_)
        self._flat = y.ndim == 1
        return self

    def predict(self, X):
        """Predictions, in the shape of the target."""
        X = np.ldexp(np.asarray(X, np.float64), -self._sizes[0])
        predicted = np.ldexp(self._path.predict(X)[-1], self._sizes[1])
        return np.asarray(predicted[:, 0] if self._flat else predicted)


def errors(predictions, y, test):
    """Test MSE over the variance of y in the test set, and over that of all samples."""
    mse = np.mean([np.mean((p - y[test]) ** 2) for p in predictions])
    return mse / y[test].var(), mse / y.var()


def pls_errors(X, y, train, test):
    """Errors of partial least squares, averaged over shuffles of the folds."""
    models = [PLSRegressionCV(random_state=s).fit(X[train], y[train]) for s in range(N_SHUFFLES)]
    return errors([model.predict(X[test]) for model in models], y, test)


def interval(values, seed=0, statistic=np.median):
    """The median and a 95 % bootstrap interval."""
    values = np.asarray(values, float)
    rng = np.random.default_rng(seed)
    resampled = statistic(values[rng.integers(0, len(values), (5000, len(values)))], axis=1)
    return statistic(values), *np.quantile(resampled, [0.025, 0.975])


def shown(values, digits=4):
    """ "0.0412 (0.038 to 0.046)"."""
    middle, low, high = interval(values)
    return f"{middle:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


# ---- seeds

# Data sets and runs are numbered, and random numbers come from their number. Those of seed s are
# numbered from s million on; seed 0 are those that were kept before there was a choice.
APART = 1_000_000


def seed_number(text):
    """What --seed takes: random_state ends at 2**32."""
    if not text.isdecimal() or int(text) > 4000:
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 to 4000, got {text!r}")
    return int(text)


def called(name, seed, usual=0):
    """The name of kept results. Another seed than the usual has a file of its own: none mix."""
    return name if seed == usual else f"{name}-seed{seed}"


def told(seed, usual=0):
    """For a page: which seed, if not the usual one."""
    return "" if seed == usual else f" (seed {seed})"


# ---- kept results and pages


def keep(name, results):
    """Write the raw results, atomically: a line for each row."""
    file = HERE / "results" / f"{name}.json"
    fresh = file.with_suffix(".new")
    if isinstance(results, dict):
        lines = ",\n".join(f"{json.dumps(key)}: {_rows(v)}" for key, v in results.items())
        fresh.write_text(f"{{\n{lines}\n}}\n")
    else:
        fresh.write_text(_rows(results) + "\n")
    fresh.replace(file)


def _rows(value):
    if not isinstance(value, list):
        return json.dumps(value)
    return "[\n" + ",\n".join(map(json.dumps, value)) + "\n]"


def kept(name):
    return json.loads((HERE / "results" / f"{name}.json").read_text())


def write_between(page, script, text):
    """Put ``text`` between the marks that ``script`` has in a page."""
    start, end = f"<!-- written by {script} -->", f"<!-- end of {script} -->"
    before, rest = page.read_text().split(start)
    page.write_text(f"{before}{start}\n{text}{end}{rest.split(end)[1]}")


def table(head, rows, left=1):
    """Markdown; all columns but the first ``left`` are numbers."""
    lines = [head, ["---"] * left + ["---:"] * (len(head) - left), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
