"""One rule for what a column holds, whichever way it comes: frames, text files, Excel, Parquet."""

import datetime
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from infosieve import relevance_test
from infosieve._input.lazy_columns import SourceTable
from infosieve._input.tables import read_table
from infosieve._sources import ColumnSource, as_source, open_columns
from infosieve.cli import tables
from infosieve.cli.data import read_data
from infosieve.cli.errors import InputError
from infosieve.cli.tables import Reading

openpyxl = pytest.importorskip("openpyxl")
N = 24
GAP_WORDS = ["", "NA", "NaN", "nan", "N/A", "null", "None", "-", "?", "n.a.", "missing"]


def column_of(values):
    """So many values, those given again and again."""
    return [values[i % len(values)] for i in range(N)]


def as_it_is(table):
    """The kind of the only column, and its values: numbers, or texts of the levels."""
    if isinstance(table, ColumnSource):
        checked = SourceTable(table, "X", {}).read_raw(np.array([0]))
    else:
        checked = read_table(table, "X", missing="auto")
    values = checked.values[0].tolist()
    if not checked.categorical[0]:
        return "number", [None if math.isnan(v) else v for v in values]
    levels = checked.levels[0]
    return "category", [None if math.isnan(v) else str(levels[int(v)]) for v in values]


def beside(values, **dtype):
    return pd.DataFrame({"x": pd.Series(values, **dtype), "y": np.arange(N) / 7})


def by_command(path):
    return as_it_is(read_data(str(path), "y", Reading()).X)


def written(how):
    def door(values, folder, monkeypatch):
        how(values, folder)
        (path,) = folder.iterdir()
        return by_command(path)

    return door


