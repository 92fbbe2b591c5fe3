"""Numbers of any kind as float64, so that their differences survive.

float64 distinguishes whole numbers up to 2^53, and numbers near one down to 2e-16. Only differences
matter here: where numbers are far from zero and close together, one of them is subtracted first,
in the arithmetic of their own type.
"""

import numbers
from collections.abc import Iterable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from infosieve._core.messages import shown
from infosieve._core.types import BoolArray, FloatArray

EXACT = 2**53
# Numbers whose range is less than this, of their size, are shifted if float64 does not hold them.
_NARROW = 2.0**-10
# Differences of decimals: rounded once, far below what float64 holds.
_DECIMAL = Context(prec=60, Emin=MIN_EMIN, Emax=MAX_EMAX)
# Smaller decimals are zero for any float; as fractions they would fill the memory.
_TINY = -5000

Offset: TypeAlias = int | Fraction


def as_floats(column: Any, label: str, offset: Offset | None = None) -> tuple[FloatArray, Offset]:
    """The column less an offset, and the offset: 0 where float64 does without.

    ``offset`` is what to subtract, where that is known. Missing values become NaN.
    """
    dtype = column.dtype
    inner = _inner(dtype)
    risky = inner is not None and (
        (inner.kind in "iu" and inner.itemsize == 8)
        or (inner.kind == "f" and inner.itemsize > 8)
        or inner.kind == "O"
    )
    if not risky and not offset:
        if isinstance(dtype, np.dtype):
            return np.asarray(column, np.float64), 0
        return column.to_numpy(dtype=np.float64, na_value=np.nan), 0
    missing, known = _present(column, inner)
    values, offset = _less_offset(known, label, offset)
    if missing is None:
        return values, offset
    out = np.full(missing.size, np.nan)
    out[~missing] = values
    return out, offset


def beyond_floats(integers: Any) -> bool:
    """Whether there are integers that float64 does not distinguish."""
    if integers.size == 0 or integers.dtype.itemsize < 8:
        return False
    return bool(integers.max() > EXACT or (integers.min() < 0 and integers.min() < -EXACT))


def is_missing(value: Any) -> bool:
    """Whether a cell of an object column is a gap."""
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, (float, np.floating)):
        return bool(value != value)
    return value is None or value is pd.NA or value is pd.NaT


def offset_of(values: list[Any], label: str = "a column") -> Offset:
    """What is to be subtracted from these numbers before float64 takes them; 0: nothing."""
    known = np.empty(len(values), object)
    known[:] = values
    return _less_offset(known, label, None)[1]


def _inner(dtype: Any) -> np.dtype[Any] | None:
    """NumPy's type of the values that are there."""
    if isinstance(dtype, np.dtype):
        return dtype
    inner = getattr(dtype, "numpy_dtype", getattr(dtype, "subtype", None))
    return inner if isinstance(inner, np.dtype) else None


def _present(column: Any, inner: Any) -> tuple[BoolArray | None, Any]:
    """Where values are missing (None: nowhere), and the others."""
    if isinstance(column.dtype, np.dtype):
        values = np.asarray(column)
        if column.dtype != object:
            gaps = np.isnan(values) if column.dtype.kind == "f" else np.zeros(0, bool)
        else:
            gaps = np.array([is_missing(v) for v in values], bool)
        return (gaps, values[~gaps]) if gaps.any() else (None, values)
    values = column.array
    gaps = np.asarray(values.isna(), bool)
    if gaps.any():
        return gaps, np.asarray(values[~gaps], dtype=inner)
    return None, np.asarray(values, dtype=inner)


def _less_offset(known: Any, label: str, offset: Offset | None) -> tuple[FloatArray, Offset]:
    """Values without gaps."""
    if known.dtype == object:
        known = _exactly(known)
        plain = np.array([_to_float(v, label) for v in known], np.float64)
    else:
        with np.errstate(over="ignore"):  # a long double may become infinite, which is refused
            plain = known.astype(np.float64)
    if offset is not None:
        if not offset or not np.isfinite(plain).all():
            return plain, offset
        return _float_all(Fraction(v) - offset for v in _exactly(known.astype(object))), offset
    if known.size == 0 or not np.isfinite(plain).all() or _held(known, plain):
        return plain, 0
    low, high = float(plain.min()), float(plain.max())
    size = max(-low, high)
    shifted, middle = _less_middle(known)
    if not high - low <= _NARROW * size:
        finite = np.isfinite(shifted).all()
        if not finite or np.unique(shifted).size <= np.unique(plain).size:
            return plain, 0
    return shifted, middle


def _held(known: Any, plain: FloatArray) -> bool:
    """Whether float64 holds all of the numbers as they are."""
    if known.dtype.kind in "iu":
        return not beyond_floats(known)
    if known.dtype != object:
        return bool((plain == known).all())
    return all(p == v for p, v in zip(plain.tolist(), known, strict=True))


def _less_middle(known: Any) -> tuple[FloatArray, Offset]:
    """The numbers less the one in the middle, which is right whatever the outliers are."""
    at = (known.size - 1) // 2
    if known.dtype != object:
        middle = np.partition(known, at)[at]
        if known.dtype.kind == "f":
            with np.errstate(over="ignore"):
                shifted = (known - middle).astype(np.float64)
            return shifted, _simple(Fraction(*middle.as_integer_ratio()))
        # Modulo 2^64, the larger less the smaller is right whatever the signs are.
        unsigned, zero = known.astype(np.uint64), middle.astype(np.uint64)
        above, below = (unsigned - zero).astype(np.float64), (zero - unsigned).astype(np.float64)
        return np.where(known >= middle, above, -below), int(middle)
    kinds = {type(v) for v in known}
    if kinds == {int}:
        common = list(known)
    elif Decimal in kinds and Fraction not in kinds:
        common = [Decimal(v) for v in known]
        zero = sorted(common)[at]
        return _float_all(_DECIMAL.subtract(v, zero) for v in common), _simple(Fraction(zero))
    else:
        common = [Fraction(v) for v in known]
    zero = sorted(common)[at]
    return _float_all(v - zero for v in common), _simple(Fraction(zero))


def _simple(offset: Fraction) -> Offset:
    return offset.numerator if offset.denominator == 1 else offset


def _float_all(values: Iterable[Any]) -> FloatArray:
    def one(value: Any) -> float:
        try:
            return float(value)
        except OverflowError:
            return float("inf")

    return np.array([one(v) for v in values], np.float64)


def _exactly(values: Any) -> Any:
    """Numbers of any kind as those of Python, to the last digit: an array of objects."""
    if {type(v) for v in values} <= {int, float}:
        return values
    out = np.empty(len(values), object)
    out[:] = [_exact(v) for v in values]
    return out


def _exact(value: Any) -> Any:
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, Decimal):
        tiny = value.is_finite() and value.adjusted() < _TINY
        return 0 if tiny else value
    if isinstance(value, np.longdouble) and np.isfinite(value):
        return Fraction(*value.as_integer_ratio())
    return float(value)


def _to_float(value: Any, label: str) -> float:
    try:
        return float(value)
    except OverflowError:
        what = f", {shown(value)}" if isinstance(value, int) else ""
        raise ValueError(
            f"{label} holds a number{what}, which is beyond 1.8e308. Take its logarithm, or change "
            "the unit."
        ) from None
