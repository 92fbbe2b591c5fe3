"""Columns as users pass them; whether one holds numbers or categories, and codes of these."""

import numbers
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from infosieve._core.dialect import either
from infosieve._core.messages import shown
from infosieve._core.types import FloatArray, IntArray
from infosieve._input.numbers import EXACT, beyond_floats

Kind: TypeAlias = Literal["number", "category"]

# Samples by which columns of two values are first looked for.
_LOOKED_AT = 64


def read_columns(data: Any, argument: str) -> tuple[Any, Sequence[Any] | None]:
    """The columns, as one float matrix where possible, and their names if they have any."""
    if isinstance(data, pd.DataFrame):
        if all(isinstance(t, np.dtype) and t.kind == "f" and t.itemsize <= 8 for t in data.dtypes):
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
    kind, size = array.dtype.kind, array.dtype.itemsize
    if (kind == "f" and size <= 8) or (kind in "iu" and not beyond_floats(array)):
        return array.T, None
    return list(array.T), None


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


def kind_of(column: Any, label: str) -> Kind:
    """Whether a column holds numbers or categories: ordered ones are numbers, by their order."""
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return "number" if dtype.ordered and pd.Series(column).nunique() > 2 else "category"
    if isinstance(dtype, np.dtype):
        if dtype.kind in "iuf":
            return "number"
        if dtype.kind in "bSUT":
            return "category"
        if dtype.kind == "O":
            return _kind_of_objects(column, label)
    elif pd.api.types.is_bool_dtype(dtype) or pd.api.types.is_string_dtype(dtype):
        return "category"
    elif pd.api.types.is_complex_dtype(dtype):
        pass
    elif pd.api.types.is_numeric_dtype(dtype):
        return "number"
    if pd.api.types.is_datetime64_any_dtype(dtype) or str(dtype).startswith(
        ("datetime64", "timedelta64", "period", "date")
    ):
        raise TypeError(
            f"{label} holds dates or times ({dtype}). Say what matters about them: turn them "
            "into numbers first, such as days since a date, the hour, or the weekday."
            + either("", " --exclude leaves it out.")
        )
    if pd.api.types.is_complex_dtype(dtype):
        raise ValueError(
            f"Complex data not supported: {label} holds complex numbers, which have no order. "
            "Pass the real and imaginary parts, or modulus and angle, as columns of their own."
        )
    raise TypeError(
        f"{label} has the type {dtype}, which is neither numbers nor categories. Turn it into "
        "numbers, strings or a pandas categorical."
    )


def _kind_of_objects(column: Any, label: str) -> Kind:
    cells = np.asarray(column, object)
    values = list(cells[~pd.isna(cells)])
    kinds = [_kind_of_object(v) for v in values]
    for v, kind in zip(values, kinds, strict=True):
        if kind is None or kind != kinds[0]:
            raise TypeError(
                f"{label} holds what is neither all numbers nor all categories: {shown(v)} is a "
                f"{type(v).__name__}"
                + (f" beside the {type(values[0]).__name__} {shown(values[0])}" if kind else "")
                + ". Each argument must be a string or a number, and all in a column alike."
            )
    return kinds[0] or "number" if kinds else "number"


def _kind_of_object(value: Any) -> Kind | None:
    if isinstance(value, (str, bytes, bool, np.bool_)):
        return "category"
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return None
    if isinstance(value, (numbers.Real, Decimal)):
        return "number"
    return None


def has_two_values(column: Any, label: str) -> bool:
    """Whether a column of numbers has two different ones, and four samples at least: classes."""
    if isinstance(column.dtype, pd.CategoricalDtype) or kind_of(column, label) == "category":
        return False
    if isinstance(column.dtype, np.dtype) and column.dtype.kind == "f":
        values = np.asarray(column)
        if np.unique(values[~np.isnan(values)]).size != 2:  # pandas knows no long doubles
            return False
    codes, levels = codes_and_levels(column)
    try:
        finite = len(levels) == 2 and all(np.isfinite(float(level)) for level in levels)
    except OverflowError:
        return False
    return finite and int(np.sum(~np.isnan(codes))) >= 4


def few_valued(values: FloatArray) -> IntArray:
    """Which columns of a matrix (n_columns, n_samples) may have two values, by a first look."""
    some = np.sort(values[:, :_LOOKED_AT], axis=1)  # gaps are last
    return np.flatnonzero((some[:, 1:] > some[:, :-1]).sum(axis=1) < 2)


def codes_of_two(column: Any) -> tuple[FloatArray, list[Any]]:
    """Codes and levels of a column of two numbers, whose type does not matter: 1, not 1.0."""
    codes, levels = codes_and_levels(column)
    numbers = [float(level) for level in levels]
    whole = (v.is_integer() and abs(v) <= EXACT for v in numbers)
    return codes, [int(v) if is_whole else v for v, is_whole in zip(numbers, whole, strict=True)]


def by_order(column: Any) -> Any:
    """Places in their order, where a column holds ordered categories."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return column
    places = column.cat.codes.astype(np.float64)
    return places.where(places >= 0)


def codes_and_levels(column: Any) -> tuple[FloatArray, list[Any]]:
    """Codes 0, 1, ... and what they stand for; missing ones become NaN."""
    if isinstance(column.dtype, np.dtype) and not column.dtype.isnative:
        column = np.asarray(column).astype(column.dtype.newbyteorder("="))
    codes, levels = pd.factorize(column, use_na_sentinel=True)
    return np.where(codes < 0, np.nan, codes), list(levels)
