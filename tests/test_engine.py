"""The fast engine against plain loops, on every search structure and at every switch."""

from dataclasses import replace

import naive
import numpy as np
import pytest
from conftest import KINDS, make_batch
from hypothesis import example, given
from hypothesis import strategies as st

from infosieve._scale import prepare
from infosieve._types import Batch
from infosieve.engines.numba import engine as numba_engine
from infosieve.estimate.mixed import score
from infosieve.executors.threads import Threads
from infosieve.resample import copies

ENGINE = numba_engine.NumbaEngine()
ONE = Threads(1)

# What forces a path: constants of the engine, as it would choose them at other sizes.
PATHS = {
    "as chosen": {},
    "lists": {"_sharing_pays": lambda batch: True},
    "short lists": {
        "_sharing_pays": lambda batch: True,
        "_list_lengths": lambda n, batch: (3, 2),
    },
    "trees": {"_sharing_pays": lambda batch: False},
    "narrow strips": {"_strip_width": lambda n, k, n_distinct: 16},
}


@pytest.fixture(params=PATHS)
def path(request, monkeypatch):
    for name, value in PATHS[request.param].items():
        monkeypatch.setattr(numba_engine, name, value)
    return request.param


def expected(batch, ks):
    flags = (batch.candidates.categorical, batch.selected.categorical, batch.target.categorical)
    return np.array(
        [
            [
                naive.information(
                    batch.candidates.values[j : j + 1],
                    batch.selected.values,
                    batch.target.values,
                    k,
                    batch.criterion,
                    batch.estimator,
                    batch.metric,
                    ([flags[0][j]], flags[1], flags[2]),
                )
                for k in range(ks[0], ks[1] + 1)
            ]
            for j in range(batch.n_candidates)
        ]
    )


METHODS = [("mi", "ksg1"), ("mi", "ksg2"), ("cmi", "ksg1"), ("gain", "ksg1")]


@pytest.mark.parametrize("metric", ["euclidean", "chebyshev"])
@pytest.mark.parametrize(("criterion", "estimator"), METHODS)
@pytest.mark.parametrize("n_selected", range(6))
def test_agrees_with_the_plain_loop(path, metric, criterion, estimator, n_selected):
    for n, n_targets, ks in ((2, 1, (1, 1)), (9, 2, (1, 8)), (60, 1, (3, 10)), (61, 2, (2, 4))):
        batch = make_batch(
            ["normal"] * 3,
            ["normal"] * n_selected,
            ["normal"] * n_targets,
            n,
            n_selected,
            criterion=criterion,
            estimator=estimator,
            metric=metric,
            n_neighbors=ks,
        )
        fast = ENGINE.score(batch, ONE)[0]
        np.testing.assert_allclose(fast, expected(batch, ks), rtol=0, atol=1e-12)


@pytest.mark.parametrize("path_name", PATHS)
@given(
    x=st.lists(st.sampled_from(KINDS), min_size=1, max_size=3),
    s=st.lists(st.sampled_from(KINDS), max_size=3),
    y=st.lists(st.sampled_from(KINDS), min_size=1, max_size=2),
    n=st.integers(2, 40),
    seed=st.integers(0, 10**6),
    lo=st.integers(1, 4),
    more=st.integers(0, 6),
    method=st.sampled_from(METHODS),
    metric=st.sampled_from(["euclidean", "chebyshev"]),
)
@example(["category"], [], ["category"], 30, 0, 3, 7, ("mi", "ksg1"), "euclidean")
@example(["category"], ["category"], ["category"], 30, 0, 3, 7, ("cmi", "ksg1"), "euclidean")
@example(["binary"], ["binary"], ["binary"], 40, 0, 3, 7, ("mi", "ksg2"), "euclidean")
@example(["category"], ["normal"], ["category"], 12, 1, 1, 6, ("mi", "ksg1"), "chebyshev")
def test_agrees_with_ties_and_categories(path_name, x, s, y, n, seed, lo, more, method, metric):
    lo = min(lo, n - 1)
    ks = (lo, min(lo + more, n - 1))
    batch = make_batch(
        x, s, y, n, seed, criterion=method[0], estimator=method[1], metric=metric, n_neighbors=ks
    )
    with pytest.MonkeyPatch.context() as patch:
        for name, value in PATHS[path_name].items():
            patch.setattr(numba_engine, name, value)
        fast = score(batch, ENGINE, ONE).nats[0]
    np.testing.assert_allclose(fast, expected(batch, ks), rtol=0, atol=1e-12)


