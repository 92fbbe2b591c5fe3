"""Frames of any library go in wherever tables do, and mean what they mean in pandas."""

import duckdb
import nanoarrow
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from infosieve import (
    CurveFeatures,
    FeatureClustering,
    MISelector,
    choose_k,
    entropy,
    mutual_information,
    open_columns,
    permutation_test,
    relevance,
    relevance_test,
    stability,
)

N = 90


def table():
    """Numbers, whole numbers with and without gaps, booleans, texts and categories."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(N, 3)), columns=["a", "b", "c"])
    frame["whole"] = np.round(9 * frame["a"]).astype(int)
    frame["gaps"] = frame["b"].where(rng.random(N) < 0.9)
    frame["large"] = pd.array([None, *(2**60 + frame["whole"][1:])], "Int64")
    frame["flag"] = frame["c"] > 0
    frame["text"] = np.where(frame["a"] > 0, "u", "v")
    frame["kind"] = pd.Categorical(np.where(frame["b"] > 0.5, "x", "z"))
    frame["y"] = frame["a"] + frame["b"] ** 2 + 0.3 * rng.normal(size=N)
    frame["who"] = np.repeat([f"p{i}" for i in range(N // 3)], 3)
    return frame


class Capsule:
    """A table of whoever implements Arrow's interface, and nothing else."""

    def __init__(self, content):
        self._content = content

    def __arrow_c_stream__(self, requested_schema=None):
        return self._content.__arrow_c_stream__(requested_schema)


def in_duckdb(frame):
    frame = arrow(frame)
    return duckdb.from_arrow(frame)


def arrow(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)


FRAMES = {
    "polars": pl.from_pandas,
    "pyarrow table": arrow,
    "pyarrow batch": lambda frame: arrow(frame).combine_chunks().to_batches()[0],
    "DuckDB relation": in_duckdb,
    "Arrow's interface": lambda frame: Capsule(arrow(frame)),
    "nanoarrow": lambda frame: nanoarrow.Array(arrow(frame)),
    "narwhals": lambda frame: nw.from_native(pl.from_pandas(frame)),
    "narwhals, of pandas": nw.from_native,
}
COLUMNS = {
    "polars": lambda column: pl.from_pandas(column),
    "pyarrow array": lambda column: pa.Array.from_pandas(column),
    "chunked array": lambda column: pa.chunked_array(pa.Array.from_pandas(column)),
    "DuckDB relation": lambda column: in_duckdb(column.to_frame()),
    "Arrow's interface": lambda column: Capsule(pl.from_pandas(column)),
    "nanoarrow": lambda column: nanoarrow.Array(pa.Array.from_pandas(column)),
    "narwhals": lambda column: nw.from_native(pl.from_pandas(column), series_only=True),
}
FEATURES = ["a", "b", "c", "whole", "gaps", "large", "flag", "text", "kind"]


@pytest.mark.parametrize("library", FRAMES)
def test_a_frame_is_selected_from_as_in_pandas(library):
    frame = table()
    X = FRAMES[library](frame[FEATURES])
    how = {"random_state": 0, "max_features": 2}
    ours = MISelector(**how).fit(X, frame["y"])
    theirs = MISelector(**how).fit(frame[FEATURES], frame["y"])
    assert ours.result_.provenance.data == theirs.result_.provenance.data
    assert ours.result_.steps == theirs.result_.steps
    assert ours.feature_names_in_.tolist() == FEATURES
    chosen = np.asarray(ours.transform(X), float)
    np.testing.assert_array_equal(chosen, theirs.transform(frame[FEATURES]).astype(float))
    as_pandas = ours.set_output(transform="pandas").transform(X)
    assert as_pandas.columns.tolist() == list(ours.get_feature_names_out())
    as_polars = ours.set_output(transform="polars").transform(X)
    np.testing.assert_array_equal(as_polars.to_numpy().astype(float), chosen)


