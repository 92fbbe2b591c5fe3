"""Would another sample choose the same? Halves, bounds, the index, and whoever computes them."""

import json
import math
import os
import signal
import warnings
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from command import run, run_code
from conftest import in_order
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import (
    SelectFromModel,
    SelectKBest,
    SelectorMixin,
    VarianceThreshold,
    f_classif,
    f_regression,
)
from sklearn.linear_model import Lasso, LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from infosieve import MISelector, Stability, open_columns, stability
from infosieve._core import stability_bounds as formulas
from infosieve._core.stability_bounds import false_bound, stability_index
from infosieve.datasets import make_friedman
from infosieve.report._render import said
from infosieve.results import Provenance
from infosieve.selection import _stability

F = f_regression


def data(n=60, m=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    return X, X[:, 2] + 0.7 * X[:, 5] + 0.5 * rng.normal(size=n)


def record(chosen, n_features=5):
    known = Provenance(
        data="0", n_samples=20, seed=0, parameters={"selector": "Some"}, versions={}
    )  # fmt: skip
    return Stability(
        features=tuple(f"c{j}" for j in range(n_features)),
        chosen=tuple(map(tuple, chosen)),
        provenance=known,
    )


class Recorder(SelectorMixin, BaseEstimator):
    """Selects the columns whose numbers are in the first row, and remembers what it was given."""

    seen: list = []  # noqa: RUF012

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y, groups=None):
        self.n_features_in_ = X.shape[1]
        Recorder.seen.append((X, y, groups, self.random_state))
        return self

    def _get_support_mask(self):
        return np.arange(self.n_features_in_) == 0


@pytest.fixture
def seen():
    Recorder.seen.clear()
    return Recorder.seen


# ---- the whole function, by a plain loop


