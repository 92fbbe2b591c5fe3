"""Files as people have them: packed, of other programs, countries and encodings; with gaps."""

import bz2
import datetime
import gzip
import io
import json
import lzma
import re
import sys
import zipfile

import command
import numpy as np
import openpyxl
import pandas as pd
import pytest

from infosieve import SelectionResult, relevance
from infosieve.cli import tables
from infosieve.cli.data import read_data
from infosieve.cli.errors import InputError
from infosieve.cli.tables import Reading

FAST = ["--n-permutations", "99", "--alpha", "0.1", "--max-features", "2", "--seed", "0"]
N = 80


def run(*arguments, **how):
    return command.run(*arguments, text=True, **how)


def frame(n=N):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(n, 3)).round(2), columns=["heat", "light", "noise"])
    table["kind"] = np.where(rng.uniform(size=n) > 0.5, "high", "low")
    return table.assign(Y=(table["heat"] + table["light"] ** 2).round(3))


def data_of(path, target="Y", **options):
    return read_data(str(path), target, Reading(**options))


def read(path, **options):
    """The whole table of a file."""
    data = data_of(path, **options)
    return data.beside_target(data.X)


def written(table, **options):
    return table.to_csv(index=False, **options).encode()


# --- packed files


PACKED = {
    "t.csv.gz": gzip.compress,
    "t.csv.bz2": bz2.compress,
    "t.csv.xz": lzma.compress,
    "t.csv.zip": lambda data: zipped({"inside.csv": data, "__MACOSX/._inside.csv": b"x"}),
    "t.zip": lambda data: zipped({"folder/inside.csv": data}),
    "no-ending": bz2.compress,
}


def zipped(files):
    place = io.BytesIO()
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return place.getvalue()


@pytest.mark.parametrize("name", PACKED)
def test_packed_files_are_unpacked(name, tmp_path):
    (tmp_path / name).write_bytes(PACKED[name](written(frame())))
    pd.testing.assert_frame_equal(read(tmp_path / name), frame())


def test_the_ending_inside_counts(tmp_path):
    for name in ("t.tsv.bz2", "t.zip"):
        data = written(frame()[["heat"]].assign(a="x;y", Y=1), sep="\t")
        (tmp_path / name).write_bytes(
            bz2.compress(data) if "bz2" in name else zipped({"in.tsv": data})
        )
        assert list(read(tmp_path / name)) == ["heat", "a", "Y"]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("t.zip", zipped({"a.csv": b"1", "b.csv": b"2"}), "has 2 files ('a.csv', 'b.csv'): unpack"),
        ("t.zip", zipped({}), "t.zip"),
        ("t.zip", zipped({"a.csv": b"a,b\n1,2\n"})[:40], "cannot be unpacked"),
        ("t.csv.gz", gzip.compress(b"a,b\n1,2\n")[:-9], "cannot be unpacked"),
        ("t.csv.bz2", bz2.compress(b"a,b\n1,2\n" * 99)[:-9], "is the download complete?"),
    ],
    ids=["several", "none", "torn zip", "torn gz", "torn bz2"],
)
def test_archives_that_cannot_be_used(name, data, message, tmp_path):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError) as error:
        read(tmp_path / name)
    assert message in str(error.value)


# --- other formats


FOREIGN = {
    "t.json": "pandas.read_json('t.json')",
    "t.sav": "pandas.read_spss('t.sav')",
    "t.dta": "pandas.read_stata('t.dta')",
    "t.sas7bdat": "pandas.read_sas",
    "t.mat": "in Matlab, write it as CSV",
    "t.rds": "in R, write it as CSV",
    "t.RData": "in R, write it as CSV",
    "t.xls": "pandas.read_excel('t.xls')",
    "t.ods": "pandas.read_excel",
}


@pytest.mark.parametrize("name", FOREIGN)
def test_other_formats_are_named_with_the_way_out(name, tmp_path):
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(InputError) as error:
        read(tmp_path / name)
    ending = (tmp_path / name).suffix.lower()
    assert f"{name}: {ending} files are not read here" in str(error.value)
    assert FOREIGN[name] in str(error.value)


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b'{"error": "no such table"}', "one column"),
        (b"<!DOCTYPE html><html>", "one column"),
        (b"\xd0\xcf\x11\xe0" + bytes(8), "no text"),  # old Excel
        (b"a,b\0\n1,2\n", "no text"),
    ],
)
def test_what_is_no_table_is_refused(data, rule, tmp_path):
    (tmp_path / "t.csv").write_bytes(data)
    with pytest.raises(InputError, match=rf"t\.csv.* {rule}"):
        read(tmp_path / "t.csv")


