"""What users pass: what is refused and how, and what must simply work."""

import datetime as dt
import math
import multiprocessing
import os
import re
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from command import A_LONG_TIME
from scipy import sparse
from sklearn.neighbors import KNeighborsRegressor

from infosieve import (
    MISelector,
    entropy,
    mutual_information,
    open_columns,
    relevance,
    relevance_test,
)
from infosieve._input.tables import fingerprint, read_table

N = 60
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
Y = X[:, 0] + 0.5 * RNG.normal(size=N)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
LABELS = np.where(Y > 0, "high", "low")


def with_value(value, rows=(3,), column="b", dtype=None):
    frame = FRAME.astype(dtype) if dtype else FRAME.copy()
    frame.loc[list(rows), column] = value
    return frame


def column_of(values):
    return FRAME.assign(b=values)


REFUSED = {
    "NaN": (with_value(np.nan, (3, 4)), Y, {}, ["X", "missing", "'b' (2)", "impute"]),
    "NaN in many": (
        np.full((N, 23), np.nan),
        Y,
        {},
        ["23 of its columns", "and 3 more"],
    ),
    "inf": (with_value(np.inf), Y, {}, ["X", "infinite", "'b' (1)"]),
    "NaN in y": (X, np.where(Y > 1, np.nan, Y), {}, ["y has missing values"]),
    "None in strings": (column_of([None] + ["u", "v"] * 29 + ["u"]), Y, {}, ["missing", "'b' (1)"]),
    "pd.NA": (column_of(pd.array([pd.NA] + [1] * (N - 1), "Int64")), Y, {}, ["missing", "'b'"]),
    "missing category": (
        column_of(pd.Categorical([None] + ["u", "v"] * 29 + ["u"])),
        Y,
        {},
        ["'b'"],
    ),
    "no rows": (X[:0], Y[:0], {}, ["X is empty"]),
    "no columns": (X[:, :0], Y, {}, ["X has 0 feature(s)", "minimum of 1"]),
    "complex": (X.astype(complex), Y, {}, ["Complex data", "complex"]),
    "complex in a frame": (column_of(X[:, 1] + 1j), Y, {}, ["'b'", "complex"]),
    "one row": (X[:1], Y[:1], {}, ["X has one sample"]),
    "K = N": (X, Y, {"n_neighbors": N}, ["n_neighbors", f"{N} samples", "smaller K"]),
    "K = 0": (X, Y, {"n_neighbors": 0}, ["n_neighbors", "at least 1", "Got 0"]),
    "K < 0": (X, Y, {"n_neighbors": (-1, 3)}, ["n_neighbors"]),
    "lo > hi": (X, Y, {"n_neighbors": (5, 3)}, ["n_neighbors", "lo <= hi", "(5, 3)"]),
    "K a float": (X, Y, {"n_neighbors": 3.0}, ["n_neighbors", "Got 3.0"]),
    "K a bool": (X, Y, {"n_neighbors": True}, ["n_neighbors"]),
    "K a triple": (X, Y, {"n_neighbors": (1, 2, 3)}, ["n_neighbors"]),
    "lengths": (X, Y[:-1], {}, [f"X has {N} samples", f"y has {N - 1}"]),
    "lengths of condition": (X, Y, {"condition": X[:5]}, ["condition has 5"]),
    "three dimensions": (X[None], Y, {}, ["X", "3 dimensions"]),
    "constant y": (X, np.full(N, 3.0), {}, ["y is constant", "3.0"]),
    "constant class": (X, ["u"] * N, {}, ["y is constant", "'u'"]),
    "constant one of two targets": (X, np.c_[Y, np.ones(N)], {}, ["column 1 of y is constant"]),
    "identifiers as y": (X, [f"id{i}" for i in range(N)], {}, ["different value for every sample"]),
    "unknown method": (X, Y, {"method": "ksg3"}, ["method", "'ksg1'", "'ksg3'"]),
    "unknown metric": (X, Y, {"metric": "manhattan"}, ["metric", "'euclidean'", "'manhattan'"]),
    "unknown scale": (X, Y, {"scale": "minmax"}, ["scale", "'normal-scores'", "'minmax'"]),
    "scale a bool": (X, Y, {"scale": True}, ["scale", "True"]),
    "ksg2 with condition": (
        X,
        Y,
        {"condition": X[:, 0], "method": "ksg2"},
        ["'ksg1'", "condition"],
    ),
    "mask too short": (X, Y, {"discrete_features": [True]}, ["discrete_features", "mask of 3"]),
    "masked": (np.ma.masked_array(X, X > 2), Y, {}, ["missing values"]),
    "ragged": ([[1.0, 2.0], [3.0]] * 30, Y, {}, ["X is no table", "length"]),
    "too large": (np.array([[10**400]] + [[1]] * (N - 1), object), Y, {}, ["1.8e308"]),
    "another order": (FRAME, pd.Series(Y).sort_values(), {}, ["another order", "y.loc[X.index]"]),
    "no such column": (FRAME, Y, {"discrete_features": ["z"]}, ["discrete_features", "'z'"]),
    "discrete a word": (X, Y, {"discrete_features": "yes"}, ["discrete_features", "'yes'"]),
    "discrete_target a word": (X, Y, {"discrete_target": "no"}, ["discrete_target", "'no'"]),
}

