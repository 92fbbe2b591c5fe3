"""Frames and columns of other libraries: polars, pyarrow, DuckDB, and what Arrow can take."""

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from infosieve._core.messages import shown

if TYPE_CHECKING:
    from infosieve._sources.columns import ColumnSource


def is_here(data: Any) -> bool:
    """Whether data are what most are, for which nothing needs to be loaded."""
    known = (np.ndarray, list, tuple, pd.DataFrame, pd.Series, pd.Index)
    return data is None or (isinstance(data, known) and not isinstance(data, np.memmap))


def as_source(data: Any, argument: str = "X") -> "ColumnSource | None":
    """A source, if that is what ``data`` is or should be read as.

    Frames of pandas and polars stay what they are: scikit-learn knows them.
    """
    if is_here(data):
        return None
    from infosieve._sources.columns import source_of

    return source_of(data, argument)


def in_memory(data: Any, argument: str = "X") -> Any:
    """Any frame or column, read, as pandas has it; what is neither stays what it is."""
    if is_here(data):
        return data
    found = as_arrow(data, argument)
    if found is not None and not hasattr(found, "schema"):
        import pyarrow as pa

        column = in_memory(pa.table({"": found})).iloc[:, 0]
        return column.rename(getattr(data, "name", None) or None)
    source = as_source(data if found is None else found)
    return data if source is None else source.read()


def as_arrow(data: Any, argument: str) -> Any:
    """A frame of any library but pandas as a table of Arrow, a column as a chunked array.

    None is what anything else becomes.
    """
    ours = type(data).__module__.startswith("infosieve.")  # a source knows what to read
    if is_here(data) or isinstance(data, np.memmap) or ours:
        return None
    import narwhals as nw
    import pyarrow as pa

    if isinstance(data, (pa.Table, pa.ChunkedArray)):
        return data
    if hasattr(data, "__arrow_c_stream__") and not of_polars(data):
        if hasattr(data, "read_all"):
            raise TypeError(
                f"{argument} is a stream, which can be read once. Pass {argument}.read_all()."
            )
        try:
            return pa.table(data)
        except pa.ArrowInvalid:
            return pa.chunked_array(data)
    if hasattr(data, "__arrow_c_array__"):
        array = pa.array(data)
        is_table = pa.types.is_struct(array.type)
        return pa.Table.from_struct_array(array) if is_table else pa.chunked_array([array])
    frame = nw.from_native(data, pass_through=True, allow_series=True)
    if isinstance(frame, nw.LazyFrame) and of_polars(data):
        raise TypeError(f"{argument} is a lazy polars frame. Pass {argument}.collect().")
    if isinstance(frame, nw.LazyFrame):
        return frame.collect("pyarrow").to_native()
    if isinstance(frame, nw.DataFrame):
        columns = [_column(column, argument) for column in frame.iter_columns()]
        return pa.table(columns, names=frame.columns)
    return _column(frame, argument) if isinstance(frame, nw.Series) else None


def of_polars(data: Any) -> bool:
    return type(data).__module__.partition(".")[0] == "polars"


def run_once(data: Any, argument: str) -> Any:
    """A relation as a table, so that all who read it see the same rows in the same order."""
    table = None if is_here(data) or of_polars(data) else as_arrow(data, argument)
    return data if table is None else table


def _column(column: Any, argument: str) -> Any:
    """A column that narwhals knows, as a chunked array."""
    import narwhals as nw
    import pyarrow as pa

    if column.dtype in (nw.Int128, nw.UInt128):  # Arrow has no such integers
        array = pa.array([None if v is None else Decimal(v) for v in column.to_list()])
    elif column.dtype == nw.Object:
        raise TypeError(
            f"column {shown(column.name)} of {argument} has the type {column.dtype} of "
            f"{column.implementation}, which is neither numbers nor categories. Turn it into "
            "numbers or strings first (cast)."
        )
    else:
        array = column.to_arrow()
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def to_frame(table: Any, **options: Any) -> pd.DataFrame:
    """An Arrow table as a frame; integers with gaps stay integers, of which floats lose digits."""
    import pyarrow as pa

    frame: pd.DataFrame = table.to_pandas(**options)
    kinds = {pa.int64(): pd.Int64Dtype(), pa.uint64(): pd.UInt64Dtype()}
    for field, column in zip(table.schema, table.columns, strict=True):
        if field.type in kinds and column.null_count and field.name in frame:
            frame[field.name] = column.to_pandas(types_mapper=kinds.get).array
    return frame


def plain_frame(table: Any, **options: Any) -> pd.DataFrame:
    """An Arrow table as a frame, whatever index pandas has written with it."""
    return to_frame(table, ignore_metadata=True, split_blocks=True, **options)
