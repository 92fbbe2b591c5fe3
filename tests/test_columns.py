"""Tables that stay on disk: the same results as tables in memory, and little memory."""

import pickle
import subprocess
import sys

import fsspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from sklearn.pipeline import make_pipeline

import infosieve._input.by_order
import infosieve._input.lazy_columns
import infosieve._input.problem
import infosieve._scoring.jobs
from infosieve import (
    FeatureClustering,
    MISelector,
    choose_k,
    mutual_information,
    open_columns,
    permutation_test,
    relevance,
)
from infosieve.datasets import make_friedman


@pytest.fixture
def unread(monkeypatch):
    """Even small sources stay where they are, and are read a few columns at a time."""
    monkeypatch.setattr("infosieve._input.lazy_columns.SMALL", 0)
    monkeypatch.setattr("infosieve._input.lazy_columns._BLOCK_BYTES", 8 * 120 * 3)
    monkeypatch.setattr(infosieve._scoring.jobs, "_PIECE_BYTES", 8 * 120 * 4)


def frame():
    """Numbers, copies, repeated values, whole numbers, flags, texts and categories."""
    X, y = make_friedman(120, 8, random_state=1, return_X_y=True)
    table = pd.DataFrame(X, columns=[f"c{j}" for j in range(8)])
    table["twice"] = 1 - 2 * table["c0"]
    table["rounded"] = (table["c1"] * 3).round()
    table["one"] = 1.0
    table["whole"] = (table["c2"] * 1e4).astype(int)
    table["flag"] = table["c3"] > 0.5
    table["text"] = np.where(table["c4"] > 0.5, "a", np.where(table["c5"] > 0.5, "b", "c"))
    table["kind"] = pd.Categorical(np.where(table["c6"] > 0.3, "x", "z"), ["z", "y", "x"])
    table["level"] = np.arange(120) % 3
    table["target"] = y
    return table


def numbers():
    return frame().iloc[:, :12].astype(float)


def parts(table, folder):
    """A directory of files; the tenth part comes after the ninth."""
    folder.mkdir()
    for i in range(12):
        table.iloc[i * 10 : (i + 1) * 10].to_parquet(folder / f"part-{i}.parquet")
    return str(folder)


def kept(kind, table, folder):
    """The table in one of the ways in which it can stay where it is."""
    if kind == "file":
        table.to_parquet(folder / "table.parquet", row_group_size=50)
        return open_columns(folder / "table.parquet")
    if kind == "directory":
        return open_columns(parts(table, folder / "table"))
    if kind == "remote":
        with fsspec.open(f"memory://{folder.name}/table.parquet", "wb") as file:
            table.to_parquet(file)
        return open_columns(f"memory://{folder.name}/table.parquet")
    if kind == "remote directory":
        for i in range(2):
            with fsspec.open(f"memory://{folder.name}/all/{i}.parquet", "wb") as file:
                table.iloc[i * 60 : (i + 1) * 60].to_parquet(file)
        return open_columns(f"memory://{folder.name}/all")
    if kind in ("arrow file", "feather"):
        how = "uncompressed" if kind == "arrow file" else "lz4"
        pyarrow.feather.write_feather(table, str(folder / "t.arrow"), compression=how)
        return open_columns(folder / "t.arrow")
    assert kind == "arrow"
    return open_columns(pa.Table.from_pandas(table))


KINDS = ["file", "directory", "remote", "remote directory", "arrow file", "feather", "arrow"]


def content(selector):
    """All of a result, whatever was given."""
    result = selector.result_
    choice = None if result.k_choice is None else result.k_choice.mi.tolist()
    excerpt = result.excerpt
    return (
        result.selected, result.features, result.steps, result.relevance.tolist(),
        result.duplicates, result.constant, result.stop_reason, choice, result.provenance.data,
        excerpt.rows.tolist(), excerpt.features, excerpt.target,
    )  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_source_is_selected_from_as_a_frame_is(kind, unread, tmp_path):
    table = frame()
    source = kept(kind, table, tmp_path)
    assert source.columns == list(table.columns)
    assert source.shape == table.shape
    how = {"discrete_features": ["level"], "random_state": 0, "max_features": 3}
    ours = MISelector(**how).fit(source.drop("target"), source["target"])
    theirs = MISelector(**how).fit(table.drop(columns="target"), table["target"])
    assert content(ours) == content(theirs)
    assert ours.duplicates_ == {0: (8,)}
    assert ours.feature_names_in_.tolist() == theirs.feature_names_in_.tolist()
    chosen = ours.transform(source.drop("target"))
    pd.testing.assert_frame_equal(
        chosen.astype(str), table[chosen.columns].reset_index(drop=True).astype(str)
    )


