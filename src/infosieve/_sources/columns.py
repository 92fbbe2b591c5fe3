"""Tables that stay where they are: columns are read when somebody needs them."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from infosieve._core.messages import shown
from infosieve._core.types import IntArray
from infosieve._sources.arrays import ArrayFile, map_array
from infosieve._sources.arrow import ARROW, ArrowFile, ArrowTable
from infosieve._sources.frames import as_arrow, of_polars
from infosieve._sources.parquet import ParquetFiles
from infosieve._sources.reader import Reader

# What has names of several columns.
_SEVERAL = (list, np.ndarray, pd.Index, pd.Series)


@dataclass(frozen=True, eq=False, repr=False)
class ColumnSource:
    """Columns that are read when they are needed.

    :func:`open_columns` makes one. Columns are chosen as in a frame: ``table["y"]`` reads one,
    ``table[["a", "b"]]`` is a source again.

    Attributes
    ----------
    columns : list
        Their names, or their numbers where they have none.
    shape : tuple
        The numbers of samples and columns.
    named : bool
        Whether the columns have names.
    texts, dates : list
        The columns that hold texts, and dates.
    where : str
        Where the columns are, in words.

    See Also
    --------
    open_columns : Open a table that need not fit into memory.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from infosieve import open_columns
    >>> table = open_columns(pa.table({"heat": [1.0, 2.0], "light": [3, 5], "yield": [7, 8]}))
    >>> table.drop("yield").columns
    ['heat', 'light']
    >>> table[["heat", "yield"]].shape
    (2, 2)
    >>> table["light"].tolist()
    [3, 5]
    """

    _reader: Reader
    _numbers: IntArray
    _rows: IntArray | None

    @cached_property
    def columns(self) -> list[Any]:
        """Names of the columns, or their numbers where they have none."""
        if not self.named:
            return list(range(len(self._numbers)))
        return [self._reader.names[j] for j in self._numbers.tolist()]

    @property
    def named(self) -> bool:
        """Whether the columns have names."""
        return self._reader.schema is not None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of samples and columns."""
        n = self._reader.shape[0] if self._rows is None else len(self._rows)
        return n, len(self._numbers)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        first = ", ".join(map(shown, self.columns[:4])) + (", ..." if self.shape[1] > 4 else "")
        text = f"<ColumnSource of {self.shape[0]} samples and {self.shape[1]} columns"
        return f"{text}: {first}>" if self.named else f"{text}>"

    def __getitem__(self, columns: Any) -> Any:
        """One column, read, by its name; or a source of those in a list of names."""
        if isinstance(columns, _SEVERAL):
            return replace(self, _numbers=self._numbers[[self._find(c) for c in columns]])
        values = self.read([self._find(columns)])
        return values.iloc[:, 0] if self.named else values[:, 0]

    def drop(self, columns: Any) -> "ColumnSource":
        """Leave out some columns.

        Parameters
        ----------
        columns : object, or list
            The name of a column, or a list of names.

        Returns
        -------
        ColumnSource
            The others, not read.
        """
        out = {self._find(c) for c in (columns if isinstance(columns, _SEVERAL) else [columns])}
        kept = [j for j in range(len(self._numbers)) if j not in out]
        return replace(self, _numbers=self._numbers[kept])

    def take_rows(self, rows: IntArray) -> "ColumnSource":
        """Keep some of the samples.

        Parameters
        ----------
        rows : ndarray of int
            Their numbers, in the order wanted.

        Returns
        -------
        ColumnSource
            The same columns for these samples, not read.
        """
        rows = rows if self._rows is None else self._rows[rows]
        return replace(self, _rows=np.asarray(rows))

    def read(self, columns: Sequence[int] | IntArray | None = None) -> Any:
        """Read columns into memory.

        Parameters
        ----------
        columns : sequence of int or None, default=None
            Their numbers; None: all.

        Returns
        -------
        DataFrame, or ndarray
            An array where the columns have no names.
        """
        numbers = self._numbers if columns is None else self._numbers[np.asarray(columns, np.int64)]
        values = self._reader.read(numbers.tolist())
        if self._rows is None:
            return values
        return values.iloc[self._rows].reset_index(drop=True) if self.named else values[self._rows]

    @property
    def texts(self) -> list[Any]:
        """The columns that hold texts."""
        import pyarrow as pa

        kinds = {pa.string(), pa.large_string(), pa.string_view()}
        return self._of_type(lambda kind: kind in kinds)

    @property
    def dates(self) -> list[Any]:
        """The columns that hold dates."""
        import pyarrow as pa

        return self._of_type(lambda kind: pa.types.is_timestamp(kind) or pa.types.is_date(kind))

    def _of_type(self, wanted: Callable[[Any], bool]) -> list[Any]:
        if not self.named:
            return []
        types, numbers = self._reader.schema.types, self._numbers.tolist()
        return [n for n, j in zip(self.columns, numbers, strict=True) if wanted(types[j])]

    def visible(self) -> bool:
        """Check whether this process can read what the one could that opened it.

        Returns
        -------
        bool
            False if a file is not here, or is another by now.
        """
        return self._reader.visible()

    @property
    def where(self) -> str:
        """Where the columns are, in words."""
        return self._reader.where

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {name: j for j, name in enumerate(self.columns)}

    def _find(self, column: Any) -> int:
        if column not in self._places:
            first = ", ".join(map(shown, self.columns[:5])) + (", ..." if self.shape[1] > 5 else "")
            raise KeyError(f"{self.where} has no column {shown(column)}; it has {first}")
        return self._places[column]


