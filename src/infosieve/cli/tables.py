"""Tables from files, through pyarrow; errors that name file, column and row."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
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
from infosieve._sources import ARROW, PARQUET, ColumnSource, open_columns, to_frame
from infosieve.cli.csv_files import Written, delimiter_hint, in_arrow, parsed
from infosieve.cli.dates import without_dates
from infosieve.cli.errors import InputError
from infosieve.cli.excel import read_workbook
from infosieve.cli.files import EXCEL, Content, as_utf8, content_of
from infosieve.cli.labels import check_names, refuse_second_header
from infosieve.cli.texts import NumberFormat, read_text, refuse_text, without_gaps

# What is read at once of a table that stays where it is: values.
_BLOCK_CELLS = 1 << 21
# Where a frame says how its file writes numbers.
_FORMAT = "infosieve"


def read(
    path: str,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
) -> pd.DataFrame | ColumnSource:
    """The table in a file, or on standard input ("-").

    Parquet stays where it is, unless it is small.
    """
    if path != "-" and ("://" in path or _is_parquet(Path(path))):
        return _opened(path)
    content = content_of(path)
    try:
        frame, written = _frame(content, delimiter, decimal, encoding, sheet)
    except (pa.ArrowException, OSError, EOFError) as error:
        text = brief(first_line(error), 200)
        raise InputError(f"{content.name} cannot be read: {text}") from None
    text_file = written is not None and content.suffix not in EXCEL
    names = list(frame.columns)
    hint = delimiter_hint(names[0], delimiter) if text_file and len(names) == 1 else ""
    check_names(names, content.name, hint)
    _refuse_empty(frame, content.name)
    for column in _objects(frame):
        frame[column] = _plain(frame[column], f"{content.name}: column {shown(column)}")
    if written is not None:
        refuse_second_header(frame, content.name)
        frame, gaps = without_gaps(frame)
        written = replace(written, gaps={**written.gaps, **gaps})
    frame.attrs[_FORMAT] = written
    return frame


def _frame(
    content: Content,
    delimiter: str | None,
    decimal: str | None,
    encoding: str | None,
    sheet: str | None,
) -> tuple[pd.DataFrame, Written | None]:
    """The table and, where texts may be numbers, how these are written."""
    data, suffix = content.data, content.suffix
    if suffix in EXCEL:
        form = NumberFormat.of(decimal or ".", "")
        return read_workbook(data, content.name, sheet), Written(form)
    if sheet is not None:
        raise InputError(f"--sheet {shown(sheet)}: {content.name} is no Excel file")
    if data[:4] == b"PAR1" or suffix in PARQUET:
        return _named(pyarrow.parquet.read_table(in_arrow(data))), None
    if data[:6] == b"ARROW1" or suffix in ARROW:
        try:
            table = pyarrow.feather.read_table(in_arrow(data))
        except pa.ArrowInvalid:
            table = pa.ipc.open_stream(in_arrow(data)).read_all()
        return _named(table), None
    text = as_utf8(content, encoding)
    table, known = parsed(text, content.name, suffix, delimiter, decimal)
    return _named(table), known


def _named(table: pa.Table) -> pd.DataFrame:
    """An Arrow table as a frame, in which names may be repeated: they are refused later."""
    names = table.column_names
    if len(set(names)) == len(names):
        return to_frame(table)
    frame = to_frame(
        table.rename_columns([str(j) for j in range(len(names))]), ignore_metadata=True
    )
    frame.columns = pd.Index(names)
    return frame


def _opened(path: str) -> pd.DataFrame | ColumnSource:
    """Parquet, here or elsewhere."""
    try:
        source = open_columns(path)
    except (ValueError, OSError, ImportError) as error:
        raise InputError(first_line(error)) from None
    check_names(source.columns, path, "")
    _refuse_empty(source, path)
    if 8 * source.shape[0] * source.shape[1] > SMALL:
        return source
    (frame,) = _blocks(source, source.shape[1])
    return frame


def _is_parquet(path: Path) -> bool:
    if path.is_dir():
        return True
    if not path.is_file():
        return False
    with suppress(OSError), path.open("rb") as file:
        return file.read(4) == b"PAR1" or path.suffix.lower() in PARQUET
    return False


def _refuse_empty(table: pd.DataFrame | ColumnSource, name: str) -> None:
    if len(table) == 0:
        raise InputError(f"{name} has a header and no rows")


def in_memory(table: pd.DataFrame | ColumnSource) -> pd.DataFrame:
    """All of a table."""
    return table if isinstance(table, pd.DataFrame) else table.read()


def checked(
    table: pd.DataFrame | ColumnSource,
    declared: Sequence[str],
    dates: str = "error",
    in_time: Sequence[str] = (),
) -> pd.DataFrame | ColumnSource:
    """The table, in which texts that are numbers, and dates, are read or refused.

    ``in_time`` are columns by which rows may be in order of time, where that can be said.
    Of a table that stays where it is, columns of text are read once, a few at a time.
    """
    if not isinstance(table, pd.DataFrame):
        texts = [column for column in table.texts if column not in set(declared)]
        for block in _blocks(table[texts]):
            try:
                without_dates(block, declared, "error")
            except InputError as error:
                more = " (not in a table larger than memory: write them as numbers)"
                raise InputError(f"{error}{more if dates == 'ordinal' else ''}") from None
            refuse_text(block, declared)
        return table
    known = table.attrs.pop(_FORMAT, None)
    table = without_dates(table, declared, dates, in_time)
    if known is None:
        refuse_text(table, declared)
        return table
    for column in table.columns:
        if column in known.doubts and column not in declared:
            raise InputError(known.doubts[column])
    return read_text(table, declared, known.form, known.gaps)


def _blocks(table: pd.DataFrame | ColumnSource, size: int | None = None) -> Iterator[pd.DataFrame]:
    """A few columns at a time; decimals as numbers."""
    if isinstance(table, pd.DataFrame):
        yield table
        return
    size = size or max(1, _BLOCK_CELLS // max(1, len(table)))
    for i in range(0, table.shape[1], size):
        block = table.read(range(i, min(i + size, table.shape[1])))
        for column in _objects(block):
            block[column] = _plain(block[column], f"column {shown(column)}")
        yield block


def _objects(frame: pd.DataFrame) -> list[Any]:
    """The columns of Python's objects."""
    dtypes = frame.dtypes.items()
    return [name for name, dtype in dtypes if pd.api.types.is_object_dtype(dtype)]


def _plain(column: "pd.Series[Any]", label: str) -> "pd.Series[Any]":
    """Decimals as numbers; bytes, which no text is made of, refused."""
    kinds = {type(value) for value in column.dropna()}
    if bytes in kinds:
        raise InputError(f"{label} is no text in UTF-8; convert the file (iconv -t utf-8)")
    if kinds and kinds <= {int, float, Decimal}:
        if beyond_rounding(column.dropna().tolist(), label):
            return column  # floats would lose digits
        return pd.to_numeric(column.map(lambda v: None if v is None else float(v)))
    return column
