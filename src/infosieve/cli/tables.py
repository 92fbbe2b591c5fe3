"""Tables from files, through pyarrow; errors that name file, column and row."""

import difflib
import gzip
import io
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from infosieve._core.files import first_line
from infosieve._core.messages import brief, shown
from infosieve._input.numbers import EXACT, is_missing, offset_of
from infosieve._sources import ARROW, PARQUET, ColumnSource, open_columns, to_frame
from infosieve.cli.errors import InputError
from infosieve.cli.texts import NumberFormat, exact_numbers, read_text, refuse_doubtful, refuse_text

_SEPARATORS = {".csv": ",", ".txt": ",", ".tsv": "\t", ".tab": "\t"}
# What is read at once of a table that stays where it is: values.
_BLOCK_CELLS = 1 << 21
# Numbers of a text file whose range is less, of their size, may have lost digits.
_NARROW = 2.0**-30
_MANY_DIGITS = r"[0-9](?:[.,]?[0-9]){15}"
# Where a frame says how its file writes numbers.
_FORMAT = "infosieve"


def read(path: str, delimiter: str | None, decimal: str = ".") -> pd.DataFrame | ColumnSource:
    """The table in a CSV, TSV, Parquet or Arrow file, or on standard input ("-").

    Parquet stays where it is.
    """
    name = "standard input" if path == "-" else path
    if path != "-" and ("://" in path or _is_parquet(Path(path))):
        try:
            source = open_columns(path)
        except (ValueError, OSError, ImportError) as error:
            raise InputError(first_line(error)) from None
        _check(source.columns, len(source), name, delimiter)
        return source
    if path != "-" and not Path(path).exists():
        folder = Path(path).parent
        near = difflib.get_close_matches(
            Path(path).name, os.listdir(folder) if folder.is_dir() else [], 1
        )
        raise InputError(f"{name}: no such file" + (f"; is it {near[0]!r}?" if near else ""))
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror}") from None
    if not data.strip():
        raise InputError(f"{name} is empty")
    try:
        suffix = Path(path).suffix.lower() if path != "-" else ""
        table, form = _parsed(data, suffix, delimiter, decimal)
    except InputError:
        raise
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} is no text in UTF-8 (byte {error.start}); convert it (iconv -t utf-8)"
        ) from None
    except (pa.ArrowException, ValueError, OSError, EOFError) as error:
        header = data[:10_000].decode("utf-8", "replace").partition("\n")[0]
        hint = "" if "," in header else _delimiter_hint(header, delimiter)
        text = brief(first_line(error), 200)
        raise InputError(f"{name} cannot be read: {text}{hint}") from None
    _check(table.column_names, table.num_rows, name, delimiter)
    frame = to_frame(table)
    for column in _objects(frame):
        frame[column] = _plain(frame[column], f"{name}: column {shown(column)}")
    frame.attrs[_FORMAT] = form
    return frame


def _is_parquet(path: Path) -> bool:
    if path.is_dir():
        return True
    if not path.is_file():
        return False
    with suppress(OSError), path.open("rb") as file:
        return file.read(4) == b"PAR1" or path.suffix.lower() in PARQUET
    return False


def in_memory(table: pd.DataFrame | ColumnSource) -> pd.DataFrame:
    """All of a table."""
    return table if isinstance(table, pd.DataFrame) else table.read()


def checked(
    table: pd.DataFrame | ColumnSource, declared: Sequence[str], drop_missing: bool
) -> pd.DataFrame | ColumnSource:
    """The table without rows that have missing values, if they may be left out.

    Texts that are numbers are read, or refused. Of a table that stays where it is, columns of
    text are read once, a few at a time, and all columns if rows are to be left out.
    """
    if isinstance(table, pd.DataFrame):
        known = table.attrs.pop(_FORMAT, None)
        if known is not None:
            form, doubts = known
            for column in table.columns:
                if column in doubts and column not in declared:
                    raise InputError(doubts[column])
            table = read_text(table, declared, form)
        else:
            refuse_text(table, declared)
    else:
        texts = [column for column in table.texts if column not in set(declared)]
        for block in _blocks(table[texts]):
            refuse_text(block, declared)
        if not drop_missing:
            return table  # whoever reads it refuses gaps
    missing = np.zeros(len(table), bool)
    worst: tuple[Any, int] = ("", 0)
    for block in _blocks(table):
        gaps = block.isna()
        missing |= gaps.any(axis=1).to_numpy()
        counts = gaps.sum()
        if len(counts) and counts.max() > worst[1]:
            worst = (counts.idxmax(), int(counts.max()))
    if not missing.any():
        return table
    if not drop_missing:
        raise InputError(
            f"{int(missing.sum())} of {len(table)} rows have missing values (column "
            f"{shown(worst[0])} has {worst[1]}); --missing drop leaves those rows out, "
            "--exclude a column"
        )
    if missing.all():
        raise InputError(
            f"every row has a missing value; column {shown(worst[0])} has most: --exclude it"
        )
    print(f"infosieve: {int(missing.sum())} rows with missing values left out", file=sys.stderr)
    if isinstance(table, pd.DataFrame):
        return table[~missing].reset_index(drop=True)
    return table.take_rows(np.flatnonzero(~missing))


