"""Rows that belong together: groups and series."""

import warnings
from collections import Counter
from dataclasses import replace

import naive
import numpy as np
import pandas as pd
import pytest
from conftest import columns
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import lfilter
from sklearn import config_context
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline

from infosieve import (
    FeatureClustering,
    MISelector,
    choose_k,
    mutual_information,
    permutation_test,
    relevance,
    relevance_test,
)
from infosieve._core.settings import Settings
from infosieve._core.types import GAP
from infosieve._engines.numba.series import autoregression, persistence
from infosieve._executors.threads import Threads
from infosieve._input.problem import Prepared, open_problem
from infosieve._input.series import changes, is_non_stationary
from infosieve._input.together import Together, period_of, predicted_by_place
from infosieve._resampling.layout import alike, laid_out
from infosieve._resampling.nulls import LocalNull, global_permutations
from infosieve._resampling.permutations import random_folds
from infosieve._resampling.surrogates import Series, Surrogates
from infosieve._resampling.surrogates import _draw_gaps as gone_on
from infosieve._scoring.jobs import Scoring
from infosieve.results import SelectionResult

KEY = (0, "test", 0)


def grouped(sizes, seed=0, share=0.7, effect=0.0):
    """Two columns and a target with effects of groups in all of them."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(len(sizes)), sizes)

    def noise():
        own = rng.normal(size=groups.size)
        return np.sqrt(share) * rng.normal(size=len(sizes))[groups] + np.sqrt(1 - share) * own

    x, s, y = noise(), noise(), noise()
    return np.c_[x, s], y + effect * x, groups


def autoregressive(phi, n, rng):
    return lfilter([1], [1, -phi], rng.normal(size=n + 500))[-n:]


def prepared_of(kinds, n, together, given=(), seed=0):
    rng = np.random.default_rng(seed)
    x, target, condition = (columns(k, n, rng) for k in (kinds, ["normal"], given))
    return Prepared(x=x, target=target, given=condition, together=together)


def of_groups(groups):
    """Groups whose rows were passed as they are here."""
    return Together(groups, places=np.arange(len(groups)))


@given(
    sizes=st.lists(st.integers(1, 9), min_size=2, max_size=12),
    max_samples=st.sampled_from([None, 50]),
    seed=st.integers(0, 99),
)
def test_a_part_has_one_row_of_each_group(sizes, max_samples, seed):
    groups = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    moved, layout = laid_out(prepared_of(["normal"], groups.size, of_groups(groups)), max_samples)
    n_slots, n_groups = layout.slots
    assert n_groups == len(sizes)
    used = [np.minimum(sizes, n).sum() for n in range(n_slots + 1)]
    assert used[n_slots] >= 0.9 * groups.size > used[n_slots - 1]
    at = groups[layout.rows].reshape(n_slots, n_groups)
    assert (at == at[0]).all()
    assert np.unique(at[0]).size == n_groups
    times = np.bincount(layout.rows, minlength=groups.size)
    if len(set(sizes)) == 1:
        assert (times == 1).all()
    places = layout.rows.reshape(n_slots, n_groups)
    for group in range(n_groups):  # rows of a group are used evenly
        assert np.ptp(times[groups == group]) <= 1
    assert moved.target.n_samples == n_slots * n_groups
    drawn = global_permutations(KEY, moved.target.n_samples, layout).draw(0, 5)
    for order in drawn:
        assert np.array_equal(np.sort(order), np.arange(order.size))
        from_group = at.ravel()[order].reshape(n_slots, n_groups)
        assert (from_group == from_group[0]).all()  # a group receives the rows of one group
        assert np.unique(from_group[0]).size == n_groups
        received = layout.rows[order].reshape(n_slots, n_groups)
        for group in range(n_groups):  # by place: the first rows for the first
            by_place = np.argsort(places[:, group], kind="stable")
            assert (np.diff(received[by_place, group]) >= 0).all()


def test_who_meets_whom_is_random():
    """In each slot rows of all places, where the first rows of all groups had met."""
    groups = np.repeat(np.arange(200), 4)
    _, layout = laid_out(prepared_of(["normal"], 800, of_groups(groups)), None)
    places = layout.rows.reshape(4, 200) % 4
    counts = np.array([np.bincount(slot, minlength=4) for slot in places])
    assert (counts.sum(axis=0) == 200).all()
    assert (counts > 25).all()


@pytest.mark.parametrize("missing", [False, True])
def test_the_order_of_rows_of_groups_changes_no_estimate(missing):
    X, y, groups = grouped([1, 7, 3, 9, 2, 5] * 6, effect=0.5)
    if missing:
        X[np.random.default_rng(2).random(X.shape) < 0.2] = np.nan
    order = np.random.default_rng(1).permutation(groups.size)
    here = relevance(X, y, groups=groups)
    assert (relevance(X[order], y[order], groups=groups[order]) == here).all()
    given = {"given": [1], "groups": groups, "n_permutations": 19, "random_state": 0}
    one = permutation_test(X, y, 0, **given)
    other = permutation_test(X[order], y[order], 0, **given | {"groups": groups[order]})
    assert one.observed == other.observed
    assert np.median(one.null) == pytest.approx(np.median(other.null), abs=0.2)


def test_selections_from_rows_in_other_orders_agree():
    """Where the first rows of all groups met, and the second, another order was another sample."""
    rng = np.random.default_rng(5)
    sizes = np.minimum(rng.geometric(0.16, 120), 16)
    groups = np.repeat(np.arange(120), sizes)
    X = rng.normal(size=(groups.size, 6)) + rng.normal(size=(120, 6))[groups]
    y = X[:, 0] + 0.6 * X[:, 1] + 0.5 * X[:, 2] + rng.normal(size=groups.size)
    found = []
    for number in range(6):
        order = np.random.default_rng(number).permutation(groups.size)
        selector = MISelector(random_state=0).fit(X[order], y[order], groups=groups[order])
        found.append(frozenset(selector.selected_.tolist()))
    assert len(set(found)) <= 2
    assert all({0, 1} <= some for some in found)


def test_groups_of_like_size_are_exchanged():
    sizes = np.repeat([1, 2, 3, 30], [25, 4, 20, 3])
    groups = np.repeat(np.arange(52), sizes)
    _, layout = laid_out(prepared_of(["normal"], groups.size, of_groups(groups)), None)
    of_group = sizes[groups[layout.rows][:52]]
    assert (layout.sizes == of_group).all()
    like = alike(of_group)
    found = [sorted(set(of_group[like == label])) for label in range(like.max() + 1)]
    assert found == [[1], [2, 3, 30]]
    drawn = global_permutations(KEY, layout.rows.size, layout).draw(0, 5)
    assert (like[drawn[:, :52] % 52] == like).all()
    kinds = np.arange(52) % 2  # in each category by themselves
    like = alike(of_group, kinds)
    for label in range(like.max() + 1):
        assert np.unique(kinds[like == label]).size == 1
        assert (like == label).sum() >= 5


def test_many_groups_are_cut_into_parts_of_some():
    groups = np.repeat(np.arange(500), 2)
    _, layout = laid_out(prepared_of(["normal"], 1000, of_groups(groups)), 100)
    assert layout.slots == (2, 500)
    assert np.diff(layout.edges).tolist() == [100] * 10
    part = [groups[layout.rows[a:b]] for a, b in zip(layout.edges, layout.edges[1:], strict=False)]
    assert all(np.unique(p).size == p.size for p in part)
    assert layout.n_used(1000) == 1000


@pytest.mark.parametrize("condition", [False, True])
def test_an_estimate_is_the_mean_over_parts_of_the_plain_loop(condition):
    X, y, groups = grouped([3] * 12)
    X, y = (X - X.mean(0)) / X.std(0), (y - y.mean()) / y.std()
    how = {"condition": X[:, 1:], "criterion": "cmi"} if condition else {}
    found = mutual_information(X[:, 0], y, n_neighbors=3, groups=groups, **how)
    problem = open_problem(X, y, Settings(), groups=groups)
    rows = laid_out(problem.prepare("standard", Threads(1)), None)[1].rows
    each = []
    for part in problem.rows[rows].reshape(3, 12):
        s = X[part, 1:].T if condition else X[part, :0].T
        each.append(naive.information(X[part, :1].T, s, y[None, part], 3, "gain"))
    assert found == pytest.approx(np.mean(each), abs=1e-9)


@pytest.mark.parametrize("kinds", [["normal"], ["normal", "category"], ["category"], ["gaps"]])
def test_given_columns_rows_of_a_group_move_together_and_do_not_fit_each_other(kinds):
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(15), rng.integers(1, 6, 15))
    prepared = prepared_of(["normal"], groups.size, of_groups(groups), kinds)
    moved, layout = laid_out(prepared, None)
    drawn = LocalNull(seed=0, metric="euclidean", layout=layout).permutations(KEY, moved.given)
    own = groups[layout.rows]
    n_slots, n_groups = layout.slots
    for order in drawn.draw(0, 4):
        assert np.array_equal(np.sort(order), np.arange(order.size))
        moved_groups = own[order].reshape(n_slots, n_groups)
        assert (moved_groups == moved_groups[0]).all()
    fits = drawn.fits
    itself = fits.near == np.arange(len(fits.near))[:, None]
    used = fits.weights != 0
    same = own[fits.near] == own[:, None]
    assert not (same & ~itself & used).any()
    np.testing.assert_allclose(fits.weights.sum(axis=1), 1, atol=1e-9)


def test_categories_that_groups_have_are_strata_of_groups():
    groups = np.repeat(np.arange(20), 3)
    prepared = prepared_of(["normal"], 60, of_groups(groups), ["category"])
    prepared.given.values[0] = np.repeat(np.arange(20) % 3 * 1e200, 3)
    moved, layout = laid_out(prepared, None)
    drawn = LocalNull(seed=0, metric="euclidean", layout=layout).permutations(KEY, moved.given)
    assert drawn.fits is None
    labels = moved.given.values[0]
    for order in drawn.draw(0, 5):
        assert np.array_equal(labels[order], labels)


@pytest.mark.parametrize("statistic", ["combined", "ksg"])
def test_groups_of_one_category_are_exchanged_with_those_of_like_size(statistic):
    """Else rows of small groups met many others: 15 % passed at 5 %."""
    passed = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        groups = np.repeat(np.arange(60), rng.choice([1, 41], 60))
        kind = rng.choice(["a", "b"], 60)[groups]
        X = pd.DataFrame({"x": rng.normal(size=groups.size), "kind": kind})
        y = rng.normal(size=groups.size) + 0.7 * (kind == "a")
        how = {"groups": groups, "n_permutations": 19, "random_state": seed}
        test = permutation_test(X, y, "x", given="kind", statistic=statistic, **how)
        passed += test.p_value <= 0.05
    assert passed <= 10  # 5 are expected; more than 10 in 1 % of the cases


def test_groups_of_one_row_are_no_groups():
    X, y, _ = grouped([1] * 80, effect=0.8)
    plain = MISelector(random_state=0).fit(X, y)
    alone = MISelector(random_state=0).fit(X, y, groups=np.arange(80))
    assert alone.selected_.tolist() == plain.selected_.tolist() == [0]
    np.testing.assert_allclose(alone.relevance_, plain.relevance_, atol=1e-12)


def test_a_search_with_groups_by_public_calls():
    X, y, groups = grouped([4] * 50, effect=0.8)
    table = pd.DataFrame(np.c_[X, X[:, 0] + X[:, 1]], columns=["a", "b", "c"])
    y = y + table["b"]
    labels = np.array([f"patient {g}" for g in groups])
    selector = MISelector(random_state=0).fit(table, y, groups=labels)
    path = selector.path_
    assert selector.result_.n_parts == 4
    assert any("50 groups" in note for note in selector.result_.notes)
    assert selector.result_.provenance.code.endswith(".fit(X, y, groups=groups)")
    first, second = path["feature"][:2]
    how = {"n_neighbors": (3, 15), "groups": groups}
    assert mutual_information(table[first], y, **how) == path["mi"][0]
    assert relevance(table, y, **how)[first] == path["mi"][0]
    gain = mutual_information(table[second], y, condition=table[first], criterion="cmi", **how)
    assert gain == path["gain"][1]
    rest = [name for name in table if name != first]
    test = permutation_test(
        table, y, rest, given=first, alpha=path["level"][1], random_state=0, groups=groups
    )
    assert tuple(np.ravel(test.null)) == selector.result_.steps[1].null
    again = MISelector(random_state=0, n_jobs=2).fit(table, y, groups=groups)
    assert again.result_.steps == selector.result_.steps
    assert again.result_.provenance.data == selector.result_.provenance.data
    plain = MISelector(random_state=0).fit(table, y)
    assert plain.result_.provenance.data != selector.result_.provenance.data


# Levels are those of both statistics.
BOTH = pytest.mark.parametrize("statistic", ["combined", "ksg"])


@BOTH
@pytest.mark.parametrize("sizes", [[5] * 30, [1, 9] * 15])
def test_effects_of_groups_do_not_pass(sizes, statistic):
    """Without groups, 29 and 37 of these pass."""
    passed = 0
    for seed in range(40):
        X, y, groups = grouped(sizes, seed, share=0.9)
        how = {"n_permutations": 39, "random_state": seed, "statistic": statistic}
        passed += permutation_test(X, y, 0, groups=groups, **how).p_value <= 0.05
    assert passed <= 7  # at 5 %, more than seven happen once in 600 times


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_groups_of_many_sizes_exchange_row_for_row(share):
    """Rows of small groups stand at several places: if all of these counted, 15 to 20 % passed."""
    passed = 0
    for seed in range(100):
        sizes = np.random.default_rng([seed, 1]).integers(2, 31, 20)
        X, y, groups = grouped(sizes.tolist(), seed, share=share)
        how = {"n_permutations": 39, "random_state": seed}
        passed += permutation_test(X, y, 0, groups=groups, **how).p_value <= 0.05
    assert passed <= 11  # at 5 %, more in 0.4 % of the cases


def test_what_groups_may_be():
    X, y, groups = grouped([3] * 10)
    with pytest.raises(ValueError, match="has 29 labels for 30 samples"):
        relevance(X, y, groups=groups[1:])
    with pytest.raises(ValueError, match="single group, 'p': rows of one group are not compared"):
        MISelector().fit(X, y, groups=["p"] * 30)
    missing = [None, *groups[1:]]
    with pytest.raises(ValueError, match=r"no label in row 0 \(1 of 30 are missing\)"):
        relevance(X, y, groups=missing)
    with pytest.raises(ValueError, match="pass one of them"):
        relevance(X, y, groups=groups, series=True)
    with pytest.raises(ValueError, match="'series' parameter must be False, True"):
        relevance(X, y, series=0)
    with pytest.raises(ValueError, match="Pass 3 or less, or True"):
        relevance(X, y, series=7)
    for labels in (groups.tolist(), pd.Series(groups).astype("category"), groups.astype(str)):
        np.testing.assert_array_equal(
            relevance(X, y, groups=labels), relevance(X, y, groups=groups)
        )
    left = np.where(groups > 0, np.nan, y)
    with (
        pytest.raises(ValueError, match="single group among the samples that are used"),
        pytest.warns(UserWarning, match="left out"),
    ):
        relevance(X, left, groups=groups)


def test_too_few_arrangements_are_told():
    X, y, groups = grouped([10] * 4)
    with pytest.warns(UserWarning, match="4 groups can be arranged in 24 different ways"):
        permutation_test(X, y, 0, groups=groups, alpha=0.01, statistic="ksg")
    permutation_test(X, y, 0, groups=groups, alpha=0.01)  # with signs of groups there are more
    with pytest.warns(UserWarning, match="4 groups can be arranged in 192 different ways"):
        permutation_test(X, y, 0, groups=groups, alpha=0.005)
    X, _, groups = grouped([5] * 6)
    classes = np.where(groups < 2, "u", "v")
    with pytest.warns(UserWarning, match="6 groups can be arranged in 15 different ways"):
        MISelector(min_features=1, random_state=0).fit(X, classes, groups=groups)
    X, y, groups = grouped([5] * 7)
    permutation_test(X, y, 0, groups=groups, alpha=0.01)  # 5,040 are enough
    X, y, groups = grouped([5] * 6)
    table = pd.DataFrame({"x": X[:, 0], "kind": np.array(list("uvw"))[groups % 3]})
    with pytest.warns(UserWarning, match="6 groups can be arranged in 8 different ways"):
        permutation_test(table, y, "x", given="kind", groups=groups, statistic="ksg")


def test_too_few_arrangements_for_one_column_of_many_are_told():
    """One column of 10 needs p <= 0.005: 192 arrangements are enough for alpha, not for that."""
    X, y, groups = grouped([10] * 4)
    X = np.random.default_rng(0).normal(size=(40, 10))
    with pytest.warns(UserWarning, match="nothing can be significant at 0.005"):
        test = relevance_test(X, y, groups=groups, random_state=0)
    assert any("4 groups can be arranged in 192 ways at most" in note for note in test.notes)
    test = relevance_test(X[:, :1], y, groups=groups, random_state=0)  # no warning, no note
    assert not any("arranged" in note for note in test.notes)


def test_groups_in_which_columns_or_the_target_are_constant():
    X, y, groups = grouped([4] * 40, share=1.0)
    y = y + X[:, 0]
    selector = MISelector(random_state=0).fit(X, y, groups=groups)
    one = MISelector(random_state=0).fit(X[::4], y[::4])
    assert selector.selected_.tolist() == one.selected_.tolist() == [0]
    assert selector.relevance_[0] == pytest.approx(one.relevance_[0], abs=1e-9)


def test_pipelines_pass_groups_on():
    X, y, groups = grouped([4] * 25, effect=1.0)
    seen = []

    class Seen(MISelector):
        def fit(self, X, y, groups=None):
            seen.append(groups)
            return super().fit(X, y, groups=groups)

    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(Seen(min_features=1, random_state=0), LinearRegression())
        cross_validate(pipeline, X, y, cv=GroupKFold(3), params={"groups": groups})
    assert len(seen) == 3
    assert all(len(np.unique(g)) < 25 for g in seen)


def test_folds_keep_groups_together_and_are_stretches_of_time():
    groups = np.repeat(np.arange(30), 3)
    _, layout = laid_out(prepared_of(["normal"], 90, of_groups(groups)), None)
    folds = random_folds(KEY, 90, 5, layout)
    assert all(np.unique(folds[groups[layout.rows] == g]).size == 1 for g in range(30))
    assert np.bincount(folds).tolist() == [18] * 5
    _, layout = laid_out(prepared_of(["normal"], 400, Together(in_order=True, window=3)), None)
    folds = random_folds(KEY, 400, 5, layout)
    assert (np.diff(folds[layout.time]) >= 0).all()
    X, y, _ = grouped([3] * 30, effect=1.0)
    assert choose_k(X, y, groups=groups, n_neighbors=(2, 5), random_state=0).feature == 0
    assert choose_k(X, y, series=True, n_neighbors=(2, 5), random_state=0).feature == 0


def test_clusters_are_validated_by_folds_of_groups():
    X, y, groups = grouped([4] * 20, effect=1.0)
    X = np.c_[X, X + 0.1 * np.random.default_rng(0).normal(size=X.shape)]
    found = FeatureClustering(random_state=0).fit(X, y, groups=groups)
    seeds = np.random.SeedSequence(0).generate_state(5).tolist()
    cuts = [GroupKFold(4, shuffle=True, random_state=seed) for seed in seeds]
    folds = [fold for cut in cuts for fold in cut.split(X, y, groups)]
    by_hand = FeatureClustering(random_state=0, cv=folds).fit(X, y)
    np.testing.assert_array_equal(
        found.cv_results_["mean_test_score"], by_hand.cv_results_["mean_test_score"]
    )
    with pytest.raises(ValueError, match="asks for 30 folds, but there are 20 groups"):
        FeatureClustering(cv=30).fit(X, y, groups=groups)
    assert FeatureClustering(series=True).fit(X, y).n_clusters_ >= 1


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
def test_autoregressions_find_what_series_were_made_with(phi):
    rng = np.random.default_rng(0)
    x = autoregressive(phi, 5000, rng)
    found = autoregression(x - x.mean(), 12)
    assert found.sum() == pytest.approx(phi, abs=0.1)
    two = lfilter([1], [1, -0.5, 0.3], rng.normal(size=5000))
    found = autoregression(two - two.mean(), 12)
    np.testing.assert_allclose(found[:2], [0.5, -0.3], atol=0.05)
    assert persistence(np.array([0.9]), 100) == pytest.approx(
        0.9 + 3.7 / 100 + 0.5 * np.sqrt(0.19 / 100)
    )


def test_surrogates_of_series_are_those_of_plain_filters():
    rng = np.random.default_rng(2)
    n = 120
    values = np.array([autoregressive(0.8, n, rng), rng.normal(size=n)])
    time = rng.permutation(n)
    x = columns(["normal", "normal", "gaps", "category"], n, rng)
    x.values[:2, time] = values
    series = Series(time, 10)
    permutations = np.array([rng.permutation(n) for _ in range(3)], np.int32)
    found = Surrogates(x, None, Threads(1), None, series)(permutations)
    upright = x.upright()  # ties, and what is drawn for gaps, are those of the negative, too
    filled, missing = upright.filled().values[:3], x.missing[:3]
    innovations, coefficients, rigid = series.innovations(filled, missing)
    assert not rigid.any()
    missing = missing[2][time]
    for p, order in enumerate(permutations):
        for j in range(3):
            moved = innovations[j][order]
            out = lfilter([1], np.r_[1, -coefficients[j]], np.r_[moved[::-1], moved])[n:]
            new, want, sign = np.empty(n), np.empty(n), x.signs[j]
            new[time] = out
            if j == 2:
                new[time] = np.where(np.roll(missing, -order[0]), np.inf, new[time])
            ordered = np.sort(upright.values[j])
            want[np.argsort(new, kind="stable")] = np.where(ordered == GAP, GAP, sign * ordered)
            np.testing.assert_array_equal(found.values[4 * p + j], want)
        shifted = np.empty(n)
        shifted[time] = np.roll(x.values[3][time], -order[0])
        np.testing.assert_array_equal(found.values[4 * p + 3], shifted)


@pytest.mark.parametrize("share", [0.2, 0.4])
def test_gaps_do_not_make_a_series_look_less_persistent(share):
    """With medians in the gaps, the sum of the coefficients of the last one was 0.6 to 0.8."""
    n, found = 400, []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        values = np.array([autoregressive(phi, n, rng) for phi in (0.0, 0.5, 0.9)])
        missing = rng.random(values.shape) < share
        filled = np.where(missing, np.median(values[~missing]), values)
        series = Series.of(np.arange(n))
        _, coefficients, _ = series.innovations(filled, missing)
        found.append(coefficients.sum(axis=1))
    np.testing.assert_allclose(np.median(found, axis=0), [0.0, 0.5, 0.92], atol=0.08)


def test_gaps_of_a_series_hold_what_a_normal_series_would():
    """Mean and variance of what is drawn, beside those of the normal distribution."""
    n, phi = 40, 0.8
    rng = np.random.default_rng(0)
    row = autoregressive(phi, n, rng)
    gaps = np.zeros(n, bool)
    gaps[[10, 11, 12, 25]] = True
    # Without a start or an end, the precision of an autoregression is that of infinitely many.
    precision = np.zeros((n, n))
    for t in range(n + 1):
        of_t = np.zeros(n)
        of_t[t : t + 1] = 1.0
        of_t[max(t - 1, 0) : t] -= phi
        precision += np.outer(of_t, of_t)
    inside = precision[np.ix_(gaps, gaps)]
    mean = -np.linalg.solve(inside, precision[np.ix_(gaps, ~gaps)] @ row[~gaps])
    size = np.sqrt(np.mean(np.convolve(row, [1, -phi])[1:n] ** 2))
    drawn = np.array([gone_on(row, gaps, np.array([phi]), rng.normal(size=4)) for _ in range(4000)])
    np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=0.1)
    covariance = size**2 * np.linalg.inv(inside)
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=0.15)


@BOTH
@pytest.mark.filterwarnings("ignore:No column was selected")
@pytest.mark.parametrize("kind", ["categories", "gaps", "both"])
def test_series_of_categories_and_gaps_hold_their_level(kind, statistic):
    """White noise in categories: 86 of 100 searches among 300 columns selected something.

    Screening permuted rows where the surrogates that were estimated moved in a circle.
    """
    passed, n = 0, 150
    for seed in range(12):
        rng = np.random.default_rng(seed)
        wide = np.array([autoregressive(0.7, n, rng) for _ in range(61)])
        X = pd.DataFrame(wide[:60].T).rename(columns=str)
        if kind != "categories":
            X = X.mask(rng.random(X.shape) < 0.3)
        if kind != "gaps":
            some = X.columns if kind == "categories" else X.columns[::2]
            X[some] = rng.choice(list("abcd"), (n, len(some)))
        how = {"series": True, "max_features": 1, "random_state": seed, "statistic": statistic}
        found = MISelector(**how).fit(X, wide[60])
        passed += found.selected_.size > 0
    assert passed <= 3  # at 5 %, more in 0.2 % of the cases


def test_screened_surrogates_of_a_series_do_not_depend_on_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 12))).rename(columns=str)
    X[["1", "3"]] = rng.choice(list("abc"), (120, 2))
    X["5"] = X["5"].mask(rng.random(120) < 0.3)
    y = autoregressive(0.5, 120, rng) + X["0"]
    how = {"series": True, "screen": 3, "n_permutations": 30, "random_state": 0}
    for more in ({}, {"given": "0", "pairs": True}):
        names = [name for name in X.columns if name not in more.get("given", "")]
        there = permutation_test(X, y, names, **how, **more)
        with monkeypatch.context() as patch:
            patch.setattr("infosieve._scoring.screened._FIRST", 7)
            patch.setattr(Scoring, "columns_of_a_piece", lambda self, at_hand=0: 4)
            again = permutation_test(X, y, names, n_jobs=3, **how, **more)
        np.testing.assert_array_equal(again.null, there.null)


def test_surrogates_are_as_persistent_as_their_columns():
    rng = np.random.default_rng(3)
    values = np.array([autoregressive(phi, 800, rng) for phi in (0.0, 0.5, 0.9)])
    x = columns(["normal"] * 3, 800, rng)
    x.values[:] = values
    permutations = global_permutations(KEY, 800).draw(0, 20)
    found = Surrogates(x, None, Threads(1), None, Series.of(np.arange(800)))(permutations)
    lag = [np.corrcoef(row[1:], row[:-1])[0, 1] for row in found.values]
    mean = np.reshape(lag, (20, 3)).mean(axis=0)
    np.testing.assert_allclose(mean, [0.0, 0.5, 0.9], atol=0.08)


def test_rows_that_are_near_in_time_are_not_in_one_part():
    _, layout = laid_out(prepared_of(["normal"], 1003, Together(in_order=True, window=4)), None)
    assert layout.n_parts == 4
    for a, b in zip(layout.edges, layout.edges[1:], strict=False):
        assert np.diff(layout.rows[a:b]).min() == 4
    assert np.array_equal(layout.rows[layout.time], np.arange(1003))
    rng = np.random.default_rng(4)
    y = autoregressive(0.8, 1000, rng)
    x = columns(["normal"], 1000, rng)
    target = columns(["normal"], 1000, rng)
    target.values[0] = y
    together = Together(in_order=True)
    prepared = Prepared(x=x, target=target, given=x.take(slice(0)), together=together)
    assert 3 <= laid_out(prepared, None)[1].n_parts <= 7
    wide = replace(prepared, together=Together(in_order=True, window=80))
    assert laid_out(wide, None)[1].n_parts == 80
    assert laid_out(prepared_of(["normal"], 1000, together), None)[1].n_parts == 1


@BOTH
@pytest.mark.filterwarnings("ignore:y is not stationary")
@pytest.mark.parametrize(("phi", "condition"), [(0.9, False), (0.9, True), (0.99, False)])
def test_series_do_not_pass_for_being_persistent(phi, condition, statistic):
    """As if rows were independent, 32, 28 and 40 of these pass."""
    passed = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x, s, y = (autoregressive(phi, 200, rng) for _ in range(3))
        if condition:
            x, y = x + s, y + s
        how = {"n_permutations": 39, "random_state": seed, "statistic": statistic, "series": True}
        given = [1] if condition else []
        passed += permutation_test(np.c_[x, s], y, 0, given=given, **how).p_value <= 0.05
    assert passed <= 7  # at 5 %, more than seven happen once in 600 times


def test_of_a_target_that_is_not_stationary_changes_are_measured():
    rng = np.random.default_rng(5)
    walk, steady = np.cumsum(rng.normal(size=300)), rng.normal(size=300)
    assert is_non_stationary(walk)
    assert is_non_stationary(np.arange(300) + steady)
    assert not is_non_stationary(steady)
    assert not is_non_stationary(np.full(300, 2.0))
    assert not is_non_stationary(np.full(300, np.nan))
    gaps = np.where(np.arange(300) % 10 == 0, np.nan, walk)
    assert is_non_stationary(gaps)
    steps = changes(np.array([1.0, 2.0, 4.0, np.nan, 5.0]))
    np.testing.assert_array_equal(steps, [1.0, 1.0, 2.0, np.nan, 1.0])
    y = np.diff(walk, prepend=0.0) + 0.3 * rng.normal(size=300)
    table = pd.DataFrame({"walk": walk, "steady": steady, "text": np.where(steady > 0, "u", "v")})
    y = pd.Series(np.cumsum(y), name="sum")
    with pytest.warns(UserWarning, match="column 'sum' of y is not stationary"):
        selector = MISelector(series=True, random_state=0).fit(table, y)
    assert selector.result_.steps[0].features == (0,)
    assert selector.result_.steps[0].gain > 0.5
    table["level"] = y + 0.1 * rng.normal(size=300)
    steps = table[["walk", "steady", "level"]].diff().fillna(0.0)
    with pytest.warns(UserWarning, match="is not stationary"):
        found = relevance(table, y, series=True, scale=None)
    want = relevance(steps, y.diff().fillna(0.0), scale=None)
    np.testing.assert_allclose(found[list(steps)], want, atol=0.05)
    assert any("order of time" in note for note in selector.result_.notes)
    np.testing.assert_array_equal(selector.transform(table.drop(columns="level"))[:, 0], walk)
    result = selector.result_
    assert result.provenance.by_changes
    assert any("The target is not stationary" in note for note in result.notes)
    assert result.excerpt.features[0] == walk.tolist()  # values, as they were
    table["day"] = np.arange(300.0)
    with pytest.warns(UserWarning, match="is not stationary"):
        days = MISelector(series=True, random_state=0).fit(table, y)
    assert days.result_.constant == (4,)
    with (
        pytest.raises(ValueError, match="column 'day' of X has constant changes"),
        pytest.warns(UserWarning, match="is not stationary"),
    ):
        permutation_test(table, y, "day", series=True)
    with pytest.raises(ValueError, match=r"y is a straight line in time \(each change is 1.0\)"):
        relevance(table, np.arange(300.0), series=True)


def test_what_a_series_tells_is_found():
    rng = np.random.default_rng(6)
    X = np.array([autoregressive(0.7, 400, rng) for _ in range(40)]).T
    y = np.sin(X[:, 3]) + 0.5 * X[:, 7] + 0.5 * autoregressive(0.7, 400, rng)
    selector = MISelector(series=True, random_state=0).fit(X, y)
    assert set(selector.selected_[:2]) == {3, 7}
    again = MISelector(series=True, random_state=0, n_jobs=2).fit(X, y)
    assert again.result_.steps == selector.result_.steps
    given = MISelector(series=5, random_state=0).fit(X, y)
    assert given.result_.n_parts == 5
    assert given.result_.provenance.parameters["series"] == 5


def test_groups_in_all_forms():
    X, y, groups = grouped([3] * 10)
    want = relevance(X, y, groups=groups)
    frame = pd.DataFrame({"patient": groups})
    for labels in (frame, groups[:, None], tuple(groups)):
        np.testing.assert_array_equal(relevance(X, y, groups=labels), want)
    for wrong in (np.c_[groups, groups], "patient"):
        with pytest.raises(ValueError, match="'groups' parameter must be one column"):
            relevance(X, y, groups=wrong)


@BOTH
@pytest.mark.parametrize("candidate", ["trend", "wave"])
def test_columns_without_innovations_do_not_pass(candidate, statistic):
    """Innovations that are rounding would make all surrogates alike, and 17 of these pass."""
    t = np.arange(200)
    x = {"trend": t + 0.0, "wave": np.sin(t / 15)}[candidate]
    passed = 0
    for seed in range(60):
        y = autoregressive(0.5, 200, np.random.default_rng(seed))
        how = {"series": True, "n_permutations": 39, "random_state": seed, "statistic": statistic}
        passed += permutation_test(x, y, 0, **how).p_value <= 0.05
    assert passed <= 9


@BOTH
def test_what_follows_each_other_in_a_group_may_be_alike(statistic):
    """Two halves of each group have effects of their own.

    In any order, 8 of these would pass if rows exchanged; the default asks for no order.
    """
    passed = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        half = np.repeat(np.arange(30), 10)
        x, y = (rng.normal(size=30)[half] + 0.1 * rng.normal(size=300) for _ in range(2))
        if statistic == "combined":
            order = rng.permutation(300)
            x, y, half = x[order], y[order], half[order]
        how = {"groups": half // 2, "n_permutations": 39, "statistic": statistic}
        how["random_state"] = seed
        passed += permutation_test(x, y, 0, **how).p_value <= 0.05
    assert passed <= 5


@BOTH
@pytest.mark.filterwarnings("ignore:y is not stationary")
def test_a_selected_category_explains_changes(statistic):
    """As levels beside changes, 29 of these would pass."""
    passed = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        s = np.repeat(rng.integers(0, 3, 50), 4)
        y = np.cumsum(rng.normal(size=200)) + 3.0 * s
        x = s + 0.5 * rng.normal(size=200)
        table = pd.DataFrame({"x": x, "s": np.array(list("uvw"))[s]})
        how = {"series": True, "n_permutations": 39, "random_state": seed, "statistic": statistic}
        passed += permutation_test(table, y, "x", given="s", **how).p_value <= 0.05
    assert passed <= 7


def test_a_course_of_few_groups_is_known_given_the_place():
    """Twenty groups are few, so that a weak slope might be chance: if it stayed, 25 passed."""
    passed, place = 0, np.tile(np.arange(30.0), 20)
    for seed in range(100):
        X, y, groups = grouped([30] * 20, seed, share=0.5)
        table = np.c_[X[:, 0] + 0.05 * place, place]
        how = {"groups": groups, "n_permutations": 39, "random_state": seed}
        passed += permutation_test(table, y + 0.05 * place, 0, given=1, **how).p_value <= 0.05
    assert passed <= 12  # at 5 %, more in 0.1 % of the cases


def test_groups_in_another_order_are_refused():
    X, y, groups = grouped([3] * 10)
    labels = pd.Series(groups).sample(frac=1, random_state=0)
    with pytest.raises(ValueError, match="X and groups have the same index labels in another"):
        relevance(pd.DataFrame(X), y, groups=labels)
    masked = np.ma.masked_array(groups, np.arange(30) == 4)
    with pytest.raises(ValueError, match="no label in row 4"):
        relevance(X, y, groups=masked)


# --- the same order in every group


def matched(n_groups, size, effect, seed):
    """Columns with effects of groups; the target is the place in the group."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    own = rng.normal(size=(groups.size, 2))
    X = np.sqrt(0.7) * rng.normal(size=(n_groups, 2))[groups] + np.sqrt(0.3) * own
    y = np.tile(np.arange(size), n_groups)
    X[:, 0] += effect * y
    return X, np.array(["control", "case", "other"])[y], groups