def naive(selector, X, y, n_resamples, seed):
    """What it does, without anything around it: numbers as target, nothing missing."""
    n, chosen = len(y), []
    for pair in range(n_resamples):
        rng = np.random.default_rng([seed, pair])
        order = rng.permutation(n)[: n // 2 * 2]
        rng.permutation(1)
        halves = order[0::2], order[1::2]
        for rows, own in zip(halves, rng.integers(2**31, size=2), strict=True):
            rows = np.sort(rows)
            fitted = clone(selector)
            if "random_state" in fitted.get_params():
                fitted.set_params(random_state=int(own))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fitted.fit(X[rows], y[rows])
            chosen.append(tuple(j for j in range(X.shape[1]) if fitted.get_support()[j]))
    return tuple(chosen)


SELECTORS = {
    "SelectKBest": SelectKBest(F, k=2),
    "lasso": SelectFromModel(Lasso(0.2)),
    "MISelector": MISelector(max_features=2, lookahead=1),
}


@pytest.mark.parametrize("name", SELECTORS)
def test_a_plain_loop_finds_the_same(name):
    X, y = in_order(*data(61))
    result = stability(SELECTORS[name], X, y, n_resamples=3, random_state=4)
    ref = naive(SELECTORS[name], X, y, 3, 4)
    assert result.chosen == ref
    counts = [sum(j in half for half in ref) for j in range(X.shape[1])]
    assert result.frequencies.tolist() == [count / 6 for count in counts]
    assert result.n_selected_mean == sum(counts) / 6
    assert dict(result.sets) == {half: ref.count(half) for half in ref}
    assert [times for _, times in result.sets] == sorted(
        (times for _, times in result.sets), reverse=True
    )


def test_more_pairs_begin_with_the_same_ones():
    X, y = data()
    few, many = (
        stability(SelectKBest(F, k=2), X, y, n_resamples=k, random_state=1) for k in (2, 4)
    )
    assert many.chosen[:4] == few.chosen
    other = stability(SelectKBest(F, k=2), X, y, n_resamples=4, random_state=2)
    assert other.chosen != many.chosen


# ---- halves


def halves_of(seen):
    """The rows of each half; the first column of X has their numbers."""
    rows = [np.asarray(X)[:, 0].astype(int) for X, *_ in seen]
    return list(zip(rows[0::2], rows[1::2], strict=True))


@pytest.mark.parametrize("n", [20, 21])
def test_halves_are_complementary(n, seen):
    X, y = np.c_[np.arange(n), np.ones(n)], np.random.default_rng(0).normal(size=n)
    stability(Recorder(), X, y, n_resamples=40, random_state=0)
    left_out = set()
    for one, other in halves_of(seen):
        assert len(one) == len(other) == n // 2
        assert not set(one) & set(other)
        left_out |= set(range(n)) - set(one) - set(other)
    assert left_out == (set() if n == 20 else left_out)
    assert n == 20 or len(left_out) > 12  # not always the same row
    firsts = {tuple(one) for one, _ in halves_of(seen)}
    assert len(firsts) > 35
    shares = np.bincount(np.concatenate([one for one, _ in halves_of(seen)]), minlength=n) / 40
    assert abs(shares - 0.5 * (n // 2 * 2) / n).max() < 0.35
    for (_, got, _, _), rows in zip(
        seen, (r for pair in halves_of(seen) for r in pair), strict=True
    ):
        np.testing.assert_array_equal(got, y[rows])


@pytest.mark.parametrize("kind", ["texts", "codes", "category", "declared", "bool"])
def test_halves_have_as_many_of_each_class(kind, seen):
    codes = np.repeat([0, 1, 2], [21, 7, 3]) if kind != "bool" else np.repeat([0, 1], [22, 9])
    y = {
        "texts": np.array(["a", "b", "c"])[codes],
        "codes": codes,
        "category": pd.Series(codes).astype("category"),
        "declared": codes / 2,
        "bool": codes == 1,
    }[kind]
    X = np.c_[np.arange(31), np.ones(31)]
    selector = Recorder()
    if kind == "declared":  # halves of what only the selector knows to be classes
        samples = _stability._opened(MISelector(discrete_target=True), X, y, None)
        codes = codes[samples.X[:, 0].astype(int)]
        for half in _stability._halves(samples, 20, 0):
            counts = np.bincount(codes[half.rows], minlength=3)
            assert (abs(counts - np.array([10.5, 3.5, 1.5])) <= 1).all()
        return
    stability(selector, X, y, n_resamples=20, random_state=0)
    for one, other in halves_of(seen):
        assert len(one) == len(other) == 15
        counts = [np.bincount(codes[rows], minlength=3) for rows in (one, other)]
        assert abs(counts[0] - counts[1]).max() <= 1


def test_numbers_are_not_stratified():
    X, y = np.c_[np.arange(60.0), np.ones(60)], np.arange(60) % 30 + 0.5
    rows = _stability._opened(Recorder(), X, y, None)
    assert set(rows.strata) == {0}


def test_groups_stay_together(seen):
    rng = np.random.default_rng(0)
    groups = rng.permutation(np.repeat(np.arange(11), rng.integers(1, 9, 11)))
    n = groups.size
    X, y = np.c_[np.arange(n), np.ones(n)], rng.normal(size=n)
    labels = pd.Series([f"patient {g}" for g in groups])
    stability(Recorder(), X, y, groups=labels, n_resamples=10, random_state=0)
    for one, other in halves_of(seen):
        theirs = set(groups[one]), set(groups[other])
        assert not theirs[0] & theirs[1]
        assert [len(g) for g in theirs] == [5, 5]
        for rows, some in zip((one, other), theirs, strict=True):
            assert len(rows) == sum((groups == g).sum() for g in some)  # whole groups
    for X_half, _, given_groups, _ in seen:  # fit takes them
        own = groups[X_half[:, 0].astype(int)]
        assert len(set(zip(own, given_groups, strict=True))) == len(set(own)) == 5


def test_groups_are_stratified_by_their_class(seen):
    groups = np.repeat(np.arange(12), 3)
    y = np.where(groups < 8, "ill", "well")
    y[0] = "well"  # most rows of group 0 are ill
    X = np.c_[np.arange(36), np.ones(36)]
    stability(Recorder(), X, y, groups=groups, n_resamples=10, random_state=0)
    for pair in halves_of(seen):
        for rows in pair:
            assert [np.sum(np.unique(groups[rows]) < 8), np.unique(groups[rows]).size] == [4, 6]


def test_each_half_has_a_seed_of_its_own(seen):
    X, y = data()
    stability(Recorder(random_state=3), X, y, n_resamples=5, random_state=0)
    seeds = [seed for *_, seed in seen]
    assert len(set(seeds)) == 10
    stability(Recorder(), X, y, n_resamples=5, random_state=0)
    assert [seed for *_, seed in seen][10:] == seeds


# ---- tables


def test_frames_stay_frames(seen):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=30), "b": pd.Categorical(list("uvw") * 10)})
    X.loc[3, "a"] = np.nan
    X["c"] = pd.array([1, None, 3] * 10, dtype="Int64")
    X.index = X.index[::-1]
    y = pd.Series(rng.normal(size=30), X.index, name="y")
    result = stability(Recorder(), X, y, n_resamples=2, random_state=0)
    assert result.features == ("a", "b", "c")
    for half, target, *_ in seen:
        assert half.dtypes.equals(X.dtypes)
        pd.testing.assert_frame_equal(half, X.loc[half.index])
        pd.testing.assert_series_equal(target, y.loc[half.index])
    pandas = result.chosen
    frame = pl.DataFrame({"a": np.arange(30.0), "b": [1.0] * 30})
    assert stability(Recorder(), frame, y.to_numpy(), n_resamples=2, random_state=0).features == (
        "a", "b",
    )  # fmt: skip
    assert isinstance(seen[-1][0], pl.DataFrame)
    assert len(pandas) == 4


def test_misselector_with_gaps_and_categories():
    X, y = make_friedman(120, 6, random_state=0, return_X_y=True, as_frame=True)
    X["text"] = np.where(X["X4"] > 0.5, "high", "low")
    X.loc[::7, "X1"] = np.nan
    result = stability(MISelector(max_features=1), X, y, n_resamples=2, random_state=0)
    assert result.features == tuple(X.columns)
    assert all(len(half) <= 1 for half in result.chosen)
    assert {"X4", "text"} & {result.features[j] for half in result.chosen for j in half}


