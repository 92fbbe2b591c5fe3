"""Tables that stay where they are: columns are read when somebody needs them."""

import hashlib
import os
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd

from infosieve._types import IntArray

_PARQUET = (".parquet", ".pq", ".parq")
_ARROW = (".arrow", ".feather", ".ipc")
# The last bytes of a Parquet file: the length of what describes it, and four letters.
_TAIL = 8


class _Reader(Protocol):
    """Where the columns of a source are."""

    @property
    def where(self) -> str: ...

    @property
    def names(self) -> list[Any] | None: ...

    @property
    def shape(self) -> tuple[int, int]: ...

    def read(self, columns: Sequence[int]) -> Any:
        """Some columns, in this order: a frame, or an array where they have no names."""
        ...

    def visible(self) -> bool:
        """Whether this process sees what the one saw that opened it."""
        ...


def open_columns(table: Any, *, storage_options: Mapping[str, Any] | None = None) -> "ColumnSource":
    """Open a table that need not fit into memory.

    Parameters
    ----------
    table : str, path-like, numpy.memmap or pyarrow.Table
        A Parquet file, a directory of them (their rows one after the other, in the natural order
        of their names), or either on a filesystem that fsspec opens, such as
        ``"s3://bucket/table.parquet"``. An Arrow file (.arrow, .feather) or an array (.npy) is
        mapped into memory.
    storage_options : dict or None, default=None
        What fsspec is to know of a remote filesystem.

    Returns
    -------
    ColumnSource
        What ``MISelector.fit``, :func:`relevance`, :func:`choose_k` and
        :func:`permutation_test` take as X.

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
    source = as_source(table)
    if source is not None:
        return source
    if not isinstance(table, (str, os.PathLike)):
        raise TypeError(
            "open_columns takes a path, a numpy.memmap or a pyarrow.Table; got "
            f"{type(table).__name__!r}. Arrays and frames that are in memory need not be opened."
        )
    path = os.fspath(table)
    if "://" in path:
        return _source(_Parquet.opened(path, storage_options or {}))
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path}: no such file or directory")
    suffix = Path(path).suffix.lower()
    if suffix == ".npy":
        return _source(_Matrix.of(np.load(path, mmap_mode="r", allow_pickle=False)))
    if suffix in _ARROW:
        return _source(_Arrow(_mapped(path), path))
    return _source(_Parquet.opened(path, None))


def as_source(data: Any) -> "ColumnSource | None":
    """A source, if that is what ``data`` is or should be read as."""
    if isinstance(data, ColumnSource):
        return data
    if isinstance(data, np.memmap) and data.ndim == 2 and data.dtype.kind in "fiub":
        return _source(_Matrix.of(data))
    if type(data).__module__.partition(".")[0] == "pyarrow":
        import pyarrow as pa

        if isinstance(data, pa.RecordBatch):
            data = pa.Table.from_batches([data])
        if isinstance(data, pa.Table):
            return _source(_Arrow(data, "an Arrow table"))
    return None


def _source(reader: _Reader) -> "ColumnSource":
    names, m = reader.names, reader.shape[1]
    if names is not None:
        twice = next((n for n, count in pd.Series(names).value_counts().items() if count > 1), None)
        if twice is not None:
            raise ValueError(f"{reader.where} has more than one column named {twice!r}: rename it.")
    return ColumnSource(reader, np.arange(m), None)


@dataclass(frozen=True, eq=False, repr=False)
class ColumnSource:
    """Columns that are read when they are needed: see :func:`open_columns`.

    Attributes
    ----------
    columns : list
        Their names, or their numbers where they have none.
    shape : tuple
        The numbers of samples and columns.
    """

    _reader: _Reader
    _numbers: IntArray
    _rows: IntArray | None

    @cached_property
    def columns(self) -> list[Any]:
        names = self._reader.names
        if names is None:
            return list(range(len(self._numbers)))
        return [names[j] for j in self._numbers.tolist()]

    @property
    def named(self) -> bool:
        """Whether the columns have names."""
        return self._reader.names is not None

    @property
    def shape(self) -> tuple[int, int]:
        n = self._reader.shape[0] if self._rows is None else len(self._rows)
        return n, len(self._numbers)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self.columns[:4])) + (", ..." if self.shape[1] > 4 else "")
        text = f"<ColumnSource of {self.shape[0]} samples and {self.shape[1]} columns"
        return f"{text}: {shown}>" if self.named else f"{text}>"

    def __getitem__(self, columns: Any) -> Any:
        """One column, read, by its name; or a source of those in a list of names."""
        if isinstance(columns, list):
            return replace(self, _numbers=self._numbers[[self._find(c) for c in columns]])
        values = self.read([self._find(columns)])
        return values.iloc[:, 0] if self.named else values[:, 0]

    def drop(self, columns: Any) -> "ColumnSource":
        """The same without some columns: a name, or a list of names."""
        names = columns if isinstance(columns, list) else [columns]
        out = {self._find(c) for c in names}
        kept = [j for j in range(len(self._numbers)) if j not in out]
        return replace(self, _numbers=self._numbers[kept])

    def only(self, rows: IntArray) -> "ColumnSource":
        """The same columns for some of the samples."""
        rows = rows if self._rows is None else self._rows[rows]
        return replace(self, _rows=np.asarray(rows))

    def read(self, columns: Sequence[int] | IntArray | None = None) -> Any:
        """Columns by their numbers, or all: a frame, or an array where they have no names."""
        numbers = self._numbers if columns is None else self._numbers[np.asarray(columns, np.int64)]
        values = self._reader.read(numbers.tolist())
        if self._rows is None:
            return values
        return values.iloc[self._rows].reset_index(drop=True) if self.named else values[self._rows]

    def visible(self) -> bool:
        """Whether this process sees what the one saw that opened it."""
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
            shown = ", ".join(map(repr, self.columns[:5])) + (", ..." if self.shape[1] > 5 else "")
            raise KeyError(f"{self.where} has no column {column!r}; it has {shown}")
        return self._places[column]


@dataclass(frozen=True)
class _Parquet:
    """Parquet files, one or several, whose rows follow each other."""

    where: str
    files: tuple[str, ...]
    filesystem: Any  # of fsspec; None: local files
    names: list[Any]
    shape: tuple[int, int]
    stamp: str

    @classmethod
    def opened(cls, path: str, storage_options: Mapping[str, Any] | None) -> "_Parquet":
        filesystem = None
        root = path
        if storage_options is not None:
            filesystem, root = _remote(path, storage_options)
        files = _files_of(root, filesystem)
        if not files:
            raise FileNotFoundError(
                f"{path} has no Parquet files ({', '.join(_PARQUET)}). Name a file, or a directory "
                "that has some itself (folders of a partitioned table, such as year=2024, are not "
                "read)."
            )
        rows, names = 0, None
        for file in files:
            content = _opened(file, filesystem, path)
            own = _names_of(content.schema_arrow)
            if names is not None and own != names:
                odd = sorted(set(own) ^ set(names), key=str)
                what = f"column {odd[0]!r} is in one only" if odd else "their order differs"
                raise ValueError(
                    f"{path}: the files {files[0]} and {file} have different columns ({what}). "
                    "Files of a directory are parts of one table."
                )
            names = own
            rows += content.metadata.num_rows
        assert names is not None
        return cls(path, files, filesystem, names, (rows, len(names)), _stamp(files, filesystem))

    def read(self, columns: Sequence[int]) -> pd.DataFrame:
        import pyarrow as pa

        names = [self.names[j] for j in columns]
        parts = []
        for file in self.files:
            try:
                # The reader's order is that of the file, whatever the order of the names.
                part = _opened(file, self.filesystem, self.where).read(columns=names)
            except (pa.ArrowException, OSError) as error:
                raise OSError(f"{file} cannot be read: {_first_line(error)}") from None
            parts.append(part.select(names))
        if len(parts) > 1:
            table = pa.concat_tables(parts, promote_options="permissive").unify_dictionaries()
        else:
            table = parts[0]
        return _frame(table)

    def visible(self) -> bool:
        try:
            return _stamp(self.files, self.filesystem) == self.stamp
        except Exception:
            return False


@dataclass(frozen=True)
class _Arrow:
    """A table of pyarrow."""

    table: Any
    where: str

    @property
    def names(self) -> list[Any]:
        return _names_of(self.table.schema)

    @property
    def shape(self) -> tuple[int, int]:
        return self.table.num_rows, len(self.names)

    def read(self, columns: Sequence[int]) -> pd.DataFrame:
        names = self.names
        return _frame(self.table.select([names[j] for j in columns]))

    def visible(self) -> bool:
        return False  # each process has its own memory


@dataclass(frozen=True)
class _Matrix:
    """An array in a file. Other processes open the file again."""

    where: str
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    offset: int
    order: Any  # "C" or "F"; None: part of an array, which only this process has
    size: int
    names: None = None

    @classmethod
    def of(cls, array: Any) -> "_Matrix":
        order = "F" if array.flags.f_contiguous else "C" if array.flags.c_contiguous else None
        name = os.fspath(array.filename) if array.filename is not None else "an array"
        offset, size = 0, 0
        if array.filename is None or array._mmap is None:
            order = None
        else:
            first = np.frombuffer(array._mmap, np.uint8).ctypes.data
            offset = array.ctypes.data - first + array.offset - array.offset % _granularity()
            size = os.path.getsize(name)
        reader = cls(name, array.shape, array.dtype, offset, order, size)
        reader.__dict__["_array"] = array
        return reader

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_array"}

    @cached_property
    def _array(self) -> Any:
        return np.memmap(self.where, self.dtype, "r", self.offset, self.shape, self.order)

    def read(self, columns: Sequence[int]) -> Any:
        return np.asarray(self._array[:, columns])

    def visible(self) -> bool:
        try:
            return self.order is not None and os.path.getsize(self.where) == self.size
        except OSError:
            return False


def _granularity() -> int:
    import mmap

    return mmap.ALLOCATIONGRANULARITY


def _frame(table: Any) -> pd.DataFrame:
    return table.to_pandas(ignore_metadata=True, split_blocks=True)  # type: ignore[no-any-return]


def _names_of(schema: Any) -> list[Any]:
    """The columns but for those that only label the rows of a pandas frame."""
    described = (schema.pandas_metadata or {}).get("index_columns", [])
    labels = {name for name in described if isinstance(name, str)}
    return [name for name in schema.names if name not in labels]


def _mapped(path: str) -> Any:
    import pyarrow as pa

    try:
        return pa.ipc.open_file(pa.memory_map(path)).read_all()
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path} is no Arrow file: {_first_line(error)}") from None


def _remote(path: str, storage_options: Mapping[str, Any]) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError:
        raise ImportError(
            f"{path} is on a remote filesystem, which takes fsspec: pip install fsspec, and the "
            "driver of that filesystem (s3fs, gcsfs, adlfs, ...)."
        ) from None
    try:
        return fsspec.core.url_to_fs(path, **storage_options)  # type: ignore[no-any-return]
    except (ImportError, ValueError) as error:
        raise ValueError(f"{path} cannot be opened: {_first_line(error)}") from None


def _files_of(path: str, filesystem: Any) -> tuple[str, ...]:
    """The file, or those of a directory in the natural order of their names."""
    if filesystem is None:
        if not os.path.isdir(path):
            return (os.path.abspath(path),)
        found = [os.path.abspath(os.path.join(path, name)) for name in os.listdir(path)]
    else:
        if not filesystem.isdir(path):
            return (path,)
        found = filesystem.ls(path, detail=False)
    files = [
        f for f in found if f.lower().endswith(_PARQUET) and not Path(f).name.startswith((".", "_"))
    ]
    return tuple(sorted(files, key=_natural))


def _natural(name: str) -> list[Any]:
    """part-10 comes after part-9."""
    return [int(t) if t.isdigit() else t for t in re.split(r"(\d+)", name)]


_cache = threading.local()  # readers of Parquet files must not be shared by threads


def _opened(file: str, filesystem: Any, where: str) -> Any:
    """A Parquet file, opened once in each thread: describing many columns takes long."""
    import pyarrow as pa
    import pyarrow.parquet

    known: dict[Any, Any] = _cache.__dict__.setdefault("files", {})
    try:
        if filesystem is None:
            status = os.stat(file)
            key: Any = (file, status.st_size, status.st_mtime_ns)
        else:
            key = (file, str(filesystem.info(file).get("size")), id(type(filesystem)))
        if key not in known:
            while len(known) >= 16:
                known.pop(next(iter(known)))
            handle = file if filesystem is None else filesystem.open(file, "rb")
            known[key] = pa.parquet.ParquetFile(handle, pre_buffer=True)
    except (pa.ArrowException, OSError) as error:
        text = _first_line(error)
        name = file if where in file else f"{where}: {file}"
        raise (FileNotFoundError if isinstance(error, FileNotFoundError) else ValueError)(
            f"{name} cannot be read as Parquet: {text}"
        ) from None
    return known[key]


def _stamp(files: Iterable[str], filesystem: Any) -> str:
    """A text that changes with the sizes of the files and with what describes their content."""
    digest = hashlib.blake2b(digest_size=16)
    for file in files:
        with open(file, "rb") if filesystem is None else filesystem.open(file, "rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - _TAIL))
            length = int.from_bytes(stream.read(4), "little")
            stream.seek(max(0, size - _TAIL - length))
            digest.update(f"{size}".encode() + stream.read(length))
    return digest.hexdigest()


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
