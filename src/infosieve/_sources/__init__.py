"""Tables that stay where they are: columns are read when somebody needs them."""

from typing import TYPE_CHECKING

from infosieve._core.lazy import lazy
from infosieve._sources.frames import as_source, in_memory, run_once, to_frame

if TYPE_CHECKING:
    from infosieve._sources.arrow import ARROW
    from infosieve._sources.columns import ColumnSource, open_columns
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

__getattr__, __dir__ = lazy(
    __name__,
    {"arrow": ["ARROW"], "columns": ["ColumnSource", "open_columns"], "parquet": ["PARQUET"]},
)