@pytest.mark.parametrize(
    "how",
    [
        {"scale": None},
        {"scale": "normal-scores", "criterion": "mi", "method": "ksg2"},
        {"n_neighbors": "auto"},
        {"search": "forward-backward", "stop": "permutation", "alpha": 0.3, "lookahead": 1},
        {"correction": None, "null": "global", "resample": "cv", "alpha": 0.1, "lookahead": 1},
        {"stop": None, "max_features": 4},
    ],
)
def test_settings_do_not_matter(how, unread, tmp_path):
    table = frame()
    source = kept("file", table, tmp_path)
    how = {"n_permutations": 99, "random_state": 2, "max_features": 3} | how
    ours = MISelector(**how).fit(source.drop("target"), source["target"])
    theirs = MISelector(**how).fit(table.drop(columns="target"), table["target"])
    assert content(ours) == content(theirs)


@pytest.mark.parametrize("order", ["C", "F", "part", "npy"])
def test_memory_maps_are_read_column_by_column(order, unread, tmp_path):
    values = numbers().to_numpy()
    y = frame()["target"].to_numpy()
    if order == "npy":
        np.save(tmp_path / "x.npy", values)
        X = open_columns(tmp_path / "x.npy")
    else:
        X = np.memmap(tmp_path / "x", float, "w+", 64, (values.shape[0] + 1, values.shape[1]),
                      "F" if order == "F" else "C")  # fmt: skip
        X[:-1] = values
        X = X[:-1] if order == "part" else X
        values, y = (values, y) if order == "part" else (np.array(X), np.append(y, 0.5))
    ours = MISelector(random_state=0, max_features=2).fit(X, y)
    theirs = MISelector(random_state=0, max_features=2).fit(values, y)
    assert content(ours) == content(theirs)
    assert np.array_equal(ours.transform(X), theirs.transform(values))
    assert not hasattr(ours, "feature_names_in_")


def test_memory_maps_of_all_shapes_find_their_file_again(tmp_path):
    whole = np.memmap(tmp_path / "x", float, "w+", 24, (50, 7), "F")
    whole[:] = np.random.default_rng(0).normal(size=(50, 7))
    whole.flush()
    for view in (whole, whole[:, 2:5], whole.T[3:6].T, whole[:, 6:]):
        source = open_columns(view)
        again = pickle.loads(pickle.dumps(source))
        assert again.visible()
        assert np.array_equal(again.read([1, 0] if view.shape[1] > 1 else [0]),
                              view[:, [1, 0] if view.shape[1] > 1 else [0]])  # fmt: skip
    assert not open_columns(whole[::2]).visible()
    changed = np.memmap(tmp_path / "x", float, "c", 24, (50, 7), "F")
    changed[0, 0] = 5.0
    assert not open_columns(changed).visible()  # nobody else can_read that
    assert open_columns(changed).read([0])[0] == 5.0
    (tmp_path / "x").unlink()
    assert not open_columns(whole).visible()
    assert np.array_equal(open_columns(whole).read([2])[:, 0], whole[:, 2])


