"""One huge value must not hide what all others tell."""

import re

import numpy as np
import pandas as pd
import pytest

from infosieve import MISelector, mutual_information, relevance
from infosieve._executors.threads import Threads
from infosieve._input.duplicates import find_duplicates
from infosieve._input.scaling import prepare

OWNED = "ignore:.*so far from all others:UserWarning"


def duplicates(X, scale="standard"):
    values = np.ascontiguousarray(np.asarray(X, float).T)
    exponent = int(np.frexp(np.abs(values).max())[1])
    return find_duplicates(
        prepare(values, np.zeros(len(values), bool), scale, exponent, Threads(1))
    )


@pytest.mark.filterwarnings(OWNED)
@pytest.mark.parametrize("fill", [1e7, 1e12, 1e20, 9.97e36, -1e200])
def test_a_row_of_fill_values_makes_no_duplicates(fill, rng):
    X = rng.normal(size=(400, 5))
    y = (X[:, 3] > 0).astype(str)
    X[0] = fill
    selector = MISelector(random_state=0, n_permutations=99).fit(X, y)
    assert selector.duplicates_ == {}
    assert selector.result_.steps[0].features == (3,)


@pytest.mark.parametrize("scale", ["standard", None])
@pytest.mark.parametrize("fill", [0.0, 1e7, 1e20])
@pytest.mark.parametrize("kind", ["normal", "integers", "zeros", "rounded"])
def test_duplicates_are_found_beside_fill_values(kind, fill, scale, rng):
    x, z = rng.normal(size=(2, 400))
    if kind == "integers":
        x, z = np.round(3 * x), np.round(3 * z)
    if kind == "zeros":
        x, z = np.where(x > 1.3, np.exp(x), 0.0), np.where(x > 1.3, np.exp(z), 0.0)
    if kind == "rounded":
        x, z = np.round(x, 1), np.round(z, 1)
    X = np.column_stack([x, z, x, z + 1e-3 * rng.normal(size=400), -x])
    X[7] = fill * np.array([1, 1, 1, 1, -1])
    assert duplicates(X, scale) == {0: (2, 4)}
    X[:, 2] = 8 * X[:, 2]
    assert duplicates(X, scale) == ({0: (2, 4)} if scale else {0: (4,)})


def test_columns_that_differ_in_one_row_are_no_duplicates(rng):
    x = rng.normal(size=300)
    for place, change in ((5, 1e-4), (5, 10.0), (17, -1e9)):
        other = x.copy()
        other[place] += change
        assert duplicates(np.column_stack([x, other])) == {}


def test_many_columns_with_one_common_outlier(rng):
    """They nearly meet on any projection of whole columns, and would all be compared."""
    X = rng.normal(size=(60, 3000))
    X[0] = 1e9
    X[:, 2999] = X[:, 17]
    assert duplicates(X) == {17: (2999,)}


@pytest.mark.filterwarnings(OWNED)
@pytest.mark.parametrize("outlier", [1e3, 1e12, 1e30, 1e150])
def test_one_repeated_value_beside_a_huge_one(outlier, rng):
    x, e = rng.normal(size=(2, 500))
    z = x + 0.1 * e
    x[-1] = z[-1] = outlier
    reference = mutual_information(x, z)
    x[0] = x[1]
    assert mutual_information(x, z) == pytest.approx(reference, abs=0.02)


@pytest.mark.filterwarnings(OWNED)
@pytest.mark.parametrize("zeros", [0.0, 0.3])
def test_heavy_tails_with_ties_lose_nothing(zeros, rng):
    """Zero-inflated lognormal values: what noise of one size for all values destroyed."""
    x = rng.normal(size=600)
    a, b = np.exp(8 * x), np.exp(8 * (x + 0.2 * rng.normal(size=600)))
    flat = rng.uniform(size=600) < zeros
    a[flat], b[flat] = 0.0, 0.0
    apart = mutual_information(a, b, n_neighbors=5) if zeros == 0 else None
    a[1] = a[0]
    tied = mutual_information(a, b, n_neighbors=5)
    if apart is not None:
        assert tied == pytest.approx(apart, abs=0.03)
    # Ranks are the truth to compare with: the information does not depend on the scale.
    assert tied > 0.4 * mutual_information(a, b, n_neighbors=5, scale="normal-scores")