def test_samples_without_a_target_are_left_out_once(seen):
    X, y = data(20)
    X[:, 0] = np.arange(20)
    y[[3, 11]] = np.nan
    with pytest.warns(
        UserWarning, match="2 of 20 samples have no target, and are left out"
    ) as told:
        result = stability(Recorder(), X, y, n_resamples=2, random_state=0)
    assert len(told) == 1
    assert not {3, 11} & {int(i) for half in seen for i in half[0][:, 0]}
    assert result.provenance.n_left_out == 2
    assert result.n_samples == 18
    with pytest.raises(ValueError, match="y has missing values"):
        stability(MISelector(missing="error"), X, y)
    frame = pd.DataFrame(X).assign(text=pd.Series(list("ab") * 10)).drop(columns=[0])
    frame.columns = list("abcdefgh")
    frame.loc[5, "c"], frame.loc[7, "h"] = np.nan, None
    for missing, n in (("auto", 18), ("drop", 16)):  # as a selection of all samples knows them
        selector = MISelector(missing=missing, max_features=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            known = selector.fit(frame, y).result_.provenance
            found = stability(selector, frame, y, n_resamples=1).provenance
        assert (found.data, found.n_samples, found.n_left_out) == (known.data, n, 20 - n)


def test_pipelines_that_keep_columns():
    X, y = data()
    plain = stability(SelectKBest(F, k=2), X, y, n_resamples=3, random_state=0)
    scaled = make_pipeline(StandardScaler(), SelectKBest(F, k=2))
    assert stability(scaled, X, y, n_resamples=3, random_state=0).chosen == plain.chosen
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in reversed(range(8))])  # unlike the defaults
    assert stability(scaled, frame, y, n_resamples=3, random_state=0).chosen == plain.chosen
    with_constant = np.c_[np.ones(60), X]
    two = make_pipeline(VarianceThreshold(), SelectKBest(F, k=2))
    shifted = stability(two, with_constant, y, n_resamples=3, random_state=0).chosen
    assert shifted == tuple(tuple(j + 1 for j in half) for half in plain.chosen)


def test_a_pipeline_passes_groups_on(seen):
    X, y = data(24)
    groups = np.repeat(np.arange(8), 3)
    stability(make_pipeline(StandardScaler(), Recorder()), X, y, groups=groups, n_resamples=1)
    assert [len(set(given_groups)) for _, _, given_groups, _ in seen] == [4, 4]
    result = stability(SelectKBest(F, k=1), X, y, groups=groups, n_resamples=1)  # takes none
    assert result.provenance.parameters["groups"] == 8


