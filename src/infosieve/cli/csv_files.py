"""Tables from text: what separates values, and how numbers are written."""

import csv
import io
import sys
from itertools import islice
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.csv

from infosieve._core.files import first_line
from infosieve._core.messages import brief, shown
from infosieve._input.number_texts import Marks, meanings, tidied
from infosieve.cli.errors import InputError
from infosieve.cli.files import in_arrow
from infosieve.cli.texts import NumberFormat, is_gap, is_number

TAB = "\t"
SEPARATORS = {".csv": ",", ".txt": ",", ".tsv": TAB, ".tab": TAB}
# What of a file says how it is written: bytes and rows for the separator, rows for the decimal.
_HEAD, _ROWS, _LEVELS = 1 << 18, 100, 1000


def cells_of(
    data: bytes, name: str, suffix: str, delimiter: str | None, decimal: str | None
) -> tuple[pd.DataFrame, NumberFormat]:
    """The cells of a text in UTF-8, the header among them, and how its numbers are written.

    What is not told is found out: what separates values, and the decimal mark where that cannot
    be a comma that separates.
    """
    usual, said = SEPARATORS.get(suffix, ","), []
    separator, width = _separator(data, usual, delimiter)
    form = NumberFormat.of(decimal or ".", separator)
    cells = _parsed(data, name, separator, width)
    if decimal is None and separator != ",":
        form = NumberFormat.of(_decimal(cells.iloc[1 : _LEVELS + 1]), separator)
    if delimiter is None and separator != usual:
        said.append(f"values are separated by {'tabs' if separator == TAB else repr(separator)}")
    if decimal is None and form.decimal != ".":
        said.append("numbers have a decimal comma")
    if said:
        options = "--delimiter and --decimal say otherwise"
        print(f"infosieve: {', and '.join(said)} ({options})", file=sys.stderr)
    return cells, form


def _separator(data: bytes, usual: str, delimiter: str | None) -> tuple[str, int]:
    """What separates values, the usual or another that all rows have, and how many there are."""
    if delimiter is not None:
        separator = {"tab": TAB, "\\t": TAB}.get(delimiter, delimiter)
        if len(separator) != 1:
            raise InputError(f"--delimiter must be one character, or 'tab'; got {separator!r}")
        return separator, _widths(data, separator)[0]
    tried = {one: _widths(data, one) for one in (usual, *",;\t|")}
    fits = [one for one, widths in tried.items() if len(set(widths)) == 1 and widths[0] > 1]
    separator = fits[0] if fits else max(tried, key=lambda one: tried[one][0])
    return separator, tried[separator][0]


def _widths(data: bytes, separator: str) -> list[int]:
    """How many values the first rows have."""
    head = data[:_HEAD].decode("utf-8", "ignore")
    if len(data) > _HEAD:
        head = head[: head.rfind("\n") + 1] or head
    rows = csv.reader(io.StringIO(head, newline=""), delimiter=separator)
    try:
        return [len(row) for row in islice(rows, _ROWS) if row]
    except csv.Error:  # a field without an end, say: whoever reads all of it says so
        return [1]


def _parsed(data: bytes, name: str, separator: str, width: int) -> pd.DataFrame:
    """All cells as texts. Rows of another length are refused."""
    uneven: list[Any] = []

    def note(row: Any) -> str:
        uneven.append(row)
        return "skip"

    options = pyarrow.csv.ParseOptions(
        delimiter=separator, newlines_in_values=b'"' in data, invalid_row_handler=note
    )
    text = dict.fromkeys((f"f{j}" for j in range(width)), pa.string())
    try:
        table = pyarrow.csv.read_csv(
            in_arrow(data),
            # With threads, rows have no numbers.
            pyarrow.csv.ReadOptions(autogenerate_column_names=True, use_threads=False),
            options,
            pyarrow.csv.ConvertOptions(column_types=text),
        )
    except (pa.ArrowException, ValueError) as error:
        raise InputError(f"{name} cannot be read: {brief(first_line(error), 200)}") from None
    if uneven:
        row = uneven[0]
        raise InputError(
            f"{name} cannot be read: row {row.number - 1} has {row.actual_columns} values, the "
            f"first row has {row.expected_columns} ({shown(row.text)}); mend it, delete what "
            "stands above the row of names, or set --delimiter"
        )
    cells: pd.DataFrame = table.to_pandas()
    return cells


def _decimal(cells: pd.DataFrame) -> str:
    """What --decimal would say: a comma, if all that can be read in one way only has it.

    And what separates thousands.
    """
    found = [marks for name in cells if (marks := _marks(cells[name]))]
    only = [{decimal for decimal, _ in marks} for marks in found]
    if {","} not in only or {"."} in only:
        return "."
    thousands = {mark for marks in found for decimal, mark in marks if decimal == ","} - {""}
    return "," + (thousands.pop() if len(thousands) == 1 else "")


def _marks(column: "pd.Series[Any]") -> list[Marks]:
    """The readings of a column's texts with a mark in them; none if it is no column of numbers."""
    texts = [tidied(text) for text in column.drop_duplicates() if not is_gap(text)]
    marked = [text for text in texts if "," in text or "." in text]
    return meanings(marked, ".") if marked and all(map(is_number, texts)) else []
