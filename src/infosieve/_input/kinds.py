"""Whether a column holds numbers or categories, and the codes of categories."""

import numbers
from decimal import Decimal
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from infosieve._core.dialect import either
from infosieve._core.messages import shown
from infosieve._core.types import FloatArray

Kind: TypeAlias = Literal["number", "category"]


def kind_of(column: Any, label: str) -> Kind:
    """Whether a column holds numbers or categories."""
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return "category"
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
    if kind_of(column, label) == "category":
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


def codes_and_levels(column: Any) -> tuple[FloatArray, list[Any]]:
    """Codes 0, 1, ... and what they stand for; missing ones become NaN."""
    if isinstance(column.dtype, np.dtype) and not column.dtype.isnative:
        column = np.asarray(column).astype(column.dtype.newbyteorder("="))
    codes, levels = pd.factorize(column, use_na_sentinel=True)
    return np.where(codes < 0, np.nan, codes), list(levels)
