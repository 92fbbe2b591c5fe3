"""Tests of every column: null distributions, shared and not, and the rate over all."""

import hashlib
import json
from itertools import permutations

import naive
import numpy as np
import pandas as pd
import pytest
from conftest import in_order
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import lfilter
from scipy.stats import binom, kstest

import infosieve.significance._relevance_test as module
from infosieve import (
    RelevanceTest,
    mutual_information,
    open_columns,
    relevance,
    relevance_test,
)
from infosieve._executors.threads import Threads
from infosieve._input.scaling import prepare
from infosieve._resampling.nulls import global_permutations
from infosieve.results._relevance_test import ENOUGH
from infosieve.significance import _own

# Few draws are enough for most of what is asked here.
pytestmark = pytest.mark.filterwarnings("ignore:.* was reached by none of its")
ONE = Threads(1)


def same(a, b):
    pd.testing.assert_frame_equal(a.to_frame(), b.to_frame(), check_exact=True)
    assert a.notes == b.notes


def key_of(pattern, seed):
    digest = hashlib.blake2b(repr(pattern).encode(), digest_size=8).digest()
    return seed, "relevance", int.from_bytes(digest, "little")


def mixed(rng, n=80):
    """A table of all kinds of columns: numbers, ties, few values, categories, gaps, constants."""
    X = pd.DataFrame(rng.normal(size=(n, 6)), columns=list("abcdef"))
    X["rounded"] = X["a"].round(1)
    X["counts"] = rng.poisson(0.5, n)
    X["kind"] = rng.choice(["x", "y", "z"], n)
    X["gaps"] = np.where(rng.random(n) < 0.2, np.nan, X["b"])
    X["same"] = 7.0
    return X, X["a"] + np.where(X["kind"] == "x", 1.5, 0.0) + 0.3 * rng.normal(size=n)


# ---- against plain loops


def test_agrees_with_plain_loops(rng):
    n, ks, seed, n_draws = 15, (2, 4), 3, 30
    X = pd.DataFrame(rng.standard_cauchy((n, 3)), columns=list("abc"))
    X["few"] = [0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]
    X["kind"] = list("xxxxxyyyyyzzzzz")
    X, y = in_order(X, X["a"].rank() + rng.normal(size=n))
    how = {"statistic": "ksg", "n_neighbors": ks, "n_permutations": n_draws}
    found = relevance_test(X, y, random_state=seed, **how)

    def column(values, categorical=False):
        scale = "normal-scores"
        values = np.asarray(values, float)[None]
        return prepare(values, np.array([categorical]), scale, 0, ONE).values

    target, nothing = column(y), np.empty((0, n))

    def measured(x, categorical=False):
        flags = [[categorical], [], [False]]
        each = range(ks[0], ks[1] + 1)
        return np.mean(
            [naive.information(x[None], nothing, target, k, categorical=flags) for k in each]
        )

    # One distribution for the columns of numbers without ties: each draw has its permutation.
    template = column(np.arange(n))[0]
    orders = global_permutations(key_of((False, ()), seed), n).draw(0, n_draws)
    null = np.array([measured(template[order]) for order in orders])
    for j in range(3):
        observed = measured(column(X.iloc[:, j])[0])
        b = int((null >= observed - 1e-12).sum())
        np.testing.assert_allclose(found.statistic[j], observed, rtol=0, atol=1e-12)
        assert (found.exceedances[j], found.p_values[j]) == (b, (b + 1) / (n_draws + 1))
        np.testing.assert_allclose(found.chance[j], np.quantile(null, 0.95), atol=1e-12)
    # Their own for the others, up to the twentieth draw that reaches them.
    orders = global_permutations((seed, "relevance", 0), n).draw(0, n_draws)
    for j, values in ((3, X["few"]), (4, pd.factorize(X["kind"])[0])):
        own = column(values, j == 4)[0]
        observed = measured(own, j == 4)
        b = t = 0
        while t < n_draws and b < ENOUGH:
            b += measured(own[orders[t]], j == 4) >= observed - 1e-12
            t += 1
        np.testing.assert_allclose(found.statistic[j], observed, rtol=0, atol=1e-12)
        assert (found.exceedances[j], found.n_draws[j]) == (b, t)
        assert found.p_values[j] == (b / t if b == ENOUGH else (b + 1) / (n_draws + 1))
    assert found.shared.tolist() == [True] * 3 + [False] * 2


