"""Tables from text: what separates values, how numbers are written, all of their digits."""

import csv
import io
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from infosieve._core.files import first_line
from infosieve._core.messages import brief, shown
from infosieve._input.number_texts import Marks, meanings, tidied
from infosieve._input.numbers import EXACT
from infosieve.cli.errors import InputError
from infosieve.cli.texts import (
    NumberFormat,
    exact_numbers,
    is_gap,
    is_number,
    refuse_doubtful,
)

TAB = "\t"
SEPARATORS = {".csv": ",", ".txt": ",", ".tsv": TAB, ".tab": TAB}
# Numbers of a text file whose range is less, of their size, may have lost digits.
_NARROW = 2.0**-30
_MANY_DIGITS = r"[0-9](?:[.,]?[0-9]){15}"
# What of a file says how it is written: bytes, rows, texts of a column.
_HEAD, _ROWS, _LEVELS = 1 << 18, 100, 1000
# What is missing in columns of text, too.
_MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "#N/A"]


def parsed(
    data: bytes, name: str, suffix: str, delimiter: str | None, decimal: str | None
) -> tuple[pa.Table, tuple[NumberFormat, dict[str, str]]]:
    """A text in UTF-8 as a table, how it writes numbers, and what is wrong with columns.

    What is not told is found out: what separates values, and the decimal mark where that cannot
    be a comma that separates.
    """
    separator, rows = _separator(data, suffix, delimiter)
    if len(rows) > 1 and {len(row) - len(rows[0]) for row in rows[1:]} == {1}:
        data = separator.encode() + data  # a name that is empty
    form = NumberFormat.of(decimal or ".", separator)
    table = _read(data, name, form)
    found = _decimal(table, data, form) if decimal is None and separator != "," else "."
    if found != ".":
        form = NumberFormat.of(found, separator)
        table = _read(data, name, form)
    _tell(separator, SEPARATORS.get(suffix, ","), delimiter, found)
    named = list(zip(table.column_names, table.columns, strict=True))
    again = [n for n, c in named if _may_have_lost(c) or (form.decimal == "," and _in_thousands(c))]
    doubts: dict[str, str] = {}
    if again and len(set(table.column_names)) == table.num_columns:
        table, doubts = _read_again(table, _csv(data, form, again), form)
    table = table.rename_columns([n.strip() for n in table.column_names])
    return table, (form, {n.strip(): doubt for n, doubt in doubts.items()})


def _tell(separator: str, usual: str, delimiter: str | None, decimal: str) -> None:
    """Say what was found out."""
    said = []
    if delimiter is None and separator != usual:
        said.append(f"values are separated by {'tabs' if separator == TAB else repr(separator)}")
    if decimal != ".":
        said.append("numbers have a decimal comma")
    if said:
        options = "--delimiter and --decimal say otherwise"
        print(f"infosieve: {', and '.join(said)} ({options})", file=sys.stderr)


def _separator(data: bytes, suffix: str, delimiter: str | None) -> tuple[str, list[list[str]]]:
    """What separates values, and the first rows: the usual one, or another that all rows have."""
    usual = SEPARATORS.get(suffix, ",")
    if delimiter is not None:
        separator = {"tab": TAB, "\\t": TAB}.get(delimiter, delimiter)
        if len(separator) != 1:
            raise InputError(f"--delimiter must be one character, or 'tab'; got {separator!r}")
        return separator, _first_rows(data, separator)
    tried = [(c, _first_rows(data, c)) for c in (usual, *(c for c in ",;\t|" if c != usual))]
    for more in (0, 1):  # R names rows, and not the column of these names
        for separator, rows in tried:
            widths = {len(row) for row in rows[1:]} or {len(rows[0])}
            if len(rows[0]) > 1 and widths == {len(rows[0]) + more}:
                return separator, rows
    return usual, []


def _first_rows(data: bytes, separator: str) -> list[list[str]]:
    head = data[:_HEAD].decode("utf-8", "ignore")
    if len(data) > _HEAD:
        head = head[: head.rfind("\n") + 1] or head
    return list(islice(_rows(head, separator), _ROWS)) or [[""]]


def _rows(text: str, separator: str) -> Iterator[list[str]]:
    """The rows that are not empty."""
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        yield from (row for row in lines if row)
    except csv.Error:  # a field without an end, say: whoever reads all of it says so
        return


