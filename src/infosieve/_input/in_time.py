"""Whether rows that are said to be in order of time are, where dates say when they were."""

from typing import Any

import numpy as np
import pandas as pd

from infosieve._core.dialect import row
from infosieve._core.messages import shown

_DATED = (pd.DatetimeIndex, pd.PeriodIndex, pd.TimedeltaIndex)


def out_of_order(dates: Any) -> str | None:
    """The first row that comes before the one above it, or has no date, in words; or None."""
    index = pd.Index(dates)
    gaps = np.asarray(index.isna())
    if gaps.any():
        return f"there is no date in {row(int(np.argmax(gaps)))}"
    if index.is_monotonic_increasing:
        return None
    at = 1 + int(np.argmax(np.asarray(index[1:] < index[:-1])))
    return f"{_day(index[at])} in {row(at)} comes after {_day(index[at - 1])}"


def repeated(dates: Any) -> str | None:
    """How many rows, in order of time, have the date of the row above, in words; or None."""
    index = pd.Index(dates)
    same = np.asarray(index[1:] == index[:-1])
    if not same.any():
        return None
    at = 1 + int(np.argmax(same))
    return (
        f"{int(same.sum())} of {len(index)} rows have the date of the row above (the first, "
        f"{_day(index[at])}, in {row(at)})"
    )


def is_dated(index: Any) -> bool:
    """Whether an index of rows says when they were."""
    return isinstance(index, _DATED)


def _day(date: Any) -> str:
    return shown(str(date).removesuffix(" 00:00:00"))
