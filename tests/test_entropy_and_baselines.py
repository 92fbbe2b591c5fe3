"""Entropy, and the older estimates of mutual information."""

import naive
import numpy as np
import pytest

from infosieve import entropy, estimators, mutual_information


@pytest.mark.parametrize("metric", ["euclidean", "chebyshev"])
@pytest.mark.parametrize("d", range(1, 7))
def test_entropy_agrees_with_the_plain_loop(metric, d, rng):
    points = rng.normal(size=(40, d)) * 3.0**d
    for k in (1, 4):
        want = naive.entropy(points, k, metric)
        assert entropy(points, n_neighbors=k, metric=metric) == pytest.approx(want, abs=1e-12)
    mean = np.mean([naive.entropy(points, k, metric) for k in range(2, 6)])
    assert entropy(points, n_neighbors=(2, 5), metric=metric) == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize("size", [1e-300, 1e-5, 1e300])
def test_entropy_shifts_with_the_logarithm_of_the_unit(size, rng):
    x = rng.normal(size=(50, 2))
    assert entropy(x * size) == pytest.approx(entropy(x) + 2 * np.log(size), abs=1e-9)
    assert entropy(x + 1e6) == pytest.approx(entropy(x), abs=1e-6)


def naive_histogram(x, y, bins):
    n = x.shape[1]

    def cell(column, i):
        return min(int((column[i] - column.min()) / np.ptp(column) * bins), bins - 1)

    a = [tuple(cell(c, i) for c in x) for i in range(n)]
    b = [tuple(cell(c, i) for c in y) for i in range(n)]
    ab = list(zip(a, b, strict=True))
    terms = [np.log(ab.count(ab[i]) * n / a.count(a[i]) / b.count(b[i])) for i in range(n)]
    return np.mean(terms)


def naive_parzen(x, y, h):
    n = x.shape[1]

    def density(block, i):
        return np.mean(
            [
                np.exp(-((block[:, i] - block[:, j]) ** 2).sum() / (2 * h * h))
                for j in range(n)
                if j != i
            ]
        )

    both = np.r_[x, y]
    return np.mean([np.log(density(both, i) / density(x, i) / density(y, i)) for i in range(n)])


@pytest.mark.parametrize("d", [1, 2, 3])
def test_baselines_agree_with_plain_loops(d, rng):
    x = rng.normal(size=(60, d))
    y = x[:, 0] + rng.normal(size=60)
    z = (x - x.mean(0)) / x.std(0), (y - y.mean()) / y.std()
    blocks = z[0].T, z[1][None]
    assert estimators.histogram(x, y, bins=4) == pytest.approx(
        naive_histogram(*blocks, 4), abs=1e-12
    )
    assert estimators.parzen(x, y, bandwidth=0.4) == pytest.approx(
        naive_parzen(*blocks, 0.4), abs=1e-12
    )
    scott = 60 ** (-1 / (d + 1 + 4))
    assert estimators.parzen(x, y) == estimators.parzen(x, y, bandwidth=scott)
    parts = [z[0], z[1][:, None], np.c_[z[0], z[1]]]
    h = [naive.entropy(part, 3, "euclidean") for part in parts]
    got = estimators.three_entropies(x, y, n_neighbors=3)
    assert got == pytest.approx(h[0] + h[1] - h[2], abs=1e-10)


def test_why_the_baselines_are_baselines():
    """Independent columns, more and more of them: the truth is 0 throughout."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(300, 6)), rng.normal(size=300)
    assert abs(mutual_information(x, y)) < 0.1
    assert estimators.histogram(x, y) > 0.3
    assert abs(estimators.three_entropies(x, y)) > 2 * abs(mutual_information(x, y))


def test_entropy_of_a_constant_column_is_refused(rng):
    with pytest.raises(ValueError, match="column 1 of X is constant"):
        entropy(np.c_[rng.normal(size=9), np.ones(9)])


@pytest.mark.parametrize("bins", [0, -1, 2.5, "many", 10**400, np.array([3, 4]), None])
def test_refused_bins(bins):
    with pytest.raises(ValueError, match="bins"):
        estimators.histogram([1.0, 2, 3], [1.0, 3, 2], bins=bins)


@pytest.mark.parametrize(
    "bandwidth", [0, -1.0, "wide", float("nan"), None, [0.3], 1j, 1e-200, float("inf")]
)
def test_refused_bandwidth(bandwidth):
    with pytest.raises(ValueError, match="bandwidth"):
        estimators.parzen([1.0, 2, 3], [1.0, 3, 2], bandwidth=bandwidth)
