"""Tables that stay where they are: columns are read when somebody needs them."""

from infosieve._sources.columns import ColumnSource, open_columns

__all__ = ["ColumnSource", "open_columns"]