@pytest.mark.parametrize("name", ["ORCID", "RDX", "MATLAB", "A", "X", "[kg]", "Rar!", "PK"])
def test_names_that_look_like_other_formats(name, tmp_path):
    (tmp_path / "t.csv").write_text(f"{name},Y\n" + "1,2\n2,3\n" * 9)
    assert list(read(tmp_path / "t.csv")) == [name, "Y"]


# --- Excel


def workbook(path, **sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def rows_of(table):
    return [list(table), *table.astype(object).to_numpy().tolist()]


def test_a_workbook_is_read(tmp_path):
    place = workbook(tmp_path / "t.xlsx", Data=rows_of(frame()))
    pd.testing.assert_frame_equal(data_of(place).X, frame().drop(columns="Y"))
    place.rename(tmp_path / "renamed.csv")  # what is inside counts
    pd.testing.assert_frame_equal(data_of(tmp_path / "renamed.csv").X, frame().drop(columns="Y"))


def test_a_workbook_as_people_have_it(tmp_path, capsys):
    """Empty rows, an index, texts for gaps, numbers as text, flags, an error of a formula."""
    rows = [[None, *row] for row in rows_of(frame())]
    rows[0] += ["flag", "text", None]
    for i, row in enumerate(rows[1:]):
        row[0] = i
        row += [i % 2 == 0, f"{i}.5", None]
    rows[3][1], rows[5][1], rows[6][2] = "n/a", "#DIV/0!", None
    place = workbook(tmp_path / "t.xlsx", Data=[[None] * 3, *rows, [None], [None]])
    got = data_of(place).X
    assert list(got) == ["heat", "light", "noise", "kind", "flag", "text"]
    assert got["heat"].isna().to_numpy().nonzero()[0].tolist() == [2, 4]
    assert got["light"].isna().sum() == 1
    assert got["text"].tolist() == [i + 0.5 for i in range(N)]
    assert got["flag"].dtype == bool
    said = capsys.readouterr().err
    assert "column '' has no name and counts rows: left out" in said
    assert "text taken as missing in column 'heat': 'n/a' in row 3, 1 in all" in said


def test_sheets_are_chosen_by_name(tmp_path):
    place = workbook(tmp_path / "t.xlsx", About=[["x"]], Data=rows_of(frame()), Empty=[])
    with pytest.raises(InputError, match=r"has 3 sheets \('About', 'Data', 'Empty'\): name one w"):
        data_of(place)
    assert data_of(place, sheet="Data").X.shape == (N, 4)
    with pytest.raises(InputError, match=r"--sheet 'data' is none of .*it has 'About', 'Data'"):
        data_of(place, sheet="data")
    with pytest.raises(InputError, match=r"sheet without values"):
        data_of(place, sheet="Empty")


def test_workbooks_that_cannot_be_used(tmp_path, monkeypatch):
    title = workbook(tmp_path / "title.xlsx", S=[["Table 1: all"], *rows_of(frame())])
    with pytest.raises(InputError, match=r"delete what stands above the row of names"):
        data_of(title)
    stray = rows_of(frame())
    stray[5][1] = "oops"
    place = workbook(tmp_path / "stray.xlsx", S=stray)
    with pytest.raises(InputError, match=r"column 'light' holds numbers but for 'oops' in row 5"):
        data_of(place)
    dates = rows_of(frame().assign(when=datetime.datetime(2020, 5, 1)))
    place = workbook(tmp_path / "dates.xlsx", S=dates)
    with pytest.raises(InputError, match=r"column 'when' holds dates or times.*in row 1"):
        data_of(place)
    (tmp_path / "torn.xlsx").write_bytes(place.read_bytes()[:200])
    with pytest.raises(InputError, match=r"cannot be unpacked"):
        data_of(tmp_path / "torn.xlsx")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(InputError, match=r"pip install 'infosieve\[excel\]'"):
        data_of(place)


# --- encodings and countries


def test_latin_1_is_recognised_and_told(tmp_path, capsys):
    table = frame().rename(columns={"heat": "Wärme"}).replace({"kind": {"low": "schön"}})
    for encoding in ("latin-1", "cp1252"):
        (tmp_path / "t.csv").write_bytes(table.to_csv(index=False).encode(encoding))
        pd.testing.assert_frame_equal(read(tmp_path / "t.csv"), table)
        said = capsys.readouterr().err
        assert "t.csv is no UTF-8 (line 1), and is read as Windows-1252" in said
        assert "'Wärme" in said
        assert "--encoding names another" in said
    for encoding in ("utf-8-sig", "utf-16", "utf-8"):
        (tmp_path / "t.csv").write_bytes(table.to_csv(index=False).encode(encoding))
        pd.testing.assert_frame_equal(read(tmp_path / "t.csv"), table)
    assert capsys.readouterr().err == ""
    cyrillic = table.rename(columns={"Wärme": "Тепло"}).replace({"kind": {"schön": "мало"}})
    (tmp_path / "t.csv").write_bytes(cyrillic.to_csv(index=False).encode("cp1251"))
    got = read(tmp_path / "t.csv", encoding="cp1251")
    pd.testing.assert_frame_equal(got, cyrillic)
    (tmp_path / "t.csv").write_bytes(b"a,b\n1,\x81\n")
    with pytest.raises(InputError, match=r"t.csv is no text in cp1252 \(line 2\); pass --encoding"):
        read(tmp_path / "t.csv")


@pytest.mark.parametrize("separator", [";", "\t", "|"])
@pytest.mark.parametrize("decimal", [".", ","])
def test_separators_and_decimal_commas_are_recognised(separator, decimal, tmp_path, capsys):
    table = frame().rename(columns={"heat": "heat, °C"})
    (tmp_path / "t.csv").write_bytes(written(table, sep=separator, decimal=decimal))
    pd.testing.assert_frame_equal(read(tmp_path / "t.csv"), table)
    said = capsys.readouterr().err
    assert "values are separated by" in said
    assert ("numbers have a decimal comma" in said) == (decimal == ",")


@pytest.mark.parametrize("gap", ["", "?;-;?;1,25\n"])
def test_german_thousands_are_recognised_where_decimals_are(gap, tmp_path):
    text = "a;b;c;Y\n"
    for i in range(30):
        text += f"{1 + i}.{100 + i};{1 + i}.234,5;0,{i + 1};{i % 7},25\n"
    (tmp_path / "t.csv").write_text(text + gap)
    got = data_of(tmp_path / "t.csv").X.dropna()
    assert len(got) == 30
    assert got["a"].tolist() == [1000 * (1 + i) + 100 + i for i in range(30)]
    assert got["b"].tolist() == [1000 * (1 + i) + 234.5 for i in range(30)]


def test_what_may_be_thousands_is_still_refused(tmp_path):
    text = "a;Y\n" + "".join(f"{1 + i},{100 + i};{i % 7}\n" for i in range(30))
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(
        InputError, match=r"t.csv: column 'a' holds '1,100' in row 1; pass --decimal"
    ):
        data_of(tmp_path / "t.csv")
    assert data_of(tmp_path / "t.csv", decimal=",").X["a"][0] == 1.1


def test_points_beside_commas_are_points(tmp_path):
    text = "a;b;Y\n" + "".join(f"1.{i + 1};0,5;{i % 7}\n" for i in range(30))
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError, match=r"column 'b' holds '0,5' in row 1; pass --decimal ,"):
        data_of(tmp_path / "t.csv")


