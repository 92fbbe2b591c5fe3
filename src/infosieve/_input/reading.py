"""What users pass as columns: arrays, frames, series, lists."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from infosieve._core.messages import shown
from infosieve._input.numbers import EXACT, beyond_floats


def read_columns(data: Any, argument: str) -> tuple[Any, Sequence[Any] | None]:
    """The columns, as one float matrix where possible, and their names if they have any."""
    if isinstance(data, pd.DataFrame):
        if all(isinstance(t, np.dtype) and _held_by_floats(t) for t in data.dtypes):
            return np.asarray(data.to_numpy(np.float64)).T, list(data.columns)
        return [data.iloc[:, j] for j in range(data.shape[1])], list(data.columns)
    if isinstance(data, pd.MultiIndex):
        raise TypeError(f"{argument} is a MultiIndex. Pass its to_frame(index=False).")
    if isinstance(data, (pd.api.extensions.ExtensionArray, pd.Index)):
        data = pd.Series(data)
    if isinstance(data, pd.Series):
        return [data], None if data.name is None else [data.name]
    if type(data).__module__.partition(".")[0] == "polars":
        if hasattr(data, "collect"):
            raise TypeError(f"{argument} is a lazy polars frame. Pass {argument}.collect().")
        if hasattr(data, "get_columns"):
            series = data.get_columns()
            return [_from_polars(s, argument) for s in series], [s.name for s in series]
        return [_from_polars(data, argument)], [data.name] if getattr(data, "name", "") else None
    array = _as_array(data, argument)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise ValueError(
            f"{argument} must be a column or a table (1 or 2 dimensions); got {array.ndim} "
            f"dimensions, shape {array.shape}."
        )
    if _held_by_floats(array.dtype) or (array.dtype.kind in "iu" and not beyond_floats(array)):
        return array.T, None
    return list(array.T), None


def _held_by_floats(dtype: np.dtype[Any]) -> bool:
    return dtype.kind == "f" and dtype.itemsize <= 8


def _from_polars(series: Any, argument: str) -> Any:
    name = getattr(series, "name", "")
    dtype: Any = getattr(series, "dtype", type(series).__name__)
    if hasattr(dtype, "is_nested") and not dtype.is_nested():
        try:
            if dtype.is_integer() and (series.null_count() or "128" in str(dtype)):
                return np.array(series.to_list(), object)  # NumPy has no such integers
            return series.to_numpy()
        except Exception:
            pass
    raise TypeError(
        f"column {shown(name)} of {argument} has the polars type {dtype}, which is neither numbers "
        "nor categories. Turn it into numbers or strings first (cast, or unnest)."
    )


def _as_array(data: Any, argument: str) -> Any:
    if isinstance(data, (str, bytes, dict, set)) or data is None:
        raise TypeError(
            f"{argument} is {type(data).__name__!r}, not a column or a table. Pass an array, a "
            "list, or a pandas or polars frame or series."
        )
    if isinstance(data, np.ma.MaskedArray):
        missing = np.ma.getmaskarray(data)
        data = data.data
        if missing.any():
            data = data.astype(data.dtype if data.dtype.kind == "f" else object)
            data[missing] = np.nan
    try:
        array = np.asarray(data)
        if array.dtype.kind in "USV" and not isinstance(data, np.ndarray):
            array = np.asarray(data, dtype=object)  # NumPy would turn numbers beside text to text
        if isinstance(data, (list, tuple)) and array.dtype.kind == "f" and _large(array):
            array = np.asarray(data, dtype=object)  # and large integers beside floats to floats
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"{argument} is no table: its rows differ in length or it cannot be read as an array "
            f"({error}). Pass a table with the same columns in every row."
        ) from error
    return array


def _large(array: Any) -> bool:
    with np.errstate(invalid="ignore"):
        return bool((np.abs(array) > EXACT).any())
