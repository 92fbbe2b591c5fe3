"""Tables that stay where they are: columns are read when somebody needs them."""

import hashlib
import os
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd

from infosieve._core.files import first_line
from infosieve._core.messages import shown
from infosieve._core.types import IntArray

PARQUET = (".parquet", ".pq", ".parq")
ARROW = (".arrow", ".feather", ".ipc")
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

    @property
    def texts(self) -> frozenset[int]:
        """Which columns hold texts."""
        ...

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
        ``"s3://bucket/table.parquet"``; an Arrow file (.arrow, .feather); an array (.npy).
    storage_options : dict or None, default=None
        What fsspec is to know of a remote filesystem.

    Returns
    -------
    ColumnSource
        What ``MISelector.fit``, :func:`relevance`, :func:`choose_k` and
        :func:`permutation_test` take as X. Columns are chosen as in a frame: ``table["y"]``
        reads one, ``table[["a", "b"]]`` and ``table.drop("y")`` are sources again.

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
        return _source(_Matrix.of(_mapped_array(path)))
    if suffix in ARROW:
        return _source(_ArrowFile.opened(path))
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
            names = _names_of(data.schema)
            return _source(_Arrow("an Arrow table", data, names, (data.num_rows, len(names))))
    return None


def _source(reader: _Reader) -> "ColumnSource":
    names, m = reader.names, reader.shape[1]
    if names is not None:
        twice = next((n for n, count in pd.Series(names).value_counts().items() if count > 1), None)
        if twice is not None:
            raise ValueError(
                f"{reader.where} has more than one column named {shown(twice)}: rename it."
            )
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
        first = ", ".join(map(shown, self.columns[:4])) + (", ..." if self.shape[1] > 4 else "")
        text = f"<ColumnSource of {self.shape[0]} samples and {self.shape[1]} columns"
        return f"{text}: {first}>" if self.named else f"{text}>"

    def __getitem__(self, columns: Any) -> Any:
        """One column, read, by its name; or a source of those in a list of names."""
        several = _listed(columns)
        if several is not None:
            return replace(self, _numbers=self._numbers[[self._find(c) for c in several]])
        values = self.read([self._find(columns)])
        return values.iloc[:, 0] if self.named else values[:, 0]

    def drop(self, columns: Any) -> "ColumnSource":
        """The same without some columns: a name, or a list of names."""
        several = _listed(columns)
        out = {self._find(c) for c in ([columns] if several is None else several)}
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

    @property
    def texts(self) -> list[Any]:
        """The columns that hold texts."""
        places = self._reader.texts
        return [self.columns[i] for i, j in enumerate(self._numbers.tolist()) if j in places]

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
            first = ", ".join(map(shown, self.columns[:5])) + (", ..." if self.shape[1] > 5 else "")
            raise KeyError(f"{self.where} has no column {shown(column)}; it has {first}")
        return self._places[column]


def _listed(columns: Any) -> list[Any] | None:
    """Several names; None if it is one."""
    if isinstance(columns, (list, np.ndarray, pd.Index, pd.Series)):
        return list(columns)
    return None


@dataclass(frozen=True)
class _Parquet:
    """Parquet files, one or several, whose rows follow each other."""

    where: str
    files: tuple[str, ...]
    filesystem: Any  # of fsspec; None: local files
    names: list[Any]
    shape: tuple[int, int]
    stamps: tuple[str, ...]
    texts: frozenset[int]

    @classmethod
    def opened(cls, path: str, storage_options: Mapping[str, Any] | None) -> "_Parquet":
        filesystem = None
        root = path
        if storage_options is not None:
            filesystem, root = _remote(path, storage_options)
        files = _files_of(root, filesystem)
        if not files:
            raise FileNotFoundError(
                f"{path} has no Parquet files ({', '.join(PARQUET)}). Name a file, or a directory "
                "that has some itself (folders of a partitioned table, such as year=2024, are not "
                "read)."
            )
        rows, names, stamps = 0, None, []
        texts: frozenset[int] = frozenset()
        for file in files:
            stamps.append(_stamp(file, filesystem))
            with _lock:
                content = _opened(file, filesystem, path, stamps[-1])
            own = _names_of(content.schema_arrow)
            if names is not None and own != names:
                odd = sorted(set(own) ^ set(names), key=str)
                what = f"column {shown(odd[0])} is in one only" if odd else "their order differs"
                raise ValueError(
                    f"{path}: the files {files[0]} and {file} have different columns ({what}). "
                    "Files of a directory are parts of one table."
                )
            names = own
            texts |= _texts_of(content.schema_arrow, names)
            rows += content.metadata.num_rows
        assert names is not None
        return cls(path, files, filesystem, names, (rows, len(names)), tuple(stamps), texts)

    def read(self, columns: Sequence[int]) -> pd.DataFrame:
        import pyarrow as pa

        names = [self.names[j] for j in columns]
        parts = []
        with _lock:
            for file, stamp in zip(self.files, self.stamps, strict=True):
                content = _opened(file, self.filesystem, self.where, stamp)
                try:
                    part = content.read(columns=names, use_threads=False)
                except (pa.ArrowException, OSError) as error:
                    raise OSError(f"{file} cannot be read: {first_line(error)}") from None
                parts.append(part.select(names))  # the reader's order is that of the file
        if len(parts) > 1:
            table = pa.concat_tables(parts, promote_options="permissive").unify_dictionaries()
        else:
            table = parts[0]
        return _frame(table)

    def visible(self) -> bool:
        try:
            stamps = [_stamp(file, self.filesystem) for file in self.files]
        except Exception:  # whatever a filesystem raises
            return False
        return tuple(stamps) == self.stamps