def test_row_names_of_r(tmp_path, capsys):
    """As write.csv has them: with an empty name. A header that lacks it is refused."""
    lines = written(frame()).decode().splitlines()
    rows = [f'"{i}",{line}' for i, line in enumerate(lines[1:], 1)]
    (tmp_path / "t.csv").write_text("\n".join(['"",' + lines[0], *rows]))
    pd.testing.assert_frame_equal(data_of(tmp_path / "t.csv").X, frame().drop(columns="Y"))
    assert "column '' has no name and counts rows: left out" in capsys.readouterr().err
    (tmp_path / "t.csv").write_text("\n".join([lines[0], *rows]))
    with pytest.raises(InputError, match="row 1 has 6 values, the first row has 5"):
        data_of(tmp_path / "t.csv")


def test_quoted_lines_and_names_with_spaces(tmp_path):
    (tmp_path / "t.csv").write_text('"a", b ,Y\n' + '"one\ntwo",1,2\nthree,2,3\n' * 20)
    got = data_of(tmp_path / "t.csv")
    assert list(got.X) == ["a", "b"]
    assert got.X["a"].tolist() == ["one\ntwo", "three"] * 20


# --- gaps, labels, headers


@pytest.mark.parametrize(
    "gap",
    ["NA", "?", "-", "", "nan", "NaN", "null", "NULL", "N/A", "n/a", "None", ".", "..", "#N/A"],
)
def test_gaps_of_numbers(gap, tmp_path):
    table = frame().astype({"heat": object, "light": object})
    table.loc[[4, 7], "heat"] = gap
    table.loc[5, "light"] = gap
    (tmp_path / "t.csv").write_bytes(written(table))
    got = read(tmp_path / "t.csv")
    assert got["heat"].dtype == np.float64
    assert got["heat"].dropna().tolist() == frame()["heat"].drop([4, 7]).tolist()
    assert got["light"].isna().tolist() == [i == 5 for i in range(N)]


