"""Texts that are numbers: what the command reads, what it refuses, and what stays a category."""

import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from infosieve import MISelector, open_columns, relevance
from infosieve._input.number_texts import adorned, meanings, plain, readings, tidied
from infosieve.cli.data import read_data
from infosieve.cli.errors import InputError
from infosieve.cli.tables import Reading

N = 80
RNG = np.random.default_rng(3)
VALUES = np.r_[999, 12, 1_234_567, RNG.integers(1_000, 999_999, N - 3)].tolist()
SMALL = np.r_[RNG.integers(1, 999, N // 2), RNG.integers(1_000, 999_999, N // 2)].tolist()


def grouped(values, mark=","):
    return [f"{v:,}".replace(",", mark) for v in values]


NUMBERS = {
    "4,268": {".,", ",.", ", ", ",'", ",_"},
    "12,345,678": {".,"},
    "1,234.5": {".,"},
    "1.234,5": {",."},
    "0,268": {",.", ", ", ",'", ",_"},
    "1 234,567": {", "},
    "5 364": {". ", ", "},
    "5\u00a0364": {". ", ", "},
    "5\u202f364": {". ", ", "},
    "5\u2009364": {". ", ", "},
    "5'364": {".'", ",'"},
    "5\u2019364": {".'", ",'"},
    "1_000": {"._", ",_"},
    "1.5e3": {".,", ".'", "._", ". "},
}
NO_NUMBERS = ["01234", "1.2.3", "1-5", "<5", "2020-01-02", "12.05.2020", "555-1234", "+49 30 1234"]
NO_NUMBERS += [
    "(555) 123",
    "12:30",
    "5 km",
    "",
    "-",
    "$",
    ",",
    "1,23,456",
    "192.168.1.1",
    "٣",
    "e5",
]


@pytest.mark.parametrize("text", NUMBERS)
def test_readings(text):
    assert {"".join(marks) for marks in readings(tidied(text))} == NUMBERS[text]


@pytest.mark.parametrize(
    "text", ["5", "-5", "\u22125", "+5", " 5 ", "0", "5e3", "5E-3", "inf", "NaN"]
)
def test_readings_that_need_no_marks(text):
    assert len(readings(tidied(text))) == 8


def number_like(text):
    return bool(readings(tidied(text))) or adorned(tidied(text))


@pytest.mark.parametrize("text", ["12%", "$5", "€5", "5 €", "(5)", "-$5", "$1,234.50", "5\u00a0€"])
def test_signs_around_numbers(text):
    assert number_like(text)
    assert not readings(tidied(text))


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_what_is_no_number(text):
    assert not number_like(text)


def test_what_texts_mean_together():
    assert meanings(["4,268", "12"], ".") == [(",", ""), (".", ",")]
    assert meanings(["4,268", "12,345,678"], ".") == [(".", ",")]
    assert meanings(["4,268", "0,5"], ".") == [(",", "")]
    assert meanings(["4,268", "0.5"], ",") == [(".", ",")]
    assert meanings(["1,234.5", "1.234,5"], ".") == []
    assert plain("1.234,5", (",", ".")) == "1234.5"


# --- the command's tables


def table_of(texts, folder, ending="csv", declared=(), drop_missing=False, **options):
    """What the command makes of a file with a column of texts, beside a column of whole numbers."""
    frame = pd.DataFrame({"a": pd.Series(texts, dtype=object), "b": np.arange(len(texts)) % 7})
    place = folder / f"t.{ending}"
    if ending == "csv":
        frame.to_csv(place, index=False, sep=";")
    elif ending == "parquet":
        frame.to_parquet(place)
    else:
        frame.to_feather(place)
    separator = ";" if ending == "csv" else None
    how = Reading(delimiter=separator, categorical=declared, **{"decimal": "."} | options)
    data = read_data(str(place), "b", how)
    table = data.beside_target(data.X)
    return table.dropna().reset_index(drop=True) if drop_missing else table


READ = {
    "commas": (grouped(VALUES), "."),
    "commas, as told": (grouped(SMALL), ".,"),
    "commas and points": ([f"{t}.0" for t in grouped(VALUES)], "."),
    "German": ([f"{t},0" for t in grouped(VALUES, ".")], ","),
    "German, as told": (grouped(SMALL, "."), ",."),
    "apostrophes": (grouped(VALUES, "'"), "."),
    "right quotes": (grouped(VALUES, "\u2019"), "."),
    "underscores": (grouped(VALUES, "_"), "."),
    "spaces, as told": (grouped(VALUES, " "), ". "),
    "no-break spaces, as told": (grouped(VALUES, "\u00a0"), ". "),
    "narrow spaces, as told": (grouped(VALUES, "\u202f"), ", "),
    "thin spaces, as told": (grouped(VALUES, "\u2009"), ". "),
    "spaces around": ([f" {v} " for v in VALUES], "."),
    "no-break spaces around": ([f"\u00a0{v}" for v in VALUES], "."),
    "decimal commas, three of them": ([f"{v},125" for v in VALUES], ","),
}


@pytest.mark.parametrize("case", READ)
def test_read_as_numbers(case, tmp_path, capsys):
    texts, decimal = READ[case]
    values = SMALL if texts in (grouped(SMALL), grouped(SMALL, ".")) else VALUES
    got = table_of(texts, tmp_path, decimal=decimal)["a"]
    assert pd.api.types.is_numeric_dtype(got.dtype)
    extra = 0.125 if "three" in case else 0
    assert got.tolist() == [v + extra for v in values]
    if "around" not in case and "three" not in case:
        assert f"text read as numbers in column 'a': {texts[0]!r} is" in capsys.readouterr().err


def test_what_is_told_is_not_doubted(tmp_path):
    """1,244 beside 961 may be thousands, but --decimal , says that it is not."""
    got = table_of(["961", "1,244"] * 9, tmp_path, decimal=",")["a"]
    assert got.tolist() == [961, 1.244] * 9


def test_minus_signs_and_gaps(tmp_path):
    got = table_of(["\u22125", None, "6", "\u22121.234"], tmp_path, drop_missing=True)
    assert got["a"].tolist() == [-5, 6, -1.234]


def test_a_target_that_is_text(tmp_path):
    got = table_of([f"{2**62 + v:,}" for v in VALUES], tmp_path)["a"]
    assert [int(v) for v in got] == [2**62 + v for v in VALUES]


REFUSED = {
    "thousands or decimals": (
        grouped(SMALL),
        ".",
        ["'a'", "in row 41", "--decimal , to read", "--decimal '.,' to read", "--categorical 'a'"],
    ),
    "the same, all with a comma": (
        ["4,268", "5,364"] * 9,
        ".",
        ["'4,268' in row 1", "to read 4268"],
    ),
    "told to be decimals, but millions": (grouped(VALUES), ",", ["--decimal '.,' to read 1234567"]),
    "points in a file with commas": (["0.5", "1.5"] * 9, ",", ["'0.5' in row 1", "--decimal ."]),
    "thousands or decimals, German": (["1.234", "5.678"] * 9, ",", ["--decimal ',.' to read 1234"]),
    "decimal commas": (["0,5", "1,5"] * 9, ".", ["'0,5' in row 1", "--decimal , to read 0.5"]),
    "German": (["1.234,5", "2"] * 9, ".", ["--decimal ',.' to read 1234.5"]),
    "spaces": (grouped(VALUES, " "), ".", ["in row 3", "--decimal '. ' to read 1234567"]),
    "thin spaces": (grouped(VALUES, "\u2009"), ".", ["--decimal '. ' to read 1234567"]),
    "other than told": (grouped(VALUES, "'"), ".,", ["""--decimal '.'"'"'' to read 1234567"""]),
    "two ways at once": (["1,234.5", "1.234,5"] * 9, ".", ["in row 1", "plain numbers, all alike"]),
    "per cent": (["12%", "13%"] * 9, ".", ["'12%' in row 1", "plain numbers"]),
    "dollars": (["5", "$6"] * 9, ".", ["'$6' in row 2", "plain numbers"]),
    "euros": (["5 €", "6 €"] * 9, ".", ["'5 €' in row 1"]),
    "brackets": (["5", "(6)"] * 9, ".", ["'(6)' in row 2"]),
    "a stray": ([*map(str, VALUES), "<5"], ".", ["numbers but for '<5' in row 81"]),
    "a stray among thousands": (
        [*grouped(VALUES), "n/k"],
        ".",
        ["numbers but for 'n/k' in row 81"],
    ),
    "a long stray": ([*map(str, VALUES), "x" * 10**6], ".", ["...' in row 81"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case, tmp_path):
    texts, decimal, words = REFUSED[case]
    with pytest.raises(InputError) as error:
        table_of(texts, tmp_path, decimal=decimal)
    for word in words:
        assert word in str(error.value)
    assert len(str(error.value)) < 300
    kept = table_of(texts, tmp_path, declared=["a"], decimal=decimal)
    assert kept["a"].tolist() == texts


LEFT = {
    "codes": ["01234", "98765", "00001"] * 9,
    "versions": ["1.2.3", "1.2.4"] * 9,
    "dates": ["12.05.2020", "13.05.2020"] * 9,
    "ranges": ["1-5", "5-10"] * 9,
    "limits": ["<5", ">5"] * 9,
    "phones": ["555-1234", "+49 30 1234", "(555) 123"] * 9,
    "words": ["low", "high", "5"] * 9,
}


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather"])
@pytest.mark.parametrize("case", [case for case in LEFT if case != "dates"])
def test_categories_stay(case, ending, tmp_path):
    assert table_of(LEFT[case], tmp_path, ending)["a"].tolist() == LEFT[case]


@pytest.mark.parametrize("drop_missing", [False, True])
@pytest.mark.parametrize("ending", ["parquet", "feather"])
@pytest.mark.parametrize(
    "texts",
    [grouped(VALUES), [str(v / 8) for v in VALUES], ["12%", "13%"] * 9, ["5 364", "1"] * 9],
    ids=["commas", "plain", "per cent", "spaces"],
)
def test_text_columns_of_typed_files(texts, ending, drop_missing, tmp_path):
    with pytest.raises(InputError, match=r"'a' is text, but holds numbers .*in row 1.*--cat"):
        table_of(texts, tmp_path, ending, drop_missing=drop_missing)
    kept = table_of(texts, tmp_path, ending, ["a"], drop_missing)
    assert kept["a"].tolist() == texts
    with pytest.raises(InputError, match="numbers but for 'n/k' in row"):
        table_of([*texts, "n/k"], tmp_path, ending, drop_missing=drop_missing)


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_a_few_whole_numbers_as_text_are_codes(ending, tmp_path):
    assert table_of(["0", "1", "2"] * 9, tmp_path, ending)["a"].tolist() == ["0", "1", "2"] * 9


# --- digits that a text file has and float64 has not


@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize(
    "write",
    [
        lambda v: str(2**62 + v),
        lambda v: str(2**63 + v),
        lambda v: str(2**64 + v),
        lambda v: str(-(10**30) - v),
        lambda v: f"1.{v:020d}",
        lambda v: f"{2**60 + v}.5",
    ],
    ids=["int64", "uint64", "beyond", "negative", "near one", "halves"],
)
def test_all_digits_of_a_text_file_count(write, decimal, tmp_path):
    texts = [write(v).replace(".", decimal) for v in VALUES]
    got = table_of(texts, tmp_path, decimal=decimal)["a"]
    assert [Decimal(int(v)) if isinstance(v, int) else v for v in got.tolist()] == [
        Decimal(t.replace(",", ".")) for t in texts
    ]
    gaps = table_of([*texts[:9], None, *texts[9:]], tmp_path, decimal=decimal, drop_missing=True)
    assert gaps["a"].tolist() == got.tolist()


@pytest.mark.parametrize("kind", [pa.decimal128(38, 4), pa.decimal256(60, 4), pa.int64()])
@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_typed_files_with_gaps(kind, ending, tmp_path):
    exact = [2**61 + v for v in VALUES]
    values = [Decimal(v) for v in exact] if pa.types.is_decimal(kind) else exact
    table = pa.table({"a": pa.array([None, *values], kind), "b": np.arange(N + 1)})
    place = tmp_path / f"t.{ending}"
    write = pa.parquet.write_table if ending == "parquet" else pa.feather.write_feather
    write(table, str(place))
    got = read_data(str(place), "b", Reading()).X.dropna()
    assert [int(v) for v in got["a"]] == exact
    want = relevance(np.array(VALUES)[:, None], np.log(VALUES))
    np.testing.assert_allclose(relevance(got[["a"]], np.log(VALUES)), want, atol=1e-12)


def test_ordinary_decimals_are_floats_as_before(tmp_path):
    table = pa.table({"a": pa.array([Decimal("0.10"), Decimal("10.25")] * 9), "b": range(18)})
    pa.feather.write_feather(table, str(tmp_path / "t.feather"))
    got = read_data(str(tmp_path / "t.feather"), "b", Reading()).X["a"]
    assert got.dtype == np.float64
    assert got.tolist() == [0.1, 10.25] * 9


def test_any_number_of_digits(tmp_path):
    texts = [str(10**90 + v) for v in VALUES]
    assert table_of(texts, tmp_path)["a"].tolist() == [Decimal(text) for text in texts]


# --- texts in Python are categories, by contract


@pytest.mark.parametrize(
    "texts",
    [
        grouped(VALUES),
        [str(v / 8) for v in VALUES],
        ["5%", "6%"] * 40,
        [f"{v} sqft" for v in VALUES],
        [f"{v / 8}kg" for v in VALUES],
    ],
)
def test_numbers_as_text_are_told(texts):
    y = np.log(VALUES)
    frame = pd.DataFrame({"a": texts, "b": y})
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        got = relevance(frame, y)
        told = [str(w.message) for w in seen if "to_numeric" in str(w.message)]
        declared = relevance(frame, y, discrete_features=["a"])
        relevance(frame.astype({"a": "category"}), y)
    assert len([w for w in seen if "to_numeric" in str(w.message)]) == 1
    assert told[0].startswith(f"column 'a' of X holds numbers as text ({texts[0]!r})")
    assert got["a"] == declared["a"]


def test_codes_with_one_ending_are_no_numbers_with_a_unit():
    """As identifiers are: 12a, 12b, and a few sizes."""
    for texts in ([f"{v}{'ab'[v % 2]}" for v in VALUES], ["4 mm", "6 mm"] * (N // 2)):
        with warnings.catch_warnings():
            warnings.filterwarnings("error", ".*numbers as text")
            warnings.filterwarnings("ignore", ".*as identifiers have")
            relevance(pd.DataFrame({"a": texts}), np.log(VALUES))


def test_a_target_of_many_numbers_as_text_is_refused():
    frame, y = pd.DataFrame({"a": np.log(VALUES)}), [str(v % 31) for v in VALUES]
    message = rf"as text .*: {len(set(y)):,} different values in {N:,} .* pandas\.to_numeric"
    with pytest.raises(ValueError, match=message):
        relevance(frame, y)
    with pytest.raises(ValueError, match="if they are classes, pass a pandas categorical"):
        MISelector().fit(frame, y)
    relevance(frame, y, discrete_target=True)
    relevance(frame, pd.Categorical(y))
    relevance(frame, [str(v % 3) for v in VALUES])  # which may be codes of classes


def test_numbers_as_text_of_a_source_are_told_once(tmp_path, monkeypatch):
    monkeypatch.setattr("infosieve._input.lazy_columns.SMALL", 0)
    frame = pd.DataFrame({"a": grouped(np.array(VALUES) // 10**5), "b": ["1.5", "2.5"] * (N // 2)})
    frame.to_parquet(tmp_path / "t.parquet")
    source = open_columns(tmp_path / "t.parquet")
    with pytest.warns(
        UserWarning, match=r"column 'b' of X holds numbers as text .*'[12]\.5'"
    ) as seen:
        relevance(source, np.log(VALUES))
    assert len(seen) == 1


@pytest.mark.parametrize("case", [*(case for case in LEFT if case != "dates"), "a few"])
def test_categories_as_text_are_not(case):
    texts = (LEFT | {"a few": ["0", "1", "2"] * 9})[case]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        relevance(pd.DataFrame({"a": texts}), np.arange(len(texts)) + 0.5)


# --- messages stay short


def test_values_and_names_are_cut_in_messages():
    long = "x" * 10**6
    y = np.arange(20.0)
    for table in (
        pd.DataFrame({"a": [1, long] * 10}),
        pd.DataFrame({long: [1.0, np.nan] * 10}),
        pd.DataFrame({long: [[1], 2] * 10}),
        pd.DataFrame({"a": ["u" + long, "v"] * 10}),
    ):
        with pytest.raises((ValueError, TypeError)) as error:
            relevance(table, y, discrete_features=False, missing="error")
        assert len(str(error.value)) < 500
    with pytest.raises(ValueError, match="constant") as error:
        relevance(y, [long] * 20)
    assert len(str(error.value)) < 500