@dataclass(frozen=True)
class _Arrow:
    """A table of pyarrow."""

    where: str
    table: Any
    names: list[Any]
    shape: tuple[int, int]

    @property
    def texts(self) -> frozenset[int]:
        return _texts_of(self.table.schema, self.names)

    def read(self, columns: Sequence[int]) -> pd.DataFrame:
        return _frame(self.table.select([self.names[j] for j in columns]))

    def visible(self) -> bool:
        return False  # each process has its own memory


@dataclass(frozen=True)
class _ArrowFile:
    """An Arrow file, compressed or not: a few of its columns are read at a time."""

    where: str
    names: list[Any]
    shape: tuple[int, int]
    fields: tuple[int, ...]  # where the columns are in the file
    status: tuple[int, int]
    texts: frozenset[int]

    @classmethod
    def opened(cls, path: str) -> "_ArrowFile":
        import pyarrow as pa
        import pyarrow.dataset as ds

        try:
            with pa.memory_map(path) as file, pa.ipc.open_file(file) as content:
                schema = content.schema
            n = ds.dataset(path, format="ipc").count_rows()
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"{path} is no Arrow file: {first_line(error)}") from None
        names = _names_of(schema)
        places = {name: i for i, name in enumerate(schema.names)}
        fields = tuple(places[name] for name in names)
        known = fields, _status(path), _texts_of(schema, names)
        return cls(os.path.abspath(path), names, (n, len(names)), *known)

    def read(self, columns: Sequence[int]) -> pd.DataFrame:
        import pyarrow as pa

        _refuse_changed(self.where, self.status)
        options = pa.ipc.IpcReadOptions(included_fields=sorted(self.fields[j] for j in columns))
        with pa.memory_map(self.where) as file, pa.ipc.open_file(file, options=options) as content:
            return _frame(content.read_all().select([self.names[j] for j in columns]))

    def visible(self) -> bool:
        return _unchanged(self.where, self.status)


@dataclass(frozen=True)
class _Matrix:
    """An array in a file, which is opened anew for each reading: pages do not stay."""

    where: str
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    offset: int
    order: Any  # "C" or "F"
    status: tuple[int, int]
    array: Any = None  # where only this process has it
    names: None = None
    texts: frozenset[int] = frozenset()

    @classmethod
    def of(cls, array: Any) -> "_Matrix":
        if array.ndim != 2 or array.dtype.kind not in "fiub":
            raise ValueError(
                f"{array.filename} has the shape {array.shape} and the type {array.dtype}; a table "
                "has two dimensions, samples and columns, and holds numbers."
            )
        order = "F" if array.flags.f_contiguous else "C" if array.flags.c_contiguous else None
        name = str(array.filename)
        # Part of an array, changed pages that are in memory alone, a file that has no name any
        # more: what this process sees, no other does.
        alone = order is None or array.filename is None or array.mode == "c"
        if alone or array._mmap is None or not os.path.exists(name):
            return cls("an array", array.shape, array.dtype, 0, order, (0, 0), array)
        if array.mode != "r":
            array.flush()
        first = np.frombuffer(array._mmap, np.uint8).ctypes.data
        offset = array.ctypes.data - first + array.offset - array.offset % _granularity()
        return cls(name, array.shape, array.dtype, offset, order, _status(name))

    def read(self, columns: Sequence[int]) -> Any:
        array = self.array
        if array is None:
            _refuse_changed(self.where, self.status)
            layout = self.offset, self.shape, self.order
            array = np.memmap(self.where, self.dtype, "r", *layout)
        return np.array(array[:, columns])

    def visible(self) -> bool:
        return self.array is None and _unchanged(self.where, self.status)