def naive_q(p):
    """Benjamini and Hochberg, by the book."""
    return [min(1.0, *(len(p) * v / sum(u <= v for u in p) for v in p if v >= one)) for one in p]


@given(st.lists(st.integers(0, 60), min_size=1, max_size=12), st.sampled_from([0.01, 0.05, 0.3]))
def test_q_values_are_those_of_the_book(b, alpha):
    test = made(exceedances=b, n_draws=[60] * len(b), alpha=alpha)
    np.testing.assert_allclose(test.q_values, naive_q(test.p_values.tolist()), rtol=1e-12)
    # Relevant are the k smallest p-values, for the largest k with p_k <= alpha k / m.
    p = np.sort(test.p_values)
    k = max((i + 1 for i in range(p.size) if p[i] <= alpha * (i + 1) / p.size), default=0)
    assert test.relevant.sum() == k


# ---- one distribution for many columns


def every_arrangement(values, y, **how):
    """The information of all arrangements of a column, sorted."""
    found = [
        mutual_information(np.array(order), y, n_neighbors=2, scale="normal-scores", **how)
        for order in permutations(values)
    ]
    return np.sort(found)


@pytest.mark.parametrize("target", ["number", "class"])
def test_arrangements_of_any_column_without_ties_are_those_of_any_other(rng, target):
    y = rng.normal(size=5) if target == "number" else np.array(list("aabbb"))
    one = every_arrangement(rng.normal(size=5), y)
    other = every_arrangement(rng.standard_cauchy(5) ** 3, y)
    np.testing.assert_array_equal(one, other)
    # Ties make another distribution, and the standard scale one for each column.
    assert not np.array_equal(one, every_arrangement([1, 1, 2, 3, 4], y))
    if target == "number":
        how = {"n_neighbors": 2, "scale": "standard"}
        orders = [np.array(order) for order in permutations([0.0, 1.0, 2.0, 3.0, 50.0])]
        assert not np.array_equal(one, np.sort([mutual_information(o, y, **how) for o in orders]))


def test_arrangements_of_columns_with_the_same_ties_are_the_same(rng):
    y = rng.normal(size=6)
    one = every_arrangement([0, 0, 0, 1, 1, 2], y)
    np.testing.assert_array_equal(one, every_arrangement([-5, -5, -5, 0.1, 0.1, 1e6], y))
    np.testing.assert_array_equal(one, every_arrangement([9, 9, 9, 8, 8, 7], y))  # mirrored
    assert not np.array_equal(one, every_arrangement([0, 0, 1, 1, 1, 2], y))


def test_patterns():
    n = 12
    values = np.array(
        [
            [0] * 6 + [1] * 4 + [2] * 2,
            [2] * 6 + [1] * 4 + [0] * 2,
            [0] * 4 + [1] * 6 + [2] * 2,
            np.arange(n),
        ],
        float,
    )
    numbers = prepare(values, np.zeros(4, bool), "normal-scores", 0, ONE)
    found = list(module._patterns(numbers))
    assert found[0] == found[1] == (False, (2, 4, 6))
    assert found[2] == (False, (2, 6, 4))
    assert found[3] == (False, (1,) * n)
    codes = prepare(values[:3], np.ones(3, bool), None, 0, ONE)
    assert set(module._patterns(codes)) == {(True, (2, 4, 6))}
    for pattern in (found[2], (True, (2, 4, 6))):
        assert list(module._patterns(module._column_of(pattern, n, ONE))) == [pattern]


