"""Arrow: tables in memory, and files of which a few columns are read at a time."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from infosieve._core.files import first_line
from infosieve._sources.frames import plain_frame
from infosieve._sources.status import refuse_changed, status_of, unchanged

ARROW = (".arrow", ".feather", ".ipc")


@dataclass(frozen=True, kw_only=True)
class ArrowTable:
    """A table of pyarrow."""

    table: Any
    schema: Any
    where: str = "an Arrow table"

    @classmethod
    def of(cls, table: Any) -> "ArrowTable":
        return cls(table=table, schema=without_labels(table.schema))

    @property
    def shape(self) -> tuple[int, int]:
        return self.table.num_rows, len(self.schema)

    def read(self, columns: Sequence[int]) -> pd.DataFrame:
        some = self.table.select([self.schema.names[j] for j in columns])
        return plain_frame(some, date_as_object=False)

    def visible(self) -> bool:
        return False  # each process has its own memory


@dataclass(frozen=True, kw_only=True)
class ArrowFile:
    """An Arrow file, compressed or not: a few of its columns are read at a time."""

    where: str
    schema: Any
    shape: tuple[int, int]
    fields: tuple[int, ...]  # where the columns are in the file
    status: tuple[int, int]

    @classmethod
    def opened(cls, path: str) -> "ArrowFile":
        import pyarrow as pa
        import pyarrow.dataset as ds

        try:
            with pa.memory_map(path) as file, pa.ipc.open_file(file) as content:
                whole = content.schema
            n = ds.dataset(path, format="ipc").count_rows()
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"{path} is no Arrow file: {first_line(error)}") from None
        schema = without_labels(whole)
        places = {name: i for i, name in enumerate(whole.names)}
        return cls(
            where=os.path.abspath(path),
            schema=schema,
            shape=(n, len(schema)),
            fields=tuple(places[name] for name in schema.names),
            status=status_of(path),
        )

    def read(self, columns: Sequence[int]) -> pd.DataFrame:
        import pyarrow as pa

        refuse_changed(self.where, self.status)
        names = [self.schema.names[j] for j in columns]
        options = pa.ipc.IpcReadOptions(included_fields=sorted(self.fields[j] for j in columns))
        with pa.memory_map(self.where) as file, pa.ipc.open_file(file, options=options) as content:
            return plain_frame(content.read_all().select(names))

    def visible(self) -> bool:
        return unchanged(self.where, self.status)


def without_labels(schema: Any) -> Any:
    """The columns but for those that only label the rows of a pandas frame."""
    import pyarrow as pa

    described = (schema.pandas_metadata or {}).get("index_columns", [])
    labels = {name for name in described if isinstance(name, str)}
    return pa.schema([field for field in schema if field.name not in labels])