def test_every_function_takes_a_source(unread, tmp_path):
    table = frame()
    source = kept("file", table, tmp_path)
    X, y, S = table.drop(columns="target"), table["target"], source.drop("target")
    pd.testing.assert_series_equal(relevance(S, y), relevance(X, y))
    pd.testing.assert_series_equal(
        relevance(S, y, condition=source[["c1", "kind"]]),
        relevance(X, y, condition=X[["c1", "kind"]]),
    )
    assert np.array_equal(choose_k(S, y, random_state=0).t, choose_k(X, y, random_state=0).t)
    how = {"given": ["c1"], "random_state": 0, "n_permutations": 19}
    for correction in (None, "max"):
        ours, theirs = (
            permutation_test(t, y, ["c2", "c3", "text"], correction=correction, **how)
            for t in (S, X)
        )
        assert np.array_equal(ours.null, theirs.null)
        assert np.array_equal(ours.observed, theirs.observed)
    assert mutual_information(source[["c1", "c2"]], y) == mutual_information(X[["c1", "c2"]], y)
    few = ["c0", "c1", "c2", "c3", "twice"]
    ours = FeatureClustering(3).fit(source[few], y)
    assert np.array_equal(ours.similarities_, FeatureClustering(3).fit(X[few], y).similarities_)
    assert np.array_equal(ours.transform(source[few]), ours.transform(X[few]))


def test_small_sources_are_simply_read(tmp_path, monkeypatch):
    monkeypatch.setattr("infosieve._input.lazy_columns.open_table", None)
    source = kept("file", frame(), tmp_path)
    assert relevance(source[["c1", "c2"]], source["target"]).index.tolist() == ["c1", "c2"]


def test_identifiers_of_a_source_are_named(unread, tmp_path):
    table = frame()
    table["text"] = [f"row {i}" for i in range(len(table))]
    source = kept("file", table, tmp_path)
    with pytest.warns(UserWarning, match="column 'text' of X has 120 categories in 120 samples"):
        relevance(source.drop("target"), source["target"])


