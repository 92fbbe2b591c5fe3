"""Estimates against brute force that shares nothing with the package.

Distances of all pairs, in long double; scaling, ranks and norms of its own; ties broken by noise
of its own. Sizes from 2 to 3,000, values of any size, every type of table.
"""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.special import digamma
from scipy.stats import norm, rankdata

from infosieve import mutual_information, relevance

WIDE = np.longdouble


def scaled(table, scale):
    """Columns of a table; differences are all that matters."""
    columns = []
    wide = WIDE if len(table) <= 1000 else np.float64  # long double takes its time
    for column in np.asarray(table, wide).reshape(len(table), -1).T:
        if scale == "standard":
            deviations = column - column.mean()
            column = column / np.sqrt((deviations**2).mean())
        elif scale == "normal-scores":
            n, ranks = len(column), rankdata(column.astype(float))
            low = norm.ppf((np.minimum(ranks, n + 1 - ranks) - 0.5) / n)  # the tails are alike
            column = np.where(2 * ranks > n + 1, -low, low).astype(WIDE)
        columns.append(column)
    return columns


def distances(columns, metric):
    steps = [np.abs(np.subtract.outer(c, c)) for c in columns]
    if metric == "chebyshev" or len(steps) == 1:
        return np.max(steps, axis=0)
    return np.sqrt(sum(step**2 for step in steps))


def brute_force(x, y, given=None, k=3, method="ksg1", metric="euclidean", scale="standard"):
    """Kraskov, Stögbauer and Grassberger (2004), equations 8 and 9; Frenzel and Pompe (2007)."""
    n = len(x)
    d_x, d_y = (distances(scaled(t, scale), metric) for t in (x, y))
    d_z = np.zeros_like(d_x) if given is None else distances(scaled(given, scale), metric)
    joint = np.maximum(np.maximum(d_x, d_y), d_z)
    far = joint.copy()
    np.fill_diagonal(far, np.inf)
    radius = np.sort(far, axis=1)[:, k - 1 : k]
    if given is not None:
        spaces = d_z, np.maximum(d_x, d_z), np.maximum(d_y, d_z)
        n_z, n_xz, n_yz = (digamma((d < radius).sum(axis=1)).mean() for d in spaces)
        return digamma(k) + n_z - n_xz - n_yz
    if method == "ksg1":
        counts = ((d < radius).sum(axis=1) for d in (d_x, d_y))  # the sample itself included
        return digamma(k) + digamma(n) - sum(digamma(c).mean() for c in counts)
    sides = (np.where(far <= radius, d, 0).max(axis=1, keepdims=True) for d in (d_x, d_y))
    counts = ((d <= side).sum(axis=1) - 1 for d, side in zip((d_x, d_y), sides, strict=True))
    return digamma(k) - 1 / k + digamma(n) - sum(digamma(c).mean() for c in counts)


def values(kind, n, rng):
    x = rng.normal(size=n)
    return {
        "normal": x,
        "uniform": rng.uniform(size=n),
        "heavy": rng.standard_cauchy(n),
        "lognormal": np.exp(5 * x),
        "tiny": 1e-300 * x,
        "huge": 1e300 * x,
        "offset": 1e6 + np.round(x * 2**20) / 2**20,
        "outlier": np.where(np.arange(n) == n // 2, 1e30, x),
        "float32": x.astype(np.float32).astype(float),
    }[kind]


KINDS = ["normal", "uniform", "heavy", "lognormal", "tiny", "huge", "offset", "outlier", "float32"]
SIZES = [2, 3, 4, 5, 7, 10, 17, 33, 60, 100, 250, 400]


@pytest.mark.filterwarnings("ignore:.*so far from all others:UserWarning")
@pytest.mark.parametrize("seed", range(120))
def test_sets_of_columns(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.choice(SIZES))
    k = int(rng.integers(1, min(n, 12)))
    x_kinds, y_kinds = rng.choice(KINDS, rng.integers(1, 5)), rng.choice(KINDS, rng.integers(1, 3))
    X = np.column_stack([values(kind, n, rng) for kind in x_kinds])
    y = np.column_stack([values(kind, n, rng) for kind in y_kinds])
    if rng.uniform() < 0.5 and y_kinds[0] == "normal" and x_kinds[0] == "normal":
        y[:, 0] += 2 * X[:, 0]
    how = {
        "metric": str(rng.choice(["euclidean", "chebyshev"])),
        "scale": str(rng.choice(["standard", "normal-scores"])),
    }
    given = values("normal", n, rng)[:, None] if rng.uniform() < 0.3 else None
    method = "ksg1" if given is not None else str(rng.choice(["ksg1", "ksg2"]))
    want = brute_force(X, y, given, k, method, **how)
    got = mutual_information(X, y, condition=given, n_neighbors=k, method=method, **how)
    assert got == pytest.approx(want, abs=1e-9), (n, k, x_kinds, y_kinds, how, method)


@pytest.mark.parametrize("n", [1000, 3000])
def test_many_samples(n):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 3))
    y = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n)
    for columns in (X[:, :1], X):
        want = brute_force(columns, y, None, 4)
        assert mutual_information(columns, y, n_neighbors=4) == pytest.approx(want, abs=1e-9)
    want = brute_force(X[:, 1], y, X[:, 0], 4)
    assert mutual_information(X[:, 1], y, condition=X[:, 0], n_neighbors=4) == pytest.approx(
        want, abs=1e-9
    )


