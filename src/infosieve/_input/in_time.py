"""Whether rows that are said to be in order of time are, where dates say when they were."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from infosieve._core.dialect import row
from infosieve._core.messages import shown

_DATED = (pd.DatetimeIndex, pd.PeriodIndex, pd.TimedeltaIndex)
# What else an index may hold that says when rows were, as pandas names it.
_KINDS = ("date", "datetime", "datetime64", "timedelta", "timedelta64", "period")


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


@dataclass(frozen=True)
class Dates:
    """When rows were, and in words how to get at it: ``X.index``, or a level of it."""

    values: "pd.Index[Any]"
    argument: str
    level: int | None = None

    @property
    def where(self) -> str:
        if self.level is None:
            return f"{self.argument}.index"
        name = self.level if self.values.name is None else self.values.name
        return f"{self.argument}.index.get_level_values({name!r})"


def dates_of(tables: Iterable[Any]) -> Dates | None:
    """When the rows were, by the first table whose index says it; None where none does.

    Of several levels that hold dates one in order is enough: others may say when something else
    was.
    """
    for table in tables:
        index, name = table.index, table.argument
        if isinstance(index, pd.MultiIndex):
            levels = [Dates(index.get_level_values(i), name, i) for i in range(index.nlevels)]
            levels = [level for level in levels if level.values.nunique() > 1]
        else:
            levels = [Dates(index, name)]
        found = [level for level in levels if _holds_dates(level.values)]
        if found:
            return next((one for one in found if out_of_order(one.values) is None), found[0])
    return None


def _holds_dates(index: Any) -> bool:
    if isinstance(index, _DATED):
        return True
    unknown = isinstance(index, pd.Index) and not pd.api.types.is_numeric_dtype(index.dtype)
    return unknown and pd.api.types.infer_dtype(index, skipna=True) in _KINDS


def _day(date: Any) -> str:
    return shown(str(date).removesuffix(" 00:00:00"))
