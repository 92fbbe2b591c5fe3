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
    if plain and kind in "iu":  # which have no gaps
        return _less_offset(np.asarray(column), label, offset)
    there = ~np.asarray(pd.isna(column), bool)
    known = np.asarray(column[there] if plain else column.array[there], inner)
    known = _python(known) if kind == "O" else known
    values = np.full(there.size, np.nan)
    values[there], offset = _less_offset(known, label, offset)
    return values, offset


def beyond_floats(integers: Any) -> bool:
    """Whether there are integers that float64 does not distinguish."""
    if integers.size == 0 or integers.dtype.itemsize < 8:
        return False
    return bool(integers.max() > EXACT or (integers.min() < 0 and integers.min() < -EXACT))


def beyond_rounding(values: list[Any], label: str = "a column") -> bool:
    """Whether numbers of Python differ by more than float64 holds of them."""
    known = _python(values)
    _, offset, merged = _shifted(known, _rounded(known, label))
    return bool(offset) or merged is not None


def _less_offset(known: Any, label: str, offset: Offset | None) -> tuple[FloatArray, Offset]:
    """Values without gaps."""
    plain = _rounded(known, label)
    if offset is not None:
        whole = _integers(known.astype(object), plain) if offset else None
        return (plain - offset if whole is None else _differences(whole, offset)), offset
    values, offset, merged = _shifted(known, plain)
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


def _shifted(known: Any, plain: FloatArray) -> tuple[FloatArray, Offset, IntArray | None]:
    """The numbers, or integers less the one in the middle where that tells more; and the offset.

    Third, the places of two different ones that are the same now, if there are any.
    """
    if _suffices(plain, known):
        return plain, 0, None
    low, high = float(plain.min()), float(plain.max())
    whole = _integers(known, plain)
    if whole is not None and np.isfinite(high - low):
        middle = int(np.sort(whole)[(whole.size - 1) // 2])  # whatever the outliers are
        values = _differences(whole, middle)
        narrow = high - low <= _NARROW * max(-low, high)
        if narrow or np.unique(values).size > np.unique(plain).size:
            return values, middle, _merged(known, values)
    return plain, 0, _merged(known, plain)


def _suffices(plain: FloatArray, known: Any) -> bool:
    """Whether float64 holds all of the numbers as they are, or infinities, which are refused."""
    if known.dtype.kind in "iu":
        return not beyond_floats(known)
    return bool((plain == known).all() or not np.isfinite(plain).all())


def _integers(known: Any, plain: FloatArray) -> Any:
    """The numbers as integers, if all are: those of NumPy as they are, others as Python's."""
    if known.dtype.kind in "iu":
        return known
    if not (np.isfinite(plain) & (plain == np.rint(plain))).all():
        return None
    whole = np.array([int(v) for v in known], object)
    return whole if (whole == known).all() else None


def _differences(whole: Any, zero: int) -> FloatArray:
    if whole.dtype == object:
        return np.asarray(whole - zero, np.float64)
    # Modulo 2^64, the larger less the smaller is right whatever the signs are.
    unsigned, middle = whole.astype(np.uint64), np.uint64(zero % 2**64)
    above, below = (unsigned - middle).astype(np.float64), (middle - unsigned).astype(np.float64)
    return np.asarray(np.where(whole >= zero, above, -below))


def _merged(known: Any, values: FloatArray) -> IntArray | None:
    """The places of two different numbers that are one among the values."""
    order = np.argsort(values, kind="stable")
    values, known = values[order], known[order]
    lost = np.flatnonzero((values[1:] == values[:-1]) & (known[1:] != known[:-1]))
    return order[lost[0] : lost[0] + 2] if lost.size else None