@pytest.mark.filterwarnings("ignore:.*the same values in the same order")
@pytest.mark.filterwarnings("ignore:.*repeats itself every 4 rows")
@pytest.mark.filterwarnings("ignore:.*is not stationary|No column was selected")
@pytest.mark.parametrize("block", [1, 2**21])
def test_what_the_order_tells_is_the_same_on_disk(block, unread, tmp_path, monkeypatch):
    monkeypatch.setattr(infosieve._input.by_order, "_BLOCK", block)
    table = numbers().assign(target=frame()["target"], visit=np.tile(np.arange(4.0), 30))
    source = kept("file", table, tmp_path)
    X, y = table.drop(columns="target"), table["target"]
    S = source.drop("target")
    in_groups = {"groups": np.arange(120) // 4}
    for how, fit in (({"statistic": "ksg"}, in_groups), ({"series": True}, {})):
        ours, theirs = (
            MISelector(random_state=0, max_features=2, **how).fit(t, y, **fit).result_
            for t in (S, X)
        )
        assert ours.provenance.by_order == theirs.provenance.by_order == ("visit",)
        assert ours.to_frame().equals(theirs.to_frame())


def test_pipelines_and_outputs(unread, tmp_path):
    source = kept("file", numbers().assign(target=frame()["target"]), tmp_path)
    X, y = source.drop("target"), source["target"]
    chosen = make_pipeline(MISelector(random_state=0, max_features=2)).fit_transform(X, y)
    assert isinstance(chosen, pd.DataFrame)
    assert chosen.shape == (120, 2)
    selector = MISelector(random_state=0, max_features=2).fit(X, y)
    assert np.array_equal(selector.transform(numbers()), chosen.to_numpy())
    with pytest.raises(ValueError, match="feature names"):
        selector.transform(source[["c3", "c4"]])


def test_a_checkpoint_of_a_frame_goes_on_with_a_file(unread, tmp_path):
    table = frame()
    source = kept("file", table, tmp_path)
    how = {"random_state": 0, "stop": None, "checkpoint": tmp_path / "steps"}
    whole = MISelector(**how | {"checkpoint": None}, max_features=3)
    whole.fit(table.drop(columns="target"), table["target"])
    MISelector(**how, max_features=3).fit(table.drop(columns="target"), table["target"])
    ours = MISelector(**how, max_features=3).fit(source.drop("target"), source["target"])
    assert ours.result_.steps == whole.result_.steps


# ---- what a source can be asked, and what it refuses


def test_columns_by_name(tmp_path):
    source = kept("file", frame(), tmp_path)
    assert repr(source[["c1", "text"]]) == (
        "<ColumnSource of 120 samples and 2 columns: 'c1', 'text'>"
    )
    pd.testing.assert_series_equal(source["c1"], frame()["c1"])
    back = source[np.array(["text", "c2", "c1"])]
    assert back.read().columns.tolist() == ["text", "c2", "c1"]
    assert back.read([2, 0]).columns.tolist() == ["c1", "text"]
    assert len(source.take_rows(np.array([3, 5]))) == 2
    assert source.take_rows(np.array([3, 5])).take_rows(np.array([1]))["c1"].tolist() == [
        frame()["c1"][5]
    ]
    with pytest.raises(KeyError, match="has no column 'nothing'; it has 'c0', 'c1'"):
        source["nothing"]
    with pytest.raises(KeyError, match="'gone'"):
        source.drop(["c1", "gone"])


def test_labels_of_rows_are_no_columns(tmp_path):
    table = frame().set_index("c7")
    table.to_parquet(tmp_path / "t.parquet")
    assert open_columns(tmp_path / "t.parquet").columns == list(table.columns)


def test_a_column_with_dots_and_one_without(tmp_path):
    table = pd.DataFrame({"a": [1.0, 2, 3], "a.b": [3.0, 1, 2], "b": [0.0, 1, 0]})
    table.to_parquet(tmp_path / "t.parquet")
    assert open_columns(tmp_path / "t.parquet")[["b", "a"]].read().to_dict("list") == {
        "b": [0, 1, 0], "a": [1, 2, 3],
    }  # fmt: skip


def test_missing_values_are_counted_over_all_blocks(unread, tmp_path):
    table = frame()
    table.loc[3:5, "c1"] = np.nan
    table.loc[0, "text"] = None
    source = kept("file", table, tmp_path)
    with pytest.raises(ValueError, match=r"in 2 of its columns: 'c1' \(3\), 'text' \(1\)"):
        relevance(source.drop("target"), source["target"], missing="error")
    table = frame()
    table.loc[3, "c2"] = np.inf
    source = kept("file", table, tmp_path)
    with pytest.raises(ValueError, match=r"infinite values in 1 of its columns: 'c2' \(1\)"):
        MISelector().fit(source.drop("target"), source["target"])


def test_unusable_columns_are_named(unread, tmp_path):
    table = frame()
    table["when"] = pd.date_range("2024-01-01", periods=120)
    source = kept("file", table, tmp_path)
    with pytest.raises(TypeError, match="column 'when' of X holds dates"):
        relevance(source.drop("target"), source["target"])
    with pytest.raises(ValueError, match="There is no column 'level0'"):
        relevance(source[["c1"]], source["target"], discrete_features=["level0"])
    X = np.memmap(tmp_path / "x", float, "w+", shape=(120, 5))
    X[:] = np.random.default_rng(0).normal(size=X.shape)
    X[:, 3] = 0
    with pytest.raises(ValueError, match="column 3 of X is constant"):
        permutation_test(X, frame()["target"], 3)
    with pytest.raises(ValueError, match="X has 120 samples and y has 119"):
        relevance(X, frame()["target"][1:])


def test_what_cannot_be_opened(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        open_columns(tmp_path / "nothing.parquet")
    (tmp_path / "text.parquet").write_text("not Parquet at all, whatever its name")
    with pytest.raises(ValueError, match=r"text.parquet cannot be read as Parquet"):
        open_columns(tmp_path / "text.parquet")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="has no Parquet files"):
        open_columns(tmp_path / "empty")
    parts(frame(), tmp_path / "parts")
    frame().drop(columns="c3").to_parquet(tmp_path / "parts" / "part-12.parquet")
    with pytest.raises(ValueError, match=r"different columns \(column 'c3' is in one only\)"):
        open_columns(tmp_path / "parts")
    with pytest.raises(TypeError, match=r"takes a path, a numpy.memmap or a pyarrow.Table"):
        open_columns(frame())
    twice = pa.table([[1.0, 2.0], [1.0, 2.0]], names=["a", "a"])
    with pytest.raises(ValueError, match="more than one column named 'a'"):
        open_columns(twice)
    with pytest.raises(ValueError, match="cannot be opened"):
        open_columns("nosuchprotocol://bucket/table.parquet")
    np.save(tmp_path / "flat.npy", np.arange(5.0))
    with pytest.raises(ValueError, match=r"flat.npy has the shape \(5,\)"):
        open_columns(tmp_path / "flat.npy")
    (tmp_path / "bad.npy").write_bytes(b"nothing at all")
    with pytest.raises(ValueError, match=r"bad.npy is no array of numbers"):
        open_columns(tmp_path / "bad.npy")
    (tmp_path / "t.arrow").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="is no Arrow file"):
        open_columns(tmp_path / "t.arrow")


