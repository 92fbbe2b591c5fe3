"""Numbers of any kind as float64, which distinguishes whole numbers up to 2^53.

Only differences matter here: larger whole numbers that are close together have one of them
subtracted first, as integers. Different numbers that are one in float64 nevertheless are refused.
"""

from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from infosieve._core.messages import brief, shown
from infosieve._core.types import FloatArray, IntArray

EXACT = 2**53
# Integers whose range is less than this, of their size, are shifted if float64 does not hold them.
_NARROW = 2.0**-10

Offset: TypeAlias = int


def as_floats(column: Any, label: str, offset: Offset | None = None) -> tuple[FloatArray, Offset]:
    """The column less an offset, and the offset: 0 where float64 does without.

    ``offset`` is what to subtract, where that is known. Missing values become NaN.
    """
    dtype = column.dtype
    plain = isinstance(dtype, np.dtype)
    inner = dtype if plain else getattr(dtype, "numpy_dtype", getattr(dtype, "subtype", None))
    kind, size = getattr(inner, "kind", ""), getattr(inner, "itemsize", 0)
    exact = kind == "O" or (kind in "iu" and size == 8) or (kind == "f" and size > 8)
    if not exact and not offset:
        if plain:
            return np.asarray(column, np.float64), 0
        return column.to_numpy(dtype=np.float64, na_value=np.nan), 0
    there = ~np.asarray(pd.isna(column), bool)
    known = np.asarray(column[there] if plain else column.array[there], inner)
    values = np.full(there.size, np.nan)
    if kind in "iu" and not offset and not beyond_floats(known):
        values[there], offset = known, 0
    else:
        values[there], offset = _less_offset(_python(known), label, offset)
    return values, offset


def beyond_floats(integers: Any) -> bool:
    """Whether there are integers that float64 does not distinguish."""
    if integers.size == 0 or integers.dtype.itemsize < 8:
        return False
    return bool(integers.max() > EXACT or (integers.min() < 0 and integers.min() < -EXACT))


def beyond_rounding(values: list[Any], label: str = "a column") -> bool:
    """Whether numbers of Python differ by more than float64 holds of them."""
    known = _python(values)
    floats, offset = _shifted(known, _rounded(known, label))
    return bool(offset) or _merged(known, floats) is not None


def _less_offset(known: Any, label: str, offset: Offset | None) -> tuple[FloatArray, Offset]:
    """Numbers of Python, none of them missing."""
    plain = _rounded(known, label)
    if offset is not None:
        whole = _integers(known, plain) if offset else None
        return np.asarray((plain if whole is None else whole) - offset, np.float64), offset
    values, offset = _shifted(known, plain)
    merged = _merged(known, values)
    if merged is not None:
        one, other = (brief(str(known[i]), 90) for i in merged)
        raise ValueError(
            f"{label} holds {one} and {other}, which are the same number in float64. Subtract a "
            "number near them from the whole column first, in its own type, or round the column if "
            "such differences do not matter."
        )
    return values, offset


def _python(values: Any) -> Any:
    """An array of objects, in which integers are those of Python."""
    known = np.empty(len(values), object)
    known[:] = [int(v) if isinstance(v, np.integer) else v for v in values]
    return known


def _rounded(known: Any, label: str) -> FloatArray:
    """The nearest numbers of float64."""
    try:
        with np.errstate(over="ignore"):  # a long double may become infinite, which is refused
            return np.asarray(known, np.float64)
    except OverflowError:
        whole = (v for v in known if isinstance(v, int))
        large = next((f", {shown(v)}" for v in whole if abs(v) >= 2**1024), "")
        raise ValueError(
            f"{label} holds a number{large}, which is beyond 1.8e308. Take its logarithm, or "
            "change the unit."
        ) from None


def _shifted(known: Any, plain: FloatArray) -> tuple[FloatArray, Offset]:
    """The numbers, or integers less the one in the middle where that tells more; and the offset."""
    if (plain == known).all() or not np.isfinite(plain).all():  # infinities are refused later
        return plain, 0
    whole, low, high = _integers(known, plain), float(plain.min()), float(plain.max())
    if whole is not None and np.isfinite(high - low):
        middle = int(np.sort(whole)[(whole.size - 1) // 2])  # whatever the outliers are
        values = np.asarray(whole - middle, np.float64)
        narrow = high - low <= _NARROW * max(-low, high)
        if narrow or np.unique(values).size > np.unique(plain).size:
            return values, middle
    return plain, 0


def _integers(known: Any, plain: FloatArray) -> Any:
    """The numbers as integers, if all are."""
    if not (np.isfinite(plain) & (plain == np.rint(plain))).all():
        return None
    whole = np.array([int(v) for v in known], object)
    return whole if (whole == known).all() else None


def _merged(known: Any, values: FloatArray) -> IntArray | None:
    """The places of two different numbers that are one among the values."""
    if not np.isfinite(values).all():
        return None
    order = np.argsort(values, kind="stable")
    values, known = values[order], known[order]
    lost = np.flatnonzero((values[1:] == values[:-1]) & (known[1:] != known[:-1]))
    return order[lost[0] : lost[0] + 2] if lost.size else None
