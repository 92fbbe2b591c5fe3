"""Tables from text: what separates values, how numbers are written, all of their digits."""

import csv
import io
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from infosieve._core.files import first_line
from infosieve._core.messages import brief, shown
from infosieve._input.number_texts import FLAGS, Marks, meanings, tidied
from infosieve._input.numbers import EXACT
from infosieve.cli.errors import InputError
from infosieve.cli.texts import (
    GAPS,
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
# How what is no number begins, though Arrow reads it as one: 01234, 0x1F.
_CODE = r"^\s*[+-]?0[0-9xX]"
# What of a file says how it is written: bytes, rows, texts of a column.
_HEAD, _ROWS, _LEVELS = 1 << 18, 100, 1000
# What is missing in columns of text, too.
_MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "#N/A"]


@dataclass(frozen=True)
class Written:
    """How a file writes its columns.

    Attributes
    ----------
    form : NumberFormat
    doubts : dict
        What is wrong with columns, by their names, unless they are declared categories.
    gaps : dict
        What was taken as missing in columns of numbers, in words.
    """

    form: NumberFormat
    doubts: dict[str, str] = field(default_factory=dict)
    gaps: dict[str, str] = field(default_factory=dict)


def parsed(
    data: bytes, name: str, suffix: str, delimiter: str | None, decimal: str | None
) -> tuple[pa.Table, Written]:
    """A text in UTF-8 as a table, and how it is written.

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
    doubts: dict[str, str] = {}
    gaps: dict[str, str] = {}
    if len(set(table.column_names)) == table.num_columns:
        table = _with_codes(table, data, form)
        table, gaps = _without_gaps(table, form)
        table, doubts = _with_all_digits(table, data, form)
    table = table.rename_columns([n.strip() for n in table.column_names])
    stripped = ({n.strip(): text for n, text in of.items()} for of in (doubts, gaps))
    return table, Written(form, *stripped)


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
        uneven = next(((i, row) for i, row in rows if len(row) != len(header)), None)
        if uneven is None:
            raise InputError(f"{name} cannot be read: {brief(first_line(error), 200)}") from None
        number, row = uneven
        values = shown(form.separator.join(row))
        if len(header) == 1:
            raise InputError(
                f"{name} has {shown(header[0])} where a header should be, and {values} in row "
                f"{number} below: delete what stands above the row of names, or set --delimiter"
            ) from None
        raise InputError(
            f"{name} cannot be read: row {number} has {len(row)} values, the header has "
            f"{len(header)} names ({values}); mend it, or set --delimiter"
        ) from None


def delimiter_hint(header: str, delimiter: str | None) -> str:
    """What a header of one name seems to be separated by."""
    guess = next((c for c in ";\t|, " if c in header and c != delimiter), None)
    if guess is None:
        return ""
    text = "tab" if guess == TAB else repr(guess)
    return f"; its values seem to be separated by {text}: pass --delimiter {text}"


def in_arrow(data: bytes) -> pa.BufferReader:
    """A file in memory that is Arrow's own.

    Arrow's threads may release a file after it was read, when Python is ending: an object of
    Python would need the interpreter then, and the process is aborted.
    """
    copy = pa.BufferOutputStream()
    copy.write(data)
    return pa.BufferReader(copy.getvalue())


def _csv(data: bytes, form: NumberFormat, as_text: Sequence[str] = ()) -> pa.Table:
    """All columns, or some as they are written."""
    return pyarrow.csv.read_csv(
        in_arrow(data),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=form.separator, newlines_in_values=b'"' in data
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            null_values=_MISSING,
            strings_can_be_null=True,
            true_values=FLAGS[:3],
            false_values=FLAGS[3:],
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


def _with_codes(table: pa.Table, data: bytes, form: NumberFormat) -> pa.Table:
    """The table with texts in place of numbers that are none: Arrow reads 007 as 7, 0x1F as 31."""
    beginning = re.compile(rb"[\r\n\t \"%s][+-]?0[0-9xX]" % re.escape(form.separator.encode()))
    if not beginning.search(data):
        return table
    integer, float_ = pa.types.is_integer, pa.types.is_floating
    names = [field.name for field in table.schema if integer(field.type) or float_(field.type)]
    texts = _csv(data, form, names) if names else pa.table({})
    for name in names:
        if pc.any(pc.match_substring_regex(texts[name], _CODE)).as_py():
            table = table.set_column(table.column_names.index(name), name, texts[name])
    return table


def _without_gaps(table: pa.Table, form: NumberFormat) -> tuple[pa.Table, dict[str, str]]:
    """The table with numbers in columns that are text for nothing but gaps, and what these are."""
    told = {}
    for place, name in enumerate(table.column_names):
        column = table.column(place)
        if not pa.types.is_string(column.type):
            continue
        known = _known(column)
        n_gaps = known.null_count - column.null_count
        if n_gaps == 0 or known.null_count == len(known):
            continue
        plain = _plain(known, form)
        numbers = _cast(pc.replace_substring(known, form.decimal, ".")) if plain else None
        if numbers is not None:
            row = pc.index(pc.and_(pc.is_null(known), pc.is_valid(column)), True).as_py()
            told[name] = f"{shown(column[row].as_py())} in row {row + 1}, {n_gaps} in all"
            table = table.set_column(place, name, numbers)
    return table, told


def _known(column: Any) -> Any:
    """Texts without those that say that there is no number."""
    small = pc.utf8_lower(pc.utf8_trim_whitespace(column))
    gaps = pc.is_in(small, value_set=pa.array(sorted(GAPS), column.type))
    return pc.if_else(gaps, pa.scalar(None, column.type), column)


def _plain(column: Any, form: NumberFormat) -> bool:
    """Whether no text begins as a code does, or has another mark than the decimal."""
    other = "." if form.decimal == "," else ","
    return not pc.any(pc.match_substring_regex(column, rf"{_CODE}|[{other}]")).as_py()


def _cast(column: Any) -> Any:
    """Texts as numbers, as far as Arrow reads them; None if it does not."""
    for kind in (pa.int64(), pa.float64()):
        with suppress(pa.ArrowInvalid):
            return column.cast(kind)
    return None


def _with_all_digits(
    table: pa.Table, data: bytes, form: NumberFormat
) -> tuple[pa.Table, dict[str, str]]:
    """The table with all digits of columns, and what is wrong with others of them."""
    comma = form.decimal == ","
    named = zip(table.column_names, table.columns, strict=True)
    again = [n for n, c in named if _may_have_lost(c) or (comma and _in_thousands(c))]
    texts = _csv(data, form, again) if again else pa.table({})
    doubts: dict[str, str] = {}
    for name in again:
        column, new = _known(texts[name]), None
        try:
            if comma:
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