def test_ties_are_spread_unless_one_value_has_many_samples(rng):
    n = 60
    values = np.array([rng.permutation(n) // 2, np.arange(n) // 13, np.arange(n)], float)
    found = prepare(values, np.zeros(3, bool), "spread-scores", 0, ONE, True)
    kept = prepare(values, np.zeros(3, bool), "normal-scores", 0, ONE)
    assert found.n_distinct.tolist() == [n, 5, n]
    np.testing.assert_array_equal(np.sort(found.values[0]), kept.values[2])
    np.testing.assert_array_equal(found.values[1:], kept.values[1:])
    # No value passes another one.
    order = np.argsort(found.values[0])
    assert (np.diff(values[0][order]) >= 0).all()
    np.testing.assert_array_equal(found.known_order[0], order)
    # Copies, also of another unit, stay copies.
    again = prepare(7.0 * values[:1] + 3, np.zeros(1, bool), "spread-scores", 0, ONE)
    np.testing.assert_array_equal(again.values[0], found.values[0])


def test_information_is_relevance_where_nothing_is_repeated(rng):
    X, y = in_order(*mixed(rng))
    test = relevance_test(X, y, n_permutations=19, random_state=0)
    plain = relevance(X, y, scale="normal-scores", n_neighbors=(3, 25))
    spread = X.columns.get_loc("rounded")
    others = np.delete(np.arange(X.shape[1]), spread)
    np.testing.assert_array_equal(test.information[others], plain.to_numpy()[others])
    ranks = np.argsort(np.argsort(prepared_like(X["rounded"])))
    want = mutual_information(ranks, y, scale="normal-scores", n_neighbors=(3, 25))
    assert test.information[spread] == want != plain.iloc[spread]


def prepared_like(values):
    column = np.asarray(values, float)[None]
    return prepare(column, np.zeros(1, bool), "normal-scores", 0, ONE).values[0]


def test_twenty_columns_of_the_same_ties_share_a_distribution(rng):
    half = np.repeat([0.0, 1.0], 30)
    X = np.array([rng.permutation(half) for _ in range(20)]).T
    y = 2 * X[:, 4] + rng.normal(size=60)
    test = relevance_test(X, y, n_permutations=499, random_state=0)
    assert test.shared.all()
    assert test.relevant[4]
    assert not relevance_test(X[:, :19], y, n_permutations=19, random_state=0).shared.any()
    kinds = pd.DataFrame(np.where(X == 1, "yes", "no"))
    test = relevance_test(kinds, y, n_permutations=499, random_state=0)
    assert test.shared.all()
    assert test.relevant[4]


@pytest.mark.parametrize("kind", ["numbers", "rounded", "halves", "counts"])
def test_p_values_are_uniform_where_nothing_is_relevant(kind):
    """A distribution of other columns, other ties or another K would show."""
    rng = np.random.default_rng(5)
    n, m = 60, 300 if kind == "counts" else 600
    X = rng.normal(size=(n, m))
    if kind == "rounded":
        X = X.round(1)
    elif kind == "halves":
        X = np.array([rng.permutation(np.arange(n) % 2) for _ in range(m)]).T
    elif kind == "counts":
        X = rng.poisson(0.2, (n, m))
    y = rng.normal(size=n)
    test = relevance_test(X, y, n_permutations=999, random_state=1)
    assert test.shared.all() == (kind != "counts")
    p = test.p_values
    if kind != "halves":  # whose information has few values, so that p is larger than uniform
        assert kstest(p, "uniform").pvalue > 0.001
    for level in (0.01, 0.05, 0.2):
        low, high = binom.interval(0.999, m, level)
        passed = (p <= level).sum()
        assert passed <= high
        assert passed >= low or kind == "halves"


def test_uniformity_would_show_a_wrong_distribution(rng):
    """What the test above guards against: the distribution of columns with other ties."""
    X = rng.poisson(0.2, (60, 300))
    y = rng.normal(size=60)
    own = relevance(X, y, scale="normal-scores", n_neighbors=(3, 25))
    other = relevance(rng.normal(size=(60, 999)), y, scale="normal-scores", n_neighbors=(3, 25))
    p = (1 + (other[:, None] >= own).sum(axis=0)) / 1000
    assert kstest(p, "uniform").pvalue < 1e-6


def test_nothing_relevant_is_called_so_rarely():
    wrong = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(40, 20)) + rng.normal(size=(40, 1))
        test = relevance_test(X, rng.normal(size=40), n_permutations=399, random_state=seed)
        wrong += bool(test.relevant.any())
    assert wrong <= binom.ppf(0.999, 60, 0.05)


# ---- distributions of their own


@given(st.integers(0, 2**32), st.lists(st.integers(1, 40), min_size=1, max_size=6))
def test_it_does_not_matter_how_many_draws_come_at_a_time(seed, sizes):
    rng = np.random.default_rng(seed)
    n, m = sum(sizes), 4
    null = rng.integers(0, 5, (n, m)).astype(float)
    columns, observed = np.arange(m), np.array([0.0, 2.0, 4.0, 9.0])
    found = _own.Own(*(np.zeros(m, int) for _ in range(2)), *(np.zeros(m) for _ in range(2)))
    at, some = 0, columns
    for size in sizes:
        part = null[at : at + size][:, some]
        ended = _own._count(found, some, observed[some], part, at, ENOUGH)
        at, some = at + size, some[~ended]
    for j in columns:
        b = t = 0
        while t < n and b < ENOUGH:
            b += null[t, j] >= observed[j]
            t += 1
        assert (found.exceedances[j], found.n_draws[j]) == (b, t)


def test_p_values_of_draws_that_end_early_are_valid():
    """Besag and Clifford: the probability of p <= a is at most a, whatever the number of draws."""
    rng = np.random.default_rng(0)
    m, most = 4000, 199
    u = rng.random(m)  # the share of draws that reach the column: uniform under the null
    reached = np.cumsum(rng.random((most, m)) < u, axis=0)
    enough = reached >= ENOUGH
    ended = enough.any(axis=0)
    t = np.where(ended, enough.argmax(axis=0) + 1, most)
    b = reached[t - 1, np.arange(m)]
    p = made(exceedances=b, n_draws=t, asked=[most] * m, shared=False).p_values
    for level in (0.005, 0.01, 0.05, 0.1, 0.11, 0.2, 0.5, 0.9):
        low, high = binom.interval(0.9999, m, level)
        assert (p <= level).sum() <= high
        if level * (most + 1) == round(level * (most + 1)) and level < 0.1:
            assert (p <= level).sum() >= low
    # What all draws would be divided by is too much for those that ended early.
    assert ((b + 1) / (most + 1) <= 0.2).sum() > binom.ppf(0.9999, m, 0.2)


def test_columns_alone_have_the_permutations_of_permutation_test_whatever_their_company(rng):
    X, y = mixed(rng)
    together = relevance_test(X, y, n_permutations=150, random_state=2).to_frame()
    for name in ("counts", "kind", "gaps"):
        alone = relevance_test(X[[name]], y, n_permutations=150, random_state=2).to_frame()
        row = together[together["feature"] == name].reset_index(drop=True)
        columns = ["statistic", "p_value", "exceedances", "draws", "chance_q95"]
        pd.testing.assert_frame_equal(alone[columns], row[columns])


# ---- what must not matter


def test_threads_and_pieces_do_not_matter(rng, monkeypatch):
    X, y = mixed(rng)
    X = pd.concat([X, pd.DataFrame(rng.poisson(0.5, (80, 12))).add_prefix("n")], axis=1)
    one = relevance_test(X, y, n_permutations=260, random_state=0)
    same(one, relevance_test(X, y, n_permutations=260, random_state=0, n_jobs=3))
    monkeypatch.setattr(_own, "_ROUND", 99 * 4)
    monkeypatch.setattr(module, "_LOOKED_AT", 1)
    same(one, relevance_test(X, y, n_permutations=260, random_state=0, n_jobs=2))


def test_the_order_of_columns_does_not_matter(rng):
    X, y = mixed(rng)
    X = pd.concat([X, pd.DataFrame(rng.integers(0, 2, (80, 25))).add_prefix("n")], axis=1)
    order = rng.permutation(X.shape[1])
    one = relevance_test(X, y, n_permutations=99, random_state=0).to_frame()
    other = relevance_test(X.iloc[:, order], y, n_permutations=99, random_state=0).to_frame()
    pd.testing.assert_frame_equal(one.iloc[order].reset_index(drop=True), other)


def test_p_values_do_not_depend_on_other_columns(rng):
    X, y = rng.normal(size=(50, 30)), rng.normal(size=50)
    whole = relevance_test(X, y, n_permutations=99, random_state=1)
    part = relevance_test(X[:, 3:9], y, n_permutations=99, random_state=1)
    np.testing.assert_array_equal(part.p_values, whole.p_values[3:9])


def test_monotone_changes_of_columns_and_target_do_not_matter(rng):
    X, y = rng.normal(size=(60, 4)).round(1), rng.normal(size=60)
    one = relevance_test(X, y, n_permutations=99, random_state=0)
    same_p = relevance_test(np.exp(3 * X), -2 * y, n_permutations=99, random_state=0)
    np.testing.assert_array_equal(one.statistic, same_p.statistic)
    np.testing.assert_array_equal(one.p_values, same_p.p_values)
    # By other values, rows may have the reverse order: other noise where there are ties.
    X = rng.normal(size=(60, 4))
    one, other = (relevance_test(X, t, n_permutations=99, random_state=0) for t in (y, -(y**3)))
    np.testing.assert_array_equal(one.statistic, other.statistic)


def test_tables_on_disk_give_the_same(rng, tmp_path, monkeypatch):
    X, y = mixed(rng)
    X = pd.concat([X, pd.DataFrame(rng.integers(0, 2, (80, 25))).add_prefix("n")], axis=1)
    X.to_parquet(tmp_path / "x.parquet")
    one = relevance_test(X, y, n_permutations=150, random_state=0)
    monkeypatch.setattr("infosieve._input.lazy_columns.SMALL", 0)
    monkeypatch.setattr("infosieve._input.lazy_columns._BLOCK_BYTES", 8 * 80 * 5)
    source = open_columns(tmp_path / "x.parquet")
    same(one, relevance_test(source, y, n_permutations=150, random_state=0))


@pytest.mark.filterwarnings("ignore:Port .* is already in use")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_workers_give_the_same(rng, forked_workers):
    from distributed import Client, LocalCluster

    X, y = mixed(rng)
    one = relevance_test(X, y, n_permutations=150, random_state=0)
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, silence_logs=50, dashboard_address=":0"
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        other = relevance_test(X, y, n_permutations=150, random_state=0, executor=client)
    same(one, other)


# ---- tables as they are


def test_all_kinds_of_columns(rng):
    X, y = mixed(rng, 200)
    test = relevance_test(X, y, random_state=0)
    frame = test.to_frame().set_index("feature")
    assert list(frame.index) == list(X.columns)
    assert frame.index[frame["relevant"]].tolist() == ["a", "rounded", "kind"]
    assert frame["shared"].to_dict() == {
        name: name not in ("counts", "kind", "gaps", "same") for name in X
    }
    assert frame.loc["same", ["statistic", "p_value", "q_value", "draws"]].tolist() == [
        0,
        1,
        1,
        0,
    ]
    assert (frame.loc[frame["shared"], "smallest_p"] == 1 / 2000).all()
    assert (test.p_values >= test.smallest_p).all()


def test_constant_columns_do_not_count_among_the_many(rng):
    X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    one = relevance_test(X, y, n_permutations=99, random_state=0)
    with_more = np.c_[X, np.ones((50, 40))]
    more = relevance_test(with_more, y, n_permutations=99, random_state=0)
    np.testing.assert_array_equal(one.q_values, more.q_values[:3])
    assert not more.relevant[3:].any()
    nothing = relevance_test(np.ones((50, 2)), y, random_state=0)
    assert nothing.p_values.tolist() == nothing.q_values.tolist() == [1, 1]
    assert nothing.n_needed == 0
    assert nothing.notes == ("2 constant columns were not tested.",)


def test_gaps_that_tell_something_are_found(rng):
    n = 200
    y = rng.normal(size=n)
    X = rng.normal(size=(n, 3))
    X[y > 0.5, 1] = np.nan
    X[rng.random(n) < 0.3, 2] = np.nan
    test = relevance_test(X, y, random_state=0)
    assert test.relevant.tolist() == [False, True, False]
    assert test.shared.tolist() == [True, False, False]
    filled = relevance_test(X, y, missing="median", random_state=0)
    assert filled.shared.tolist() == [True, False, False]  # 30 % have one value


@pytest.mark.parametrize("series", [False, True])
def test_rows_that_belong_together(series):
    """Columns that look relevant where rows are taken as independent, and are not."""
    wrong = {"known": 0, "ignored": 0}
    for seed in range(15):
        rng = np.random.default_rng(seed)
        if series:
            values = lfilter([1], [1, -0.9], rng.normal(size=(400, 6)), axis=0)[200:]
            X, y = values[:, :5], values[:, 5]
            how = {"series": True}
        else:
            groups = np.repeat(np.arange(30), 6)
            X = rng.normal(size=(30, 5))[groups] + 0.3 * rng.normal(size=(180, 5))
            y = rng.normal(size=30)[groups] + 0.3 * rng.normal(size=180)
            how = {"groups": groups}
        known = relevance_test(X, y, n_permutations=199, random_state=seed, **how)
        assert not known.shared.any()
        wrong["known"] += bool(known.relevant.any())
        plain = relevance_test(X, y, n_permutations=199, random_state=seed)
        wrong["ignored"] += bool(plain.relevant.any())
    assert wrong["ignored"] >= 12
    assert wrong["known"] <= binom.ppf(0.999, 15, 0.05)


def test_what_is_known_of_groups_and_changes(rng):
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    test = relevance_test(X, y, groups=np.arange(60) // 3, n_permutations=39, random_state=0)
    assert test.n_parts == 3
    assert test.provenance.parameters["groups"] == 20
    assert any("groups exchange their means" in note for note in test.notes)
    with pytest.warns(UserWarning, match="3 groups can be arranged in"):
        relevance_test(X, y, groups=np.arange(60) // 20, n_neighbors=1, n_permutations=39)


@pytest.mark.parametrize("scale", ["standard", None])
def test_other_scales_share_nothing(rng, scale):
    X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    test = relevance_test(X, y, scale=scale, n_permutations=99, random_state=0)
    assert not test.shared.any()
    want = relevance(X, y, scale=scale, n_neighbors=(3, 25))
    np.testing.assert_array_equal(test.information, want)


def test_classes_and_several_targets(rng):
    X = rng.normal(size=(120, 5))
    y = np.where(X[:, 2] + rng.normal(size=120) > 0, "sick", "well")
    assert relevance_test(X, y, random_state=0).relevant.tolist() == [0, 0, 1, 0, 0]
    both = np.c_[X[:, 0] ** 2, X[:, 3]] + 0.1 * rng.normal(size=(120, 2))
    assert relevance_test(X, both, random_state=0).relevant.tolist() == [1, 0, 0, 1, 0]


def test_identifiers_are_told_and_never_relevant(rng):
    n = 60
    X = pd.DataFrame({"id": [f"no {i}" for i in range(n)], "x": rng.normal(size=n)})
    with pytest.warns(UserWarning, match="as identifiers have"):
        test = relevance_test(X, X["x"] + 0.1 * rng.normal(size=n), random_state=0)
    assert test.p_values[0] == 1
    assert test.relevant.tolist() == [False, True]


# ---- how many draws


def test_enough_draws_for_one_column_of_all():
    of = module._Draws.of
    assert of("auto", 0.05, 10).most == 1999
    for m, alpha in ((20_000, 0.05), (300, 0.01), (7001, 0.1), (1001, 0.05)):
        draws = of("auto", alpha, m).most
        assert m / (draws + 1) <= alpha < m / (draws - 1)
    assert of("auto", 1e-9, 5).most == 10**6  # nobody waits for 10^10
    assert of(333, 0.05, 20_000).most == of(333, 0.05, 9).alone(4000) == 333
    draws = of("auto", 0.05, 20_000)
    assert draws.shared(module._NO_TIES, 3) == 400_000
    assert draws.shared((True, (5, 5)), 2000) == 40_000
    assert draws.shared((True, (5, 5)), 20) == 1999
    assert draws.alone(20_000) == 999
    assert draws.alone(10) == 100_000
    assert draws.alone(1) == 400_000


def test_the_best_possible_column_of_many_is_relevant(rng):
    X = rng.normal(size=(60, 150))
    test = relevance_test(X, X[:, 7], random_state=0)
    assert test.n_draws[7] == 3000
    assert test.exceedances[7] == 0
    assert test.relevant[7]
    assert test.n_needed == 1


def test_p_values_that_are_too_coarse_are_told(rng):
    X = pd.DataFrame(rng.normal(size=(50, 60))).add_prefix("x")
    with pytest.warns(UserWarning, match="column 'x3' of X was reached by none of its 99 ") as told:
        test = relevance_test(X, X["x3"], n_permutations=99, random_state=0)
    assert "n_permutations=1200 would be enough" in str(told[0].message)
    assert not test.relevant.any()
    assert test.n_needed == 12
    assert any("only if 12 columns or more are relevant" in note for note in test.notes)
    two = pd.concat([X, X[["x3"]].add_suffix(" again")], axis=1)
    with pytest.warns(UserWarning, match=r" Nor was 1 other column\. n_permutations="):
        relevance_test(two, X["x3"], n_permutations=99, random_state=0, statistic="ksg")
    again = relevance_test(X, X["x3"], n_permutations=1200, random_state=0)
    assert again.relevant[3]
    assert again.n_needed == 1


# ---- errors, before work begins


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0}, "'alpha' parameter must be a number between 0 and 1"),
        (
            {"n_permutations": 0},
            "'n_permutations' parameter must be 'auto' or an int of at least",
        ),
        ({"n_permutations": "many"}, "'n_permutations' parameter must be 'auto' or an int"),
        ({"n_neighbors": 0}, "'n_neighbors' parameter must be an int"),
        ({"n_neighbors": 30}, "30 samples have only 29"),
        ({"scale": "spread-scores"}, "'scale' parameter must be one of"),
        ({"method": "ksg3"}, "'method' parameter must be one of"),
        ({"missing": "guess"}, "'missing' parameter must be one of"),
        ({"groups": [1, 2]}, "groups"),
        ({"random_state": -1}, "'random_state' parameter"),
        ({"n_jobs": 0}, "'n_jobs' parameter"),
        ({"device": "tpu"}, "'device' parameter"),
    ],
)
def test_errors(rng, options, message):
    with pytest.raises(ValueError, match=message):
        relevance_test(rng.normal(size=(30, 2)), rng.normal(size=30), **options)