# ---- refusals


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"selector": LinearRegression()}, TypeError, "must be an estimator"),
        ({"selector": MISelector}, TypeError, "must be an estimator"),
        ({"selector": "lasso"}, TypeError, "must be an estimator"),
        ({"selector": make_pipeline(StandardScaler(), LinearRegression())}, TypeError, "support"),
        ({"selector": MISelector(series=True)}, ValueError, r"groups=np.arange\(n\) // 50"),
        ({"selector": MISelector(checkpoint="x.json")}, ValueError, "Pass it to stability"),
        ({"selector": make_pipeline(PolynomialFeatures(), SelectKBest(F, k="all"))}, ValueError,
         "makes columns of its own"),
        ({"selector": MISelector(alpha=2)}, ValueError, "^The 'alpha' parameter"),
        ({"n_resamples": 0}, ValueError, "'n_resamples' parameter must be an int of at least 1"),
        ({"n_jobs": 0}, ValueError, "n_jobs"),
        ({"random_state": -1}, ValueError, "random_state"),
        ({"checkpoint": 3}, TypeError, "checkpoint"),
        ({"X": np.ones(60)}, ValueError, "table"),
        ({"X": np.ones((59, 2))}, ValueError, "59 samples"),
        ({"groups": np.repeat([0, 1, 2], 20)}, ValueError, "3 groups cannot be halved"),
        ({"y": np.ones(60)}, ValueError, "y is constant"),
        ({"groups": [1, 2]}, ValueError, "2 labels for 60 samples"),
        ({"executor": 3}, TypeError, "executor"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(change, error, message):
    X, y = data()
    asked = {"selector": SelectKBest(F, k=1), "X": X, "y": y, "random_state": 0} | change
    with pytest.raises(error, match=message):
        stability(asked.pop("selector"), asked.pop("X"), asked.pop("y"), **asked)


def test_few_samples_sparse_and_disk(tmp_path):
    X, y = data()
    with pytest.raises(ValueError, match="3 samples cannot be halved"):
        stability(Recorder(), X[:3], y[:3])
    from scipy.sparse import csr_array

    with pytest.raises(TypeError, match=r"X.toarray\(\)"):
        stability(Recorder(), csr_array(X), y)
    pd.DataFrame(X, columns=list("abcdefgh")).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(TypeError, match=r"X.read\(\)"):
        stability(Recorder(), open_columns(tmp_path / "x.parquet"), y)
    ref = stability(SelectKBest(F, k=2), X, y, n_resamples=2, random_state=0)
    arrow = pa.table(dict(zip("abcdefgh", X.T, strict=True)))
    comp = stability(SelectKBest(F, k=2), arrow, y, n_resamples=2, random_state=0)
    assert comp.chosen == ref.chosen
    assert comp.features == tuple("abcdefgh")
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    comp = stability(SelectKBest(F, k=2), mapped, y, n_resamples=2, random_state=0)
    assert comp.chosen == ref.chosen


def test_two_executors_are_refused():
    X, y = data()
    with pytest.raises(ValueError, match="Both stability and the selector"):
        stability(MISelector(executor="tcp://10.0.0.1:8786"), X, y, executor="tcp://10.0.0.1:8786")


class Failing(Recorder):
    def fit(self, X, y, groups=None):
        super().fit(X, y)
        if len(Recorder.seen) == 3:
            raise RuntimeError("no memory\nfor this")
        return self


def test_the_half_that_fails_is_named(seen):
    X, y = data()
    with pytest.raises(ValueError, match=r"half 3 \(30 of 60 samples\): no memory") as raised:
        stability(Failing(), X, y, random_state=0)
    assert isinstance(raised.value.__cause__, RuntimeError)


class Loud(Recorder):
    def fit(self, X, y, groups=None):
        super().fit(X, y)
        warnings.warn("the same", UserWarning, stacklevel=1)
        warnings.warn(f"another {len(Recorder.seen)}", UserWarning, stacklevel=1)
        return self

    def _get_support_mask(self):
        return np.zeros(self.n_features_in_, bool)


def test_warnings_of_halves_are_told_once(seen):
    X, y = data()
    with pytest.warns(UserWarning, match="(?i)halves") as told:
        result = stability(Loud(), X, y, n_resamples=5, random_state=0)
    texts = [str(w.message) for w in told]
    assert texts[0] == "10 of 10 halves: the same"
    assert len(texts) == 5
    assert "8 more" in texts[3]
    assert texts[4] == "From 10 of 10 halves nothing was selected."
    assert all(w.filename == __file__ for w in told)
    assert result.stable() == ()
    assert math.isnan(result.index)
    assert result.expected_false(0.6) == 0


def test_halves_without_a_column_are_told_once():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    selector = MISelector(lookahead=1, n_permutations=99)
    with pytest.warns(UserWarning, match="of 4 halves nothing was selected") as told:
        result = stability(selector, X, y, n_resamples=2, random_state=0)
    assert len(told) == 1
    assert any("halves it chose nothing" in note for note in result.notes)


def test_filters_of_warnings_are_put_back(seen):
    before = list(warnings.filters)
    X, y = data()
    stability(Recorder(), X, y, n_resamples=1)
    with pytest.raises(ValueError):
        stability(Failing(), X, y, n_resamples=4)
    assert list(warnings.filters) == before


# ---- the index


def by_hand(member):
    """Nogueira, Sechidis and Brown (2018), equations 8 and theorem 7, in plain loops."""
    M, d = member.shape
    p = [sum(member[i][f] for i in range(M)) / M for f in range(d)]
    k = [sum(member[i]) for i in range(M)]
    mean = sum(k) / M
    chance = mean / d * (1 - mean / d)
    index = 1 - sum(M / (M - 1) * q * (1 - q) for q in p) / d / chance
    phi = [
        (sum(member[i][f] * p[f] for f in range(d)) / d - k[i] * mean / d**2
         + index / 2 * (2 * mean * k[i] / d**2 - k[i] / d - mean / d + 1)) / chance
        for i in range(M)
    ]  # fmt: skip
    centre = sum(phi) / M
    return index, 4 / M**2 * sum((v - centre) ** 2 for v in phi)


@given(st.integers(0, 2**32), st.integers(2, 9), st.integers(2, 12))
def test_the_index_by_hand(seed, n_sets, n_columns):
    member = np.random.default_rng(seed).random((n_sets, n_columns)) < 0.4
    if 0 < member.sum() < member.size:
        assert stability_index(member) == pytest.approx(by_hand(member.astype(int)))


def test_what_the_index_is_of_known_sets():
    assert record([(0, 3)] * 4).index == 1
    assert record([(0, 3)] * 4).index_interval == (1, 1)
    # Two sets of one column each, out of d: s² = 1/2 in two columns, chance (d - 1) / d².
    for d in (2, 5):
        assert record([(0,), (1,)], d).index == pytest.approx(1 - (1 / d) / ((d - 1) / d**2))
    # Every subset of two columns of five once: as many agree as by chance, less what finite
    # sampling adds: each pair is drawn without replacement.
    every = list(combinations(range(5), 2))
    M, share = len(every), 2 / 5
    assert record(every).index == pytest.approx(1 - M / (M - 1))
    assert share * (1 - share) > 0
    assert math.isnan(record([(), ()]).index)
    assert math.isnan(record([tuple(range(5))] * 2).index)


def test_the_index_of_random_sets_is_about_zero():
    rng = np.random.default_rng(5)
    fixed = np.tile(np.arange(30) < 9, (20, 1))
    values = [stability_index(rng.permuted(fixed, axis=1))[0] for _ in range(300)]
    assert abs(np.mean(values)) < 4 * np.std(values) / np.sqrt(300)
    assert abs(np.mean(values)) < 0.01


def test_the_interval_covers_the_truth():
    """Sets drawn from known probabilities: the index of these is inside in 95 % of cases."""
    rng = np.random.default_rng(6)
    p = rng.beta(0.3, 0.5, 40)
    mean = p.mean()
    truth = 1 - (p * (1 - p)).mean() / (mean * (1 - mean))
    inside = 0
    for _ in range(400):
        low, high = formulas.normal_interval(*stability_index(rng.random((100, 40)) < p))
        inside += low <= truth <= high
    assert 0.91 <= inside / 400 <= 0.985


# ---- the bounds


def test_bounds_without_assumptions():
    for q, p, count in ((3, 10, 60), (7.5, 100, 80), (20, 1000, 100)):
        tau = count / 100
        expected = min(q**2 / ((2 * tau - 1) * p), q / tau, p)
        assert false_bound(p, q, 50, count, None) == pytest.approx(expected)
    assert false_bound(100, 5, 50, 40, None) == pytest.approx(5 / 0.4)  # Markov, below one half
    assert false_bound(10, 10, 50, 50, None) == 10


def test_unimodal_bounds_of_the_paper_as_stabs_prints_them():
    """R's stabs: p = 100, cutoff 0.6, q = 1 to 10; p = 88, q = 20, cutoff 0.8; p = 10, q = 3."""
    for q, value in enumerate((0.02631579, 0.1052632, 0.2368421, 0.4210526, 0.6578947), start=1):
        assert false_bound(100, q, 50, 60, "unimodal") == pytest.approx(value, rel=1e-6)
    assert false_bound(88, 20, 50, 80, "unimodal") == pytest.approx(3.743316, rel=1e-6)
    assert false_bound(10, 3, 50, 96, "unimodal") == pytest.approx(0.176, abs=5e-4)


def test_r_concave_bounds_of_the_paper_as_stabs_prints_them():
    """R's stabs, whose search for a ends at 1e-5 and is a little short for small q."""
    known = (0.03342845, 0.08691176, 0.1637231, 0.2605329, 0.3820466, 0.5295188, 0.7042719,
             0.9077127, 1.141338)  # fmt: skip
    for q, value in enumerate(known, start=2):
        assert false_bound(100, q, 50, 60, "r-concave") == pytest.approx(value, rel=1e-3)
    for q, count, value in ((6, 60, 0.174), (7, 62, 0.196), (7, 61, 0.219)):
        assert false_bound(200, q, 50, count, "r-concave") == pytest.approx(value, abs=6e-4)


@pytest.mark.parametrize("r", [-1 / 2, -1 / 4])
@pytest.mark.parametrize(("n", "mean"), [(5, 0.1), (8, 0.05), (8, 0.2)])
def test_no_r_concave_distribution_has_a_larger_tail(n, mean, r):
    """Random ones come near, with a mean as large as is allowed, and never above."""
    bound = formulas._tails(mean, n, r)
    rng, best = np.random.default_rng(1), np.zeros(n + 1)
    for _ in range(3000):
        k = rng.integers(1, n + 1)
        slopes = np.sort(rng.exponential(size=k)) - rng.integers(2) * rng.exponential()
        g = np.concatenate([[0], slopes]).cumsum()
        g -= g.min()

        def of(log_a, g=g):  # convex to the power of 1 / r: r-concave
            f = (g + np.exp(log_a)) ** (1 / r)
            return f / f.sum()

        def excess(log_a, of=of, k=k):
            return of(log_a) @ np.arange(k + 1) - n * mean

        if excess(-20) * excess(20) < 0:
            f = of(brentq(excess, -20, 20, xtol=1e-13))
            best[: k + 1] = np.maximum(best[: k + 1], f[::-1].cumsum()[::-1])
    assert (best <= bound + 1e-9).all()
    first = math.ceil(2 * n * mean) + 1
    assert best[first] > 0.85 * bound[first]


@given(
    st.integers(2, 3000), st.floats(0, 1), st.integers(1, 60), st.integers(1, 120)
)  # fmt: skip
def test_bounds_are_ordered_and_fall(p, share, pairs, count):
    q, count = share * p, min(count, 2 * pairs)
    tight, single, worst = (
        false_bound(p, q, pairs, count, a) for a in ("r-concave", "unimodal", None)
    )
    assert 0 <= tight <= single <= worst <= p
    if count < 2 * pairs:
        for bound, assumption in ((tight, "r-concave"), (worst, None)):
            assert false_bound(p, q, pairs, count + 1, assumption) <= bound * (1 + 1e-9)


def test_bounds_hold_where_nothing_is_relevant():
    """The five columns that are most correlated with a target that none of 20 tells anything of.

    All have the low probability, so the bound is about all of them. One that took θ² for the
    probability of a half, or t for 2 t - 1, would be below what is found.
    """
    rng = np.random.default_rng(0)
    p, k, pairs, n = 20, 5, 10, 40
    found = {count: [] for count in (12, 14, 16)}
    for _ in range(400):
        X, y, counts = rng.normal(size=(n, p)), rng.normal(size=n), np.zeros(p, int)
        for _ in range(pairs):
            for rows in _stability._halved(np.zeros(n, int), rng):
                r = np.corrcoef(X[rows].T, y[rows])[-1, :-1]
                counts[np.argsort(-abs(r))[:k]] += 1
        for count, each in found.items():
            each.append((counts >= count).sum())
    low = k / p
    for count, each in found.items():
        mean = np.mean(each)
        assert mean <= false_bound(p, k, pairs, count, "r-concave")
        assert mean > p * formulas._tails(low**2, 2 * pairs, -1 / 4)[count]
        assert mean > p * formulas._tails(low**2, pairs, -1 / 2)[count // 2]


# ---- the record


def test_thresholds_and_what_is_stable():
    halves = [(0, 1)] * 9 + [(0, 2)] * 7 + [(3,)] * 4
    result = record(halves, 10)
    assert result.frequencies.tolist() == [0.8, 0.45, 0.35, 0.2] + [0] * 6
    for assumption in ("r-concave", "unimodal", None):
        for most in (0.05, 0.3, 1, 3):
            at = result.threshold(most, assumption)
            below = [t / 20 for t in range(12, 20 if math.isnan(at) else round(20 * at))]
            assert all(result.expected_false(t, assumption) > most for t in below)
            assert math.isnan(at) or result.expected_false(at, assumption) <= most
            expected = tuple(j for j in range(10) if result.frequencies[j] >= at)
            assert result.stable(most, assumption) == expected
    assert result.stable() == (0,)
    assert result.threshold(10**6) == 0.6
    assert math.isnan(result.threshold(0))
    assert result.expected_false(0.61) == result.expected_false(0.65)  # 13 of 20
    assert result.expected_false(0.6 + 1e-12) == result.expected_false(0.6)
    frame = result.to_frame()
    assert list(frame) == ["feature", "frequency", "expected_false", "stable"]
    assert frame["feature"].tolist() == list(result.features)
    assert frame["stable"].tolist() == [j in result.stable() for j in range(10)]
    assert frame["expected_false"][0] == result.expected_false(0.8)
    assert frame["expected_false"].isna().tolist() == [False] * 4 + [True] * 6


def test_what_is_asked_of_a_record_is_checked():
    result = record([(0,), (1,)])
    for ask in (lambda: result.expected_false(1.2), lambda: result.expected_false(True),
                lambda: result.threshold(-1), lambda: result.stable(1, "convex"),
                lambda: result.expected_false(0.7, "convex")):  # fmt: skip
        with pytest.raises(ValueError, match="parameter must be"):
            ask()


def test_json_there_and_back():
    X, y = data()
    frame = pd.DataFrame(X, columns=[f"<b>{j}" for j in range(8)])
    result = stability(SelectKBest(F, k=2), frame, y, n_resamples=3, random_state=0)
    again = Stability.from_json(result.to_json())
    assert again.chosen == result.chosen
    assert again.features == result.features
    assert again.provenance == result.provenance
    assert repr(again) == repr(result)
    assert again.to_json() == result.to_json()
    page = result._repr_html_()
    assert "<b>0" not in page
    assert "&lt;b&gt;" in page


@pytest.mark.parametrize(
    "change",
    [
        {"chosen": [[0], [9]]}, {"chosen": [[0], [1], [2]]}, {"chosen": []},
        {"chosen": [[0], [1.0]]}, {"chosen": [0, 1]}, {"features": []}, {"provenance": {}},
        {"chosen": [[0], [True]]},
    ],
)  # fmt: skip
def test_damaged_documents_are_refused(change):
    document = json.loads(record([(0,), (1,)]).to_json())
    with pytest.raises(ValueError, match="damaged"):
        Stability.from_json(json.dumps(document | change))


def parts(value, place=()):
    """All parts of a document; of a list, the first and the last."""
    yield place
    keys = (
        list(value) if isinstance(value, dict) else [0, -1] if value and type(value) is list else []
    )
    for key in keys:
        yield from parts(value[key], (*place, key))


def test_whatever_a_document_holds_it_is_shown_or_refused(capsys):
    from infosieve.cli.show import show

    X, y = data()
    known = stability(SelectKBest(F, k=2), X, y, groups=np.arange(60) // 3, n_resamples=2)
    text, shown_ones, said = known.to_json(), 0, []
    for place in list(parts(json.loads(text)))[1:]:
        for value in (None, -1, 10**400, 1.5, math.nan, "x", [], {}, True, [[1]], 99999, {"a": 1}):
            content = json.loads(text)
            inner = content
            for key in place[:-1]:
                inner = inner[key]
            inner[place[-1]] = value
            try:
                again = Stability.from_json(json.dumps(content))
            except ValueError as error:
                said.append(str(error))
                continue
            shown_ones += 1
            again.to_frame()
            again._repr_html_()
            show(again)
    assert shown_ones > 100
    assert said
    assert all(error.startswith("this ") for error in said)
    assert "halves" in capsys.readouterr().out


def test_the_code_gives_the_result_again():
    X, y = data()
    result = stability(SelectFromModel(Lasso(0.2)), X, y, n_resamples=3, random_state=7)
    pipeline = make_pipeline(StandardScaler(), SelectKBest(F, k=2))
    groups = np.arange(60) // 2
    other = stability(pipeline, X, y, groups=groups, n_resamples=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = stability(MISelector(max_features=1), X[:20], y[:20], n_resamples=1, random_state=5)
    assert ours.provenance.code == (
        "from infosieve import MISelector, stability\n\n"
        "stability(MISelector(max_features=1), X, y, n_resamples=1, random_state=5)"
    )
    for one in (result, other):
        lines = one.provenance.code.splitlines()
        names = {"X": X, "y": y, "groups": groups}
        exec("\n".join(lines[:-1]), names)
        assert eval(lines[-1], names).chosen == one.chosen


# ---- checkpoints


def document(result):
    content = json.loads(result.to_json())
    del content["provenance"]["parameters"]["checkpoint"]
    return content


class Killed(BaseException):
    pass


@pytest.mark.parametrize("n_halves", [0, 1, 4, 5, 6])
def test_what_was_killed_goes_on_with_the_same_bits(n_halves, tmp_path, monkeypatch):
    X, y = data()
    selector = MISelector(max_features=2, lookahead=1)
    whole = stability(selector, X, y, n_resamples=3, random_state=2)
    path, original, calls = tmp_path / "halves.json", _stability._fit, []

    def fit(*arguments):
        if len(calls) == n_halves:
            raise Killed
        calls.append(1)
        return original(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(_stability, "_fit", fit)
        if n_halves < 6:
            with pytest.raises(Killed):
                stability(selector, X, y, n_resamples=3, random_state=2, checkpoint=path)
        else:
            stability(selector, X, y, n_resamples=3, random_state=2, checkpoint=path)
    assert len(json.loads(path.read_text())["halves"]) == n_halves
    fitted = []
    with monkeypatch.context() as patch:
        patch.setattr(_stability, "_fit", lambda *a: fitted.append(1) or original(*a))
        again = stability(selector, X, y, n_resamples=3, random_state=2, checkpoint=path)
    assert len(fitted) == 6 - n_halves
    assert document(again) == document(whole)


def test_without_a_seed_the_checkpoint_keeps_one(tmp_path):
    X, y = data()
    path = tmp_path / "halves.json"
    one = stability(SelectKBest(F, k=2), X, y, n_resamples=2, checkpoint=path)
    two = stability(SelectKBest(F, k=2), X, y, n_resamples=2, checkpoint=path)
    assert one.provenance.seed == two.provenance.seed
    assert one.chosen == two.chosen
    assert f"random_state={one.provenance.seed}" in two.provenance.code


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"selector": SelectKBest(F, k=3)}, "selector__k was 2 and is 3"),
        ({"selector": SelectKBest(f_classif, k=2)}, "score_func was"),
        ({"n_resamples": 4}, "n_resamples was 2 and is 4"),
        ({"random_state": 1}, "the seed was 0 and is 1"),
        ({"groups": np.arange(60) // 2}, "the data are others"),
        ({"X": np.ones((60, 8))}, "the data are others"),
    ],
)
def test_a_checkpoint_of_something_else_is_refused(change, message, tmp_path):
    X, y = data()
    path = tmp_path / "halves.json"
    asked = {"selector": SelectKBest(F, k=2), "X": X, "y": y, "n_resamples": 2, "random_state": 0}
    stability(**asked, checkpoint=path)
    before = path.read_text()
    with pytest.raises(ValueError, match=message):
        stability(**asked | change, checkpoint=path)
    assert path.read_text() == before
    stability(**asked, checkpoint=path, n_jobs=1, verbose=0)  # which change nothing


class Plain:
    """A parameter that tells its address."""


class WithObject(Recorder):
    def __init__(self, thing=None, random_state=None):
        super().__init__(random_state)
        self.thing = thing


def test_objects_among_parameters_are_known_again(seen, tmp_path):
    X, y = data()
    asked = {"n_resamples": 2, "random_state": 0, "checkpoint": tmp_path / "halves.json"}
    things = [Plain(), Plain()]  # as in another process: elsewhere
    assert repr(things[0]) != repr(things[1])
    for thing in things:
        stability(WithObject(thing), X, y, **asked)
    assert len(seen) == 4


def test_damaged_checkpoints_are_refused(tmp_path):
    from infosieve._core.documents import restored
    from infosieve.selection._checkpoint import _checksum

    X, y = data()
    path = tmp_path / "halves.json"
    asked = {"selector": SelectKBest(F, k=2), "X": X, "y": y, "n_resamples": 2, "random_state": 0}
    stability(**asked, checkpoint=path)
    content = json.loads(path.read_text()) | {"halves": [[0], 3]}
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match="checksum is of another content"):
        stability(**asked, checkpoint=path)
    plain = {k: restored(v) for k, v in content.items()}
    for name in ("schema", "schema_version", "checksum"):
        del plain[name]
    path.write_text(json.dumps(content | {"checksum": _checksum(plain)}))
    with pytest.raises(ValueError, match=r"at `\$\[1\]`"):
        stability(**asked, checkpoint=path)
    MISelector(max_features=1, checkpoint=tmp_path / "steps.json").fit(X, y)
    with pytest.raises(ValueError, match="not a document of the schema"):
        stability(**asked, checkpoint=tmp_path / "steps.json")


class Interrupting(Recorder):
    def fit(self, X, y, groups=None):
        super().fit(X, y)
        if len(Recorder.seen) == 3:
            raise KeyboardInterrupt
        return self


def test_an_interruption_says_what_is_kept(seen, tmp_path):
    X, y = data()
    path = tmp_path / "halves.json"
    with pytest.raises(KeyboardInterrupt, match=r"2 halves were finished; the checkpoint .*run"):
        stability(Interrupting(), X, y, n_resamples=3, random_state=0, checkpoint=path)
    assert len(json.loads(path.read_text())["halves"]) == 2
    seen.clear()
    with pytest.raises(KeyboardInterrupt, match="are lost; a checkpoint would have kept them"):
        stability(Interrupting(), X, y, n_resamples=3, random_state=0)


def test_a_half_that_was_not_yet_written_is_kept(tmp_path, ctrl_c_while_writing):
    X, y = data()
    path = tmp_path / "halves.json"
    ctrl_c_while_writing(3)  # first without halves, then the first
    with pytest.raises(KeyboardInterrupt, match="2 halves were finished; the checkpoint"):
        stability(SelectKBest(F, k=2), X, y, n_resamples=3, random_state=0, checkpoint=path)
    assert len(json.loads(path.read_text())["halves"]) == 2


KILL = """
import numpy as np, os, signal, sys
from sklearn.feature_selection import SelectKBest, f_regression
from infosieve import stability
from infosieve.selection import _stability
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 8))
y = X[:, 2] + rng.normal(size=60)
original, calls = _stability._fit, []
def fit(*arguments):
    calls.append(1)
    if len(calls) == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    return original(*arguments)
_stability._fit = fit
result = stability(SelectKBest(f_regression, k=2), X, y, n_resamples=4, random_state=0,
                   checkpoint=sys.argv[1])
print(result.chosen)
"""


def test_a_process_that_is_killed(tmp_path):
    path = tmp_path / "halves.json"

    def run(at):
        return run_code(KILL, path, at)

    assert run(4).returncode == -signal.SIGKILL
    assert len(json.loads(path.read_text())["halves"]) == 3
    assert run(3).returncode == -signal.SIGKILL
    assert len(json.loads(path.read_text())["halves"]) == 5
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8))
    y = X[:, 2] + rng.normal(size=60)
    whole = stability(SelectKBest(F, k=2), X, y, n_resamples=4, random_state=0)
    assert run(99).stdout.strip() == str(whole.chosen)