@given(st.lists(st.integers(1, 4), min_size=2, max_size=8), st.integers(0, 2**32 - 1))
def test_what_the_place_tells_by_the_plain_loop(sizes, seed):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    place = np.concatenate([np.arange(size) for size in sizes])
    near = np.where(rng.uniform(size=groups.size) < 0.8, place, 9)
    missing = np.where(place == 1, np.nan, place)
    values = np.array([place, place // 2, near, np.zeros(groups.size), groups, missing], float)
    order = rng.permutation(groups.size)
    order = order[np.argsort(place[order], kind="stable")]  # places rise in each group

    def told(row):
        most = int(np.median(sizes))
        every = [(p, repr(v)) for p, v in zip(place, row, strict=True) if p < most]
        longest = next(row[groups == g] for g in range(len(sizes)) if sizes[g] >= most)
        alike = np.mean([v == repr(longest[p]) for p, v in every])
        best = max(Counter(v for _, v in every).values())
        if alike <= 0.3 or best == len(every):
            return 0.0
        of_places = [Counter(v for q, v in every if q == p) for p in range(most)]
        return (sum(max(c.values()) for c in of_places) - best) / (len(every) - best)

    found = predicted_by_place(values[:, order], of_groups(groups[order]), groups.size)
    np.testing.assert_allclose(found, [told(row) for row in values])


@BOTH
def test_matched_pairs_are_compared(statistic):
    found = dict.fromkeys((0.0, 1.0), 0)
    for effect in found:
        for seed in range(60):
            X, y, groups = matched(50, 2, effect, seed)
            how = {"n_permutations": 99, "random_state": seed, "statistic": statistic}
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                test = permutation_test(X, y, 0, groups=groups, **how)
            if statistic == "ksg":
                assert str(told[0].message).startswith("y has the same values in the same order")
            else:
                assert not told  # nothing has to be told apart from the order of rows
            found[effect] += test.p_value <= 0.05
    assert found[0.0] <= 8  # 3 are expected; more than 8 in 0.4 % of the cases
    assert found[1.0] >= 50


def test_the_order_of_a_matched_table_does_not_matter_much():
    X, y, groups = matched(60, 3, 1.0, 0)
    here = relevance(X, y, groups=groups)
    order = np.random.default_rng(1).permutation(groups.size)
    shuffled = relevance(X[order], y[order], groups=groups[order])
    np.testing.assert_allclose(here, shuffled, atol=0.08)
    assert here[0] > 0.2


def test_columns_that_follow_the_place_are_told():
    X, y, groups = grouped([4] * 30)
    place = np.tile([5.0, 1.0, 7.0, 2.0], 30)
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(mode=place)
    told = "^'mode': the same values in the same order in most groups"
    how = {"n_permutations": 19, "random_state": 0, "statistic": "ksg"}
    with pytest.warns(UserWarning, match=told):
        permutation_test(frame, y, "a", groups=groups, **how)
    with pytest.warns(UserWarning, match=told):
        permutation_test(frame, y, ["a", "b"], groups=groups, n_permutations=19, pairs=True)
    some = np.delete(np.arange(groups.size), [3, 40, 41, 90])  # not all have all rows
    with pytest.warns(UserWarning, match=told):
        permutation_test(frame.iloc[some], y[some], "a", groups=groups[some], **how)
    order = np.random.default_rng(0).permutation(groups.size)
    permutation_test(frame.iloc[order], y[order], "a", groups=groups[order], **how)
    permutation_test(frame, y, "a", groups=groups, n_permutations=19)  # of the default it is none


def test_columns_that_are_the_same_in_every_group_are_no_candidates(rng):
    """They have no information in any slot, where surrogates of theirs, by fits, have less."""
    groups = np.repeat(np.arange(60), 4)
    X = pd.DataFrame(rng.normal(size=(240, 3)), columns=["a", "b", "c"])
    X["visit"] = np.tile(np.arange(4.0), 60)
    y = X["a"] + X["visit"] + 0.3 * rng.normal(size=240)
    with pytest.warns(UserWarning, match="^'visit': the same values"):
        found = MISelector(random_state=0, statistic="ksg").fit(X, y, groups=groups)
    assert found.result_.provenance.by_order == ("visit",)
    assert list(found.get_feature_names_out()) == ["a"]
    assert found.path_["feature"].ne("visit").all()
    assert found.result_.steps[0].n_candidates == 3
    assert "No test can tell visit from chance" in " ".join(found.result_.notes)
    assert SelectionResult.from_json(found.result_.to_json()).provenance == found.result_.provenance
    why = "'visit' of X cannot be tested: it has the same values in the same order"
    with pytest.warns(UserWarning, match="^'visit'"), pytest.raises(ValueError, match=why):
        permutation_test(X, y, ["visit"], groups=groups, statistic="ksg")
    shuffled = rng.permutation(240)
    for order in (np.arange(240), shuffled):  # the default does not ask for places
        again = MISelector(random_state=0).fit(X.iloc[order], y[order], groups=groups[order])
        assert list(again.get_feature_names_out()) == ["a", "visit"]


@pytest.mark.parametrize("kind", ["text", "numbers", "gaps"])
def test_a_calendar_is_no_candidate_of_a_series(kind, rng):
    """It is its own surrogate: with it nothing passed, whatever else there was."""
    month = np.tile(np.arange(12.0), 16)
    y = 2 * np.sin(month) + rng.normal(size=192)
    X = pd.DataFrame({"x": y + rng.normal(size=192), "month": month})
    if kind == "text":
        X["month"] = X["month"].map("month {:.0f}".format)
    if kind == "gaps":
        X.loc[month == 3, "month"] = np.nan
    with pytest.warns(UserWarning, match="'month' of X repeats itself every 12 rows"):
        found = MISelector(series=True, random_state=0).fit(X, y)
    assert found.result_.provenance.by_order == ("month",)
    assert list(found.get_feature_names_out()) == ["x"]
    with pytest.warns(UserWarning, match="'month' of X repeats itself every 12 rows"):
        ranked = MISelector(series=True, n_features_to_select=2, random_state=0).fit(X, y)
    assert len(ranked.selected_) == 2  # without tests it may be taken
    why = "'month' of X cannot be tested: it repeats itself"
    with pytest.warns(UserWarning, match="repeats"), pytest.raises(ValueError, match=why):
        permutation_test(X, y, ["month"], series=True)


def test_the_only_column_is_tested_even_if_it_is_a_calendar(rng):
    X = pd.DataFrame({"month": np.tile(np.arange(12.0), 16)})
    with pytest.warns(UserWarning, match=r"repeats itself|No column was selected"):
        found = MISelector(series=True, random_state=0).fit(X, rng.normal(size=192))
    assert found.path_["feature"].tolist() == ["month"]


@given(st.integers(1, 30), st.integers(6, 80), st.integers(0, 50))
def test_periods_by_the_plain_loop(period, n, seed):
    rng = np.random.default_rng(seed)
    x = np.resize(rng.integers(0, 3, period).astype(float), n)
    if seed % 3 == 0:
        x[rng.integers(n)] = 7.0
    x[x == 2] = np.nan
    same = [p for p in range(1, n // 3 + 1) if np.array_equal(x[p:], x[:-p], equal_nan=True)]
    constant = len(set(np.nan_to_num(x, nan=-1.0))) == 1
    assert period_of(x) == (None if constant or not same else same[0])