def _read(data: bytes, name: str, form: NumberFormat) -> pa.Table:
    try:
        return _csv(data, form)
    except (pa.ArrowException, ValueError) as error:
        rows = enumerate(_rows(data.decode(), form.separator))
        _, header = next(rows, (0, [""]))
        for number, row in rows:
            if len(row) != len(header):
                text = brief(form.separator.join(row))
                raise InputError(
                    f"{name} cannot be read: row {number} has {len(row)} values, the header has "
                    f"{len(header)} names ({shown(text)}); mend it, delete what stands above the "
                    f"header, or set --delimiter{_hint(header)}"
                ) from None
        text = brief(first_line(error), 200)
        raise InputError(f"{name} cannot be read: {text}") from None


def _hint(header: Sequence[str]) -> str:
    """What a header of one name seems to be separated by."""
    return delimiter_hint(header[0], None) if len(header) == 1 else ""


def delimiter_hint(header: str, delimiter: str | None) -> str:
    """What a header of one name seems to be separated by."""
    guess = next((c for c in ";\t|, " if c in header and c != delimiter), None)
    if guess is None:
        return ""
    text = "tab" if guess == TAB else repr(guess)
    return f"; its values seem to be separated by {text}: pass --delimiter {text}"


def _csv(data: bytes, form: NumberFormat, as_text: Sequence[str] = ()) -> pa.Table:
    """All columns, or some as they are written."""
    return pyarrow.csv.read_csv(
        io.BytesIO(data),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=form.separator, newlines_in_values=b'"' in data
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            null_values=_MISSING,
            strings_can_be_null=True,
            decimal_point=form.decimal,
            include_columns=list(as_text),
            column_types=dict.fromkeys(as_text, pa.string()),
        ),
    )


def _decimal(table: pa.Table, data: bytes, form: NumberFormat) -> str:
    """What --decimal would say of a table that was read with points.

    A comma, where all that can be read in one way only has it; and what separates thousands.
    """
    texts = [c for c in table.columns if pa.types.is_string(c.type)]
    marks = [found for found in map(_marks, texts) if found]
    if not any(mark == "," for found in marks for mark, _ in found):
        return "."
    floats = [f.name for f in table.schema if pa.types.is_floating(f.type)]
    if len(set(table.column_names)) == table.num_columns and floats:
        marks += [found for found in map(_marks, _csv(data, form, floats).columns) if found]
    if any(all(mark == "." for mark, _ in found) for found in marks):
        return "."
    commas = [{apart for mark, apart in found if mark == ","} for found in marks]
    sure = any(all(mark == "," for mark, _ in found) for found in marks)
    apart = set.union(*commas) - {""}
    return "," + (apart.pop() if len(apart) == 1 else "") if sure else "."


def _marks(column: Any) -> list[Marks]:
    """The readings of a column's texts with a mark in them; none if it is no column of numbers."""
    levels = pc.unique(column.drop_null()).slice(0, _LEVELS).to_pylist()
    texts = [tidied(text) for text in levels if not is_gap(text)]
    marked = [text for text in texts if "," in text or "." in text]
    return meanings(marked, ".") if marked and all(map(is_number, texts)) else []


def _read_again(
    table: pa.Table, texts: pa.Table, form: NumberFormat
) -> tuple[pa.Table, dict[str, str]]:
    """The table with all digits of some columns, and what is wrong with others of them."""
    doubts: dict[str, str] = {}
    for name in texts.column_names:
        column, new = texts[name], None
        try:
            if form.decimal == ",":
                refuse_doubtful(column.to_pylist(), name, form)
            if pc.any(pc.match_substring_regex(column, _MANY_DIGITS)).as_py():
                written = pc.replace_substring(column, form.decimal, ".").to_pylist()
                new = exact_numbers(written, name)
        except InputError as error:  # unless they turn out to be categories
            doubts[name], new = str(error), column
        if new is not None:
            table = table.set_column(table.column_names.index(name), name, new)
    return table, doubts


def _may_have_lost(column: Any) -> bool:
    """Whether floats may differ from what a file has: large ones, and ones close together."""
    if column.type != pa.float64():
        return False
    ends = pc.min_max(column).as_py()
    if ends["min"] is None:
        return False
    size = max(abs(ends["min"]), abs(ends["max"]))
    return bool(size > EXACT or ends["max"] - ends["min"] <= _NARROW * size)


def _in_thousands(column: Any) -> bool:
    """Whether floats have three decimals or none, as when a comma has separated thousands."""
    if column.type != pa.float64():
        return False
    values = column.drop_null().to_numpy()
    with np.errstate(invalid="ignore"):
        small = np.abs(values - np.round(values, 3)) > 1e-12 * np.abs(values)
    whole = values == np.round(values)
    return bool(not small.any() and whole.any() and not whole.all())