def test_one_column_is_no_table(rng):
    with pytest.raises(ValueError, match="X must be a table"):
        relevance_test(rng.normal(size=30), rng.normal(size=30))


# ---- the record


def made(exceedances, n_draws, asked=None, shared=True, alpha=0.05, **more):
    """A record of these counts."""
    n = len(exceedances)
    known = relevance_test(np.arange(12.0)[:, None], np.arange(12.0), n_permutations=3)
    return RelevanceTest(
        features=tuple(range(n)),
        statistic=np.zeros(n),
        alpha=alpha,
        exceedances=exceedances,
        n_draws=n_draws,
        n_draws_asked=n_draws if asked is None else asked,
        shared=np.full(n, shared),
        chance=np.zeros(n),
        provenance=known.provenance,
        **more,
    )


def test_the_record(rng):
    X, y = mixed(rng)
    test = relevance_test(X, y, n_permutations=99, random_state=4)
    assert repr(test) == (
        f"RelevanceTest({test.relevant.sum()} of 11 columns relevant at a false discovery rate "
        "of 0.05)"
    )
    assert test.provenance.code == (
        "from infosieve import relevance_test\n\n"
        "relevance_test(X, y, n_permutations=99, random_state=4)"
    )
    assert not test.statistic.flags.writeable
    text = test.to_json()
    again = RelevanceTest.from_json(text)
    assert again.to_json() == text
    same(test, again)
    assert json.loads(text)["schema"] == "infosieve/relevance-test"
    names = {"X": X, "y": y, "relevance_test": relevance_test}
    same(test, eval(test.provenance.code.splitlines()[-1], names))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"statistic": [0.0]}, r"'statistic' must have the shape \(11,\); it is \(1,\)"),
        ({"chance": [None] * 11}, "damaged"),
        ({"alpha": 2}, r"at `\$.alpha`"),
        ({"exceedances": [-1] * 11}, "out of range"),
        ({"exceedances": [0.5] * 11}, r"at `\$.exceedances`"),
        ({"exceedances": [1000] * 11}, "out of range"),
        ({"shared": [1] * 11}, r"truth values - at `\$.shared`"),
        ({"n_parts": 0}, r"at `\$.n_parts`"),
        ({"features": []}, "'features' must be names"),
        ({"device": 3}, r"at `\$.device`"),
    ],
)
def test_impossible_documents_are_refused(rng, changes, message):
    X, y = mixed(rng)
    document = json.loads(relevance_test(X, y, n_permutations=99, random_state=4).to_json())
    with pytest.raises(ValueError, match=message):
        RelevanceTest.from_json(json.dumps(document | changes))


