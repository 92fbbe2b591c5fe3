"""Closed forms: what the estimate must come close to, with a tolerance for each case.

Kraskov's estimate is low where a neighbourhood is not small against the structure of the
data: sharp edges, heavy tails, many dimensions. The bias fades with N and is part of the
method (the twins of test_engine.py show that it is not ours). So each case has its own
tolerance, about the bias at that N plus four standard errors, and the bias must fade.
"""

import numpy as np
import pytest
from scipy.special import digamma, gammaln

from infosieve import entropy, mutual_information


def mean_estimate(sample, n, n_sets=8, **options):
    estimates = []
    for seed in range(n_sets):
        x, y = sample(np.random.default_rng(seed), n)
        estimates.append(mutual_information(x, y, **options))
    return np.mean(estimates)


def bivariate_normal(rng, n, rho=0.75):
    x, e = rng.normal(size=(2, n))
    return x, rho * x + np.sqrt(1 - rho**2) * e


def additive_noise(epsilon):
    def sample(rng, n):
        x = rng.uniform(size=n)
        return x, x + rng.uniform(-epsilon, epsilon, n)

    return sample


def dense_normal(d):
    def sample(rng, n):
        z = np.sqrt(0.5) * rng.normal(size=(n, 1)) + np.sqrt(0.5) * rng.normal(size=(n, 2 * d))
        return z[:, :d], z[:, d:]

    return sample


def student(d, nu):
    def sample(rng, n):
        z = rng.normal(size=(n, 2 * d)) * np.sqrt(nu / rng.chisquare(nu, size=(n, 1)))
        return z[:, :d], z[:, d:]

    return sample


def test_closed_forms_of_the_specification():
    """The truths below are computed here again from their formulas."""

    def normal_truth(d):
        full, half = np.full((2 * d, 2 * d), 0.5), np.full((d, d), 0.5)
        np.fill_diagonal(full, 1.0)
        np.fill_diagonal(half, 1.0)
        return np.linalg.slogdet(half)[1] - 0.5 * np.linalg.slogdet(full)[1]

    def student_truth(d, nu):
        def h(m):  # entropy of a standard m-dimensional Student distribution
            log_norm = gammaln((nu + m) / 2) - gammaln(nu / 2) - m / 2 * np.log(nu * np.pi)
            return -log_norm + (nu + m) / 2 * (digamma((nu + m) / 2) - digamma(nu / 2))

        return 2 * h(d) - h(2 * d)

    assert -0.5 * np.log(1 - 0.75**2) == pytest.approx(0.413339, abs=1e-6)
    for d, truth in DENSE.items():
        assert normal_truth(d) == pytest.approx(truth[0], abs=1e-6)
    for (d, nu), truth in STUDENT.items():
        assert student_truth(d, nu) == pytest.approx(truth[0], abs=1e-6)


# Truth and tolerance: N = 1,000, four data sets, K = 3.
DENSE = {2: (0.293893, 0.04), 3: (0.413339, 0.04), 5: (0.592812, 0.07), 25: (1.292184, 0.3)}
# Truth and tolerance: N = 4,000, four data sets, K = 3, normal scores.
STUDENT = {
    (1, 1): (0.224171, 0.04),
    (2, 1): (0.431946, 0.06),
    (2, 2): (0.193147, 0.06),
    (3, 2): (0.290922, 0.13),
    (5, 2): (0.448151, 0.25),
}


@pytest.mark.parametrize("method", ["ksg1", "ksg2"])
@pytest.mark.parametrize("metric", ["euclidean", "chebyshev"])
def test_bivariate_normal(method, metric):
    got = mean_estimate(bivariate_normal, 1000, method=method, metric=metric)
    assert got == pytest.approx(0.413339, abs=0.03)


@pytest.mark.parametrize(
    ("epsilon", "truth", "tolerance"), [(0.1, 1.709438, 0.03), (0.75, 1 / 3, 0.02)]
)
@pytest.mark.parametrize("method", ["ksg1", "ksg2"])
def test_additive_noise(epsilon, truth, tolerance, method):
    got = mean_estimate(additive_noise(epsilon), 10_000, method=method, n_neighbors=3)
    assert got == pytest.approx(truth, abs=tolerance)


@pytest.mark.parametrize(
    ("sample", "truth"),
    [(additive_noise(0.1), 1.709438), (student(2, 1), 0.431946), (student(2, 2), 0.193147)],
)
def test_bias_fades_with_the_number_of_samples(sample, truth):
    errors = [
        abs(mean_estimate(sample, n, 4, scale="normal-scores") - truth) for n in (300, 1200, 4800)
    ]
    assert errors[0] > errors[1] > errors[2]


@pytest.mark.parametrize("d", DENSE)
def test_dense_normal_in_many_dimensions(d):
    truth, tolerance = DENSE[d]
    assert mean_estimate(dense_normal(d), 1000, 4, n_neighbors=3) == pytest.approx(
        truth, abs=tolerance
    )


@pytest.mark.parametrize(("d", "nu"), STUDENT)
def test_student(d, nu):
    # Ranks through the normal quantile leave MI unchanged and tame the tails of one column,
    # but not the joint ones: the more dimensions, the lower the estimate stays.
    truth, tolerance = STUDENT[d, nu]
    got = mean_estimate(student(d, nu), 4000, 4, scale="normal-scores", n_neighbors=3)
    assert got == pytest.approx(truth, abs=tolerance)


