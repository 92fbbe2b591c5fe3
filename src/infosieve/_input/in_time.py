"""Whether rows that are said to be in order of time are, where dates say when they were."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from infosieve._core.dialect import row
from infosieve._core.messages import shown
from infosieve._input.number_texts import is_date

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
    """When rows were, and in words how to get at it: ``X.index``, or a level of it.

    ``read`` says how texts become dates.
    """

    values: Any
    argument: str
    level: int | None = None
    read: str = "{}"

    @property
    def where(self) -> str:
        if self.level is None:
            return self.read.format(f"{self.argument}.index")
        name = self.level if self.values.name is None else self.values.name
        return self.read.format(f"{self.argument}.index.get_level_values({name!r})")


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
        found = [dated for level in levels if (dated := _dated(level)) is not None]
        if found:
            return next((one for one in found if out_of_order(one.values) is None), found[0])
    return None


def _dated(level: Dates) -> Dates | None:
    """The same with texts as dates; None where it holds none."""
    index = level.values
    if isinstance(index, _DATED):
        return level
    if index is None or pd.api.types.is_numeric_dtype(index.dtype):
        return None
    kind = pd.api.types.infer_dtype(index, skipna=True)
    if kind in _KINDS:
        return level
    texts = pd.Series(index)
    known = texts.dropna()
    if kind != "string" or not is_date(known.iloc[0]) or not all(map(is_date, known.unique())):
        return None
    month_first = month_comes_first(known)
    if month_first is None or is_clock(known.iloc[0]):
        return None
    try:
        moments = moments_of(texts, month_first)
    except (ValueError, OverflowError):
        return None
    day = "" if month_first else ", dayfirst=True"
    values = pd.DatetimeIndex(moments, name=index.name)
    return replace(level, values=values, read=f"pd.to_datetime({{}}, format='mixed'{day})")


def moments_of(texts: "pd.Series[Any]", month_first: bool) -> "pd.Series[Any]":
    """Texts of dates as dates, in UTC."""
    when = pd.to_datetime(texts, format="mixed", dayfirst=not month_first, utc=True)
    return when.dt.tz_localize(None)


def month_comes_first(texts: "pd.Series[Any]") -> bool | None:
    """Whether 5/12/2020 is in May; None where that cannot be told.

    Points are written otherwise, else a day beyond 12 says it.
    """
    numbers = texts.str.extract(r"^\s*(\d{1,2})([/.-])(\d{1,2})\2").dropna()
    if len(numbers) == 0 or (numbers[2].astype(int) > 12).any():
        return True
    return False if numbers[1].eq(".").any() or (numbers[0].astype(int) > 12).any() else None


def is_clock(text: str) -> bool:
    """Whether a text of a date or a time is a time of day."""
    return ":" in text.strip()[:3]


def _day(date: Any) -> str:
    return shown(str(date).removesuffix(" 00:00:00"))
