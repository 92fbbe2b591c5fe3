"""Tables that stay where they are: columns are read when somebody needs them."""

from infosieve._sources.arrow import ARROW
from infosieve._sources.columns import ColumnSource, as_source, in_memory, open_columns
from infosieve._sources.frames import run_once, to_frame
from infosieve._sources.parquet import PARQUET

__all__ = [
    "ARROW",
    "PARQUET",
    "ColumnSource",
    "as_source",
    "in_memory",
    "open_columns",
    "run_once",
    "to_frame",
]