def _blocks(table: pd.DataFrame | ColumnSource) -> Iterator[pd.DataFrame]:
    if isinstance(table, pd.DataFrame):
        yield table
        return
    size = max(1, _BLOCK_CELLS // max(1, len(table)))
    for i in range(0, table.shape[1], size):
        block = table.read(range(i, min(i + size, table.shape[1])))
        for column in _objects(block):
            block[column] = _plain(block[column], f"column {shown(column)}")
        yield block


def _parsed(
    data: bytes, suffix: str, delimiter: str | None, decimal: str
) -> tuple[pa.Table, tuple[NumberFormat, dict[str, str]] | None]:
    """The table and, of a text file, how it writes numbers and what is wrong with columns."""
    stream = io.BytesIO(data)
    if data[:4] == b"PAR1" or suffix in (".parquet", ".pq"):
        return pyarrow.parquet.read_table(stream), None
    if data[:6] == b"ARROW1" or suffix in ARROW:
        try:
            return pyarrow.feather.read_table(stream), None
        except pa.ArrowInvalid:
            return pa.ipc.open_stream(io.BytesIO(data)).read_all(), None
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        data = data.decode("utf-16").encode()
    data.decode()  # or an error that says where
    separator = delimiter if delimiter is not None else _SEPARATORS.get(suffix, ",")
    separator = {"tab": "\t", "\\t": "\t"}.get(separator, separator)
    if len(separator) != 1:
        raise InputError(f"--delimiter must be one character, or 'tab'; got {separator!r}")
    form = NumberFormat.of(decimal, separator)
    table = _csv(data, form)
    named = list(zip(table.column_names, table.columns, strict=True))
    again = [n for n, c in named if _may_have_lost(c) or (form.decimal == "," and _in_thousands(c))]
    if not again or len(set(table.column_names)) < table.num_columns:
        return table, (form, {})
    return _read_again(table, _csv(data, form, again), form)


def _read_again(
    table: pa.Table, texts: pa.Table, form: NumberFormat
) -> tuple[pa.Table, tuple[NumberFormat, dict[str, str]]]:
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
    return table, (form, doubts)


def _csv(data: bytes, form: NumberFormat, as_text: Sequence[str] = ()) -> pa.Table:
    """All columns, or some as they are written."""
    missing = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "#N/A"]
    return pyarrow.csv.read_csv(
        io.BytesIO(data),
        parse_options=pyarrow.csv.ParseOptions(delimiter=form.separator),
        convert_options=pyarrow.csv.ConvertOptions(
            null_values=missing,
            strings_can_be_null=True,
            decimal_point=form.decimal,
            include_columns=list(as_text),
            column_types=dict.fromkeys(as_text, pa.string()),
        ),
    )


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


def _delimiter_hint(header: str, delimiter: str | None) -> str:
    """What a header of one name seems to be separated by."""
    guess = next((c for c in ";\t|, " if c in header and c != delimiter), None)
    if guess is None:
        return ""
    text = "tab" if guess == "\t" else repr(guess)
    return f"; its values seem to be separated by {text}: pass --delimiter {text}"


def _check(names: list[Any], n_rows: int, name: str, delimiter: str | None) -> None:
    if not names:
        raise InputError(f"{name} has no columns")
    if len(names) < 2:
        hint = _delimiter_hint(names[0], delimiter)
        raise InputError(
            f"{name} has one column, {shown(names[0])}; a target and a feature are two{hint}"
        )
    twice = [n for n, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(f"{name} has more than one column named {shown(twice[0])}; rename them")
    if all(_is_number(n) for n in names):
        raise InputError(
            f"{name} has a first row of numbers ({brief(', '.join(names[:3]))}, ...): it needs a "
            "header with the columns' names"
        )
    if n_rows == 0:
        raise InputError(f"{name} has a header and no rows")


def _is_number(text: Any) -> bool:
    try:
        float(text)
    except (TypeError, ValueError):
        return False
    return True


def _objects(frame: pd.DataFrame) -> list[Any]:
    """The columns of Python's objects."""
    dtypes = frame.dtypes.items()
    return [name for name, dtype in dtypes if pd.api.types.is_object_dtype(dtype)]


def _plain(column: "pd.Series[Any]", label: str) -> "pd.Series[Any]":
    """Decimals and flags with gaps as numbers; bytes, which no text is made of, refused."""
    kinds = {type(value) for value in column.dropna()}
    if bytes in kinds:
        raise InputError(f"{label} is no text in UTF-8; convert the file (iconv -t utf-8)")
    if kinds and kinds <= {bool, int, float, Decimal}:
        if bool not in kinds and offset_of([v for v in column if not is_missing(v)], label):
            return column  # floats would lose digits
        return pd.to_numeric(column.map(lambda v: None if v is None else float(v)))
    return column
