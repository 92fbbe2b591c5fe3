"""Arrow: tables in memory, and files of which a few columns are read at a time."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from infosieve._core.files import first_line
from infosieve._sources.frames import plain_frame
from infosieve._sources.reader import Reader, status_of

ARROW = (".arrow", ".feather", ".ipc")


@dataclass(frozen=True, kw_only=True)
class ArrowTable(Reader):
    """A table of pyarrow, in the memory of this process."""

    table: Any

    @classmethod
    def of(cls, table: Any) -> "ArrowTable":
        schema = without_labels(table.schema)
        shape = table.num_rows, len(schema)
        return cls(where="an Arrow table", table=table, schema=schema, shape=shape)

    def read(self, columns: Sequence[int]) -> pd.DataFrame:
        some = self.table.select([self.names[j] for j in columns])
        return plain_frame(some, date_as_object=False)


@dataclass(frozen=True, kw_only=True)
class ArrowFile(Reader):
    """An Arrow file, compressed or not: a few of its columns are read at a time."""

    fields: tuple[int, ...]  # where the columns are in the file

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

        self.refuse_changed()
        names = [self.names[j] for j in columns]
        options = pa.ipc.IpcReadOptions(included_fields=sorted(self.fields[j] for j in columns))
        with pa.memory_map(self.where) as file, pa.ipc.open_file(file, options=options) as content:
            return plain_frame(content.read_all().select(names))


def without_labels(schema: Any) -> Any:
    """The columns but for those that only label the rows of a pandas frame."""
    import pyarrow as pa

    described = (schema.pandas_metadata or {}).get("index_columns", [])
    labels = {name for name in described if isinstance(name, str)}
    return pa.schema([field for field in schema if field.name not in labels])