def _status(path: str) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns


def _unchanged(path: str, status: tuple[int, int]) -> bool:
    try:
        return _status(path) == status
    except OSError:
        return False


def _refuse_changed(path: str, status: tuple[int, int]) -> None:
    if not _unchanged(path, status):
        raise OSError(f"{path} has changed since the table was opened. Open it again.")


def _granularity() -> int:
    import mmap

    return mmap.ALLOCATIONGRANULARITY


def _frame(table: Any) -> pd.DataFrame:
    return to_frame(table, ignore_metadata=True, split_blocks=True)


def to_frame(table: Any, **options: Any) -> pd.DataFrame:
    """An Arrow table as a frame; integers with gaps stay integers, of which floats lose digits."""
    import pyarrow as pa

    frame: pd.DataFrame = table.to_pandas(**options)
    kinds = {pa.int64(): pd.Int64Dtype(), pa.uint64(): pd.UInt64Dtype()}
    for field, column in zip(table.schema, table.columns, strict=True):
        if field.type in kinds and column.null_count and field.name in frame:
            frame[field.name] = column.to_pandas(types_mapper=kinds.get).array
    return frame


def _names_of(schema: Any) -> list[Any]:
    """The columns but for those that only label the rows of a pandas frame."""
    described = (schema.pandas_metadata or {}).get("index_columns", [])
    labels = {name for name in described if isinstance(name, str)}
    return [name for name in schema.names if name not in labels]


def _texts_of(schema: Any, names: list[Any]) -> frozenset[int]:
    """Which columns hold texts; a dictionary of texts says that they are categories."""
    import pyarrow as pa

    places = {name: j for j, name in enumerate(names)}
    kinds = {pa.string(), pa.large_string(), pa.string_view()}
    return frozenset(places[f.name] for f in schema if f.name in places and f.type in kinds)


def _mapped_array(path: str) -> Any:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise ValueError(f"{path} is no array of numbers: {first_line(error)}") from None


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
        raise ValueError(f"{path} cannot be opened: {first_line(error)}") from None


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
        f for f in found if f.lower().endswith(PARQUET) and not Path(f).name.startswith((".", "_"))
    ]
    return tuple(sorted(files, key=_natural))


def _natural(name: str) -> list[Any]:
    """part-10 comes after part-9."""
    return [int(t) if t.isdigit() else t for t in re.split(r"(\d+)", name)]


# Opened files, by table: describing many columns takes long, and much memory.
_lock = threading.Lock()
_opened_files: dict[Any, Any] = {}
_MOST_COLUMNS = 400_000


def _opened(file: str, filesystem: Any, where: str, stamp: str) -> Any:
    """A Parquet file, opened once as long as it does not change.

    Whoever reads from it must hold the lock.
    """
    import pyarrow as pa
    import pyarrow.parquet

    try:
        if filesystem is None:
            now: Any = _status(file)
        else:
            info = filesystem.info(file)
            now = [
                str(info.get(key)) for key in ("size", "ETag", "mtime", "LastModified", "created")
            ]
        key = (where, file, str(now), stamp)
        if key in _opened_files:
            return _opened_files[key]
        if _stamp(file, filesystem) != stamp:
            raise OSError(f"{file} has changed since the table was opened. Open it again.")
        if any(known[0] != where for known in _opened_files):
            _opened_files.clear()  # another table is being read now
        handle = file if filesystem is None else filesystem.open(file, "rb")
        content = pa.parquet.ParquetFile(handle, pre_buffer=True)
    except pa.ArrowException as error:
        raise ValueError(f"{file} cannot be read as Parquet: {first_line(error)}") from None
    if sum(c.metadata.num_columns for c in _opened_files.values()) < _MOST_COLUMNS:
        _opened_files[key] = content
    return content


def _stamp(file: str, filesystem: Any) -> str:
    """A text that changes with the size of a file and with what describes its content."""
    with open(file, "rb") if filesystem is None else filesystem.open(file, "rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - _TAIL))
        end = stream.read(_TAIL)
        length = int.from_bytes(end[:4], "little")
        if end[4:] != b"PAR1" or length > size:
            raise ValueError(f"{file} cannot be read as Parquet: it does not end as such files do")
        stream.seek(size - _TAIL - length)
        content = stream.read(length)
    return hashlib.blake2b(f"{size}".encode() + content, digest_size=16).hexdigest()