def test_gaps_cost_no_digits(tmp_path):
    """Beside gaps, too, all digits of a number count; and codes stay codes."""
    text = "a,b,Y\n" + "".join(f"{2**62 + i},0{1000 + i % 3},{i}\n" for i in range(30)) + "?,?,7\n"
    (tmp_path / "t.csv").write_text(text)
    got = data_of(tmp_path / "t.csv").X
    assert [int(v) for v in got["a"][:30]] == [2**62 + i for i in range(30)]
    assert got["a"].isna().tolist() == [False] * 30 + [True]
    assert got["b"][0] == "01000"


def test_signs_that_are_categories_stay(tmp_path):
    table = frame().assign(sign=np.where(np.arange(N) % 2, "-", "+"), what=["?", "a"] * (N // 2))
    (tmp_path / "t.csv").write_bytes(written(table))
    got = data_of(tmp_path / "t.csv").X
    assert sorted(set(got["sign"])) == ["+", "-"]
    assert sorted(set(got["what"])) == ["?", "a"]


def test_gaps_and_strays(tmp_path):
    table = frame().astype({"heat": object})
    table.loc[[4, 7], "heat"] = "?"
    table.loc[9, "heat"] = "oops"
    (tmp_path / "t.csv").write_bytes(written(table))
    with pytest.raises(
        InputError, match=r"t.csv: column 'heat' holds numbers but for 'oops' in row"
    ):
        data_of(tmp_path / "t.csv")


def test_an_index_is_left_out(tmp_path, capsys):
    for kept in (frame(), frame().iloc[::3]):
        kept.to_csv(tmp_path / "t.csv")
        assert list(data_of(tmp_path / "t.csv").X) == ["heat", "light", "noise", "kind"]
        assert "column '' has no name and counts rows: left out" in capsys.readouterr().err
    frame().assign(**{"Unnamed: 0": range(N)}).to_parquet(tmp_path / "t.parquet")
    assert "Unnamed: 0" not in data_of(tmp_path / "t.parquet").X
    assert "Unnamed: 0" in data_of(tmp_path / "t.parquet", features=["Unnamed: 0", "heat"]).X


def test_names_of_rows_are_left_out(tmp_path, capsys):
    left_out = "column '' has no name and a different value in every row: left out"
    place = tmp_path / "t.csv"
    for order in (range(N, 0, -1), [f"row {i}" for i in range(N)]):
        frame().set_axis(pd.Index(order)).to_csv(place)
        assert list(data_of(place).X) == ["heat", "light", "noise", "kind"]
        assert left_out in capsys.readouterr().err
        assert "" in data_of(place, features=["", "heat"]).X
    # What is measured, what is repeated, and what does not come first is no name of a row.
    for values in (frame()["noise"].to_numpy() + 0.5, np.arange(N)[::-1] // 2):
        frame().set_axis(pd.Index(values)).to_csv(place)
        assert "" in data_of(place).X
    frame().assign(**{"Unnamed: 5": range(N, 0, -1)}).to_csv(place, index=False)
    assert "Unnamed: 5" in data_of(place).X
    assert "left out" not in capsys.readouterr().err
    frame().set_axis(pd.date_range("2020-01-01", periods=N)).to_csv(place)
    with pytest.raises(InputError, match="holds dates or times"):
        data_of(place)


@pytest.mark.parametrize("row", [0, N - 1])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_whole_numbers_may_have_gaps_at_the_ends(tmp_path, row, ending):
    few = pd.Series(np.arange(N) % 2, dtype="Int64")
    few[row] = pd.NA
    table, place = frame().assign(few=few), tmp_path / f"t.{ending}"
    if ending == "csv":
        table.to_csv(place, index=False)
    else:
        table.to_parquet(place)
    assert data_of(place).X["few"].isna().to_numpy().nonzero()[0].tolist() == [row]


def test_whole_numbers_with_a_point_may_be_classes(tmp_path):
    place = tmp_path / "t.csv"
    frame().assign(Y=np.arange(N) % 4 + 1.0).to_csv(place, index=False)
    data = data_of(place)
    with pytest.warns(UserWarning, match="'Y' of y has 4 distinct whole numbers, and is taken as"):
        relevance(data.X, data.y, discrete_target=data.discrete_target)
    assert data_of(place, categorical=["Y"]).discrete_target is True


def test_a_comma_at_the_end_of_lines_is_no_column(tmp_path):
    text = "".join(f"{line},\n" for line in written(frame()).decode().splitlines())
    (tmp_path / "t.csv").write_text(text)
    assert list(data_of(tmp_path / "t.csv").X) == ["heat", "light", "noise", "kind"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,a,b,Y\n" + "1,2,3,4,5\n" * 9, r"more than one column named 'a', 'b'; rename"),
        (
            "a,b,Y\nx,y,z\n" + "1,2,3\n" * 9,
            "'a' holds numbers but for 'x' in row 1 .a second row of names",
        ),
        (
            "heat,light,Y\n°C,lx,kg\n" + "1,2,3\n" * 9,
            "'heat' holds numbers but for '°C' in row 1 .*units",
        ),
        ("a,b,Y\n1,2,3\n1,2,3,4\n", r"row 2 has 4 values, the first row has 3 \('1,2,3,4'\)"),
        ("a;b;Y\n1;2;3\n4;5\n", r"row 2 has 2 values, the first row has 3 \('4;5'\)"),
        (
            "My table\na,b,Y\n1,2,3\n",
            r"row 1 has 3 values, the first row has 1 \('a,b,Y'\).*above the row of names",
        ),
    ],
)
def test_headers_that_are_none(text, message, tmp_path):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        data_of(tmp_path / "t.csv")


def test_columns_with_two_levels_of_names(tmp_path):
    table = frame()[["heat", "light", "noise", "Y"]]
    table.columns = pd.MultiIndex.from_tuples([("a", "x"), ("b", "x"), ("c", "y"), ("d", "y")])
    table.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(InputError, match=r"'a' holds numbers but for 'x' in row 1"):
        data_of(tmp_path / "t.csv", target="d")


# --- dates


DATES = {
    "ISO": ("2020-05-{:02d}", 18383),
    "ISO with times": ("2020-05-{:02d} 12:00:00", 18383.5),
    "ISO with a zone": ("2020-05-{:02d}T12:00:00Z", 18383.5),
    "slashes": ("2020/05/{:02d}", 18383),
    "German": ("{:02d}.05.2020", 18383),
    "British": ("{:02d}/05/2020", 18383),
    "American": ("05/{:02d}/2020", 18383),
    "two digits": ("05/{:02d}/20", 18383),
    "months": ("{:02d} May 2020", 18383),
    "months first": ("May {}, 2020", 18383),
}


@pytest.mark.parametrize("case", DATES)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_dates_are_named_or_days(case, ending, tmp_path):
    form, first = DATES[case]
    table = frame(28).assign(when=[form.format(day) for day in range(1, 29)])
    place = tmp_path / f"t.{ending}"
    table.to_csv(place, index=False) if ending == "csv" else table.to_parquet(place)
    with pytest.raises(InputError) as error:
        data_of(place)
    for words in (
        str(place),
        "column 'when'",
        "in row 1",
        "--dates ordinal",
        "--exclude",
        "--series",
    ):
        assert words in str(error.value)
    assert "when" not in data_of(place, exclude=["when"]).X
    got = data_of(place, dates="ordinal").X["when"]
    assert got.tolist() == [first + i for i in range(28)]
    texts = data_of(place, categorical=["when"]).X["when"]
    assert len(set(texts)) == 28
    assert all(isinstance(text, str) for text in texts)


def test_dates_of_typed_files_and_gaps(tmp_path):
    when = pd.date_range("2020-05-01 06:00", periods=N)
    table = frame().assign(
        when=when, day=when.date, span=when - when[0], zone=when.tz_localize("UTC")
    )
    table.loc[3, ["when", "day"]] = None
    table.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(
        InputError, match=r"4 columns hold dates or times .'when', 'day', 'span', 'z"
    ):
        data_of(tmp_path / "t.parquet")
    got = read(tmp_path / "t.parquet", dates="ordinal")
    assert got["when"].dropna().tolist() == [18383.25 + i for i in range(N) if i != 3]
    assert got["day"].dropna().tolist() == [18383 + i for i in range(N) if i != 3]
    assert got["span"].tolist() == list(range(N))
    assert got["zone"][0] == 18383.25


def test_times_of_the_day(tmp_path):
    (tmp_path / "t.csv").write_text("a,t,u,Y\n" + "1,12:30,06:00:00,2\n2,18:00,12:00:00,3\n" * 9)
    with pytest.raises(InputError, match=r"2 columns hold dates or times"):
        data_of(tmp_path / "t.csv")
    got = data_of(tmp_path / "t.csv", dates="ordinal").X
    assert got["t"].tolist() == [12.5 / 24, 0.75] * 9
    assert got["u"].tolist() == [0.25, 0.5] * 9


def test_dates_that_may_begin_with_the_month(tmp_path):
    (tmp_path / "t.csv").write_text("a,t,Y\n" + "1,05/06/2020,2\n2,07/08/2020,3\n" * 9)
    with pytest.raises(
        InputError, match=r"may begin with the day or the month .'05/06/2020'.; write"
    ):
        data_of(tmp_path / "t.csv", dates="ordinal")


def test_a_target_of_dates(tmp_path):
    frame().assign(Y=pd.date_range("2020", periods=N)).to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(InputError, match=r"column 'Y' holds dates"):
        data_of(tmp_path / "t.csv")
    assert data_of(tmp_path / "t.csv", dates="ordinal").y[0] == 18262


def test_what_numbers_count_that_stand_for_dates(tmp_path):
    when = pd.date_range("2020-05-01", periods=N)
    table = frame().assign(when=when, span=when - when[0], clock="12:30", gone=pd.NaT)
    table["Y"] = np.arange(N) + table["heat"]
    table.to_parquet(tmp_path / "t.parquet")
    units = data_of(tmp_path / "t.parquet", dates="ordinal").units
    since = "days since 1970-01-01"
    assert units == {"when": since, "span": "days", "clock": "days since midnight", "gone": since}
    assert data_of(tmp_path / "t.parquet", exclude=["when", "span", "clock", "gone"]).units == {}
    options = ["--exclude", "span", "--exclude", "gone", "--dates", "ordinal", "--json"]
    place = tmp_path / "page.html"
    done = run("select", tmp_path / "t.parquet", "--target", "Y", *options, "--html", place)
    assert done.returncode == 0, done.stderr
    (tmp_path / "t.json").write_text(done.stdout)
    again = run("report", tmp_path / "t.json", "--html", tmp_path / "again.html")
    assert again.returncode == 0, again.stderr
    for page in (place, tmp_path / "again.html"):
        text = page.read_text()
        figures = json.loads(re.search(r'id="figures">(.*?)</script>', text)[1])
        titles = [str(f["layout"]["xaxis"].get("title")) for f in figures]
        assert any(f"when<br>{since}" in title for title in titles)
        assert f"when ({since})" in text


def test_tables_that_stay_on_disk(tmp_path, monkeypatch):
    """What is not in memory is looked at column by column, and refused with the same words."""
    monkeypatch.setattr(tables, "SMALL", 0)
    place = tmp_path / "t.parquet"
    table = frame().assign(who=np.repeat(["a", "b", "c", "d"], N // 4), **{"": range(N)})
    table.to_parquet(place)
    got = data_of(place, groups="who")
    assert got.X.columns == ["heat", "light", "noise", "kind"]
    assert got.groups.tolist() == table["who"].tolist()
    table.assign(day="12.05.2020").to_parquet(place)
    with pytest.raises(InputError, match=r"column 'day' holds dates or times"):
        data_of(place)
    with pytest.raises(InputError, match=r"not in a table larger than memory"):
        data_of(place, dates="ordinal")
    table.assign(text=[f"{i / 8}" for i in range(N)]).to_parquet(place)
    with pytest.raises(InputError, match=r"column 'text' is text, but holds numbers"):
        data_of(place)


# --- a table as it is downloaded


def downloaded():
    """Semicolons, decimal commas, a byte order mark, an index, thousands, spellings of gaps."""
    rng = np.random.default_rng(1)
    table = frame(120)
    lines = [";Wärme;Licht;Rauschen;Preis;Art;Ertrag"]
    for i, row in enumerate(table.itertuples()):
        price = f"{rng.integers(900, 99_999):,}".replace(",", ".") + ",50"
        cells = [str(i), *(str(v).replace(".", ",") for v in row[1:4]), price, row.kind]
        lines.append(";".join([*cells, str(row.Y).replace(".", ",")]))
    for gap, line, place in (("NA", 3, 1), ("?", 8, 2), ("", 9, 3), ("-", 11, 4), ("n/a", 20, 1)):
        cells = lines[line].split(";")
        cells[place] = gap
        lines[line] = ";".join(cells)
    return ("\r\n".join(lines) + "\r\n").encode("utf-8-sig")


def test_a_table_as_it_is_downloaded(tmp_path):
    (tmp_path / "t.csv").write_bytes(downloaded())
    done = run("select", "t.csv", "--target", "Ertrag", "--missing", "drop", "--json", *FAST,
               cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    result = SelectionResult.from_json(done.stdout)
    assert result.features == ("Wärme", "Licht", "Rauschen", "Preis", "Art")
    assert {result.features[j] for j in result.selected} == {"Wärme", "Licht"}
    assert "values are separated by ';', and numbers have a decimal comma" in done.stderr
    assert "column '' has no name and counts rows: left out" in done.stderr
    assert "text taken as missing in 3 columns, such as 'Wärme': 'n/a' in row 20" in done.stderr
    twice = downloaded().replace(b"Rauschen", b"Licht")
    (tmp_path / "t.csv").write_bytes(twice)
    done = run("select", "t.csv", "--target", "Ertrag", *FAST, cwd=tmp_path)
    assert done.returncode == 2
    assert "t.csv has more than one column named 'Licht'; rename them" in done.stderr


def test_constant_columns_and_identifiers_are_told(tmp_path):
    names = [f"sample {i}" for i in range(N)]
    frame().assign(same=1, who=names).to_csv(tmp_path / "t.csv", index=False)
    done = run("select", "t.csv", "--target", "Y", "--quiet", *FAST, cwd=tmp_path)
    assert "constant, left out: same\nidentifiers, left out: who\n" in done.stdout
    assert (
        "Left out as identifiers, with more levels than half of the 80 samples: 'who'"
        in done.stderr
    )
    assert "declare them (--categorical)" in done.stderr
    done = run("select", "t.csv", "--target", "who", *FAST, cwd=tmp_path)
    assert "column 'who' of y is a category with a different value for every" in done.stderr
    done = run("select", "t.csv", "--target", "same", *FAST, cwd=tmp_path)
    assert "column 'same' of y is constant" in done.stderr


def test_files_are_read_from_arrows_own_memory():
    """Objects of Python that Arrow's threads release late abort a process that is ending."""
    import pyarrow as pa

    from infosieve.cli.files import in_arrow

    before = pa.total_allocated_bytes()
    file = in_arrow(b"a,b\n" * 250_000)
    assert pa.total_allocated_bytes() - before >= 1_000_000
    assert file.read(4) == b"a,b\n"
