"""The choice of K against its twin, and what it says about (F) and about bad input."""

import naive
import numpy as np
import pandas as pd
import pytest

from infosieve import KChoice, choose_k
from infosieve._core.settings import Settings
from infosieve._engines.numba.engine import NumbaEngine
from infosieve._executors.threads import Threads
from infosieve._input.problem import open_problem
from infosieve._input.scaling import prepare
from infosieve._resampling.layout import Layout
from infosieve._resampling.permutations import global_permutations, random_folds
from infosieve._scoring.jobs import Scoring
from infosieve._scoring.measure import Measure
from infosieve.datasets import make_friedman
from infosieve.estimators._choice_of_k import choose
from infosieve.results import Provenance


def friedman(rng, n=100, m=10):
    return make_friedman(n, m, random_state=rng, return_X_y=True)


def test_agrees_with_plain_loops(rng):
    X = np.c_[rng.normal(size=40), rng.integers(0, 4, 40), np.ones(40)]
    y = X[:, 0] + 0.5 * rng.normal(size=40)
    rows = open_problem(X, y, Settings()).rows  # in which random numbers are given out
    X, y = X[rows], y[rows]
    choice = choose_k(X, y, n_neighbors=(2, 5), n_folds=8, random_state=3)
    x, target = (
        prepare(v, np.zeros(len(v), bool), "standard", 0, Threads(1)).values for v in (X.T, y[None])
    )
    folds = random_folds((3, "parts", 0), 40, 8)
    permuted = target[:, global_permutations((3, "target", 0), 40).draw(0, 1)[0]]
    for j in (0, 1):
        for i, k in enumerate(range(2, 6)):
            t, mi, mi_permuted = naive.choice_statistic(x[[j]], target, permuted, folds, k)
            np.testing.assert_allclose(choice.mi[j, i], mi, rtol=0, atol=1e-12)
            np.testing.assert_allclose(choice.mi_permuted[j, i], mi_permuted, rtol=0, atol=1e-12)
            assert choice.t[j, i] == pytest.approx(t, abs=1e-9)
    assert (choice.t[2] == 0).all()  # a constant column says nothing
    assert choice.k == choice.ks[np.argmax(choice.t.max(axis=0))]


def test_several_targets_and_categories_go_the_general_way(rng):
    X, y = friedman(rng, 60, 5)
    X = X[:, :3]
    two = choose_k(X, np.c_[y, rng.normal(size=60)], n_folds=5, random_state=0)
    assert two.mi.shape == (3, 19, 5)
    names = choose_k(
        pd.DataFrame(X, columns=list("abc")),
        np.where(y > np.median(y), "high", "low"),
        n_neighbors=(2, 6),
        n_folds=5,
        random_state=0,
    )
    assert names.features == ("a", "b", "c")
    assert names.feature in names.features


def test_record_is_frozen_and_turns_into_a_table(rng):
    X, y = friedman(rng)
    choice = choose_k(pd.DataFrame(X).add_prefix("x"), y, random_state=0)
    assert isinstance(choice, KChoice)
    with pytest.raises(AttributeError):
        choice.k = 3
    with pytest.raises(ValueError, match="read-only"):
        choice.t[0, 0] = 1.0
    frame = choice.to_frame()
    assert len(frame) == 10 * 19
    best = frame.loc[frame["t"].idxmax()]
    assert (best["feature"], best["k"]) == (choice.feature, choice.k)
    assert "K from 2 to 20, 20 folds" in repr(choice)


def test_the_same_for_any_threads_and_order_of_columns(rng):
    X, y = friedman(rng, m=6)
    one = choose_k(X, y, random_state=1)
    for jobs in (2, 3):
        other = choose_k(X, y, random_state=1, n_jobs=jobs)
        np.testing.assert_array_equal(one.t, other.t)
    turned = choose_k(X[:, ::-1], y, random_state=1)
    np.testing.assert_array_equal(one.t, turned.t[::-1])
    assert turned.k == one.k


def test_chapter_figure_peaks_at_moderate_k():
    """MI(X_4, Y) of (F): the chapter's curve rises from small K and peaks at 10."""
    peaks, rises = [], []
    for seed in range(20):
        X, y = friedman(np.random.default_rng(seed))
        t = choose_k(X[:, 3], y, random_state=seed).t[0]
        peaks.append(2 + int(np.argmax(t)))
        rises.append(t.max() / t[0])
    assert 8 <= np.median(peaks) <= 18
    assert np.median(rises) > 2


def test_few_samples_cap_the_range(rng):
    X, y = friedman(rng, 12, 5)
    for tried in ((2, 20), (2, 11)):
        assert choose_k(X, y, n_neighbors=tried, random_state=0).ks[-1] == 10
    with pytest.warns(UserWarning, match="The smallest, K = 10, is taken"):
        assert choose_k(X, y, n_neighbors=(11, 30), random_state=0).ks.tolist() == [10]
    with pytest.raises(ValueError, match="too few samples to choose K"):
        choose_k(X[:2], y[:2])
    with pytest.raises(ValueError, match="'n_folds' parameter must be an int of at least 2"):
        choose_k(X, y, n_folds=1)
    with pytest.raises(ValueError, match="'n_neighbors' parameter must be an int of at least 1"):
        choose_k(X, y, n_neighbors=(0, 3))


def test_degenerate_columns(rng):
    with pytest.raises(ValueError, match="All columns of X are constant"):
        choose_k(np.ones((30, 2)), rng.normal(size=30))


def test_no_variance_over_the_splits_is_said():
    class Flat(NumbaEngine):
        def score(self, batch, runner):
            return np.zeros((batch.folds.max() + 1, batch.n_candidates, 3))

    x = prepare(np.arange(20.0)[None], np.zeros(1, bool), "standard", 0, Threads(1))
    measure = Measure(
        target=x,
        criterion="mi",
        method="ksg1",
        metric="euclidean",
        n_neighbors=(2, 4),
        engine=Flat(),
    )
    scoring = Scoring(x, Threads(1))
    known = Provenance(data="", n_samples=20, seed=0, parameters={}, versions={})
    with pytest.warns(UserWarning, match="No K separates any column of X from noise"):
        assert choose(scoring, ["x"], measure, 4, known, Layout()).k == 2
