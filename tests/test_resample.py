"""Permutations and folds: bijections, among the right rows, the same whoever draws them."""

import numpy as np
import pytest
from conftest import columns
from hypothesis import given
from hypothesis import strategies as st

from infosieve._core.rules import seed_of
from infosieve._core.sequential import exceedances_allowed
from infosieve._resampling.nulls import global_permutations, local_permutations
from infosieve._resampling.permutations import N_NEAR, random_folds
from infosieve.significance._tested import Rule, compared

KEY = (7, "test", 0)


def is_bijection(permutations):
    n = permutations.shape[1]
    return all((np.sort(p) == np.arange(n)).all() for p in permutations)


@given(
    n=st.integers(2, 60),
    kinds=st.lists(
        st.sampled_from(["normal", "heavy", "binary", "category"]), min_size=1, max_size=3
    ),
    metric=st.sampled_from(["euclidean", "chebyshev"]),
    seed=st.integers(0, 1000),
)
def test_local_permutations_are_bijections_among_neighbours(n, kinds, metric, seed):
    selected = columns(kinds, n, np.random.default_rng(seed))
    drawn = local_permutations((seed, "test", 0), selected, metric).draw(0, 5)
    assert is_bijection(drawn)
    numbers = selected.values[~selected.categorical].T
    codes = selected.values[selected.categorical].T
    alike = (codes[:, None] == codes[None]).all(axis=2)
    assert alike[np.arange(n), drawn].all()
    if numbers.shape[1]:
        step = np.abs(numbers[:, None] - numbers[None])
        d = np.hypot.reduce(step, axis=2) if metric == "euclidean" else step.max(axis=2)
        d[~alike] = np.inf
        limit = np.sort(d, axis=1)[:, min(N_NEAR, n) - 1 :][:, :1] * (1 + 1e-12)
        near = (d <= limit) & alike
        near |= near.T  # an exchange goes both ways
        assert (near @ near)[np.arange(n), drawn].all()  # two exchanges


def test_a_hub_that_everybody_is_near_to():
    """Greedy drawing alone would leave rows without a value here."""
    rng = np.random.default_rng(0)
    selected = columns(["normal"] * 6, 300, rng)
    permutations = local_permutations(KEY, selected, "euclidean")
    assert np.bincount(permutations.near.ravel()).max() > 2 * N_NEAR  # there are hubs
    drawn = permutations.draw(0, 50)
    assert is_bijection(drawn)
    kept = (drawn == np.arange(300)).mean()
    assert 0.05 < kept < 0.35  # one of eight, and more where others are taken


def test_global_permutations_are_uniform():
    drawn = global_permutations(KEY, 4).draw(0, 24_000)
    assert is_bijection(drawn[:100])
    codes, counts = np.unique(drawn @ [64, 16, 4, 1], return_counts=True)
    assert len(codes) == 24
    assert (((counts - 1000) ** 2) / 1000).sum() < 50  # chi-square, 23 degrees: p = 0.001


@pytest.mark.parametrize("kinds", [[], ["category"], ["normal"], ["normal", "category"]])
def test_a_permutation_depends_on_its_number_only(kinds):
    rng = np.random.default_rng(0)
    n = 37
    make = (
        (lambda: local_permutations(KEY, columns(kinds, n, np.random.default_rng(0)), "euclidean"))
        if kinds
        else (lambda: global_permutations(KEY, n))
    )
    together = make().draw(0, 30)
    at = 0
    while at < 30:
        size = int(rng.integers(1, 9))
        fold = make().draw(at, size)[: 30 - at]
        np.testing.assert_array_equal(together[at : at + size], fold)
        at += size
    assert not (together[0] == together[1]).all()


def test_purposes_steps_and_seeds_draw_apart():
    draws = {
        tuple(global_permutations(key, 30).draw(0, 1)[0])
        for key in [(0, "a", 0), (1, "a", 0), (0, "b", 0), (0, "a", 1)]
    }
    assert len(draws) == 4


def test_parts_are_a_partition_of_nearly_equal_sizes():
    folds = random_folds(KEY, 103, 20)
    assert sorted(np.bincount(folds)) == [5] * 17 + [6] * 3


@given(
    st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=1, max_size=60),
    st.floats(0.01, 0.99),
    st.integers(1, 9),
)
def test_stopping_early_never_changes_a_decision(values, alpha, size):
    values = np.array(values)
    n = len(values)

    def blocks():
        for first in range(0, n, size):
            yield values[first : first + size, None]

    full = compared(np.ones(1), blocks(), None, Rule(n))
    early = compared(np.ones(1), blocks(), alpha, Rule(n))
    assert full.counts == (values >= 1).sum()
    assert full.p_value == (full.counts[0] + 1) / (n + 1)
    assert not full.early_stopped
    assert (early.p_value <= alpha) == (full.p_value <= alpha)
    assert early.p_value <= full.p_value
    if early.p_value <= alpha:
        assert early.counts == full.counts
        assert len(early.null) == n
    else:  # it ends at the permutation that decided, whatever the blocks
        decided = np.flatnonzero((np.cumsum(values >= 1) + 1) / (n + 1) > alpha)
        assert len(early.null) == (decided[0] + 1 if decided.size else 1)
        assert early.counts == (early.null >= 1).sum() or exceedances_allowed(alpha, n) < 0


def test_permutations_are_saved():
    drawn = []

    def blocks():
        for number in range(199):
            drawn.append(number)
            yield np.array([[1.0]])

    found = compared(np.full(1, 0.5), blocks(), 0.05, Rule(199))
    assert found.early_stopped
    assert found.counts == len(drawn) == 10  # p = 11/200 > 0.05


@pytest.mark.parametrize(
    ("alpha", "n", "most"), [(0.05, 199, 9), (0.05, 19, 0), (0.05, 18, -1), (0.3, 9, 2)]
)
def test_exceedances_allowed(alpha, n, most):
    assert exceedances_allowed(alpha, n) == most


def test_seeds():
    assert seed_of(3) == 3
    assert seed_of(np.int64(3)) == 3
    assert seed_of(np.random.RandomState(0)) == seed_of(np.random.RandomState(0))
    assert seed_of(np.random.default_rng(0)) == seed_of(np.random.default_rng(0))
    assert seed_of(None) != seed_of(None)
    for bad in (-1, 1.5, "0", True):
        with pytest.raises(ValueError, match="'random_state' parameter must be None, an int"):
            seed_of(bad)
