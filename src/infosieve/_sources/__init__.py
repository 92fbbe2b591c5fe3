"""Tables that stay where they are: columns are read when somebody needs them."""

from infosieve._sources.arrow import ARROW, to_frame
from infosieve._sources.columns import ColumnSource, as_source, open_columns
from infosieve._sources.parquet import PARQUET

__all__ = ["ARROW", "PARQUET", "ColumnSource", "as_source", "open_columns", "to_frame"]
