"""Gaps: what they are worth, where they are found, and that every door takes them alike."""

from contextlib import nullcontext

import naive
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import columns
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from infosieve import (
    FeatureClustering,
    MISelector,
    SelectionResult,
    choose_k,
    mutual_information,
    permutation_test,
    relevance,
)
from infosieve._core.types import GAP
from infosieve._executors.threads import Threads
from infosieve._input.duplicates import find_duplicates
from infosieve._input.scaling import prepare

N = 150


def data(n=N, share=0.2, seed=0, m=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n)
    X[rng.random(X.shape) < share] = np.nan
    return pd.DataFrame(X, columns=list("abcdefgh")[:m]), y


def test_a_gap_is_infinitely_far_from_numbers_and_at_distance_zero_from_gaps():
    values = np.array([[1.0, np.nan, 3.0, np.nan, 2.0], [1.0, 2.0, 3.0, 4.0, 5.0]])
    found = prepare(values, np.zeros(2, bool), "standard", 0, Threads(1), with_order=True)
    assert found.gaps.tolist() == [True, False]
    assert found.n_distinct.tolist() == [4, 5]
    assert (found.values[0] == GAP).tolist() == [False, True, False, True, False]
    alone = prepare(values[:1, ::2], np.zeros(1, bool), "standard", 0, Threads(1))
    np.testing.assert_array_equal(found.values[0, ::2], alone.values[0])
    assert found.filled().values[0, 1] == np.median(alone.values)
    assert found.filled().gaps is None


@pytest.mark.parametrize("scale", ["standard", "normal-scores", None])
@pytest.mark.parametrize("target", ["normal", "category"])
def test_relevance_is_that_of_the_plain_loop(scale, target):
    table, y = data(60)
    y = y if target == "normal" else np.where(y > 0, "u", "v")
    found = relevance(table, y, n_neighbors=3, scale=scale)
    x = prepare(table.to_numpy().T.copy(), np.zeros(5, bool), scale, 2, Threads(1))
    codes = (y == y[0]).astype(float) if target == "category" else y
    flags = np.array([target == "category"])
    t = prepare(codes[None].copy(), flags, scale, 2, Threads(1)).values
    nothing = x.values[:0]
    for j in range(5):
        how = [naive.GAPS], [], flags.astype(int)
        want = naive.information(x.values[[j]], nothing, t, 3, categorical=how)
        assert found.iloc[j] == pytest.approx(want, abs=1e-9)


def test_of_gaps_at_random_the_share_that_is_there_tells_what_it_tells():
    """I((X, gap); Y) = (1 - g) I(X; Y)."""
    rng = np.random.default_rng(1)
    x, e = rng.normal(size=(2, 4000))
    y = 0.8 * x + 0.6 * e
    truth = -0.5 * np.log(1 - 0.8**2)
    for share in (0.1, 0.5):
        gaps = np.where(rng.random(4000) < share, np.nan, x)
        assert mutual_information(gaps, y) == pytest.approx((1 - share) * truth, abs=0.03)


def test_gaps_that_carry_information_are_found_and_told():
    rng = np.random.default_rng(2)
    y = rng.normal(size=300)
    x = np.where(y + 0.3 * rng.normal(size=300) > 0.5, np.nan, rng.normal(size=300))
    X = np.c_[rng.normal(size=300), x]
    assert relevance(X, y)[1] > 0.2
    assert relevance(X, y, missing="median")[1] < 0.8 * relevance(X, y)[1]
    result = MISelector(random_state=0).fit(X, y).result_
    assert result.selected == (1,)
    assert result.steps[0].gap_gain > 0.8 * result.steps[0].gain
    assert any("that values are missing would tell" in note for note in result.notes)
    assert result.missing == {1: int(np.isnan(x).sum())}
    assert SelectionResult.from_json(result.to_json()).steps == result.steps


