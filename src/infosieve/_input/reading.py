"""What users pass as columns: arrays, frames, series, lists."""

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

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


def _as_array(data: Any, argument: str) -> Any:
    known = hasattr(data, "__array__") or np.iterable(data) or isinstance(data, numbers.Number)
    if isinstance(data, (str, bytes, dict, set)) or not known:
        raise TypeError(
            f"{argument} is {type(data).__name__!r}, not a column or a table. Pass an array, a "
            "list, or a frame of pandas, polars, pyarrow or the like."
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
        if isinstance(data, (list, tuple)) and array.dtype.kind == "f":
            with np.errstate(invalid="ignore"):
                large = bool((np.abs(array) > EXACT).any())
            if large:  # NumPy would turn large integers beside floats to floats
                array = np.asarray(data, dtype=object)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"{argument} is no table: its rows differ in length or it cannot be read as an array "
            f"({error}). Pass a table with the same columns in every row."
        ) from error
    return array
