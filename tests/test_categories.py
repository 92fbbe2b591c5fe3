"""Sets of categories: around zero where nothing is there, close to the truth where something is."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from conftest import make_batch
from scipy.special import digamma

from infosieve import MISelector, mutual_information, permutation_test, relevance
from infosieve._engines.ksg import fraction_bits, psi_table
from infosieve._engines.numba.counts import contingency, expected_cell
from infosieve._engines.numba.engine import NumbaEngine
from infosieve._executors.threads import Threads
from infosieve._scoring.mixed import score


def survey(rng, n=1885, m=4, levels=7):
    X = pd.DataFrame(rng.integers(levels, size=(n, m)).astype(str))
    return X.set_axis([f"q{j}" for j in range(m)], axis=1), rng.integers(levels, size=n).astype(str)


def counts(x, y, strata, joined=False):
    """Information of counts, its mean over permutations, two entropies: nats."""
    n = len(y)
    order = np.argsort(strata, kind="stable")
    edges = np.concatenate([[0], np.cumsum(np.bincount(strata))])
    bits, rows = fraction_bits(n), order[None].astype(np.int32)
    sums = contingency(np.atleast_2d(x), y[order], (rows, edges), joined, psi_table(n)[0], bits)
    return np.ldexp(sums[0, 0].astype(float), -bits) / n


@pytest.mark.filterwarnings("ignore:.*share their combination:UserWarning")
@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_independent_columns_tell_nothing_together(m):
    """Counted without a correction, four columns had 0.96 nats."""
    estimates = []
    for seed in range(10):
        X, y = survey(np.random.default_rng(seed), m=m)
        estimates.append(mutual_information(X, y))
    assert np.abs(estimates).max() < 0.08
    assert abs(np.mean(estimates)) < 3 * np.std(estimates, ddof=1) / np.sqrt(10) + 0.002


@pytest.mark.filterwarnings("ignore:.*share their combination:UserWarning")
@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("target", ["class", "number"])
def test_independent_columns_tell_nothing_beside_numbers(m, target):
    estimates = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = survey(rng, 800, m)
        X["number"] = rng.normal(size=800)
        y = y if target == "class" else rng.normal(size=800)
        estimates.append(mutual_information(X, y))
    assert np.abs(estimates).max() < 0.12
    assert abs(np.mean(estimates)) < 3 * np.std(estimates, ddof=1) / np.sqrt(10) + 0.003


@pytest.mark.filterwarnings("ignore:.*share their combination:UserWarning")
@pytest.mark.parametrize("m", [1, 2, 3])
def test_a_column_adds_nothing_to_independent_ones(m):
    for seed in range(5):
        X, y = survey(np.random.default_rng(seed), m=m + 1)
        assert abs(mutual_information(X["q0"], y, condition=X.iloc[:, 1:])) < 0.08


def noisy_sum(rng, n, levels, noise, m):
    """y is the sum of the first two columns, modulo the levels, but for some noise."""
    X = rng.integers(levels, size=(n, m))
    random = rng.integers(levels, size=n)
    y = np.where(rng.uniform(size=n) < noise, random, (X[:, 0] + X[:, 1]) % levels)
    right = 1 - noise + noise / levels
    wrong = noise / levels
    truth = np.log(levels) + right * np.log(right) + (levels - 1) * wrong * np.log(wrong)
    return X.astype(str), y.astype(str), truth


@pytest.mark.parametrize(
    ("n", "levels", "m"), [(500, 3, 2), (2000, 7, 2), (2000, 4, 4), (5000, 5, 3)]
)
@pytest.mark.parametrize("noise", [0.2, 0.6])
def test_close_to_the_truth(n, levels, m, noise):
    estimates = []
    for seed in range(5):
        X, y, truth = noisy_sum(np.random.default_rng(seed), n, levels, noise, m)
        estimates.append(mutual_information(X, y))
        given = mutual_information(X[:, 0], y, condition=X[:, 1:])
        assert given == pytest.approx(truth, abs=0.12)
    assert np.mean(estimates) == pytest.approx(truth, abs=0.06)


def test_redundant_columns_add_nothing():
    rng = np.random.default_rng(0)
    x = rng.integers(6, size=1000)
    y = np.where(rng.uniform(size=1000) < 0.3, rng.integers(6, size=1000), x)
    copies = [np.where(rng.uniform(size=1000) < 0.3, rng.integers(6, size=1000), x) for _ in "abc"]
    X = np.column_stack([x, *copies]).astype(str)
    alone = mutual_information(X[:, 0], y.astype(str))
    assert mutual_information(X, y.astype(str)) == pytest.approx(alone, abs=0.1)
    assert mutual_information(X[:, 1], y.astype(str), condition=X[:, 0]) == pytest.approx(
        0, abs=0.02
    )


def test_the_mean_over_all_permutations():
    x, y = np.array([0, 0, 0, 1, 1, 2, 2]), np.array([0, 1, 1, 0, 2, 1, 1])
    nothing = np.zeros(7, np.int64)
    every = [counts(x[list(order)], y, nothing)[0] for order in permutations(range(7))]
    assert counts(x, y, nothing)[1] == pytest.approx(np.mean(every), abs=1e-12)
    strata = np.array([0, 0, 0, 0, 1, 1, 1])
    every = [
        counts(x[[*first, *last]], y, strata)[0]
        for first in permutations(range(4))
        for last in permutations(range(4, 7))
    ]
    assert counts(x, y, strata)[1] == pytest.approx(np.mean(every), abs=1e-12)
    # Strata and x together about y: y moves among all samples.
    every = [counts(x, y[list(order)], strata, True)[0] for order in permutations(range(7))]
    assert counts(x, y, strata, True)[1] == pytest.approx(np.mean(every), abs=1e-12)


@pytest.mark.parametrize("joined", [False, True])
def test_many_levels_are_sorted_by_cell(joined, rng):
    """Labels with gaps make a table too large to be counted; the names of levels do not matter."""
    x, y, strata = (rng.integers(levels, size=300) for levels in (9, 5, 4))
    want = counts(x, y, strata, joined)
    np.testing.assert_array_equal(counts(x * 1000, y * 1000, strata, joined), want)


@pytest.mark.parametrize("criterion", ["mi", "cmi"])
@pytest.mark.parametrize("given", [[], ["category"], ["category", "normal"]])
@pytest.mark.parametrize("target", ["category", "normal"])
def test_permuted_copies_score_as_each_alone(criterion, given, target, rng):
    """Copies share their margins, candidates their lists of neighbours: nothing shows."""
    kinds = ["category", "normal", "category", "binary"]
    batch = make_batch(kinds, given, [target], 90, 4, criterion=criterion, n_neighbors=(2, 5))
    orders = np.array([rng.permutation(90) for _ in range(6)], np.int32)
    together = score(replace(batch, permutations=orders), NumbaEngine(), Threads(1))[0]
    permuted = batch.candidates.permuted(orders)
    for j, got in enumerate(together):
        alone = replace(batch, candidates=permuted.take([j]))
        np.testing.assert_array_equal(score(alone, NumbaEngine(), Threads(1))[0, 0], got)


def test_a_cell_of_many_samples():
    """Far from the most probable count nothing is lost, and nothing overflows."""
    n = 1_000_000
    psi = np.r_[0.0, digamma(np.arange(1.0, n + 1))]
    assert expected_cell(n, 1, 1, psi) == pytest.approx(psi[1] / n, rel=1e-12)
    assert expected_cell(n, n, 777, psi) == pytest.approx(777 * psi[777], rel=1e-12)
    mean = n / 4  # of k, whose variance is about n / 16
    half = expected_cell(n, n // 2, n // 2, psi)
    assert half == pytest.approx(mean * np.log(mean) + 1 / 8 - 1 / 2, abs=1e-3)


def test_names_of_categories_and_order_of_samples_do_not_matter(rng):
    X, y = survey(rng, 300, 3, 4)
    z = rng.normal(size=300)
    order = rng.permutation(300)
    for target in (y, z):
        reference = mutual_information(X, target)
        assert mutual_information(X.iloc[order], target[order]) == reference
        renamed = X.replace({"0": "zero", "1": "uno", "2": "deux"})
        assert mutual_information(renamed, target) == reference
    assert mutual_information(X, y) == pytest.approx(mutual_information(y, X), abs=1e-12)


def test_threads_change_nothing(rng):
    X, y = survey(rng, 200, 40, 5)
    for given in (None, X.iloc[:, :2]):
        one = relevance(X, y, condition=given)
        np.testing.assert_array_equal(one, relevance(X, y, condition=given, n_jobs=3))


@pytest.mark.filterwarnings("ignore:.*share their combination:UserWarning")
def test_a_search_among_answers_of_a_survey(rng):
    """It shows what columns add beyond chance, and uses all samples."""
    X, _ = survey(rng, 600, 12, 5)
    noise = rng.integers(5, size=600).astype(str)
    y = np.where(rng.uniform(size=600) < 0.3, noise, X["q3"])
    y = np.where(rng.uniform(size=600) < 0.2, X["q8"], y)
    selector = MISelector(random_state=0, n_permutations=99, lookahead=1).fit(X, y)
    assert selector.get_feature_names_out().tolist() == ["q3", "q8"]
    path = selector.path_
    assert path["action"].tolist() == ["add", "add", "stop"]
    assert path["gain"][2] < 0.05
    assert path["mi"].max() < np.log(5)
    how = {"criterion": "cmi", "random_state": 0, "statistic": "ksg"}
    test = permutation_test(X, y, "q0", given=["q3", "q8"], **how)
    assert abs(test.null.mean()) < 0.02


def test_a_candidate_with_many_levels_has_no_advantage():
    """By plain counts, noise of 40 levels is ahead of a relevant column of two."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"noise": [f"n{i}" for i in rng.integers(40, size=300)]})
    y = rng.integers(2, size=300)
    X["two"] = np.where(rng.uniform(size=300) < 0.7, y, 1 - y).astype(str)
    scores = relevance(X, y.astype(str))
    assert scores["two"] > 0.04 > 0.02 > abs(scores["noise"])