@pytest.mark.parametrize("transform", [np.exp, lambda v: v**3, np.arctan])
def test_monotone_maps_of_a_column_change_little(transform):
    def sample(rng, n):
        x, y = bivariate_normal(rng, n)
        return transform(x), y

    assert mean_estimate(sample, 1000) == pytest.approx(0.413339, abs=0.04)
    scores = mean_estimate(sample, 1000, scale="normal-scores")
    assert scores == pytest.approx(
        mean_estimate(bivariate_normal, 1000, scale="normal-scores"), abs=1e-12
    )


def test_known_wrong_formulas_are_outside_the_tolerance():
    """One Euclidean norm over the joint vector, or -1/K with the joint radius."""
    x, y = bivariate_normal(np.random.default_rng(0), 500)
    x, y = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
    d_x, d_y = np.abs(x[:, None] - x), np.abs(y[:, None] - y)

    def kraskov(joint, correction):
        radius = np.sort(joint, axis=1)[:, [3]]
        counts = [(d < radius).sum(axis=1) for d in (d_x, d_y)]
        return digamma(3) + digamma(500) - correction - np.mean(sum(digamma(c) for c in counts))

    right = kraskov(np.maximum(d_x, d_y), 0.0)
    assert mutual_information(x, y, n_neighbors=3) == pytest.approx(right, abs=1e-12)
    # The tolerance of the bivariate normal above is 0.03.
    assert kraskov(np.hypot(d_x, d_y), 0.0) < right - 0.15
    assert kraskov(np.maximum(d_x, d_y), 1 / 3) < right - 0.15


def test_conditional_information_of_a_normal_triple():
    # x and y depend on each other only through z, then also directly.
    estimates = {0.0: [], 0.6: []}
    for strength, values in estimates.items():
        for seed in range(8):
            rng = np.random.default_rng(seed)
            z, e, f = rng.normal(size=(3, 1000))
            x = z + e
            y = z + strength * e + np.sqrt(1 - strength**2) * f
            values.append(mutual_information(x, y, condition=z))
    assert np.mean(estimates[0.0]) == pytest.approx(0.0, abs=0.02)
    assert np.mean(estimates[0.6]) == pytest.approx(-0.5 * np.log(1 - 0.36), abs=0.04)


def test_chain_rule_holds_statistically(rng):
    x1, x2, e = rng.normal(size=(3, 500))
    y = x1 + x2 + e
    whole = mutual_information(np.c_[x1, x2], y)
    parts = mutual_information(x1, y) + mutual_information(x2, y, condition=x1)
    assert whole == pytest.approx(parts, abs=0.1)


@pytest.mark.parametrize("metric", ["euclidean", "chebyshev"])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_entropy_of_a_normal(metric, d):
    estimates = [
        entropy(np.random.default_rng(seed).normal(size=(2000, d)), metric=metric)
        for seed in range(8)
    ]
    assert np.mean(estimates) == pytest.approx(d * 0.5 * np.log(2 * np.pi * np.e), abs=0.02 * d)


# The table of the specification: K = 5, N = 300, mean of 20 data sets.
TIES = {
    "grid of 0.01": (lambda rng: independent(rng, 0.01), 0.0, 0.0),
    "grid of 0.3": (lambda rng: independent(rng, 0.3), 0.0, 0.0),
    "grid of 1": (lambda rng: independent(rng, 1.0), 0.0, 0.0),
    "integers": (lambda rng: rng.integers(0, 10, (2, 300)), 0.0, 0.0),
    "Poisson": (lambda rng: rng.poisson(3, (2, 300)), 0.0, 0.0),
    "binary, continuous": (lambda rng: binary_continuous(rng), 0.337, 0.340),
    "binary, flipped": (lambda rng: binary_flipped(rng), 0.368, 0.392),
    "rho = .75, grid of 0.3": (
        lambda rng: np.round(np.array(bivariate_normal(rng, 300)) / 0.3),
        0.413,
        0.413,
    ),
}


def independent(rng, step):
    return np.round(rng.normal(size=(2, 300)) / step)


def binary_continuous(rng):
    b = rng.integers(0, 2, 300)
    return b, 2 * b + rng.normal(size=300)


def binary_flipped(rng):
    b = rng.integers(0, 2, 300)
    return b, np.where(rng.uniform(size=300) < 0.1, 1 - b, b)


@pytest.mark.parametrize("case", TIES)
def test_tied_data(case):
    sample, _, measured = TIES[case]
    estimates = [
        mutual_information(
            *sample(np.random.default_rng(seed)), n_neighbors=5, discrete_target=False
        )
        for seed in range(20)
    ]
    # Four standard errors of a mean over 20 data sets of 300 samples.
    tolerance = 4 * np.std(estimates, ddof=1) / np.sqrt(20) + 1e-3
    assert tolerance < 0.06
    assert np.mean(estimates) == pytest.approx(measured, abs=tolerance)


def test_ross_with_one_categorical_target(rng):
    """One categorical y is Ross (2014), as in scikit-learn on the same numbers."""
    from sklearn.feature_selection import mutual_info_classif

    y = rng.integers(0, 3, 400)
    x = rng.normal(size=400) + y
    ours = mutual_information(x, y, n_neighbors=4, discrete_target=True)
    theirs = mutual_info_classif(x[:, None], y, n_neighbors=4, random_state=0)[0]
    assert ours == pytest.approx(theirs, abs=1e-9)


def test_matches_scikit_learn_on_continuous_data(rng):
    from sklearn.feature_selection import mutual_info_regression

    x, y = bivariate_normal(rng, 300)
    y = (y - y.mean()) / y.std()
    ours = mutual_information(x, y, n_neighbors=5)
    theirs = mutual_info_regression(x[:, None], y, n_neighbors=5, random_state=0)[0]
    assert ours == pytest.approx(theirs, abs=2e-3)