def test_what_ways_there_are():
    table, y = data()
    filled = table.fillna(table.median())
    for way, same in (("median", filled), ("drop", table.dropna())):
        where = np.asarray(same.index)
        with pytest.warns(UserWarning, match="left out") if way == "drop" else nullcontext():
            found = relevance(table, y, missing=way)
        np.testing.assert_allclose(found, relevance(same, y[where]), atol=1e-12)
    auto = mutual_information(table[["a", "b"]], y)
    assert auto == mutual_information(table[["b", "a"]], y)  # no column is special
    assert auto > mutual_information(filled[["a", "b"]], y)  # which does not know where gaps are
    assert auto != mutual_information(table[["a", "b"]], y, missing="value")
    given = mutual_information(table["a"], y, condition=table[["b"]])
    assert given == pytest.approx(
        mutual_information(table["a"], y, condition=filled[["b"]]), abs=0.05
    )
    with pytest.raises(ValueError, match="'missing' parameter must be one of 'auto', 'value'"):
        relevance(table, y, missing="mean")
    with pytest.raises(ValueError, match=r"'a' \(\d+\), 'b' \(\d+\), 'c' \(\d+\), 'd' \(\d+\)"):
        relevance(table, y, missing="error")
    with pytest.raises(ValueError, match="missing='drop' leaves 0"):
        relevance(table.assign(z=np.nan), y, missing="drop")


@pytest.mark.parametrize("way", ["auto", "value", "median"])
def test_a_search_by_public_calls(way):
    table, y = data(200, 0.15)
    selector = MISelector(missing=way, random_state=0).fit(table, y)
    path = selector.path_
    first, second = path["feature"][:2]
    assert {first, second} == {"a", "b"}
    how = {"n_neighbors": (3, 15), "missing": way}
    assert mutual_information(table[first], y, **how) == path["mi"][0]
    assert mutual_information(table[[first, second]], y, **how) == path["mi"][1]
    gain = mutual_information(table[second], y, condition=table[first], criterion="cmi", **how)
    assert gain == path["gain"][1]
    rest = [name for name in table if name != first]
    test = permutation_test(
        table, y, rest, given=first, alpha=path["level"][1], random_state=0, missing=way
    )
    assert tuple(np.ravel(test.null)) == selector.result_.steps[1].null
    threads = MISelector(missing=way, random_state=0, n_jobs=2).fit(table, y)
    assert threads.result_.steps == selector.result_.steps


FORMS = {
    "numpy": lambda t: t.to_numpy(),
    "None": lambda t: t.astype(object).where(t.notna(), None),
    "masked": lambda t: np.ma.masked_invalid(t.to_numpy()),
    "nullable": lambda t: t.convert_dtypes(),
    "Arrow": lambda t: t.convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda t: pl.from_pandas(t, nan_to_null=True),
    "Arrow table": lambda t: pa.Table.from_pandas(t),
    "lists": lambda t: t.to_numpy().tolist(),
}


@pytest.mark.parametrize("form", FORMS)
def test_all_that_stands_for_a_gap(form):
    table, y = data()
    np.testing.assert_array_equal(relevance(FORMS[form](table), y), relevance(table, y))


@pytest.mark.parametrize("form", ["pandas", "polars", "categorical"])
def test_among_categories_a_gap_is_a_level(form):
    rng = np.random.default_rng(3)
    labels = rng.choice(["u", "v", "w"], N)
    y = (labels == "w") + 0.1 * rng.normal(size=N)
    gaps = pd.Series(np.where(labels == "w", None, labels), name="a")
    column = gaps
    if form == "polars":
        column = pl.Series("a", [None if v != v else v for v in gaps])
    elif form == "categorical":
        column = gaps.astype("category")
    assert mutual_information(column, y) == mutual_information(labels, y)


def test_a_column_of_nothing_but_gaps_is_constant():
    table, y = data()
    table["nothing"] = np.nan
    table["no text"] = pd.Series([None] * N, dtype="string")
    selector = MISelector(random_state=0).fit(table, y)
    assert selector.result_.constant == (5, 6)
    assert relevance(table, y)[["nothing", "no text"]].tolist() == [0, 0]
    one_value = table.assign(once=np.where(np.arange(N) % 3 == 0, 5.0, np.nan))
    assert MISelector(random_state=0).fit(one_value, y).result_.constant == (5, 6)