def test_a_range_of_k():
    """A range of K is the mean of the estimates of each."""
    rng = np.random.default_rng(0)
    x, e = rng.normal(size=(2, 200))
    want = np.mean([brute_force(x, x + e, None, k) for k in range(3, 11)])
    found = mutual_information(x, x + e, n_neighbors=(3, 10))
    assert found == pytest.approx(want, abs=1e-9)


TYPES = {
    "array": lambda a: a,
    "list": lambda a: a.tolist(),
    "Fortran": np.asfortranarray,
    "strided": lambda a: np.repeat(a, 2, axis=0)[::2],
    "big endian": lambda a: a.astype(">f8"),
    "long double": lambda a: a.astype(WIDE),
    "objects": lambda a: a.astype(object),
    "Decimal": lambda a: np.array([[Decimal(float(v)) for v in row] for row in a], object),
    "pandas": pd.DataFrame,
    "Float64": lambda a: pd.DataFrame(a).astype("Float64"),
    "pyarrow": lambda a: pd.DataFrame(a).astype(pd.ArrowDtype(pa.float64())),
    "polars": lambda a: pl.DataFrame(a),
}


@pytest.mark.parametrize("kind", TYPES)
def test_types_of_tables(kind):
    rng = np.random.default_rng(3)
    X = np.column_stack([values(k, 80, rng) for k in ("normal", "heavy", "uniform")])
    y = X[:, 0] + X[:, 2] + 0.5 * rng.normal(size=80)
    table = TYPES[kind](X)
    want = brute_force(X, y, None, 3)
    assert mutual_information(table, y, n_neighbors=3) == pytest.approx(want, abs=1e-9)
    want = [brute_force(X[:, j], y, None, 3) for j in range(3)]
    np.testing.assert_allclose(relevance(table, y, n_neighbors=3), want, rtol=0, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float32])
def test_types_of_numbers(dtype):
    rng = np.random.default_rng(4)
    x = rng.permutation(120)  # distinct, but evenly spaced: distances are tied
    y = 0.01 * x + rng.normal(size=120)
    got = mutual_information(x.astype(dtype), y, n_neighbors=3)
    assert got == pytest.approx(mutual_information(x.astype(float), y, n_neighbors=3), abs=1e-12)
    assert got == pytest.approx(brute_force(x, y, None, 3), abs=0.03)


@pytest.mark.parametrize("digits", [0, 1])
def test_ties_against_noise_of_its_own(digits):
    """The mean over many ways to break ties; ours is one of them."""
    differences = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        x = np.round(rng.normal(size=150), digits)
        y = np.round(x + rng.normal(size=150), digits)
        ways = []
        for _ in range(8):
            noise = 1e-9 * rng.uniform(size=(2, 150))
            ways.append(brute_force(x + noise[0], y + noise[1], None, 5))
        own = mutual_information(x, y, n_neighbors=5, discrete_target=False)
        differences.append(own - np.mean(ways))
    error = np.std(differences, ddof=1) / np.sqrt(12)
    assert abs(np.mean(differences)) < 3 * error + 0.005
    assert np.abs(differences).max() < 0.15
