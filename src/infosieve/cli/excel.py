"""Tables from Excel workbooks, through openpyxl."""

import datetime
import io
from collections.abc import Sequence
from typing import Any

import pandas as pd

from infosieve._core.files import first_line
from infosieve._core.messages import shown
from infosieve.cli.errors import InputError

_DATES = (datetime.date, datetime.time, datetime.timedelta)  # a datetime is a date


def read_workbook(data: bytes, name: str, sheet: str | None) -> pd.DataFrame:
    """The table of a sheet: its first row that is not empty has the names.

    What is text in a column of numbers makes it a column of texts, to be looked at as that of a
    text file is.
    """
    cells = _cells(data, name, sheet)
    rows = [row for row in cells if any(value is not None for value in row)]
    if not rows:
        raise InputError(f"{name} has a sheet without values; --sheet names another")
    width = max(j + 1 for row in rows for j, value in enumerate(row) if value is not None)
    header = ["" if value is None else str(value).strip() for value in rows[0][:width]]
    nameless = [j for j in range(1, width) if not header[j]]
    if nameless and len(rows) > 1 and len(header) - len(nameless) <= len(header) // 2:
        raise InputError(
            f"{name} has no names in most cells of its first row ({shown(header[0])}, ...): delete "
            "what stands above the row of names"
        )
    columns = [_column([row[j] for row in rows[1:]]) for j in range(width)]
    frame = pd.concat(columns, axis=1) if columns else pd.DataFrame()
    frame.columns = pd.Index(header)
    return frame


def _cells(data: bytes, name: str, sheet: str | None) -> list[tuple[Any, ...]]:
    try:
        import openpyxl
    except ImportError:
        raise InputError(
            f"{name} is an Excel file, which takes openpyxl: pip install 'infosieve[excel]', or "
            "save the file as CSV"
        ) from None
    try:
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        sheets = {one.title: one for one in book.worksheets}
        chosen = sheets[_chosen(list(sheets), name, sheet)]
        chosen.reset_dimensions()  # what a file says of its size may be wrong
        rows = [tuple(row) for row in chosen.iter_rows(values_only=True)]
    except InputError:
        raise
    except Exception as error:  # whatever openpyxl raises of a damaged file
        raise InputError(f"{name} cannot be read as Excel: {first_line(error)}") from None
    width = max(map(len, rows), default=0)
    return [row + (None,) * (width - len(row)) for row in rows]


def _chosen(sheets: Sequence[str], name: str, sheet: str | None) -> str:
    listed = ", ".join(map(shown, sheets))
    if sheet is None and len(sheets) == 1:
        return sheets[0]
    if sheet is None:
        raise InputError(f"{name} has {len(sheets)} sheets ({listed}): name one with --sheet")
    if sheet not in sheets:
        raise InputError(f"--sheet {shown(sheet)} is none of {name}; it has {listed}")
    return sheet


def _column(values: list[Any]) -> "pd.Series[Any]":
    """Numbers, flags or dates if all of a column are; else texts."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float}:
        numbers = [float("nan") if value is None else value for value in values]
        return pd.Series(numbers, dtype=None if numbers else "float64")
    if kinds <= {bool} or all(issubclass(kind, _DATES) for kind in kinds):
        return pd.Series(values, dtype=object).infer_objects()
    texts = [None if value is None else str(value) for value in values]
    return pd.Series(texts, dtype=object).infer_objects()