def test_copies_are_found_by_values_and_gaps():
    rng = np.random.default_rng(4)
    x = columns(["gaps"], 60, rng).values[0]
    raw = np.where(x == GAP, np.nan, x / 1e60)
    other = raw.copy()
    other[np.flatnonzero(~np.isnan(raw))[0]] = np.nan
    once = np.where(np.isnan(raw), np.nan, 3.0)
    table = np.array([raw, -2 * raw + 1, other, once, once + 5, rng.normal(size=60)])
    found = prepare(table, np.zeros(6, bool), "standard", 0, Threads(1))
    assert find_duplicates(found) == {0: (1,), 3: (4,)}


def test_infinities_are_refused_beside_gaps():
    table, y = data()
    table.iloc[0, 2] = np.inf
    with pytest.raises(ValueError, match=r"infinite values in 1 of its columns: 'c' \(1\)"):
        relevance(table, y)


def test_samples_without_a_target_are_left_out():
    table, y = data()
    without = pd.Series(y, name="yield").where(np.arange(N) % 10 != 4)
    kept = np.arange(N) % 10 != 4
    said = r"column 'yield' of y has missing values in 15 of 150 samples \(the first in row 4\)"
    with pytest.warns(UserWarning, match=said):
        found = MISelector(random_state=0).fit(table, without)
    same = MISelector(random_state=0).fit(table[kept], y[kept])
    assert found.result_.steps == same.result_.steps
    assert found.result_.provenance.n_samples == 135
    assert found.result_.provenance.n_left_out == 15
    assert any("15 samples without a target were left out" in n for n in found.result_.notes)
    labels = np.where(y > 0, "u", "v").astype(object)
    labels[:3] = None
    with pytest.warns(UserWarning, match="in 3 of 150 samples"):
        found = relevance(table, labels)
    np.testing.assert_array_equal(found, relevance(table[3:], labels[3:].astype(str)))
    with pytest.raises(ValueError, match="All 150 values of y are missing"):
        relevance(table, np.full(N, np.nan))
    with pytest.raises(ValueError, match="y has missing values"):
        relevance(table.fillna(0), without, missing="error")
    two = np.c_[y, np.where(kept, y, np.nan)]
    with pytest.warns(UserWarning, match="y has missing values in 15 of 150"):
        relevance(table, two)


@pytest.mark.parametrize("way", ["auto", "value", "median", "drop"])
def test_tables_on_disk(way, tmp_path, monkeypatch):
    monkeypatch.setattr("infosieve._input.lazy_columns.SMALL", 0)
    from infosieve import open_columns

    table, y = data()
    table["text"] = np.where(np.arange(N) % 7 == 0, None, np.where(y > 0, "u", "v"))
    path = tmp_path / "table.parquet"
    table.to_parquet(path)
    target = np.where(np.arange(N) % 20 == 3, np.nan, y)
    with pytest.warns(UserWarning, match="left out"):
        there = MISelector(missing=way, random_state=0).fit(open_columns(path), target)
    with pytest.warns(UserWarning, match="left out"):
        here = MISelector(missing=way, random_state=0).fit(table, target)
    assert there.result_.steps == here.result_.steps
    assert there.result_.provenance.data == here.result_.provenance.data
    assert there.result_.provenance.n_left_out == here.result_.provenance.n_left_out
    if way != "drop":
        assert there.result_.missing == here.result_.missing
    given = permutation_test(
        open_columns(path), y, ["a", "c"], given="b", random_state=0, missing="auto"
    )
    again = permutation_test(table, y, ["a", "c"], given="b", random_state=0)
    np.testing.assert_array_equal(given.null, again.null)