# ---- who computes


def test_processes_give_the_same_bits():
    X, y = data()
    selector = SelectKBest(F, k=2)
    one = stability(selector, X, y, n_resamples=4, random_state=0)
    two = stability(selector, X, y, n_resamples=4, random_state=0, n_jobs=2)
    assert one.chosen == two.chosen
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    ours = MISelector(max_features=1, lookahead=1, n_jobs=-1)
    chosen = [
        stability(ours, frame, y, n_resamples=2, random_state=0, n_jobs=k).chosen for k in (None, 2)
    ]
    assert chosen[0] == chosen[1]


@pytest.mark.filterwarnings("ignore:Port .* is already in use")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_dask_gives_the_same_bits(tmp_path, capsys):
    from distributed import Client, LocalCluster

    X, y = data(60, 400)  # larger than what is sent with each job
    selector = SelectKBest(F, k=2)
    ref = stability(selector, X, y, n_resamples=4, random_state=0)
    options = {"processes": False, "dashboard_address": ":0", "threads_per_worker": 2}
    before = list(warnings.filters)
    with (
        LocalCluster(n_workers=1, silence_logs=50, **options) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        comp = stability(
            selector, X, y, n_resamples=4, random_state=0, executor=client, verbose=1,
            checkpoint=tmp_path / "halves.json",
        )  # fmt: skip
        assert comp.chosen == ref.chosen
        with pytest.raises(ValueError, match="half 1 "):
            stability(SelectKBest(F, k=3), X * np.nan, y, executor=client, n_resamples=1)
    assert "Dask workers" in capsys.readouterr().err
    assert len(json.loads((tmp_path / "halves.json").read_text())["halves"]) == 8
    assert list(warnings.filters) == before
    assert os.path.exists(tmp_path / "halves.json")


def test_progress(capsys, monkeypatch):
    monkeypatch.setattr("infosieve._core.progress._LINE_SECONDS", -1.0)
    X, y = data()
    stability(SelectKBest(F, k=2), X, y, n_resamples=2, random_state=0, verbose=1)
    assert "halves, 4 of 4" in capsys.readouterr().err
    stability(SelectKBest(F, k=2), X, y, n_resamples=2, random_state=0)
    assert capsys.readouterr().err == ""


# ---- the command


def command(*arguments, cwd):
    return run(*arguments, cwd=cwd, text=True)


@pytest.fixture
def folder(tmp_path):
    X, y = make_friedman(80, 6, random_state=0, return_X_y=True, as_frame=True)
    X.assign(kind=np.where(X["X4"] > 0.5, "high", "low"), who=np.arange(80) // 2, Y=y).to_csv(
        tmp_path / "table.csv", index=False
    )
    return tmp_path


FAST = ("--target", "Y", "--n-resamples", 2, "--max-features", 1, "--lookahead", 1, "--seed", 3)


def test_the_command(folder):
    out = ("--checkpoint", "halves.json", "--html", "page.html", "--jobs", 1)
    done = command("stability", "table.csv", *FAST, "--groups", "who", *out, cwd=folder)
    assert done.returncode == 0, done.stderr
    table = pd.read_csv(folder / "table.csv")
    X, y, groups = table.drop(columns=["Y", "who"]), table["Y"], table["who"]
    selector = MISelector(max_features=1, lookahead=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ref = stability(selector, X, y, groups=groups, n_resamples=2, random_state=3)
    n = len(ref.stable())
    assert done.stdout.startswith(f"{n} of 7 features are stable (4 halves of 80 samples)")
    best = ref.features[int(ref.frequencies.argmax())]
    assert best in done.stdout.splitlines()[2]
    for note in ref.notes:
        assert note in done.stdout
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "infosieve stability table.csv" in page
    assert f"from {ref.sets[0][1]} of 4 halves: " in done.stdout
    again = command("stability", "table.csv", *FAST, "--groups", "who", *out, "--json", cwd=folder)
    assert "4 halves are in the checkpoint" in again.stderr
    result = Stability.from_json(again.stdout)
    assert result.chosen == ref.chosen
    (folder / "kept.json").write_text(again.stdout, encoding="utf-8")
    done = command("report", "kept.json", "--html", "again.html", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "How often" in (folder / "again.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--n-resamples", 0), "--n-resamples must be an int of at least 1"),
        (("--groups", "nobody"), "--groups 'nobody' is no column"),
        (("--html", "page.txt"), "the ending must be one of"),
        (("--checkpoint", "table.csv"), "is the input itself"),
        (("--alpha", 2), "--alpha must be a number between 0 and 1"),
        (("--series",), "--series"),
    ],
)
def test_the_command_refuses(options, message, folder):
    given_twice = {"--n-resamples"} & {str(option) for option in options}
    asked = ("--target", "Y", "--jobs", 1) if given_twice else (*FAST, "--jobs", 1)
    done = command("stability", "table.csv", *asked, *options, cwd=folder)
    assert done.returncode == 2
    assert message in done.stderr.splitlines()[-1]
    assert done.stderr.splitlines()[-1].startswith("infosieve: error: ")
    assert not done.stdout


@pytest.mark.parametrize(
    ("bound", "words"),
    [
        (1.0, "At most 1 false column is expected"),
        (0.3, "At most 0.3 false columns are expected"),
        (1e-4, "Fewer than 0.001 false columns are expected"),
    ],
)
def test_one_false_column_is_one(bound, words):
    facts = SimpleNamespace(
        result=SimpleNamespace(n_selected_mean=2.0), threshold=0.7, bound=bound, n_columns=4
    )
    assert said("stability", "promise", facts)[0].startswith(words)