def test_tails_separated_like_the_bulk(rng):
    """Noise is small beside the gap to the next value, wherever that is."""
    x = np.round(np.exp(rng.normal(0, 8, 300)), 3)
    columns = prepare(x[None], np.zeros(1, bool), "standard", 0, Threads(1))
    levels, places = np.unique(x, return_inverse=True)
    by_level = pd.Series(columns.values[0]).groupby(places)
    low, high = by_level.min().to_numpy(), by_level.max().to_numpy()
    assert levels.size < 300
    assert (high[:-1] < low[1:]).all()
    middle = (low + high) / 2
    assert ((high - low)[:-1] < 3e-4 * np.diff(middle)).all()


def exact_information(columns_x, columns_y, k):
    """KSG1 in the Euclidean norm with distances in long double, after scaling in long double."""

    def scaled(column):
        wide = np.asarray(column, np.longdouble)
        return wide / np.sqrt(((wide - wide.mean()) ** 2).mean())

    from scipy.special import digamma

    def distances(columns):
        return np.sqrt(sum(np.subtract.outer(c, c) ** 2 for c in map(scaled, columns)))

    d_x, d_y = distances(columns_x), distances(columns_y)
    n = len(d_x)
    d = np.maximum(d_x, d_y)
    np.fill_diagonal(d, np.inf)
    radius = np.sort(d, axis=1)[:, k - 1 : k]
    counts = [(block < radius).sum(axis=1) for block in (d_x, d_y)]
    return digamma(k) + digamma(n) - digamma(counts[0]).mean() - digamma(counts[1]).mean()


@pytest.mark.filterwarnings(OWNED)
@pytest.mark.skipif(np.finfo(np.longdouble).maxexp < 16000, reason="no wide long double")
@pytest.mark.parametrize("outlier", [1e100, 1e170, 1e200])
def test_squares_do_not_vanish(outlier, rng):
    X = rng.normal(size=(120, 2))
    Y = X + 0.3 * rng.normal(size=(120, 2))
    X[-1] = Y[-1] = outlier
    want = exact_information(X.T, Y.T, 4)
    assert want > 0.8
    assert mutual_information(X, Y, n_neighbors=4) == pytest.approx(want, abs=1e-9)


@pytest.mark.parametrize("metric", ["euclidean", "chebyshev"])
@pytest.mark.parametrize("shift", [1, 1000, -77, 10**6, 2**40])
def test_evenly_spaced_numbers_may_be_shifted(shift, metric, rng):
    x = rng.permutation(200).astype(float)
    y = np.sin(x / 20) + 0.1 * rng.normal(size=200)
    X = np.column_stack([x, rng.permutation(200)])
    reference = mutual_information(X, y, metric=metric)
    assert mutual_information(X + shift, y, metric=metric) == reference
    assert mutual_information(x + shift, y, scale=None) == mutual_information(x, y, scale=None)


def test_a_value_that_owns_a_column_is_named(rng):
    X = pd.DataFrame(rng.normal(size=(50, 3)), columns=["a", "b", "c"])
    y = X["a"] + rng.normal(size=50)
    relevance(X, y)
    X.loc[17, "b"] = 9.97e36
    message = "column 'b' of X has the value 9.97e+36 in row 17, so far from all others"
    with pytest.warns(UserWarning, match=re.escape(message)) as caught:
        relevance(X, y)
    assert caught[0].filename == __file__
    relevance(X, y, scale="normal-scores")
    X.loc[[17, 30], ["b", "c"]] = -888888.0
    with pytest.warns(UserWarning, match=r"in row 17 \(and 1 more\).* So do 1 other columns"):
        MISelector(stop=None, max_features=1).fit(X, y)
    with pytest.warns(UserWarning, match="y has the value 1e"):
        mutual_information(X["a"], np.where(np.arange(50) == 3, 1e30, y))


@pytest.mark.parametrize("values", [(1e12, 2e12), (1e7, -1e7), (9999.0, -9999.0, 5e4)])
def test_several_values_that_own_a_column_are_told(values, rng):
    x = rng.normal(size=400)
    y = x + rng.normal(size=400)
    x[: len(values)] = values
    with pytest.warns(UserWarning, match="so far from all others"):
        mutual_information(x, y)


def test_a_rare_mark_owns_nothing(rng):
    """One 1 among zeros, or a few extreme values that differ, are no fill values."""
    y = rng.normal(size=100)
    rare = (np.arange(100) == 5).astype(float)
    relevance(np.column_stack([rare, rng.standard_t(2, 100), np.exp(rng.normal(size=100))]), y)