def test_a_file_that_changes_is_refused(tmp_path):
    source = kept("file", frame(), tmp_path)
    assert source.visible()
    source["c1"]
    kept("file", frame().iloc[:60], tmp_path)
    assert not source.visible()
    with pytest.raises(OSError, match=r"has changed since the table was opened. Open it again"):
        source["c1"]
    X = np.memmap(tmp_path / "x", float, "w+", shape=(120, 5))
    X[:] = 1
    source = open_columns(X)
    source.read([0])
    (tmp_path / "x").write_bytes(b"less")
    with pytest.raises(OSError, match="has changed"):
        source.read([0])


MEMORY = """
import sys
import infosieve._input.lazy_columns as lazy, infosieve._scoring.jobs as jobs
from infosieve import MISelector, open_columns

lazy._BLOCK_BYTES //= 4  # as if the table were four times as large
jobs._PIECE_BYTES //= 4

def peak():  # of this program alone: getrusage() has that of the one that started it, too
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))

source = open_columns(sys.argv[1])
few = source[source.columns[:40]]
y = few["c3"] + few["c7"] ** 2
how = dict(n_neighbors=3, stop=None, max_features=2, lookahead=1, random_state=0)
MISelector(**how).fit(few.read(), y)  # compiled, loaded
before = peak()
selector = MISelector(**how).fit(source, y)
print(peak() - before, 8 * source.shape[0] * source.shape[1] / 2**20, *selector.selected_)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks the system for the largest memory")
def test_memory_does_not_grow_with_the_table(tmp_path):
    rng = np.random.default_rng(0)
    n, m = 400, 30_000
    names = [f"c{j}" for j in range(m)]
    pyarrow.parquet.write_table(
        pa.Table.from_arrays([pa.array(c) for c in rng.normal(size=(m, n))], names),
        tmp_path / "wide.parquet", use_dictionary=False, compression="none",
    )  # fmt: skip
    path = str(tmp_path / "wide.parquet")
    run = subprocess.run(
        [sys.executable, "-c", MEMORY, path], capture_output=True, text=True, check=True
    )
    more, table, *selected = map(float, run.stdout.split())
    assert table > 90
    assert more < 0.6 * table, f"{more:.0f} MB more for a table of {table:.0f} MB"
    assert sorted(selected) == [3, 7]


def test_copies_are_found_among_many(rng):
    """Of thousands of columns, many nearly meet on one direction; copies meet on all."""
    from infosieve._executors.threads import Threads
    from infosieve._input.duplicates import find_duplicates
    from infosieve._input.scaling import prepare

    values = rng.normal(size=(9000, 60))
    values[100:200] = 3 * values[7] + 1
    values[8000], values[8001] = -values[8500], values[8500] + 1e-3
    values[42] = values[43]
    values[42, 5] += 1e-4  # nearly
    x = prepare(values, np.zeros(9000, bool), "standard", 0, Threads(1))
    assert find_duplicates(x) == {7: tuple(range(100, 200)), 8000: (8001, 8500)}
    x = prepare(
        np.repeat(values[:3], 3000, axis=0), np.zeros(9000, bool), "standard", 0, Threads(1)
    )
    assert {k: len(v) for k, v in find_duplicates(x).items()} == {0: 2999, 3000: 2999, 6000: 2999}