@pytest.mark.parametrize("n", [1000, 3000])
@pytest.mark.parametrize("kinds", [["normal"], ["integers"], ["binary"], ["heavy"]])
@pytest.mark.parametrize("estimator", ["ksg1", "ksg2"])
def test_agrees_for_thousands_of_samples_in_the_plane(n, kinds, estimator):
    batch = make_batch(kinds, [], ["normal"], n, 7, n_neighbors=(4, 5), estimator=estimator)
    fast = ENGINE.score(batch, ONE)[0]
    np.testing.assert_allclose(fast, expected(batch, (4, 5)), rtol=0, atol=1e-12)


@pytest.mark.parametrize("n", [2047, 2049])
@pytest.mark.parametrize("criterion", ["mi", "cmi", "gain"])
def test_agrees_for_thousands_of_samples_in_sets(n, criterion, monkeypatch):
    batch = make_batch(
        ["normal"] * 4,
        ["normal", "rounded"],
        ["normal"],
        n,
        8,
        criterion=criterion,
        n_neighbors=(5, 5),
    )
    want = expected(batch, (5, 5))
    for pays in (True, False):
        monkeypatch.setattr(numba_engine, "_sharing_pays", lambda batch, pays=pays: pays)
        np.testing.assert_allclose(ENGINE.score(batch, ONE)[0], want, rtol=0, atol=1e-12)


def test_what_is_chosen():
    """Many candidates share lists; few, or few dimensions and many samples, have trees."""

    def pays(n_candidates, n_selected, n):
        return numba_engine._sharing_pays(
            make_batch(["normal"] * n_candidates, ["normal"] * n_selected, ["normal"], n, 0)
        )

    assert pays(20, 4, 100)
    assert pays(20, 4, 3000)
    assert not pays(1, 4, 100)
    assert not pays(1, 4, 3000)
    assert not pays(10, 1, 5000)
    assert not pays(40, 4, numba_engine.MAX_ROWS + 1)


@pytest.mark.parametrize("metric", ["euclidean", "chebyshev"])
@pytest.mark.parametrize(("criterion", "estimator"), METHODS)
def test_all_structures_give_the_same_bits(monkeypatch, metric, criterion, estimator):
    batch = make_batch(
        ["normal", "rounded", "heavy", "binary", "normal"],
        ["normal", "integers"],
        ["normal"],
        500,
        3,
        criterion=criterion,
        estimator=estimator,
        metric=metric,
    )
    reference = ENGINE.score(batch, ONE)
    for constants in PATHS.values():
        with monkeypatch.context() as patch:
            for name, value in constants.items():
                patch.setattr(numba_engine, name, value)
            np.testing.assert_array_equal(ENGINE.score(batch, ONE), reference)


@pytest.mark.parametrize("n_selected", [0, 3])
@pytest.mark.parametrize("n_candidates", [1, 5, 40])
def test_threads_and_chunks_change_nothing(monkeypatch, n_selected, n_candidates):
    batch = make_batch(
        ["normal"] * n_candidates, ["rounded"] * n_selected, ["normal"], 300, 5, n_neighbors=(2, 6)
    )
    reference = ENGINE.score(batch, ONE)
    for n_jobs in (2, 3):
        np.testing.assert_array_equal(ENGINE.score(batch, Threads(n_jobs)), reference)
    monkeypatch.setattr(
        numba_engine, "_chunks", lambda n, size: [slice(i, i + 1) for i in range(n)]
    )
    np.testing.assert_array_equal(ENGINE.score(batch, Threads(2)), reference)


def test_a_range_of_k_is_each_k_in_one_search(path):
    batch = make_batch(["normal"] * 4, ["normal"], ["normal"], 80, 6, n_neighbors=(2, 9))
    together = ENGINE.score(batch, ONE)[0]
    for k in range(2, 10):
        single = make_batch(["normal"] * 4, ["normal"], ["normal"], 80, 6, n_neighbors=(k, k))
        np.testing.assert_array_equal(ENGINE.score(single, ONE)[0][:, 0], together[:, k - 2])


@pytest.mark.parametrize("kinds", [["normal", "rounded"] * 3, ["category", "normal", "binary"]])
@pytest.mark.parametrize("selected", [[], ["normal"]])
@pytest.mark.parametrize(
    ("n", "n_parts", "ks"), [(60, 3, (1, 4)), (60, 20, (2, 11)), (9, 9, (1, 7))]
)
def test_samples_without_a_part_are_scored_as_if_alone(kinds, selected, n, n_parts, ks):
    batch = make_batch(kinds, selected, ["normal"], n, 9, n_neighbors=ks)
    parts = np.random.default_rng(0).permutation(n) % n_parts
    scores = score(replace(batch, parts=parts), ENGINE, ONE).nats
    assert scores.shape == (n_parts, len(kinds), ks[1] - ks[0] + 1)
    for part, one in enumerate(scores):
        rows = np.flatnonzero(parts != part)
        np.testing.assert_array_equal(score(batch.rows(rows), ENGINE, ONE).nats[0], one)


