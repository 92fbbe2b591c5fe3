"""Parquet: files whose rows follow each other, here or on a remote filesystem."""

import hashlib
import os
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from infosieve._core.files import first_line
from infosieve._core.messages import shown
from infosieve._sources.arrow import without_labels
from infosieve._sources.frames import plain_frame
from infosieve._sources.reader import Reader, status_of

PARQUET = (".parquet", ".pq", ".parq")
# The last bytes of a Parquet file: the length of what describes it, and four letters.
_TAIL = 8


@dataclass(frozen=True, kw_only=True)
class ParquetFiles(Reader):
    """Parquet files, one or several, whose rows follow each other."""

    files: tuple[str, ...]
    filesystem: Any  # of fsspec; None: local files
    stamps: tuple[str, ...]

    @classmethod
    def opened(cls, path: str, storage_options: Mapping[str, Any] | None) -> "ParquetFiles":
        import pyarrow as pa

        remote = storage_options is not None
        filesystem, root = _remote_filesystem(path, storage_options) if remote else (None, path)
        files = _files_of(root, filesystem)
        if not files:
            raise FileNotFoundError(
                f"{path} has no Parquet files ({', '.join(PARQUET)}). Name a file, or a directory "
                "that has some itself (folders of a partitioned table, such as year=2024, are not "
                "read)."
            )
        rows, stamps, schemas = 0, [], []
        for file in files:
            stamps.append(_stamp(file, filesystem))
            with _lock:
                content = _opened(file, filesystem, path, stamps[-1])
            schemas.append(without_labels(content.schema_arrow))
            rows += content.metadata.num_rows
        for own, file in zip(schemas, files, strict=True):
            if own.names != schemas[0].names:
                odd = sorted(set(own.names) ^ set(schemas[0].names), key=str)
                what = f"column {shown(odd[0])} is in one only" if odd else "their order differs"
                raise ValueError(
                    f"{path}: the files {files[0]} and {file} have different columns ({what}). "
                    "All files of a directory must have the columns of one table, in one order."
                )
        try:
            schema = pa.unify_schemas(schemas, promote_options="permissive")
        except pa.ArrowException as error:
            text = f"{path}: the files have different types: {first_line(error)}"
            raise ValueError(text) from None
        return cls(
            where=path,
            files=files,
            filesystem=filesystem,
            schema=schema,
            shape=(rows, len(schema)),
            stamps=tuple(stamps),
        )

    def read(self, columns: Sequence[int]) -> pd.DataFrame:
        import pyarrow as pa

        names = [self.names[j] for j in columns]
        each = []
        with _lock:
            for file, stamp in zip(self.files, self.stamps, strict=True):
                content = _opened(file, self.filesystem, self.where, stamp)
                try:
                    some = content.read(columns=names, use_threads=False)
                except (pa.ArrowException, OSError) as error:
                    raise OSError(f"{file} cannot be read: {first_line(error)}") from None
                each.append(some.select(names))  # the reader's order is that of the file
        if len(each) == 1:
            return plain_frame(each[0])
        table = pa.concat_tables(each, promote_options="permissive")
        return plain_frame(table.unify_dictionaries())

    def visible(self) -> bool:
        try:
            stamps = [_stamp(file, self.filesystem) for file in self.files]
        except Exception:  # whatever a filesystem raises
            return False
        return tuple(stamps) == self.stamps


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
            now: Any = status_of(file)
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


def _remote_filesystem(path: str, storage_options: Any) -> tuple[Any, str]:
    """The filesystem of a URL, and the path there."""
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
    """The file, or those of a directory in the natural order of their names.

    ``filesystem`` is one of fsspec; None: files of this machine.
    """
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

    def natural(name: str) -> list[Any]:  # part-10 comes after part-9
        return [int(t) if t.isdigit() else t for t in re.split(r"(\d+)", name)]

    return tuple(sorted(files, key=natural))