def open_columns(table: Any, *, storage_options: Mapping[str, Any] | None = None) -> "ColumnSource":
    """Open a table that need not fit into memory.

    Parameters
    ----------
    table : str, path-like, numpy.memmap, pyarrow.Table or the like
        A Parquet file, a directory of them (their rows one after the other, in the natural order
        of their names), or either on a filesystem that fsspec opens, such as
        ``"s3://bucket/table.parquet"``; an Arrow file (.arrow, .feather); an array (.npy); a
        table of whatever has Arrow's PyCapsule interface, such as a relation of DuckDB.
    storage_options : dict or None, default=None
        What fsspec is to know of a remote filesystem.

    Returns
    -------
    ColumnSource
        What ``MISelector.fit``, :func:`relevance`, :func:`choose_k` and
        :func:`permutation_test` take as X. Columns are chosen as in a frame: ``table["y"]``
        reads one, ``table[["a", "b"]]`` and ``table.drop("y")`` are sources again.

    See Also
    --------
    ColumnSource : What it returns.
    MISelector : Select columns, of a source, too.
    relevance : Information of each column on its own.

    Notes
    -----
    Columns are best kept together: Parquet is made so; an array should be in Fortran order,
    else reading one column means passing over all.

    Examples
    --------
    >>> import numpy as np, pandas as pd, tempfile
    >>> from infosieve import open_columns, relevance
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame(rng.normal(size=(500, 3)), columns=["heat", "light", "noise"])
    >>> frame["yield"] = np.sin(2 * frame["heat"]) + 0.3 * rng.normal(size=500)
    >>> folder = tempfile.TemporaryDirectory()
    >>> frame.to_parquet(f"{folder.name}/table.parquet")
    >>> table = open_columns(f"{folder.name}/table.parquet")
    >>> table
    <ColumnSource of 500 samples and 4 columns: 'heat', 'light', 'noise', 'yield'>
    >>> relevance(table.drop("yield"), table["yield"]).round(1).abs()
    heat     0.8
    light    0.0
    noise    0.0
    Name: relevance, dtype: float64
    >>> folder.cleanup()
    """
    source = source_of(table, "X")
    if source is not None:
        return source
    if not isinstance(table, (str, os.PathLike)):
        raise TypeError(
            "open_columns takes a path, a numpy.memmap or a pyarrow.Table; got "
            f"{type(table).__name__!r}. Arrays and frames that are in memory need not be opened."
        )
    path = os.fspath(table)
    if "://" in path:
        return _source_of(ParquetFiles.opened(path, storage_options or {}))
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path}: no such file or directory")
    suffix = Path(path).suffix.lower()
    if suffix == ".npy":
        return _source_of(ArrayFile.of(map_array(path)))
    if suffix in ARROW:
        return _source_of(ArrowFile.opened(path))
    return _source_of(ParquetFiles.opened(path, None))


def source_of(data: Any, argument: str) -> "ColumnSource | None":
    """What :func:`.as_source` says of data that may be one."""
    if isinstance(data, ColumnSource):
        return data
    if isinstance(data, np.memmap) and data.ndim == 2 and data.dtype.kind in "fiub":
        return _source_of(ArrayFile.of(data))
    table = None if of_polars(data) else as_arrow(data, argument)
    return _source_of(ArrowTable.of(table)) if hasattr(table, "schema") else None


def _source_of(reader: Reader) -> "ColumnSource":
    if reader.schema is not None:
        names = pd.Index(reader.names)
        if not names.is_unique:
            twice = names[names.duplicated()][0]
            raise ValueError(
                f"{reader.where} has more than one column named {shown(twice)}: rename it."
            )
    return ColumnSource(reader, np.arange(reader.shape[1]), None)
