"""Tables from files; errors that name file, column and row."""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from infosieve._core.files import first_line
from infosieve._core.messages import brief, shown
from infosieve._input.lazy_columns import SMALL
from infosieve._input.numbers import beyond_rounding
from infosieve._sources import ARROW, PARQUET, ColumnSource, open_columns
from infosieve.cli.csv_files import cells_of
from infosieve.cli.dates import is_date, without_dates
from infosieve.cli.errors import InputError
from infosieve.cli.files import EXCEL, Content, as_utf8, content_of, in_arrow
from infosieve.cli.texts import NumberFormat, is_text, read_text, read_texts, refuse_numbers

# What is read at once of a table that stays where it is: values.
_BLOCK_CELLS = 1 << 21


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a file is read, and which of its columns: the options of the same names."""

    features: Sequence[str] | None = None
    exclude: Sequence[str] | None = None
    categorical: Sequence[str] | None = None
    missing: str = "auto"
    groups: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    dates: str = "error"
    series: bool = False  # whether rows are said to be in order of time


@dataclass(frozen=True)
class Table:
    """What a file holds: columns as they are there; Parquet stays there, unless it is small."""

    values: pd.DataFrame | ColumnSource
    form: NumberFormat | None = None  # of a file without types; None: columns of text are text

    def column(self, name: Any) -> "pd.Series[Any]":
        """One column, as if it were declared a category."""
        column: pd.Series[Any] = self.values[name]
        if self.form is None or not is_text(column):
            return column
        return read_text(column, self.form, True, {})

    def dates(self) -> "Iterator[pd.Series[Any]]":
        """Columns that may hold dates."""
        values = self.values
        names = values.dates if isinstance(values, ColumnSource) else list(values)
        for name in names:
            if any(map(is_date, self.values[name].dropna().head(10))):
                yield self.column(name)

    def chosen(
        self, names: Sequence[Any], declared: Sequence[str], dates: str
    ) -> tuple[pd.DataFrame | ColumnSource, dict[Any, str]]:
        """Some columns, in which texts that are numbers, and dates, are read or refused.

        With them, what numbers count that stand for dates.
        """
        table = self.values[[*names]]
        if isinstance(table, ColumnSource):
            _check_texts(table, declared, dates)
            return table, {}
        if self.form is not None:
            return without_dates(read_texts(table, declared, self.form), declared, dates)
        table, units = without_dates(table, declared, dates)
        refuse_numbers(table, declared)
        return table, units


def read(path: str, how: Reading) -> Table:
    """The table in a file, or on standard input ("-")."""
    place = Path(path)
    parquet = place.is_dir() or (place.is_file() and place.suffix.lower() in PARQUET)
    if path != "-" and (parquet or "://" in path):
        try:
            source = open_columns(path)
        except (ValueError, OSError, ImportError) as error:
            raise InputError(first_line(error)) from None
        check_names(source.columns, len(source), path)
        large = 8 * source.shape[0] * source.shape[1] > SMALL
        return Table(source if large else _with_floats(source.read()))
    content = content_of(path)
    name, suffix, data = content.name, content.suffix, content.data
    if suffix in EXCEL:
        cells = _cells_of_sheet(content, how.sheet)
        frame = _below_names(cells, name).apply(_of_cells)
        return Table(frame, NumberFormat.of(how.decimal or ".", ""))
    if how.sheet is not None:
        raise InputError(f"--sheet {shown(how.sheet)}: {name} is no Excel file")
    parquet = data[:4] == b"PAR1" or suffix in PARQUET
    if parquet or data[:6] == b"ARROW1" or suffix in ARROW:
        read_all = pyarrow.parquet.read_table if parquet else pyarrow.feather.read_table
        try:
            source = open_columns(read_all(in_arrow(data)))
        except (pa.ArrowException, OSError) as error:
            text = brief(first_line(error), 200)
            raise InputError(f"{name} cannot be read: {text}") from None
        check_names(source.columns, len(source), name)
        return Table(_with_floats(source.read()))
    cells, form = cells_of(as_utf8(content, how.encoding), name, suffix, how.delimiter, how.decimal)
    return Table(_below_names(cells, name), form)


def _cells_of_sheet(content: Content, sheet: str | None) -> pd.DataFrame:
    """The cells of a sheet, without rows and columns that are empty."""
    name = content.name
    try:
        with pd.ExcelFile(io.BytesIO(content.data), engine="openpyxl") as book:
            names = list(map(str, book.sheet_names))
            listed = ", ".join(map(shown, names))
            if sheet is None and len(names) > 1:
                raise InputError(
                    f"{name} has {len(names)} sheets ({listed}): name one with --sheet"
                )
            if sheet is not None and sheet not in names:
                raise InputError(f"--sheet {shown(sheet)} is none of {name}; it has {listed}")
            cells = pd.read_excel(
                book, sheet_name=sheet or names[0], header=None, dtype=object, na_filter=False
            )
    except InputError:
        raise
    except ImportError:
        raise InputError(
            f"{name} is an Excel file, which takes openpyxl: pip install 'infosieve[excel]', or "
            "save the file as CSV"
        ) from None
    except Exception as error:  # whatever openpyxl raises of a damaged file
        raise InputError(f"{name} cannot be read as Excel: {first_line(error)}") from None
    cells = cells.replace("", None).dropna(how="all").dropna(axis=1, how="all")
    if cells.empty:
        raise InputError(f"{name} has a sheet without values; --sheet names another")
    return cells


def _below_names(cells: pd.DataFrame, file: str) -> pd.DataFrame:
    """The table of cells whose first row has the names."""
    names = [str(cell).strip() for cell in cells.iloc[0].fillna("")]
    check_names(names, len(cells) - 1, file)
    return cells.iloc[1:].reset_index(drop=True).set_axis(names, axis=1)


def _of_cells(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Numbers, truth values or dates if all cells of a column are; else texts."""
    kinds = set() if is_text(column) else set(map(type, column.dropna()))
    if kinds and kinds <= {int, float}:
        return pd.to_numeric(column)
    if kinds == {bool} or all(issubclass(kind, (date, time, timedelta)) for kind in kinds):
        return column.infer_objects()
    return column.map(str, na_action="ignore")


