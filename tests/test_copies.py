"""Copies that keep what the selected columns foretell: against plain loops, and what must hold."""

import naive
import numpy as np
import pytest
from conftest import columns
from hypothesis import given
from hypothesis import strategies as st

from infosieve import permutation_test
from infosieve.copies import _TASK
from infosieve.executors.threads import Threads
from infosieve.resample import local_permutations

KEY = (7, "test", 0)
KINDS = st.sampled_from(["normal", "heavy", "binary", "category"])


def copies(candidates, selected, n_permutations, metric="euclidean", threads=1):
    permutations = local_permutations(KEY, selected, metric)
    drawn = permutations.draw(0, n_permutations)
    return drawn, permutations.copies(candidates, drawn, Threads(threads))


@given(
    n=st.integers(2, 60),
    x=KINDS,
    s=st.lists(KINDS, min_size=1, max_size=4),
    metric=st.sampled_from(["euclidean", "chebyshev"]),
    seed=st.integers(0, 1000),
)
def test_copies_are_those_of_plain_loops(n, x, s, metric, seed):
    rng = np.random.default_rng(seed)
    candidates, selected = columns([x, "normal"], n, rng), columns(s, n, rng)
    drawn, found = copies(candidates, selected, 3, metric)
    assert found.n_columns == 6
    for p, order in enumerate(drawn):
        for j, (column, categorical) in enumerate(
            zip(candidates.values, candidates.categorical, strict=True)
        ):
            copy = found.values[2 * p + j]
            assert found.categorical[2 * p + j] == categorical
            np.testing.assert_array_equal(np.sort(copy), np.sort(column))
            how = selected.values, selected.categorical, order, metric
            want = column[order] if categorical else naive.copy_beside(column, *how)
            np.testing.assert_array_equal(copy, want)


def test_what_a_plane_foretells_stays_where_it_is():
    rng = np.random.default_rng(0)
    selected = columns(["normal"] * 3, 200, rng)
    exact = columns(["normal"], 200, rng)
    exact.values[0] = selected.values.T @ [1.0, -2.0, 0.5]
    planes = local_permutations(KEY, selected, "euclidean").planes
    left = exact.values[0] - planes.foretold(exact.values)[0]
    assert np.abs(left).max() < 0.1 * exact.values.std()  # what the ridge leaves
    near = copies(exact, selected, 20)[1].values
    plain = exact.values[0][copies(exact, selected, 20)[0]]
    assert np.corrcoef(near, exact.values)[-1, :-1].min() > 0.998
    assert np.corrcoef(plain, exact.values)[-1, :-1].max() < 0.97


def test_noise_keeps_its_size_and_loses_its_place():
    """Of noise that the selected columns know nothing of, a share of 1 / 6 stays."""
    rng = np.random.default_rng(1)
    selected, noise = columns(["normal"] * 3, 500, rng), columns(["normal"] * 8, 500, rng)
    permutations = local_permutations(KEY, selected, "euclidean")
    planes = permutations.planes
    np.testing.assert_allclose(planes.weights.sum(axis=1), 1, rtol=0, atol=1e-12)
    left = (noise.values - planes.foretold(noise.values)) / planes.spread
    np.testing.assert_allclose(left.std(axis=1), 1, atol=0.05)
    found = permutations.copies(noise, permutations.draw(0, 30), Threads(1)).values
    pairs = zip(found, np.tile(noise.values, (30, 1)), strict=True)
    kept = [np.corrcoef(*pair)[0, 1] for pair in pairs]
    assert 0.15 < np.mean(kept) < 0.4  # a sixth by the plane, an eighth of the rest by chance


@pytest.mark.parametrize("n", [40, _TASK // 16])
def test_tasks_and_threads_change_nothing(n):
    rng = np.random.default_rng(2)
    kinds = ["normal", "category", "binary", "heavy", "normal"]
    candidates, selected = columns(kinds, n, rng), columns(["normal", "category"], n, rng)
    drawn, together = copies(candidates, selected, 19, threads=3)
    permutations = local_permutations(KEY, selected, "euclidean")
    for p in (0, 7, 18):
        for j in range(5):
            alone = permutations.copies(candidates.take([j]), drawn[[p]], Threads(1))
            np.testing.assert_array_equal(together.values[5 * p + j], alone.values[0])


def test_samples_that_coincide_and_columns_that_repeat():
    """The plane has nothing to stand on: a ridge and a mean must do, without a warning."""
    rng = np.random.default_rng(3)
    x, point = columns(["normal"], 30, rng), columns(["normal"], 30, rng)
    point.values[0, :15] = 0.0
    twice = point.beside(point)
    copy = copies(x, twice, 5)[1]
    assert np.isfinite(copy.values).all()
    np.testing.assert_array_equal(np.sort(copy.values), np.sort(np.tile(x.values, (5, 1))))


@pytest.mark.parametrize("criterion", ["mi", "cmi"])
def test_a_close_copy_does_not_pass_beside_three_selected_columns(criterion):
    """Values exchanged among the near let nearly all of these through."""
    passed = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        s = rng.normal(size=(100, 3))
        y = np.sin(2 * s[:, 0]) + 0.5 * s[:, 1] + 0.3 * rng.normal(size=100)
        X = np.c_[s[:, 0] + 0.2 * rng.normal(size=100), s]
        how = {"null": "local", "criterion": criterion, "n_permutations": 39}
        test = permutation_test(X, y, 0, selected=[1, 2, 3], random_state=seed, **how)
        passed += test.p_value <= 0.05
    assert passed <= 9  # at 5 %, more than nine happen once in 1,400 times