def test_neighbours_that_all_belong_to_one_part():
    """More of one part near a point than any spare list holds: the search must go on."""
    rng = np.random.default_rng(2)
    x = np.concatenate([rng.normal(0, 1e-3, 30), rng.normal(5, 1, 70)])
    y = np.concatenate([rng.normal(0, 1e-3, 30), rng.normal(5, 1, 70)])
    parts = np.concatenate([np.zeros(30, int), rng.integers(1, 10, 70)])
    prepared = [prepare(v[None], np.zeros(1, bool), "standard", 0, ONE) for v in (x, y)]
    batch = Batch(prepared[0], prepared[0].take([]), prepared[1], n_neighbors=(2, 12))
    together = ENGINE.score(replace(batch, parts=parts), ONE)
    for part, one in enumerate(together):
        rows = np.flatnonzero(parts != part)
        np.testing.assert_array_equal(ENGINE.score(batch.rows(rows), ONE)[0], one)


def test_permuted_copies_are_scored_as_columns_of_their_own(rng):
    batch = make_batch(["rounded"], ["normal"], ["normal"], 70, 10, n_neighbors=(3, 5))
    orders = np.array([rng.permutation(70) for _ in range(20)])
    permuted = copies(batch.candidates, orders)
    np.testing.assert_array_equal(permuted.values, batch.candidates.values[0][orders])
    scores = ENGINE.score(replace(batch, candidates=permuted), ONE)[0]
    assert scores.shape == (20, 3)
    want = expected(replace(batch, candidates=permuted.take([7])), (3, 5))
    np.testing.assert_allclose(scores[7:8], want, rtol=0, atol=1e-12)


@pytest.mark.parametrize("criterion", ["mi", "cmi", "gain"])
def test_candidates_of_several_columns(criterion):
    rng = np.random.default_rng(1)
    from conftest import columns

    x, s, y = (
        columns(["normal"] * 4, 50, rng),
        columns(["normal"], 50, rng),
        columns(["normal"], 50, rng),
    )
    batch = Batch(x, s, y, criterion, n_neighbors=(3, 3), width=2)
    for j, got in enumerate(ENGINE.score(batch, ONE)[0]):
        pair = x.values[2 * j : 2 * j + 2]
        want = naive.information(pair, s.values, y.values, 3, criterion)
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)


def test_exact_duplicates_at_distance_zero():
    # Noise keeps samples apart, but an engine may still be given equal ones.
    from infosieve._types import Batch, Columns

    rng = np.random.default_rng(2)
    values = rng.integers(0, 2, (7, 40)).astype(float)

    def raw(rows):
        flags = np.zeros(len(rows), bool)
        return Columns(values[rows], flags, np.full(len(rows), 2))

    for s in ([], [5], [4, 5]):
        for criterion, estimator in METHODS:
            batch = Batch(
                raw([0, 1, 2, 3]), raw(s), raw([6]), criterion, estimator, "euclidean", (1, 12)
            )
            np.testing.assert_allclose(
                ENGINE.score(batch, ONE)[0], expected(batch, (1, 12)), rtol=0, atol=1e-12
            )
            one = batch.only(np.array([1]))
            np.testing.assert_allclose(
                ENGINE.score(one, ONE)[0], expected(one, (1, 12)), rtol=0, atol=1e-12
            )


def test_a_block_of_zero_extent():
    # With KSG2 a categorical target has a rectangle of no height, which is not distance zero.
    batch = make_batch(["normal"] * 4, ["normal"], ["category"], 30, 4, estimator="ksg2")
    assert_same = np.testing.assert_allclose
    assert_same(ENGINE.score(batch, ONE)[0], expected(batch, (3, 10)), rtol=0, atol=1e-12)
    one = batch.only(np.array([0]))
    assert_same(ENGINE.score(one, ONE)[0], expected(one, (3, 10)), rtol=0, atol=1e-12)


def test_outliers_among_several_targets():
    # All other distances fall into one cell of the lists' counting sort.
    batch = make_batch(["normal"] * 4, ["normal"], ["normal"] * 2, 300, 11, n_neighbors=(3, 4))
    for part in (batch.selected, batch.target):
        part.values[0, 7] = 1e6
    for criterion in ("mi", "cmi", "gain"):
        changed = replace(batch, criterion=criterion)
        np.testing.assert_allclose(
            ENGINE.score(changed, ONE)[0], expected(changed, (3, 4)), rtol=0, atol=1e-12
        )


def test_conditional_rectangles_are_refused():
    with pytest.raises(ValueError, match="ksg1"):
        make_batch(["normal"], ["normal"], ["normal"], 9, 0, criterion="cmi", estimator="ksg2")