@pytest.mark.parametrize("library", FRAMES)
def test_all_functions_take_frames(library):
    frame = table()
    X, few = frame[FEATURES], frame[["a", "b", "c"]]
    there, y = FRAMES[library], frame["y"]
    given = frame[["kind", "gaps"]]
    found = relevance(there(X), y, condition=there(given))
    pd.testing.assert_series_equal(found, relevance(X, y, condition=given))
    assert mutual_information(there(X), y) == mutual_information(X, y)
    assert entropy(there(few)) == entropy(few)
    test, other = (
        permutation_test(t, y, ["a", "text"], given="kind", n_permutations=19, random_state=0)
        for t in (there(X), X)
    )
    np.testing.assert_array_equal(test.null, other.null)
    assert test.provenance.data == other.provenance.data
    one, two = (relevance_test(t, y, random_state=0) for t in (there(few), few))
    pd.testing.assert_frame_equal(one.to_frame(), two.to_frame())
    how = {"n_neighbors": (2, 5), "random_state": 0}
    one, two = (choose_k(t, y, **how) for t in (there(few), few))
    pd.testing.assert_frame_equal(one.to_frame(), two.to_frame())


@pytest.mark.parametrize("library", FRAMES)
def test_estimators_take_frames(library):
    frame = table()
    few, y = frame[["a", "b", "c", "whole"]], frame["y"]
    there = FRAMES[library](few)
    clusters, other = (FeatureClustering(2).fit(t, y) for t in (there, few))
    np.testing.assert_array_equal(clusters.similarities_, other.similarities_)
    np.testing.assert_array_equal(clusters.transform(there), other.transform(few))
    assert clusters.feature_names_in_.tolist() == few.columns.tolist()
    curves, other = (CurveFeatures().fit(t) for t in (there, few))
    np.testing.assert_array_equal(curves.transform(there), other.transform(few))
    piped = make_pipeline(MISelector(random_state=0, max_features=1), StandardScaler())
    piped.fit_transform(there, y)


@pytest.mark.parametrize("name", ["y", "large", "text", "kind", "flag"])
@pytest.mark.parametrize("library", COLUMNS)
def test_columns_are_targets_and_conditions(library, name):
    frame = table()
    column = frame[name].iloc[1:].reset_index(drop=True)  # without gaps
    column = column.astype("int64") if name == "large" else column
    x = frame[["a"]].iloc[1:].to_numpy()
    there = COLUMNS[library](column)
    assert mutual_information(x, there) == mutual_information(x, column)
    assert mutual_information(there, x) == mutual_information(column, x)
    given = mutual_information(x, frame["c"][1:], condition=there)
    assert given == mutual_information(x, frame["c"][1:], condition=column)


@pytest.mark.parametrize("library", COLUMNS)
def test_columns_are_groups(library):
    frame = table()
    there = COLUMNS[library](frame["who"])
    how = {"random_state": 0, "stop": None, "max_features": 1}
    x = frame[["a", "b"]]
    ours, theirs = (MISelector(**how).fit(x, frame["y"], groups=g) for g in (there, frame["who"]))
    assert ours.result_.steps == theirs.result_.steps
    assert ours.result_.provenance.data == theirs.result_.provenance.data
    shuffled = x.sample(frac=1, random_state=1)  # these labels say nothing of groups without any
    MISelector(**how).fit(shuffled, frame["y"].to_numpy(), groups=there)
    gaps = frame["who"].where(np.arange(N) != 4, None)
    with pytest.raises(ValueError, match=r"no label in row 4 \(1 of 90"):
        MISelector(**how).fit(x, frame["y"], groups=COLUMNS[library](gaps))


def test_names_come_from_frames_and_columns():
    frame = table()
    y = pl.Series("yield", frame["y"].where(frame.index != 5))
    with pytest.warns(UserWarning, match="column 'yield' of y has missing values"):
        relevance(in_duckdb(frame[["a"]]), y)
    with pytest.raises(TypeError, match="column 'when' of X holds dates or times"):
        relevance(pa.table({"when": pa.array(range(N), pa.date32())}), frame["y"])
    assert relevance(pl.Series("one", frame["a"]), frame["y"]).index.tolist() == ["one"]
    assert isinstance(relevance(pl.Series(frame["a"].to_numpy()), frame["y"]), np.ndarray)


def test_halves_of_frames_are_drawn_alike():
    frame = table()
    few = frame[["a", "b", "c"]]
    selector = MISelector(n_features_to_select=1, random_state=0)
    ours, theirs = (
        stability(selector, t, frame["y"], n_resamples=4, random_state=0)
        for t in (in_duckdb(few), few)
    )
    pd.testing.assert_frame_equal(ours.to_frame(), theirs.to_frame())


