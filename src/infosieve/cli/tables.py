"""Tables from files, through pyarrow; errors that name file, column and row."""

import difflib
import gzip
import io
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from infosieve._files import first_line
from infosieve.columns import ARROW, PARQUET, ColumnSource, open_columns

_SEPARATORS = {".csv": ",", ".txt": ",", ".tsv": "\t", ".tab": "\t"}
# What is read at once of a table that stays where it is: values.
_BLOCK_CELLS = 1 << 21


class InputError(ValueError):
    """What the user gave cannot be used; the message is one line that says why."""


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
        table = _parsed(data, suffix, delimiter, decimal)
    except InputError:
        raise
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} is no text in UTF-8 (byte {error.start}); convert it (iconv -t utf-8)"
        ) from None
    except (pa.ArrowException, ValueError, OSError, EOFError) as error:
        raise InputError(f"{name} cannot be read: {first_line(error)}") from None
    _check(table.column_names, table.num_rows, name, delimiter)
    frame: pd.DataFrame = table.to_pandas()
    for column in frame.columns:
        frame[column] = _plain(frame[column], f"{name}: column {column!r}")
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

    A stray text among numbers is refused. Of a table that stays where it is, all columns are read
    once, a few at a time, if rows are to be left out.
    """
    if isinstance(table, ColumnSource) and not drop_missing:
        return table  # whoever reads it refuses gaps
    missing = np.zeros(len(table), bool)
    worst: tuple[Any, int] = ("", 0)
    for block in _blocks(table):
        refuse_stray_text(block, declared)
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
            f"{worst[0]!r} has {worst[1]}); --drop-missing leaves those rows out, "
            "--exclude a column"
        )
    if missing.all():
        raise InputError(
            f"every row has a missing value; column {worst[0]!r} has most: --exclude it"
        )
    print(f"infosieve: {int(missing.sum())} rows with missing values left out", file=sys.stderr)
    if isinstance(table, pd.DataFrame):
        return table[~missing].reset_index(drop=True)
    return table.only(np.flatnonzero(~missing))


def _blocks(table: pd.DataFrame | ColumnSource) -> Iterator[pd.DataFrame]:
    if isinstance(table, pd.DataFrame):
        yield table
        return
    size = max(1, _BLOCK_CELLS // max(1, len(table)))
    for i in range(0, table.shape[1], size):
        block = table.read(range(i, min(i + size, table.shape[1])))
        for column in block.columns:
            block[column] = _plain(block[column], f"column {column!r}")
        yield block


def read_result(path: str) -> Any:
    """A result that was kept as JSON."""
    from infosieve.results import ClusterResult, KChoice, SelectionResult

    name = "standard input" if path == "-" else path
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{name} is no text, but --json writes text") from None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    schema = document.get("schema") if isinstance(document, dict) else None
    for kind in (SelectionResult, KChoice, ClusterResult):
        if schema == f"infosieve/{kind._schema}":
            try:
                return kind.from_json(text)
            except ValueError as error:
                raise InputError(f"{name}: {error}") from None
    raise InputError(f"{name} is no result of infosieve; write one with --json")


def _parsed(data: bytes, suffix: str, delimiter: str | None, decimal: str) -> pa.Table:
    stream = io.BytesIO(data)
    if data[:4] == b"PAR1" or suffix in (".parquet", ".pq"):
        return pyarrow.parquet.read_table(stream)
    if data[:6] == b"ARROW1" or suffix in ARROW:
        try:
            return pyarrow.feather.read_table(stream)
        except pa.ArrowInvalid:
            return pa.ipc.open_stream(io.BytesIO(data)).read_all()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        data = data.decode("utf-16").encode()
    data.decode()  # or an error that says where
    stream = io.BytesIO(data)
    separator = delimiter if delimiter is not None else _SEPARATORS.get(suffix, ",")
    separator = {"tab": "\t", "\\t": "\t"}.get(separator, separator)
    if len(separator) != 1:
        raise InputError(f"--delimiter must be one character, or 'tab'; got {separator!r}")
    if decimal not in (".", ",") or decimal == separator:
        raise InputError(f"--decimal must be . or , and not the delimiter; got {decimal!r}")
    missing = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "#N/A"]
    return pyarrow.csv.read_csv(
        stream,
        parse_options=pyarrow.csv.ParseOptions(delimiter=separator),
        convert_options=pyarrow.csv.ConvertOptions(
            null_values=missing, strings_can_be_null=True, decimal_point=decimal
        ),
    )


def _check(names: list[Any], n_rows: int, name: str, delimiter: str | None) -> None:
    if not names:
        raise InputError(f"{name} has no columns")
    if len(names) < 2:
        guess = next((c for c in ";\t|, " if names and c in names[0] and c != delimiter), None)
        hint = (
            f"; its values seem to be separated by {guess!r}: pass --delimiter {guess!r}".replace(
                "'\\t'", "tab"
            )
            if guess
            else ""
        )
        raise InputError(
            f"{name} has one column, {names[0]!r}; a target and a feature are two{hint}"
        )
    twice = [n for n, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(f"{name} has more than one column named {twice[0]!r}; rename them")
    if all(_is_number(n) for n in names):
        raise InputError(
            f"{name} has a first row of numbers ({', '.join(names[:3])}, ...): it needs a header "
            "with the columns' names"
        )
    if n_rows == 0:
        raise InputError(f"{name} has a header and no rows")


def _is_number(text: Any) -> bool:
    try:
        float(text)
    except (TypeError, ValueError):
        return False
    return True


def _plain(column: "pd.Series[Any]", label: str) -> "pd.Series[Any]":
    """Decimals and flags with gaps as numbers; bytes, which no text is made of, refused."""
    if column.dtype != object:
        return column
    kinds = {type(value) for value in column.dropna()}
    if bytes in kinds:
        raise InputError(f"{label} is no text in UTF-8; convert the file (iconv -t utf-8)")
    if kinds and kinds <= {bool, int, float, Decimal}:
        return pd.to_numeric(column.map(lambda v: None if v is None else float(v)))
    return column


def refuse_stray_text(frame: pd.DataFrame, declared: Sequence[str]) -> None:
    """A column of numbers with a stray text would pass as a category of a thousand levels."""
    known = set(declared)
    for column in frame.columns:
        if column in known or not pd.api.types.is_string_dtype(frame[column].dtype):
            continue
        texts = frame[column].dropna()
        if not texts.map(lambda value: isinstance(value, str)).all():
            continue  # lists, dates and the like: refused where their column is named
        numbers = texts.map(_is_number)
        commas = texts.map(lambda text: _is_number(text.replace(",", "."))) & ~numbers
        if len(texts) and commas.mean() > 0.5:
            raise InputError(
                f"column {column!r} has decimal commas ({texts[commas].iloc[0]!r}): pass "
                f"--decimal , or declare it with --categorical {column!r}"
            )
        if len(texts) and 0.5 < numbers.mean() < 1:
            row = texts.index[~numbers][0]
            raise InputError(
                f"column {column!r} holds numbers but for {texts[row]!r} in row {row + 1}; mend "
                f"it, write NA for what is missing, or declare it with --categorical {column!r}"
            )


def find(name: str, columns: Sequence[str], what: str) -> str:
    """A column of that name, or an error that suggests the nearest."""
    if name in columns:
        return name
    lower = {c.lower(): c for c in columns}
    near = [lower[n] for n in difflib.get_close_matches(name.lower(), lower, 3, 0.5)]
    hint = f"; do you mean {' or '.join(map(repr, near))}?" if near else ""
    if not near:
        shown = ", ".join(map(repr, columns[:5]))
        hint = f"; there are {shown}" + (", ..." if len(columns) > 5 else "")
    raise InputError(f"{what} {name!r} is no column{hint}")


def matching(patterns: Iterable[str], columns: Sequence[str], option: str) -> list[str]:
    """The columns that match any of some globs, in the table's order."""
    found: set[str] = set()
    for pattern in patterns:
        some = [c for c in columns if c == pattern or fnmatchcase(c, pattern)]
        if not some:
            find(pattern, columns, option)
        found.update(some)
    return [c for c in columns if c in found]