@pytest.mark.parametrize("m", [1, 5, 45, 1200])
def test_the_page(rng, m, tmp_path):
    X = pd.DataFrame(rng.normal(size=(40, m)), columns=[f"<i>{j}</i>" for j in range(m)])
    test = relevance_test(X, X.iloc[:, 0], n_permutations=50 * m, random_state=0)
    test.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<i>0</i>" not in page
    assert "&lt;i&gt;0&lt;/i&gt;" in page
    drawn = page.partition('id="figures">')[2].partition("</script>")[0]
    figures = json.loads(drawn)
    assert len(figures) == (1 if m <= 30 else 2)
    assert len(figures[0]["data"][0]["x"]) == min(m, 30)
    assert figures[0]["data"][0]["marker"]["color"][0] == "found"
    if m > 30:
        ranks = sorted(rank for trace in figures[1]["data"] for rank in trace["x"])
        assert (ranks[0], ranks[-1]) == (1, m)
        assert len(ranks) <= 400
    assert "evidence" in page
    assert "<i>" not in test._repr_html_()
    assert "informative" in test._repr_html_()


def test_a_page_where_nothing_is_relevant(rng, tmp_path):
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    test = relevance_test(np.c_[X, np.ones(40)], y, n_permutations=30, alpha=1e-3, random_state=0)
    assert "No column of 4 was found to be informative" in test._repr_html_()
    test.report(tmp_path / "page.html")
    nothing = relevance_test(np.ones((40, 40)), y)
    nothing.report(tmp_path / "page.html")
