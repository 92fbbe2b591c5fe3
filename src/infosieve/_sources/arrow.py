"""Arrow: tables in memory, and files of which a few columns are read at a time."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from infosieve._core.files import first_line
from infosieve._sources.status import refuse_changed, status_of, unchanged

ARROW = (".arrow", ".feather", ".ipc")


@dataclass(frozen=True, kw_only=True)
class ArrowTable:
    """A table of pyarrow."""

    table: Any
    names: list[Any]
    where: str = "an Arrow table"

    @classmethod
    def of(cls, table: Any) -> "ArrowTable":
        return cls(table=table, names=names_of(table.schema))

    @property
    def shape(self) -> tuple[int, int]:
        return self.table.num_rows, len(self.names)

    @property
    def texts(self) -> frozenset[int]:
        return texts_of(self.table.schema, self.names)

    @property
    def dates(self) -> frozenset[int]:
        return dates_of(self.table.schema, self.names)

    def read(self, columns: Sequence[int]) -> pd.DataFrame:
        return plain_frame(self.table.select([self.names[j] for j in columns]))

    def visible(self) -> bool:
        return False  # each process has its own memory


@dataclass(frozen=True, kw_only=True)
class ArrowFile:
    """An Arrow file, compressed or not: a few of its columns are read at a time."""

    where: str
    names: list[Any]
    shape: tuple[int, int]
    fields: tuple[int, ...]  # where the columns are in the file
    status: tuple[int, int]
    texts: frozenset[int]
    dates: frozenset[int]

    @classmethod
    def opened(cls, path: str) -> "ArrowFile":
        import pyarrow as pa
        import pyarrow.dataset as ds

        try:
            with pa.memory_map(path) as file, pa.ipc.open_file(file) as content:
                schema = content.schema
            n = ds.dataset(path, format="ipc").count_rows()
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"{path} is no Arrow file: {first_line(error)}") from None
        names = names_of(schema)
        places = {name: i for i, name in enumerate(schema.names)}
        fields = tuple(places[name] for name in names)
        return cls(
            where=os.path.abspath(path),
            names=names,
            shape=(n, len(names)),
            fields=fields,
            status=status_of(path),
            texts=texts_of(schema, names),
            dates=dates_of(schema, names),
        )

    def read(self, columns: Sequence[int]) -> pd.DataFrame:
        import pyarrow as pa

        refuse_changed(self.where, self.status)
        options = pa.ipc.IpcReadOptions(included_fields=sorted(self.fields[j] for j in columns))
        with pa.memory_map(self.where) as file, pa.ipc.open_file(file, options=options) as content:
            return plain_frame(content.read_all().select([self.names[j] for j in columns]))

    def visible(self) -> bool:
        return unchanged(self.where, self.status)


def plain_frame(table: Any) -> pd.DataFrame:
    """An Arrow table as a frame, whatever index pandas has written with it."""
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


def names_of(schema: Any) -> list[Any]:
    """The columns but for those that only label the rows of a pandas frame."""
    described = (schema.pandas_metadata or {}).get("index_columns", [])
    labels = {name for name in described if isinstance(name, str)}
    return [name for name in schema.names if name not in labels]


def texts_of(schema: Any, names: list[Any]) -> frozenset[int]:
    """Which columns hold texts; a dictionary of texts says that they are categories."""
    import pyarrow as pa

    places = {name: j for j, name in enumerate(names)}
    kinds = {pa.string(), pa.large_string(), pa.string_view()}
    return frozenset(places[f.name] for f in schema if f.name in places and f.type in kinds)


def dates_of(schema: Any, names: list[Any]) -> frozenset[int]:
    """Which columns hold dates."""
    import pyarrow as pa

    places = {name: j for j, name in enumerate(names)}
    kinds = pa.types.is_timestamp, pa.types.is_date
    return frozenset(
        places[f.name] for f in schema if f.name in places and any(one(f.type) for one in kinds)
    )