def check_names(names: Sequence[Any], n_rows: int, file: str) -> None:
    """Refuse a header that is none, names that several columns have, and a table without rows."""
    if len(names) < 2:
        raise InputError(
            f"{file} has {f'one column, {shown(names[0])}' if names else 'no columns'}; a target "
            "and a feature are two (--delimiter says what separates values)"
        )
    index = pd.Index(names, dtype=object)
    if pd.to_numeric(index, errors="coerce").notna().all():
        first = brief(", ".join(map(str, names[:3])))
        raise InputError(
            f"{file} has a first row of numbers ({first}, ...): it needs a header of names"
        )
    twice = index[index.duplicated()].unique()
    if len(twice):
        above = ", or delete what stands above the row of names" if "" in twice else ""
        named = ", ".join(map(shown, twice[:5]))
        raise InputError(f"{file} has more than one column named {named}; rename them{above}")
    if n_rows == 0:
        raise InputError(f"{file} has a header and no rows")


def _check_texts(table: ColumnSource, declared: Sequence[str], dates: str) -> None:
    """Refuse dates, and texts that are numbers; columns of text are read once, a few at a time."""
    texts = table[[column for column in table.texts if column not in declared]]
    size = max(1, _BLOCK_CELLS // max(1, len(table)))
    for i in range(0, texts.shape[1], size):
        block = texts.read(range(i, min(i + size, texts.shape[1])))
        try:
            without_dates(block, declared, "error")
        except InputError as error:
            more = " (not in a table larger than memory: write them as numbers)"
            raise InputError(f"{error}{more if dates == 'ordinal' else ''}") from None
        refuse_numbers(block, declared)


def _with_floats(frame: pd.DataFrame) -> pd.DataFrame:
    """Decimals as floats, unless these lose digits."""
    for name in frame:
        known = frame[name].dropna() if pd.api.types.is_object_dtype(frame[name]) else ()
        decimals = len(known) > 0 and all(isinstance(value, Decimal) for value in known)
        if decimals and not beyond_rounding(list(known), f"column {shown(name)}"):
            frame[name] = frame[name].astype(float)
    return frame
