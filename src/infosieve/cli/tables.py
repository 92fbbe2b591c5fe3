"""Tables from files; errors that name file, column and row."""

import io
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
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
from infosieve._input.numbers import is_missing, offset_of
from infosieve._sources import ARROW, PARQUET, ColumnSource, as_source, open_columns
from infosieve.cli.csv_files import cells_of
from infosieve.cli.dates import is_date, without_dates
from infosieve.cli.errors import InputError
from infosieve.cli.files import EXCEL, Content, as_utf8, content_of, in_arrow
from infosieve.cli.texts import NumberFormat, read_text, read_texts, refuse_numbers

# What is read at once of a table that stays where it is: values.
_BLOCK_CELLS = 1 << 21


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a file is read, and which of its columns: the options of the same names.

    ``series``: whether rows are said to be in order of time.
    """

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
    series: bool = False


@dataclass(frozen=True)
class Table:
    """What a file holds.

    Attributes
    ----------
    values : DataFrame or ColumnSource
        The columns, as they are in the file; Parquet stays where it is, unless it is small.
    form : NumberFormat or None
        How a file without types writes numbers. None: columns of text are text.
    """

    values: pd.DataFrame | ColumnSource
    form: NumberFormat | None = None

    @property
    def columns(self) -> list[Any]:
        """The names of the columns."""
        return list(self.values.columns)

    def column(self, name: Any) -> "pd.Series[Any]":
        """One column, as if it were declared a category."""
        column = self.values[name]
        if self.form is None or not pd.api.types.is_string_dtype(column):
            return column
        return read_text(column, self.form, True, {})

    def dates(self) -> "Iterator[pd.Series[Any]]":
        """Columns that may hold dates."""
        names = self.values.dates if isinstance(self.values, ColumnSource) else self.columns
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
    if path != "-" and ("://" in path or _is_parquet(Path(path))):
        try:
            source = open_columns(path)
        except (ValueError, OSError, ImportError) as error:
            raise InputError(first_line(error)) from None
        return _opened(source, path, SMALL)
    content = content_of(path)
    data, suffix = content.data, content.suffix
    if suffix in EXCEL:
        form = NumberFormat.of(how.decimal or ".", "")
        table = _untyped(_cells_of_sheet(content, how.sheet), form, content.name)
        return replace(table, values=table.values.apply(_of_cells))
    if how.sheet is not None:
        raise InputError(f"--sheet {shown(how.sheet)}: {content.name} is no Excel file")
    if data[:4] == b"PAR1" or data[:6] == b"ARROW1" or suffix in (*PARQUET, *ARROW):
        return _opened(as_source(_arrow_table(content)), content.name)
    text = as_utf8(content, how.encoding)
    cells, form = cells_of(text, content.name, suffix, how.delimiter, how.decimal)
    return _untyped(cells, form, content.name)


def _is_parquet(path: Path) -> bool:
    if path.is_dir():
        return True
    with suppress(OSError), path.open("rb") as file:
        return file.read(4) == b"PAR1" or path.suffix.lower() in PARQUET
    return False


def _arrow_table(content: Content) -> pa.Table:
    file = in_arrow(content.data)
    try:
        if content.data[:4] == b"PAR1" or content.suffix in PARQUET:
            return pyarrow.parquet.read_table(file)
        if content.data[:6] == b"ARROW1":
            return pyarrow.feather.read_table(file)
        return pa.ipc.open_stream(file).read_all()
    except (pa.ArrowException, OSError, EOFError) as error:
        text = brief(first_line(error), 200)
        raise InputError(f"{content.name} cannot be read: {text}") from None


def _opened(source: ColumnSource, name: str, in_memory: int | None = None) -> Table:
    """A table with types; read if it has so few bytes."""
    check_names(source.columns, name)
    _refuse_empty(len(source), name)
    if in_memory is not None and 8 * source.shape[0] * source.shape[1] > in_memory:
        return Table(source)
    return Table(_with_floats(source.read(), f"{name}: "))


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
    cells = cells.mask(cells.eq(""))
    cells = cells.dropna(how="all").dropna(axis=1, how="all")
    if cells.empty:
        raise InputError(f"{name} has a sheet without values; --sheet names another")
    return cells


def _untyped(cells: pd.DataFrame, form: NumberFormat, name: str) -> Table:
    """The table of cells whose first row has the names."""
    names = [str(cell).strip() for cell in cells.iloc[0].fillna("")]
    check_names(names, name)
    _refuse_empty(len(cells) - 1, name)
    frame = cells.iloc[1:].reset_index(drop=True)
    return Table(frame.set_axis(names, axis=1), form)


def _of_cells(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Numbers, truth values or dates if all cells of a column are; else texts."""
    kinds = set(map(type, column.dropna()))
    if kinds <= {int, float}:
        return pd.to_numeric(column)
    if kinds == {bool} or all(issubclass(kind, (date, time, timedelta)) for kind in kinds):
        return column.infer_objects()
    return column.map(str, na_action="ignore")


def check_names(names: Sequence[Any], file: str) -> None:
    """Refuse a header that is none, and names that several columns have."""
    if not names:
        raise InputError(f"{file} has no columns")
    if len(names) < 2:
        raise InputError(
            f"{file} has one column, {shown(names[0])}; a target and a feature are two "
            "(--delimiter says what separates values)"
        )
    if all(map(_is_float, names)):
        first = brief(", ".join(map(str, names[:3])))
        raise InputError(
            f"{file} has a first row of numbers ({first}, ...): it needs a header of names"
        )
    index = pd.Index(names)
    twice = index[index.duplicated()].unique()
    if len(twice):
        above = ", or delete what stands above the row of names" if "" in twice else ""
        named = ", ".join(map(shown, twice[:5]))
        raise InputError(f"{file} has more than one column named {named}; rename them{above}")


def _is_float(text: Any) -> bool:
    with suppress(TypeError, ValueError):
        float(text)
        return True
    return False


def _refuse_empty(n_rows: int, name: str) -> None:
    if n_rows == 0:
        raise InputError(f"{name} has a header and no rows")


def in_memory(table: pd.DataFrame | ColumnSource) -> pd.DataFrame:
    """All of a table."""
    return table if isinstance(table, pd.DataFrame) else table.read()


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


def _with_floats(frame: pd.DataFrame, where: str) -> pd.DataFrame:
    """Decimals as floats, unless these lose digits; bytes, which no text is made of, refused."""
    for name in [name for name in frame if pd.api.types.is_object_dtype(frame[name])]:
        column, label = frame[name], f"{where}column {shown(name)}"
        kinds = set(map(type, column.dropna()))
        if bytes in kinds:
            raise InputError(f"{label} is no text in UTF-8; convert the file (iconv -t utf-8)")
        numbers = bool(kinds) and kinds <= {int, float, Decimal}
        if numbers and not offset_of([v for v in column if not is_missing(v)], label):
            frame[name] = column.map(lambda v: None if v is None else float(v)).astype(float)
    return frame