WRONG_TYPE = {
    "sparse": (sparse.csr_matrix(X), Y, {}, ["sparse", "toarray"]),
    "dates": (column_of(pd.date_range("2020", periods=N)), Y, {}, ["'b'", "dates", "days since"]),
    "dates with zone": (column_of(pd.date_range("2020", periods=N, tz="UTC")), Y, {}, ["'b'"]),
    "durations": (column_of(pd.to_timedelta(range(N), "h")), Y, {}, ["'b'", "numbers first"]),
    "periods": (column_of(pd.period_range("2020", periods=N)), Y, {}, ["'b'"]),
    "numpy dates": (np.arange(N).astype("datetime64[D]"), Y, {}, ["X", "dates"]),
    "date objects": (column_of([dt.date(2020, 1, 1)] * N), Y, {}, ["'b'", "date"]),
    "polars dates": (
        pl.DataFrame({"d": [dt.date(2020, 1, 1 + i % 28) for i in range(N)]}),
        Y,
        {},
        ["'d'", "dates"],
    ),
    "lazy polars": (pl.DataFrame(X).lazy(), Y, {}, ["collect()"]),
    "lists": (column_of([[1, 2]] * N), Y, {}, ["'b'", "list"]),
    "dicts": (column_of([{}] * N), Y, {}, ["'b'", "dict"]),
    "numbers and strings": (column_of([1, "u"] * (N // 2)), Y, {}, ["'b'", "str", "all numbers"]),
    "bools and numbers": (column_of([True, 2.5] * (N // 2)), Y, {}, ["'b'", "float", "bool"]),
    "numbers and text in a list": ([[0.5, "u"], ["v", 1.0]] * (N // 2), Y, {}, ["column 0", "str"]),
    "arrays in cells": (column_of([np.zeros(2)] * N), Y, {}, ["'b'", "ndarray"]),
    "durations in cells": (column_of([np.timedelta64(1, "D")] * N), Y, {}, ["'b'"]),
    "a multi-index": (pd.MultiIndex.from_arrays([X[:, 0], X[:, 1]]), Y, {}, ["MultiIndex"]),
    "polars expression": (pl.col("a"), Y, {}, ["polars"]),
    "a word": ("table.csv", Y, {}, ["X", "'str'"]),
    "a dict": ({"a": 1}, Y, {}, ["X", "'dict'"]),
    "nothing": (None, Y, {}, ["X", "'NoneType'"]),
    "intervals": (column_of(pd.arrays.IntervalArray.from_breaks(range(N + 1))), Y, {}, ["'b'"]),
    "strings declared continuous": (
        column_of(LABELS),
        Y,
        {"discrete_features": False},
        ["'b'", "no number", "discrete"],
    ),
}


@pytest.mark.parametrize("function", [mutual_information, relevance])
@pytest.mark.parametrize("case", REFUSED)
def test_refused_values(function, case):
    x, y, options, words = REFUSED[case]
    with pytest.raises(ValueError) as error:
        function(x, y, **options | {"missing": "error"})
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize("function", [mutual_information, relevance])
@pytest.mark.parametrize("case", WRONG_TYPE)
def test_refused_types(function, case):
    x, y, options, words = WRONG_TYPE[case]
    with pytest.raises(TypeError) as error:
        function(x, y, **options)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize("n_jobs", [0, 1.5, "all", True])
def test_refused_n_jobs(n_jobs):
    with pytest.raises(ValueError, match="n_jobs"):
        relevance(X, Y, n_jobs=n_jobs)


REFERENCE = mutual_information(X, Y)
RELEVANCE = relevance(X, Y)

SAME = {
    "a frame": FRAME,
    "lists": X.tolist(),
    "Fortran order": np.asfortranarray(X),
    "every second of more": np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "backwards and back": X[::-1, ::-1][::-1, ::-1],
    "long double": X.astype(np.longdouble),
    "objects": X.astype(object),
    "decimals": np.array([[Decimal(v) for v in row] for row in X.tolist()], object),
    "nullable floats": FRAME.astype("Float64"),
    "arrow-like strings as names": FRAME.rename(columns={"a": 1, "b": (2, 3), "c": None}),
    "polars": pl.DataFrame(X, schema=["a", "b", "c"]),
    "an odd index": FRAME.set_index(np.arange(N)[::-1]),
}


@pytest.mark.parametrize("case", SAME)
def test_the_same_table_in_another_form(case):
    assert mutual_information(SAME[case], Y) == REFERENCE
    np.testing.assert_array_equal(relevance(SAME[case], Y), RELEVANCE)


def test_read_only_arrays_stay_as_they_are():
    x, y = X.copy(), Y.copy()
    x.flags.writeable = y.flags.writeable = False
    assert mutual_information(x, y) == REFERENCE
    np.testing.assert_array_equal(relevance(x, y), RELEVANCE)
    np.testing.assert_array_equal(x, X)


@pytest.mark.parametrize(
    "y",
    [
        Y.tolist(),
        pd.Series(Y, name="y"),
        pd.Series(Y, index=np.arange(N)[::-1]),
        pl.Series("y", Y),
        pd.DataFrame({"y": Y}),
        Y[:, None],
        pd.array(Y, dtype="Float64"),
    ],
    ids=["list", "series", "series with an index", "polars", "frame", "column", "nullable"],
)
def test_the_same_target_in_another_form(y):
    assert mutual_information(X, y) == REFERENCE


def test_single_precision():
    single = X.astype(np.float32)
    np.testing.assert_array_equal(relevance(single, Y), relevance(single.astype(float), Y))


INTEGERS = np.round(3 * X).astype(int)


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint16", "Int32", "float16", "float64"])
def test_integers_are_numbers(dtype):
    values = pd.DataFrame(INTEGERS + 20).astype(dtype)
    np.testing.assert_array_equal(relevance(values, Y), relevance(INTEGERS + 20.0, Y))


CATEGORIES = {
    "strings": LABELS,
    "objects": LABELS.astype(object),
    "pandas strings": pd.Series(LABELS, dtype="string"),
    "categorical": pd.Categorical(LABELS),
    "unused categories": pd.Categorical(LABELS, categories=["x", "low", "high"], ordered=True),
    "bools": LABELS == "high",
    "nullable bools": pd.array(LABELS == "high", dtype="boolean"),
    "polars strings": pl.Series("y", LABELS.tolist()),
    "polars categorical": pl.Series("y", LABELS.tolist()).cast(pl.Categorical),
    "polars bools": pl.Series("y", (LABELS == "high").tolist()),
    "bytes": LABELS.astype("S"),
}


@pytest.mark.parametrize("case", CATEGORIES)
def test_categories_as_targets_and_features(case):
    values = CATEGORIES[case]
    declared = mutual_information(X, (LABELS == "high").astype(int), discrete_target=True)
    assert mutual_information(X, values) == declared
    assert mutual_information(values, X) == declared
    frame = pd.DataFrame({"n": X[:, 0]})
    frame["k"] = values.to_list() if isinstance(values, pl.Series) else values
    scores = relevance(frame, Y)
    assert scores["k"] == mutual_information(LABELS, Y)
    assert scores["n"] == RELEVANCE[0]


def test_declared_columns():
    level = np.array([2, 0, 3, 1])[np.digitize(Y, np.quantile(Y, [0.25, 0.5, 0.75]))]
    codes = pd.DataFrame({"n": X[:, 0], "code": level})
    want = relevance(codes.assign(code=level.astype(str)), Y)
    for how in ([False, True], [1], ["code"], np.array([False, True])):
        pd.testing.assert_series_equal(relevance(codes, Y, discrete_features=how), want)
    assert relevance(codes, Y)["code"] != want["code"]


def test_categories_only():
    a, b = RNG.integers(0, 3, (2, 300))
    y = np.where(RNG.uniform(size=300) < 0.8, a, b)
    joint = np.zeros((3, 3))
    np.add.at(joint, (a, y), 1 / 300)
    outer = joint.sum(1, keepdims=True) * joint.sum(0)
    plug_in = (joint * np.log(joint / outer)).sum()
    got = mutual_information(a.astype(str), y.astype(str))
    assert got == pytest.approx(plug_in - (3 - 1) ** 2 / (2 * 300), abs=0.01)  # less its bias
    assert mutual_information(a.astype(str), y.astype(str), n_neighbors=1) == got


def test_a_class_with_one_sample_adds_nothing():
    y = LABELS.astype(object)
    y[7] = "rare"
    keep = np.arange(N) != 7
    # The same without that sample, but for the scale, which is that of all samples.
    without = mutual_information(X[keep], y[keep])
    assert mutual_information(X, y) == pytest.approx(without, abs=0.03)


def test_a_column_of_identifiers_carries_nothing():
    frame = FRAME.assign(id=[f"s{i}" for i in range(N)])
    with pytest.warns(UserWarning, match="column 'id' of X has 60 categories in 60 samples"):
        assert relevance(frame, Y)["id"] == pytest.approx(0.0, abs=1e-12)


def test_identifiers_against_a_class_carry_nothing():
    frame = pd.DataFrame({"id": [f"s{i}" for i in range(N)], "copy": LABELS})
    with pytest.warns(UserWarning, match="column 'id' of X has 60 categories in 60 samples"):
        scores = relevance(frame, LABELS)
    assert scores["id"] == pytest.approx(0.0, abs=1e-12)
    assert scores["copy"] == pytest.approx(0.69, abs=0.05)


def test_a_condition_that_few_samples_share():
    given = np.array([f"v{i // 2}" if i < 20 else f"w{i}" for i in range(N)], object)
    with pytest.warns(UserWarning, match="40 of 60 samples share their combination of categories"):
        mutual_information(X, Y, condition=given)


@pytest.mark.parametrize("given", [None, X[:, 0]])
def test_classes_with_fewer_members_than_k(given):
    rng = np.random.default_rng(5)
    y = np.array(["u"] * 30 + ["v"] * 26 + ["w"] * 4)
    x = rng.normal(size=(N, 5))
    few = relevance(x, y, n_neighbors=3, condition=given)
    np.testing.assert_allclose(relevance(x, y, n_neighbors=8, condition=given), few, atol=0.15)


def test_more_neighbours_than_samples_that_are_left():
    y = np.array(list("aabb") + [f"single{i}" for i in range(9)])
    x, z = np.random.default_rng(6).normal(size=(2, 13, 4))
    with pytest.warns(UserWarning, match="9 of 13"):
        many = relevance(x, y, condition=z[:, 0], n_neighbors=(2, 12))
    with pytest.warns(UserWarning, match="9 of 13"):
        fewest = relevance(x, y, condition=z[:, 0], n_neighbors=3)
    np.testing.assert_allclose(many, fewest, atol=1e-12)  # a sample has one neighbour anyway


def test_categories_that_are_integers():
    codes = np.array([3, 1, 2])[np.digitize(Y, [-0.5, 0.5])]
    want = mutual_information(X, codes, discrete_target=True)
    for y in (
        pd.Categorical(codes),
        pd.Series(codes, dtype="category"),
        pd.CategoricalIndex(codes),
    ):
        assert mutual_information(X, y) == want


def test_integers_that_floats_cannot_tell_apart():
    codes = np.digitize(Y, [-0.5, 0.5])
    big = 2**60 + codes
    for values in (big, pd.Series(big), pd.DataFrame({"c": big}), big.astype(np.uint64)):
        assert mutual_information(values, Y) == mutual_information(codes, Y)
        declared = mutual_information(values, Y, discrete_features=True)
        assert declared == mutual_information(codes.astype(str), Y)
    assert mutual_information(X, big, discrete_target=True) == mutual_information(
        X, codes.astype(str)
    )


def test_columns_with_the_same_name_are_declared_together():
    levels = np.clip(INTEGERS, -1, 1)
    frame = pd.DataFrame(levels, columns=["a", "a", "b"])
    got = relevance(frame, Y, discrete_features=["a"]).to_numpy()
    np.testing.assert_array_equal(got, relevance(levels, Y, discrete_features=[0, 1]))


@pytest.mark.filterwarnings("ignore:.*so far from all others:UserWarning")
def test_wide_ranges_lose_nothing(rng):
    z = rng.normal(size=500)
    wide, label = np.exp(10 * z), np.where(z > -0.5, "u", "v")
    assert mutual_information(wide, label) == pytest.approx(mutual_information(z, label), abs=0.05)


@pytest.mark.parametrize("scale", ["standard", "normal-scores", None])
def test_categories_beside_tiny_numbers(scale):
    got = mutual_information(LABELS, Y * 1e-310, scale=scale)
    assert got == pytest.approx(mutual_information(LABELS, Y, scale=scale), abs=1e-2)


@pytest.mark.parametrize(
    "discrete", [[[0]], np.array(True), np.array("auto"), {"a": 1}, [None], [1.5], [-1], [3]]
)
def test_refused_declarations(discrete):
    with pytest.raises(ValueError, match="discrete_features"):
        relevance(X, Y, discrete_features=discrete)


@pytest.mark.parametrize(
    "column",
    [
        pl.Series("d", [[1.0, 2.0]] * N),
        pl.Series("d", [{"u": 1}] * N),
        pl.Series("d", [[1, 2]] * N, dtype=pl.Array(pl.Int64, 2)),
        pl.Series("d", [dt.timedelta(1)] * N),
    ],
    ids=["list", "struct", "array", "duration"],
)
def test_refused_polars_columns(column):
    with pytest.raises(TypeError, match="'d' of X"):
        relevance(pl.DataFrame([column]), Y)
    with pytest.raises(TypeError, match="'d' of X"):
        relevance(column, Y)


def test_strings_beside_declared_numbers():
    table = np.c_[np.round(X[:, :1]), X[:, 1:]].astype(object)
    table[:, 2] = LABELS
    declared = relevance(table, Y, discrete_features=[0])
    assert declared[2] == mutual_information(LABELS, Y)


def test_constant_columns_carry_nothing():
    frame = FRAME.assign(b=7.0, c="same")
    scores = relevance(frame, Y)
    assert scores["b"] == scores["c"] == 0.0
    assert scores["a"] == RELEVANCE[0]
    assert mutual_information(frame[["b", "c"]], Y) == 0.0
    assert mutual_information(frame, Y) == mutual_information(X[:, 0], Y)
    assert mutual_information(X, Y, condition=np.ones(N)) == REFERENCE
    np.testing.assert_array_equal(relevance(np.ones((N, 2)), Y), [0.0, 0.0])


def test_a_column_equal_to_the_target():
    assert mutual_information(Y, Y) > 2.0
    both = np.c_[X[:, 1], Y]
    assert relevance(both, Y)[1] == mutual_information(Y, Y)
    assert relevance(both, Y, condition=Y)[1] == 0.0


def test_repeated_rows(rng):
    twice = np.r_[X, X], np.r_[Y, Y]
    assert math.isfinite(mutual_information(*twice))
    tied = np.round(rng.normal(size=(200, 4)))
    assert np.abs(relevance(tied, rng.integers(0, 2, 200))).max() < 0.1


def test_two_samples():
    # psi(1) + psi(2) - 2 psi(1): nobody is strictly closer than the other sample.
    assert mutual_information([1.0, 2.0], [1.0, 3.0]) == pytest.approx(1.0, abs=1e-12)


def test_named_in_named_out():
    scores = relevance(FRAME, Y)
    assert isinstance(scores, pd.Series)
    assert list(scores.index) == ["a", "b", "c"]
    assert scores.name == "relevance"
    assert isinstance(relevance(X, Y), np.ndarray)
    assert isinstance(mutual_information(X, Y), float)
    single = relevance(pd.Series(X[:, 0], name="a"), Y)
    assert list(single.index) == ["a"]


def test_several_targets():
    both = np.c_[Y, X[:, 1]]
    assert relevance(X, both)[1] > RELEVANCE[1] + 0.5
    assert mutual_information(X, both) == mutual_information(both, X)


def test_a_range_of_k_is_capped():
    few = X[:6], Y[:6]
    want = mutual_information(*few, n_neighbors=(3, 5))
    assert mutual_information(*few) == want
    assert mutual_information(*few, n_neighbors=(3, 9)) == want
    with pytest.raises(ValueError, match="Use a smaller K, or a range, which is capped"):
        mutual_information(*few, n_neighbors=6)


def test_numpy_integers_are_integers():
    assert mutual_information(X, Y, n_neighbors=np.int64(4)) == mutual_information(
        X, Y, n_neighbors=4
    )
    assert mutual_information(X, Y, n_neighbors=[2, 5]) == mutual_information(
        X, Y, n_neighbors=(2, 5)
    )


def test_entropy_refuses_repeats_and_words():
    with pytest.raises(ValueError, match="2 samples that repeat"):
        entropy([1.0, 2.0, 3.0, 3.0])
    with pytest.raises(TypeError, match="no number"):
        entropy(LABELS)
    with pytest.raises(ValueError, match="metric"):
        entropy(X, metric="cityblock")


def test_first_call_says_that_it_compiles(tmp_path):
    # Few kernels: what is tested is said of any.
    code = (
        "import infosieve; print(infosieve.false_neighbors([[1.], [2], [4], [7]], [1., 3, 2, 8]))"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={"NUMBA_CACHE_DIR": str(tmp_path), "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        )
        for _ in range(2)
    ]
    assert runs[0].stdout == runs[1].stdout
    assert "compiling" in runs[0].stderr
    assert runs[1].stderr == ""  # the second process starts from the cache


def test_callers_with_threads_of_their_own():
    want = relevance(X, Y, n_jobs=2)
    with ThreadPoolExecutor(6) as pool:
        for got in pool.map(lambda _: relevance(X, Y, n_jobs=2), range(24)):
            np.testing.assert_array_equal(got, want)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own():
    want = relevance(X, Y, n_jobs=2)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        got = pool.apply_async(relevance, (X, Y), {"n_jobs": 2}).get(timeout=A_LONG_TIME)
    np.testing.assert_array_equal(got, want)


def test_an_error_in_a_thread_reaches_the_caller():
    from infosieve._executors.threads import Threads

    def fail():
        raise ZeroDivisionError("in a task")

    with pytest.raises(ZeroDivisionError, match="in a task"):
        Threads(2).run([fail, fail, lambda: 1])
    assert Threads(2).run([lambda: 1, lambda: 2, lambda: 3]) == [1, 2, 3]


@pytest.mark.parametrize("when", ["they work", "they are sent to work"])
def test_an_interrupt_ends_what_threads_do(when, monkeypatch):
    """What has begun ends by itself; nobody takes what has not."""
    from infosieve._executors import threads

    sent, begun, go_on, taken = [], threading.Event(), threading.Event(), []
    submit = threads._pool().submit

    class Interrupted:
        def submit(self, work):
            if when == "they are sent to work" and sent:
                raise KeyboardInterrupt
            sent.append(submit(work))
            return self

        def result(self):
            assert begun.wait(A_LONG_TIME)
            raise KeyboardInterrupt

    def held_up():
        begun.set()
        assert go_on.wait(A_LONG_TIME)

    monkeypatch.setattr(threads, "_pool", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        threads.Threads(2).run([held_up, held_up, *[lambda: taken.append(1)] * 5])
    go_on.set()
    for future in sent:
        future.result(A_LONG_TIME)
    assert taken == []


# --- what is likely a mistake, but may be meant, is told


def test_labels_that_are_shared_in_part_are_told():
    later = pd.Series(Y, index=range(20, N + 20))
    with pytest.warns(UserWarning, match=r"share 40 of 60 index labels.*row 0 is 0 in X and 20 in"):
        got = relevance(FRAME, later)
    other = pd.Series(Y, index=[f"s{i}" for i in range(N)])  # other labels altogether: an id
    pd.testing.assert_series_equal(relevance(FRAME, other), got)


@pytest.mark.parametrize(
    ("texts", "way"),
    [
        (["1.5", "2.25"], "pandas.to_numeric(column)"),
        (["1,5", "2,25"], "pandas.to_numeric(column.str.replace(',', '.'))"),
        (
            ["1.234,5", "2.000,25"],
            "pandas.to_numeric(column.str.replace('.', '').str.replace(',', '.'))",
        ),
    ],
)
def test_the_way_from_texts_to_numbers_works(texts, way):
    frame = column_of(texts * (N // 2))
    with pytest.warns(UserWarning, match=re.escape(way)):
        relevance(frame, Y)
    numbers = eval(way, {"pandas": pd, "column": frame["b"]})
    assert numbers.dtype == float


def test_signs_around_numbers_are_to_be_taken_out():
    with pytest.warns(UserWarning, match="holds numbers as text.*Take out what is no part of"):
        relevance(column_of(["5 %", "6 %"] * (N // 2)), Y)


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%y", "%Y-%m-%d %H:%M"])
def test_dates_as_text_are_told(form):
    days = pd.date_range("2024-01-01", periods=8).strftime(form)
    with pytest.warns(UserWarning, match=r"column 'b' of X holds dates as text.*weekday"):
        relevance(column_of(np.resize(days, N)), Y)


def test_categories_that_may_be_individuals_are_told():
    who = np.resize([f"p{i}" for i in range(N // 3)], N)
    with pytest.warns(UserWarning, match=r"column 'b' of X has 20 values.*pass it as groups"):
        relevance(column_of(who), Y)
    numbers = np.repeat(np.random.default_rng(0).permutation(N // 3) + 100, 3)  # as in a panel
    with pytest.warns(UserWarning, match=r"column 'b' of X has 20 values.*pass it as groups"):
        relevance(column_of(numbers), Y)
    relevance(column_of(numbers), Y, groups=numbers)
    relevance(column_of(numbers + 0.5), Y)  # no whole numbers
    relevance(column_of(np.sort(np.resize(np.arange(17), N))), Y)  # blocks of other sizes
    relevance(column_of(np.resize(numbers[::3], N)), Y)  # not one after the other
    relevance(column_of(np.resize(list("pqrst"), N)), Y)
    relevance(column_of(who), Y, groups=np.arange(N) // 2)  # rows that belong together are known


def test_two_numbers_are_categories():
    """Of their own accord, whatever their type, unless somebody says that they are numbers."""
    rng = np.random.default_rng(1)
    bit = rng.integers(0, 2, N)
    forms = {
        "numbers": 2.5 * bit,
        "whole": bit,
        "nullable": pd.array(bit, "Int64"),
        "flags": bit > 0,
    }
    y = rng.normal(size=N) + bit
    found = {
        name: relevance_test(pd.DataFrame({"x": form}), y, random_state=0).to_frame()
        for name, form in forms.items()
    }
    for frame in found.values():
        numbers = frame.drop(columns="view")
        pd.testing.assert_frame_equal(numbers, found["flags"].drop(columns="view"))
    assert [frame["view"][0] for frame in found.values()] == [
        "higher for 2.5", "higher for 1", "higher for 1", "higher for True",
    ]  # fmt: skip
    one, as_number = (
        relevance(bit[:, None], y, discrete_features=how)[0] for how in ("auto", False)
    )
    assert one == relevance((bit > 0)[:, None], y)[0] != as_number
    gaps = np.where(rng.random(N) < 0.2, np.nan, bit)
    three = np.select([gaps == 1, gaps == 0], ["one", "none"], "gap")
    assert relevance(gaps[:, None], y)[0] == relevance(three[:, None], y)[0]


def test_ordered_categories_are_numbers_in_their_order(tmp_path):
    rng = np.random.default_rng(1)
    codes, levels = rng.integers(0, 4, N), ["never", "seldom", "often", "always"]
    y = codes + rng.normal(size=N)
    gaps = rng.random(N) < 0.1
    text = pd.Series(np.array(levels)[codes]).mask(gaps)
    ordered = pd.DataFrame({"x": text.astype(pd.CategoricalDtype(levels, ordered=True))})
    numbers = pd.DataFrame({"x": np.where(gaps, np.nan, codes)})
    tests = [relevance_test(X, y, random_state=0).to_frame() for X in (ordered, numbers)]
    pd.testing.assert_frame_equal(*tests)
    assert tests[0]["view"][0] == "rises"
    as_it_is = relevance(pd.DataFrame({"x": text}), y)["x"]
    assert relevance(ordered, y)["x"] == relevance(numbers, y)["x"] != as_it_is
    assert relevance(ordered, y, discrete_features=["x"])["x"] == as_it_is
    ordered.to_parquet(tmp_path / "table.parquet")
    there = relevance_test(open_columns(tmp_path / "table.parquet"), y, random_state=0)
    pd.testing.assert_frame_equal(there.to_frame(), tests[0])


TWO = (Y > 0).astype(int)
TWO_FORMS = {
    "integers": TWO,
    "other numbers": np.where(TWO, -1.5, 3e9),
    "Int64": pd.Series(TWO, dtype="Int64"),
    "objects": TWO.astype(object),
    "a column": TWO[:, None],
}


def _path(X, y):
    return MISelector(stop=None, max_features=2).fit(X, y).path_.to_numpy(str)


@pytest.mark.parametrize("form", TWO_FORMS)
def test_a_target_of_two_numbers_is_classes_unless_declared(form):
    y = TWO_FORMS[form]
    texts = np.where(TWO, "yes", "no")
    for ask in (mutual_information, relevance, _path):
        np.testing.assert_array_equal(ask(FRAME, y), ask(FRAME, texts))
    numbers = relevance(FRAME, y, discrete_target=False)
    assert not np.array_equal(numbers, relevance(FRAME, texts))


def test_a_target_of_two_numbers_with_gaps_is_classes():
    y = np.where(np.arange(N) < 5, np.nan, TWO)
    with pytest.warns(UserWarning, match="missing values in 5 of 60 samples"):
        found = relevance(FRAME, y)
    np.testing.assert_array_equal(found, relevance(FRAME[5:], np.where(TWO, "yes", "no")[5:]))


FEW_NUMBERS = {
    "three samples": [0, 1, 1],
    "three without gaps": [0.0, 1.0, 1.0, np.nan, np.nan],
    "three numbers": [0.0, 1.0, 2.0, 1.0],
    "one number": [0.0, 0.0, 0.0, 0.0],
    "several targets": [[0, 1], [1, 0], [1, 0], [0, 1]],
    "NaN that is not missing": pd.arrays.FloatingArray(
        np.array([0.0, 1.0, np.nan, 1.0, 0.0]), np.zeros(5, bool)
    ),
}


@pytest.mark.parametrize("case", FEW_NUMBERS)
def test_other_targets_of_few_numbers_are_numbers(case):
    assert not read_table(FEW_NUMBERS[case], "y", missing="auto").categorical.any()


@pytest.mark.skipif(np.finfo(np.longdouble).nmant == 52, reason="no wide long double")
def test_a_target_of_three_numbers_that_are_two_as_floats_is_refused():
    y = np.array([0, 1, 1 + np.finfo(np.longdouble).eps, 1], np.longdouble)
    with pytest.raises(ValueError, match=r"y holds .* same number in float64"):
        read_table(y, "y", missing="auto")


def test_a_target_beyond_floats_is_refused_by_its_size():
    with pytest.raises(ValueError, match=r"1\.8e308"):
        relevance(FRAME, [10**400 if one else 0 for one in TWO])


def test_fingerprints_of_two_numbers_do_not_depend_on_their_type():
    forms = (TWO, TWO.astype(float), TWO.astype(object), TWO.astype("int32"))
    assert len({fingerprint(read_table(form, "y")) for form in forms}) == 1
    assert fingerprint(read_table(1 - TWO, "y")) != fingerprint(read_table(TWO, "y"))


def test_a_series_of_two_numbers_is_numbers():
    """It may not be stationary, and is measured by its changes then."""
    y = (np.arange(N) // 20) % 2
    how = {"series": True, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, same = (MISelector(**how, discrete_target=d).fit(FRAME, y) for d in ("auto", False))
    assert found.result_.provenance.data == same.result_.provenance.data
    pd.testing.assert_frame_equal(found.path_, same.path_)


def test_a_target_of_a_number_and_infinity_is_refused():
    with pytest.raises(ValueError, match="y has infinite values"):
        relevance(FRAME, np.where(TWO, np.inf, 0.0))


COPIES = {
    "itself": Y,
    "another unit": 3 - 2.5 * Y,
    "a rising function": np.exp(Y),
}


@pytest.mark.parametrize("copy", COPIES)
def test_a_copy_of_the_target_is_told(copy):
    with pytest.warns(UserWarning, match=r"^column 'b' of X is a copy of y, or the same in other"):
        MISelector(stop=None, max_features=1).fit(column_of(COPIES[copy]), Y)


def test_classes_in_other_words_are_told_and_what_predicts_well_is_not():
    coded = np.where(LABELS == "high", "yes", "no")
    with pytest.warns(UserWarning, match="'b' of X is a copy of y"):
        MISelector(stop=None, max_features=1).fit(column_of(coded), LABELS)
    MISelector(stop=None, max_features=1).fit(column_of(Y), LABELS)  # separates, and says more
    nearly = Y.copy()
    nearly[[0, 1]] = nearly[[1, 0]]
    MISelector(stop=None, max_features=1).fit(column_of(nearly), Y)


def test_two_numbers_are_predicted_as_classes_unless_a_model_or_the_user_says_otherwise():
    how = {"stop": "cv", "cv": 2, "max_features": 1}
    assert MISelector(**how).fit(FRAME, TWO).result_.cv_scores.scoring == "accuracy"
    assert (
        MISelector(**how, discrete_target=False).fit(FRAME, TWO).result_.cv_scores.scoring == "r2"
    )
    model = KNeighborsRegressor(3)
    assert MISelector(**how, model=model).fit(FRAME, TWO).result_.cv_scores.scoring == "r2"
    found = MISelector(**how, scoring="r2").fit(FRAME, TWO).result_.cv_scores
    assert found.model["name"].endswith("KNeighborsRegressor")


@pytest.mark.parametrize("scoring", ["f1", "precision", "roc_auc"])
def test_the_larger_of_two_numbers_is_the_class_that_scores_mean(scoring):
    how = {"stop": "cv", "cv": 3, "max_features": 2, "scoring": scoring, "random_state": 0}
    y = (X[:, 0] > -0.5).astype(int)  # not as many of one as of the other
    rows = np.argsort(-y, kind="stable")  # the larger number first
    frames = [
        MISelector(**how).fit(FRAME.iloc[rows], y[rows].astype(dtype)).result_.cv_scores
        for dtype in (int, float)
    ]
    assert frames[0].best_score == frames[1].best_score


@pytest.mark.parametrize("value", [-999.0, 9999.0])
def test_numbers_that_stand_for_gaps_are_told(value):
    frame = with_value(value, (3, 9, 20), dtype=float)
    told = rf"column 'b' of X has the value {value:.0f} in 3 of 60 samples, far from all.*NaN"
    with pytest.warns(UserWarning, match=told):
        relevance(frame, Y, scale="normal-scores")
    both = frame.assign(c=frame["b"])
    with pytest.warns(UserWarning, match="So have 1 other columns such a value"):
        relevance(both, Y, scale="normal-scores")


def test_large_numbers_among_others_are_not():
    ages = np.r_[np.linspace(5, 98, N - 2), 99, 99]
    relevance(column_of(ages), Y)
    relevance(column_of(np.full(N, 999.0)), Y)  # constant: nothing to be far from
    relevance(with_value(99.0, (3,)), Y, scale="normal-scores")  # once: a value as good as any


def test_rows_with_dates_in_order_are_told():
    days = FRAME.set_index(pd.date_range("2024-01-01", periods=N))
    told = "rows of X have dates, one after the other.*series=True"
    with pytest.warns(UserWarning, match=told):
        relevance(days, Y)
    MISelector(stop=None, max_features=1, series=True).fit(days, Y)
    relevance(days.sample(frac=1, random_state=0), Y)
    relevance(days, Y, groups=np.arange(N) // 2)
