"""Rows that are said to be in order of time, where dates say when they were."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from command import run

from infosieve import FeatureClustering, MISelector, choose_k, relevance_test

N = 60
DAYS = pd.date_range("2020-01-01", periods=N)
INDEXES = {
    "dates": DAYS,
    "a time zone": DAYS.tz_localize("Europe/Berlin"),
    "periods": pd.period_range("2020-01", periods=N, freq="M"),
    "time since": DAYS - DAYS[0],
    "objects": pd.Index(DAYS.date),
    "stamps as objects": DAYS.astype(object),
    "Arrow": pd.Index(DAYS.astype("date32[pyarrow]")),
    "texts": pd.Index(DAYS.strftime("%Y-%m-%d")),
    "texts with a time": pd.Index(DAYS.strftime("%Y-%m-%dT12:00:00Z")),
    "texts as objects": pd.Index(DAYS.strftime("%Y-%m-%d"), dtype=object),
    "texts of the day first": pd.Index(DAYS.strftime("%d.%m.%Y")),
    "texts of the month first": pd.Index(DAYS.strftime("%m/%d/%Y")),
}
ASKED = {
    "MISelector": lambda X, y: MISelector(series=True, stop=None, max_features=1).fit(X, y),
    "relevance_test": lambda X, y: relevance_test(X, y, series=True),
    "choose_k": lambda X, y: choose_k(X, y, n_neighbors=(2, 3), n_folds=3, series=True),
    "FeatureClustering": lambda X, y: FeatureClustering(2, series=True).fit(X, y),
}


def table(index=None):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(N, 3)), columns=list("abc"), index=index)
    return X, X["a"] + 0.1 * rng.normal(size=N)


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize("kind", INDEXES)
def test_dates_out_of_order_are_refused(kind, ask):
    X, y = table(INDEXES[kind])
    order = np.arange(N)
    order[[5, 6]] = [6, 5]
    way = r"order = pd\.to_datetime" if kind.startswith("texts") else r"X\.sort_index\(\)"
    with pytest.raises(ValueError, match=rf"in row 6 comes after .*: {way}"):
        ASKED[ask](X.iloc[order], y.iloc[order])
    ASKED[ask](X, y)  # in order


def test_the_way_out_is_one():
    X, y = table(DAYS)
    order = np.random.default_rng(1).permutation(N)
    want = relevance_test(X, y, series=True, random_state=0).to_frame()
    mixed = X.iloc[order]
    with pytest.raises(ValueError, match="comes after"):
        relevance_test(mixed, y.iloc[order], series=True)
    X = mixed.sort_index()
    found = relevance_test(X, y.iloc[order].loc[X.index], series=True, random_state=0)
    pd.testing.assert_frame_equal(found.to_frame(), want)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        relevance_test(mixed.reset_index(drop=True), y.to_numpy()[order], series=True)


def test_the_index_of_the_target_says_it_where_the_columns_have_none():
    X, y = table(DAYS)
    with pytest.raises(ValueError, match="'2020-02-28' in row 1 comes after '2020-02-29'"):
        relevance_test(X.to_numpy()[::-1], y[::-1], series=True)


def test_the_index_of_the_target_says_it_where_that_of_the_columns_says_nothing():
    X, y = table(DAYS)
    for X_plain in (X.reset_index(drop=True), X.set_index(pd.Index([f"r{i}" for i in range(N)]))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of labels that are not alike
            with pytest.raises(ValueError, match="'2020-02-28' in row 1 comes after '2020-02-29'"):
                relevance_test(X_plain, y[::-1], series=True)
            order = y[::-1].index.argsort()  # the way out that it names
            relevance_test(X_plain.iloc[order], y[::-1].iloc[order], series=True)
            relevance_test(X_plain, y[::-1].reset_index(drop=True), series=True)


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d %b %Y"])
def test_the_way_out_of_texts_is_one(form):
    X, y = table(pd.Index(DAYS.strftime(form), name="day"))
    order = np.random.default_rng(1).permutation(N)
    X, y = X.iloc[order], y.iloc[order]
    with pytest.raises(ValueError, match="comes after") as refused:
        relevance_test(X, y, series=True)
    way = str(refused.value).partition("order = ")[2].partition(", and X and y")[0]
    order = eval(way, {"X": X, "pd": pd})
    relevance_test(X.iloc[order], y.iloc[order], series=True)


@pytest.mark.parametrize(
    "texts", [["a"] * N, ["12:30", "11:00"] * (N // 2), ["01/02/2020", "02/01/2020"] * (N // 2)]
)
def test_texts_that_say_no_date_say_nothing(texts, recwarn):
    """Nor do those of which nobody can tell whether the day or the month comes first."""
    relevance_test(*table(pd.Index(texts)), series=True)
    assert not [w for w in recwarn if "date" in str(w.message)]


STATIONS = np.repeat(["north", "south"], N // 2)


def test_a_level_of_dates_is_looked_at():
    """As of a panel, sorted by station and then by day."""
    index = pd.MultiIndex.from_arrays([STATIONS, np.tile(DAYS[: N // 2], 2)], names=["at", "day"])
    X, y = table(index)
    said = (
        r"'2020-01-01' in row 30 comes after '2020-01-30'.*order = (.*)\.argsort\(\).*pass groups"
    )
    for ask in ASKED.values():
        with pytest.raises(ValueError, match=said):
            ask(X, y)
    order = X.index.get_level_values("day").argsort()
    X, y = X.iloc[order], y.iloc[order]
    with pytest.warns(UserWarning, match="30 of 60 rows have the date of the row above"):
        relevance_test(X, y, series=True)


def test_one_level_of_dates_in_order_is_enough(recwarn):
    born = np.random.default_rng(0).permutation(DAYS - pd.Timedelta(days=20_000)).astype(object)
    index = pd.MultiIndex.from_arrays([born, DAYS, np.repeat(DAYS[:1], N)])
    relevance_test(*table(index), series=True)
    index = pd.MultiIndex.from_arrays([STATIONS, np.arange(N)])
    relevance_test(*table(index), series=True)
    assert not [w for w in recwarn if "date" in str(w.message)]


def test_rows_without_a_date_are_refused():
    X, y = table(DAYS.where(np.arange(N) != 7))
    with pytest.raises(ValueError, match="there is no date in row 7"):
        relevance_test(X, y, series=True)
    X.index = y.index = pd.Index(DAYS.strftime("%Y-%m-%d").where(np.arange(N) != 7))
    with pytest.raises(ValueError, match="there is no date in row 7"):
        relevance_test(X, y, series=True)


@pytest.mark.parametrize("kind", ["dates", "objects", "texts", "of y"])
def test_repeated_dates_are_told(kind):
    twice = DAYS.repeat(2)[:N]
    forms = {"objects": twice.date, "texts": twice.strftime("%d.%m.%Y")}
    X, y = table(pd.Index(forms.get(kind, twice)))
    X = X.reset_index(drop=True) if kind == "of y" else X
    said = r"30 of 60 rows have the date of the row above \(the first, '2020-01-01', in row 1\)"
    with pytest.warns(UserWarning, match=rf"{said}.*several individuals.*pass groups"):
        relevance_test(X, y, series=True)


def asked(folder, name, *more):
    words = ("relevance-test", name, "--target", "y", "--series", "--exclude", "day", "--seed", "0")
    return run(*words, "--quiet", "--json", *more, cwd=folder)


@pytest.mark.parametrize("form", ["csv", "xlsx", "parquet", "feather"])
def test_the_command_tells_of_the_dates_of_a_file(form, tmp_path):
    X, y = table()
    frame = X.assign(y=y, day=DAYS)
    order = np.arange(N)
    order[[5, 6]] = [6, 5]
    write = {"csv": "to_csv", "xlsx": "to_excel", "parquet": "to_parquet", "feather": "to_feather"}
    twice = frame.assign(day=DAYS.repeat(2)[:N])
    tables = {"good": frame, "bad": frame.iloc[order], "twice": twice}
    for name, one in tables.items():
        how = {} if form == "feather" else {"index": False}
        getattr(one.reset_index(drop=True), write[form])(tmp_path / f"{name}.{form}", **how)
    said = {name: asked(tmp_path, f"{name}.{form}").stderr.decode() for name in tables}
    assert "--series" not in said["good"]
    assert "by column 'day' they are not: '2020-01-06' in row 7 comes after" in said["bad"]
    assert "sort the file by it" in said["bad"]
    assert "have the date of the row above (the first, '2020-01-01', in row 2)" in said["twice"]
    assert "give --groups" in said["twice"]


def test_a_table_that_stays_on_disk_has_its_dates_looked_at(tmp_path, monkeypatch, recwarn):
    from infosieve.cli import tables
    from infosieve.cli.data import read_data
    from infosieve.cli.tables import Reading

    X, y = table()
    X.assign(y=y, day=DAYS[::-1]).to_parquet(tmp_path / "t.parquet")
    monkeypatch.setattr(tables, "SMALL", 0)
    read_data(str(tmp_path / "t.parquet"), "y", Reading(exclude=["day"], series=True))
    assert "'2020-02-28' in row 1 comes after '2020-02-29'" in str(recwarn[0].message)


def test_one_column_of_dates_in_order_is_enough(tmp_path):
    X, y = table()
    born = np.random.default_rng(0).permutation(DAYS - pd.Timedelta(days=20_000))
    X.assign(y=y, born=born, day=DAYS).to_csv(tmp_path / "t.csv", index=False)
    done = asked(tmp_path, "t.csv", "--exclude", "born")
    assert b"--series says" not in done.stderr
    assert json.loads(done.stdout)["features"] == ["a", "b", "c"]