def test_a_model_is_fitted_to_any_frame():
    frame = table()
    few = frame[["a", "b", "c"]]
    how = {"stop": "cv", "cv": 3, "max_features": 2, "random_state": 0}
    ours, theirs = (MISelector(**how).fit(t, frame["y"]).result_ for t in (in_duckdb(few), few))
    assert ours.cv_scores == theirs.cv_scores


def test_what_stays_open_is_refused_with_a_way_out():
    frame = table()
    x, y = arrow(frame[["a"]]), frame["y"]
    with pytest.raises(TypeError, match=r"X is a stream, which can be read once.*X\.read_all\(\)"):
        relevance(x.to_reader(), y)
    lazy = r"condition is a lazy polars frame. Pass condition\.collect\(\)"
    with pytest.raises(TypeError, match=lazy):
        relevance(x, y, condition=pl.from_arrow(x).lazy())
    objects = pl.DataFrame({"odd": pl.Series([object()] * N, dtype=pl.Object)})
    with pytest.raises(TypeError, match="column 'odd' of X has the type Object"):
        relevance(objects, y)
    with pytest.raises(TypeError, match="need not be opened"):
        open_columns(frame)


class Counted(Capsule):
    """How often a table is asked for: a relation of a database runs its query each time."""

    times = 0

    def __arrow_c_stream__(self, requested_schema=None):
        self.times += 1
        return super().__arrow_c_stream__(requested_schema)


def test_a_relation_is_run_once_in_each_call():
    frame = table()
    few = frame[["a", "b", "c"]]

    def runs(call):
        each = [Counted(arrow(t)) for t in (few, frame[["y"]])]
        call(*each)
        return [one.times for one in each]

    how = {"n_permutations": 19, "random_state": 0}
    assert runs(mutual_information) == [1, 1]
    assert runs(relevance) == [1, 1]
    assert runs(lambda X, y: permutation_test(X, y, "a", **how)) == [1, 1]
    assert runs(MISelector(stop=None, max_features=1).fit) == [1, 1]
    assert runs(MISelector(stop="cv", cv=3, min_features=1, random_state=3).fit) == [1, 1]
    assert runs(FeatureClustering(2).fit) == [1, 1]


def test_a_relation_may_be_opened_and_its_columns_chosen():
    frame = table()
    source = open_columns(in_duckdb(frame))
    assert source[["a", "text"]].texts == ["text"]
    pd.testing.assert_series_equal(source["a"], frame["a"])
    ours = relevance(source.drop(["y", "who"]), source["y"])
    pd.testing.assert_series_equal(ours, relevance(frame[FEATURES], frame["y"]))


def test_results_are_tables_for_whatever_reads_arrow():
    frame = table()
    x, y = frame[["a", "b", "c", "kind"]], frame["y"]
    selection = MISelector(random_state=0, stop=None, max_features=2).fit(x, y).result_
    unnamed = MISelector(random_state=0, stop=None, max_features=2).fit(x[["a", "b"]].to_numpy(), y)
    clusters = FeatureClustering(2).fit(x[["a", "b", "c"]], y).result_
    chosen = choose_k(x, y, n_neighbors=(2, 5), random_state=0)
    test = permutation_test(x, y, ["a", "b"], n_permutations=19, random_state=0)
    often = stability(MISelector(n_features_to_select=1), x, y, n_resamples=4, random_state=0)
    for result in (selection, unnamed.result_, clusters, chosen, test, often):
        wanted = result.to_frame()
        assert pa.table(result).to_pylist() == arrow(wanted).to_pylist()
        assert pl.DataFrame(result).columns == wanted.columns.tolist()
    assert duckdb.from_arrow(pa.table(selection)).fetchall()[0][:2] == (1, "add")


def test_names_of_several_types_are_texts_for_arrow():
    frame = table()[["a", "b", "c"]].set_axis([1, "b", ("c", 2)], axis=1)
    test = permutation_test(frame, table()["y"], [1, "b"], n_permutations=19, random_state=0)
    assert pa.table(test)["feature"].to_pylist() == ["1", "b"]