def test_transform_passes_gaps_on_and_pipelines_know():
    table, y = data()
    selector = MISelector(random_state=0).fit(table, y)
    out = selector.transform(table)
    names = selector.get_feature_names_out()
    np.testing.assert_array_equal(out, table[names].to_numpy())
    assert selector.__sklearn_tags__().input_tags.allow_nan
    assert not MISelector(missing="error").__sklearn_tags__().input_tags.allow_nan
    make_pipeline(MISelector(random_state=0), StandardScaler()).fit(table, y)


def test_clusters_of_columns_with_gaps():
    rng = np.random.default_rng(5)
    base = rng.normal(size=(2, 120))
    X = np.c_[base[0], base[0] + 0.1, base[1], base[1] * 2] + 0.1 * rng.normal(size=(120, 4))
    y = base[0] + base[1]
    X[rng.random(X.shape) < 0.05] = np.nan
    clusters = FeatureClustering(2).fit(X, y)
    assert clusters.labels_.tolist() == [0, 0, 1, 1]
    assert np.isfinite(clusters.transform(X)).all()
    filled = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    np.testing.assert_allclose(clusters.transform(X), clusters.transform(filled))
    same = FeatureClustering(2).fit(filled, y)
    np.testing.assert_allclose(same.transform(filled), clusters.transform(X))
    with pytest.raises(ValueError, match="missing values"):
        FeatureClustering(2, missing="error").fit(X, y)
    with pytest.warns(UserWarning, match="left out"):
        dropped = FeatureClustering(2, missing="drop").fit(X, y)
    assert dropped.result_.provenance.n_left_out == np.isnan(X).any(axis=1).sum()
    alone = FeatureClustering(2, similarity="unsupervised").fit(X)
    assert alone.labels_.tolist() == [0, 0, 1, 1]


def test_the_choice_of_k_with_gaps():
    table, y = data()
    choice = choose_k(table, y, n_neighbors=(2, 6), random_state=0)
    assert choice.feature in {"a", "b"}
    assert choose_k(table, y, n_neighbors=(2, 6), random_state=0, n_jobs=2).k == choice.k


def test_under_the_null_gaps_pass_no_more_often_than_they_should():
    """Gaps that depend on the selected column, and on nothing else of the target."""
    passed = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        s = rng.normal(size=100)
        y = s + 0.5 * rng.normal(size=100)
        x = np.where(s + 0.5 * rng.normal(size=100) > 0.5, np.nan, s + 0.5 * rng.normal(size=100))
        test = permutation_test(np.c_[x, s], y, 0, given=1, n_permutations=39, random_state=seed)
        passed += test.p_value <= 0.05
    assert passed <= 9  # at 5 %, more than nine happen once in 1,400 times


def test_noise_that_is_missing_with_a_selected_column_does_not_pass():
    """Medians alone would forget where the selected column is missing: 10 of these would pass."""
    passed = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        s = rng.normal(size=200)
        gone = rng.random(200) < 1 / (1 + np.exp(1 - 2 * s))
        y = s + 0.3 * rng.normal(size=200)
        X = np.where(gone[:, None], np.nan, np.c_[rng.normal(size=200), s])
        test = permutation_test(X, y, 0, given=1, n_permutations=39, random_state=seed)
        passed += test.p_value <= 0.05
    assert passed <= 6


@pytest.mark.filterwarnings("ignore:y is not stationary", "ignore:.* are left out")
def test_complete_rows_of_a_series_are_those_of_memory(tmp_path, monkeypatch):
    from infosieve import open_columns

    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.normal(size=120))
    table = pd.DataFrame({"a": walk + rng.normal(size=120), "b": rng.normal(size=120)})
    table.loc[20:, "b"] = np.where(rng.random(100) < 0.3, np.nan, table["b"][20:])
    table.to_parquet(tmp_path / "table.parquet")
    found = []
    for small in (1 << 26, 0):
        monkeypatch.setattr("infosieve._input.lazy_columns.SMALL", small)
        source = open_columns(tmp_path / "table.parquet")
        found.append(relevance(source, walk, missing="drop", series=True))
    np.testing.assert_array_equal(*found)