def spelled(gap):
    """A CSV file in which gaps are written so."""

    def door(values, folder, monkeypatch):
        lines = ["x,y"]
        for i, value in enumerate(values):
            text = gap if value is None else str(value)
            quoted = '"' + text.replace('"', '""') + '"' if "," in text else text
            lines.append(f"{quoted},{i / 7}")
        (folder / "table.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return by_command(folder / "table.csv")

    return door


def workbook(values, folder):
    book = openpyxl.Workbook()
    book.active.append(["x", "y"])
    for i, value in enumerate(values):
        book.active.append([value, i / 7])
        if isinstance(value, str):
            book.active.cell(i + 2, 1).data_type = "s"
    book.save(folder / "table.xlsx")


def arrow_table(values):
    return pa.table({"x": pa.array(values), "y": np.arange(N) / 7})


def from_disk(values, folder, monkeypatch):
    monkeypatch.setattr(tables, "SMALL", 0)
    pa.parquet.write_table(arrow_table(values), folder / "table.parquet")
    found = read_data(str(folder / "table.parquet"), "y", Reading())
    assert isinstance(found.X, ColumnSource)
    return as_it_is(found.X)


def opened(values, folder, monkeypatch):
    pa.parquet.write_table(arrow_table(values), folder / "table.parquet")
    return as_it_is(open_columns(folder / "table.parquet")[["x"]])


def nullable(values):
    kinds = {type(v) for v in values if v is not None}
    name = {bool: "boolean", int: "Int64", float: "Float64", str: "string"}[kinds.pop()]
    return beside(values, dtype=name)[["x"]]


def python(make):
    return lambda values, folder, monkeypatch: as_it_is(make(values))


TYPED = {
    "object": python(lambda values: beside(values, dtype=object)[["x"]]),
    "inferred": python(lambda values: beside(values)[["x"]]),
    "nullable": python(nullable),
    "Arrow dtype": python(lambda v: beside(pd.array(v, pd.ArrowDtype(pa.array(v).type)))[["x"]]),
    "list": python(lambda values: [[v] for v in values]),
    "polars": python(lambda values: pl.DataFrame({"x": values})),
    "Arrow table": python(lambda values: as_source(arrow_table(values).select(["x"]))),
    "Parquet of the library": opened,
    "Parquet of the command": written(
        lambda values, folder: pa.parquet.write_table(arrow_table(values), folder / "t.parquet")
    ),
    "Parquet from disk": from_disk,
    "Feather": written(
        lambda values, folder: pa.feather.write_feather(arrow_table(values), folder / "t.feather")
    ),
}
WRITTEN = {"Excel": written(workbook)} | {f"CSV {gap!r}": spelled(gap) for gap in GAP_WORDS}

VALUES = {
    "booleans": ([True, False, False], "category"),
    "booleans with gaps": ([True, False, None, False], "category"),
    "numbers": ([3, -5, 100], "number"),
    "numbers with gaps": ([3, None, -5, 100], "number"),
    "fractions": ([1.5, 1e5, -0.25, 0.0], "number"),
    "fractions with gaps": ([1.5, 1e5, None, -0.25], "number"),
    "zero and one": ([0, 1, None, 1], "category"),
    "words": (["yes", "no", "no"], "category"),
}


@pytest.mark.parametrize("door", TYPED | WRITTEN)
@pytest.mark.parametrize("kind", VALUES)
def test_values_are_the_same_through_every_door(kind, door, tmp_path, monkeypatch):
    values, want = VALUES[kind]
    values = column_of(values)
    found = (TYPED | WRITTEN)[door](values, tmp_path, monkeypatch)
    shown = values
    if want == "category":
        shown = [None if v is None else str(v) for v in values]
    assert found == (want, shown)


# What texts of a file without types are: numbers, or categories as they are written.
TEXTS = {
    "True and False": (["True", "False", None], None),
    "yes and no": (["yes", "no", "no"], None),
    "codes": (["007", "012", None, "120"], None),
    "codes beside numbers": (["007", "12", "13"], None),
    "a code of zeros": (["00", "1", "2"], None),
    "months": ([f"{m:02}" for m in range(1, 13)], None),
    "hexadecimal": (["0x1F", "0x2A", None], None),
    "hexadecimal beside numbers": (["0x1F", "12", None, "13"], None),
    "exponents": (["1e5", "2.5E-3", "4e1", None], [1e5, 2.5e-3, 40.0, None]),
    "thousands": (["1,234,567", "2,345,678", None, "3,456"], [1234567.0, 2345678.0, None, 3456.0]),
    "points and comma": (["1.234,5", "2.345,25", None], [1234.5, 2345.25, None]),
    "plus": (["+5", "+7", None, "+8"], [5.0, 7.0, None, 8.0]),
    "spaces": ([" 5 ", " 7", None, "8 "], [5.0, 7.0, None, 8.0]),
    "underscores": (["1_000", "2_000", None, "3_000"], [1000.0, 2000.0, None, 3000.0]),
    "minus": (["\u22125", "\u22127", None, "\u22128"], [-5.0, -7.0, None, -8.0]),
    "digits of others": (["\u0663", "\u0664"], None),
}
# Of these a file with commas between values can say no more than it does.
REFUSED_IN_TEXT = {"points and comma": "pass --decimal|write 1234.5 if that is meant"}


@pytest.mark.parametrize("door", WRITTEN)
@pytest.mark.parametrize("kind", TEXTS)
def test_texts_of_files_are_read_alike(kind, door, tmp_path, monkeypatch):
    texts, numbers = TEXTS[kind]
    values = column_of(texts)
    if kind in REFUSED_IN_TEXT:
        with pytest.raises(InputError, match=REFUSED_IN_TEXT[kind]):
            WRITTEN[door](values, tmp_path, monkeypatch)
        return
    found = WRITTEN[door](values, tmp_path, monkeypatch)
    want = ("category", values) if numbers is None else ("number", column_of(numbers))
    assert found == want


@pytest.mark.filterwarnings("ignore:.*holds (numbers|dates) as text")
@pytest.mark.parametrize("door", TYPED)
@pytest.mark.parametrize("kind", TEXTS)
def test_texts_with_a_type_are_categories(kind, door, tmp_path, monkeypatch):
    """A type says that they are texts. The command refuses what looks like numbers, never reads."""
    values = column_of(TEXTS[kind][0])
    try:
        found = TYPED[door](values, tmp_path, monkeypatch)
    except InputError as error:
        refused = str(error)
        found = ("category", values)
        assert "is text, but holds numbers" in refused
        assert TEXTS[kind][1] is not None
    assert found == ("category", values)


LEVELS = {"yes", "no", "None", "-", "missing", "?", "n.a."}


@pytest.mark.parametrize("gap", GAP_WORDS)
def test_beside_words_some_words_are_levels(gap, tmp_path, monkeypatch):
    """Nobody knows whether none is a level or a gap: what has letters of its own is a level."""
    kind, values = spelled(gap)(column_of(["yes", None, "no"]), tmp_path, monkeypatch)
    assert kind == "category"
    assert values == column_of(["yes", gap if gap in LEVELS else None, "no"])


@pytest.mark.parametrize("door", TYPED | WRITTEN)
def test_infinities_are_refused_by_every_door(door, tmp_path, monkeypatch):
    values = column_of([1.5, math.inf, -0.5])
    if door == "Excel":  # which has no such number
        values = [str(value) for value in values]
    if door in ("Parquet from disk", "Parquet of the library", "Arrow table"):
        found = (TYPED | WRITTEN)[door](values, tmp_path, monkeypatch)  # looked at in its survey
        assert found == ("number", values)
        return
    with pytest.raises(ValueError, match="infinite values"):
        (TYPED | WRITTEN)[door](values, tmp_path, monkeypatch)


@pytest.mark.parametrize("door", TYPED | WRITTEN)
def test_dates_are_refused_by_every_door(door, tmp_path, monkeypatch):
    values = column_of([datetime.date(2020, 1, 1), datetime.date(2021, 5, 3), None])
    if door in ("nullable", "list"):
        pytest.skip("which has no dates")
    with pytest.raises((TypeError, InputError), match=r"dates or times|'date'|is a date"):
        (TYPED | WRITTEN)[door](values, tmp_path, monkeypatch)


def test_flags_with_gaps_have_one_p_value(tmp_path, monkeypatch):
    """Through the command, a small file and one that stays on disk, and in Python."""
    rng = np.random.default_rng(0)
    x = np.array([True, False, None, False], object)[rng.integers(0, 4, 200)]
    table = pd.DataFrame({"x": x, "y": np.round(rng.normal(size=200) + 1.5 * (x == True), 6)})  # noqa: E712
    found = {"python": table}
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_excel(tmp_path / "t.xlsx", index=False)
    table.to_csv(tmp_path / "dash.csv", index=False, na_rep="-")
    table.to_parquet(tmp_path / "t.parquet")
    for name in ("t.csv", "dash.csv", "t.xlsx", "t.parquet"):
        found[name] = read_data(str(tmp_path / name), "y", Reading())
    monkeypatch.setattr(tables, "SMALL", 0)
    monkeypatch.setattr("infosieve._input.lazy_columns.SMALL", 0)
    found["on disk"] = read_data(str(tmp_path / "t.parquet"), "y", Reading())
    tests = {"python": relevance_test(table[["x"]], table["y"], random_state=0)}
    for name, data in found.items():
        if name != "python":
            tests[name] = relevance_test(data.X, data.y, random_state=0)
    assert len({test.p_values[0] for test in tests.values()}) == 1
    assert tests["python"].p_values[0] < 0.05
    assert len({test.provenance.data for test in tests.values()}) == 1


def test_codes_are_told(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("zip,y\n" + "".join(f"{i:05},{i / 7}\n" for i in range(1, 30)))
    X = read_data(str(tmp_path / "t.csv"), "y", Reading()).X
    assert X["zip"].iloc[0] == "00001"
    said = "digits that begin with 0 taken as categories in column 'zip': '00001' in row 1"
    assert said in capsys.readouterr().err
