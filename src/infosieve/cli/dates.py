"""Columns of dates and times: refused with the ways out, or days as a number."""

import datetime
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import pandas as pd

from infosieve._core.messages import shown, warn
from infosieve._input import number_texts
from infosieve._input.in_time import (
    is_clock,
    moments_of,
    month_comes_first,
    out_of_order,
    repeated,
)
from infosieve.cli.errors import InputError

WAYS = ("error", "ordinal")
_SINCE, _CLOCK, _SPAN = "days since 1970-01-01", "days since midnight", "days"
_OBJECTS = (datetime.date, datetime.time, datetime.timedelta)  # a datetime is a date


def without_dates(
    frame: pd.DataFrame, declared: Sequence[str], way: str
) -> tuple[pd.DataFrame, dict[Any, str]]:
    """The table with days as numbers, if ``way`` is "ordinal", and what these count by column.

    "error" refuses columns of dates. What is declared a category becomes text.
    """
    if way not in WAYS:
        raise InputError(f"--dates must be one of {', '.join(WAYS)}; got {shown(way)}")
    dates = [name for name in frame if holds_dates(frame[name])]
    others = [name for name in dates if name not in declared]
    if others and way == "error":
        raise InputError(_refusal(frame[others]))
    if not dates:
        return frame, {}
    columns = {name: frame[name] for name in frame}
    columns |= {name: frame[name].astype(object).map(str, "ignore") for name in dates}
    columns |= {name: _days(frame[name]) for name in others}
    return pd.DataFrame(columns), {name: _unit(frame[name]) for name in others}


def tell_of_order(columns: Iterable["pd.Series[Any]"]) -> None:
    """Warn of rows that are said to be in order of time, and by their dates are not.

    Of several columns of dates one in order is enough: others may say when something else was.
    """
    moments = {}
    for column in columns:
        if holds_dates(column) and _unit(column) == _SINCE:
            with suppress(InputError):
                moments[column.name] = pd.DatetimeIndex(_moments(column))
    moments = {name: when for name, when in moments.items() if when.nunique() > 1}
    if not moments:
        return
    wrong = {name: out_of_order(when) for name, when in moments.items()}
    name = next((name for name in wrong if wrong[name] is None), next(iter(wrong)))
    if wrong[name] is not None:
        warn(
            f"--series says that rows are in order of time, but by column {shown(name)} they are "
            f"not: {wrong[name]}; if that is when they were measured, sort the file by it"
        )
    elif (rows := repeated(moments[name])) is not None:
        warn(
            f"--series takes the rows as one series, but by column {shown(name)} {rows}; if these "
            "are several individuals, or places, give --groups with the column that names them"
        )


def holds_dates(column: "pd.Series[Any]") -> bool:
    """Whether all values are dates or times, or texts of some."""
    kind = column.dtype
    if pd.api.types.is_datetime64_any_dtype(kind) or pd.api.types.is_timedelta64_dtype(kind):
        return True
    if pd.api.types.is_numeric_dtype(kind) or isinstance(kind, pd.CategoricalDtype):
        return False
    known = column.dropna()
    return len(known) > 0 and is_date(known.iloc[0]) and all(map(is_date, known.drop_duplicates()))


def is_date(value: Any) -> bool:
    """Whether a value is a date or a time, or a text of one."""
    return number_texts.is_date(value) if isinstance(value, str) else isinstance(value, _OBJECTS)


def _unit(column: "pd.Series[Any]") -> str:
    """What a number counts that stands for a date of the column."""
    first = next(iter(column.dropna()), None)
    if isinstance(first, datetime.timedelta):
        return _SPAN
    text = isinstance(first, str) and is_clock(first)
    return _CLOCK if text or isinstance(first, datetime.time) else _SINCE


def _refusal(dates: pd.DataFrame) -> str:
    first = dates.iloc[:, 0].dropna()
    example = f"{shown(str(first.iloc[0]))} in row {first.index[0] + 1}" if len(first) else "none"
    it, what = "it", f"column {shown(dates.columns[0])} holds dates or times ({example})"
    if dates.shape[1] > 1:
        names = ", ".join(map(shown, dates.columns[:5])) + (", ..." if dates.shape[1] > 5 else "")
        it, what = "them", f"{dates.shape[1]} columns hold dates or times ({names}; {example})"
    return (
        f"{what}: --dates ordinal takes {it} as days, a number, --exclude leaves {it} out (and "
        "--series says so if rows are in order of time); or write what matters, such as the hour "
        "or the weekday, as a column of its own"
    )


def _days(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Days since 1970, or of a time since midnight."""
    if pd.api.types.is_timedelta64_dtype(column.dtype):
        return pd.Series(column.dt.total_seconds() / 86_400)
    return (_moments(column) - pd.Timestamp(0)) / pd.Timedelta(days=1)


def _moments(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """The dates, in UTC; times of the day are of 1970-01-01."""
    known, month_first = column.dropna(), True
    if _unit(column) == _CLOCK:
        known = "1970-01-01 " + known.map(str)
    elif len(known) and isinstance(known.iloc[0], str):
        first = month_comes_first(known)
        if first is None:
            raise InputError(
                f"column {shown(column.name)} holds dates that may begin with the day or the month "
                f"({shown(known.iloc[0])}); write them as 2020-05-31"
            )
        month_first = first
    try:
        when = moments_of(known, month_first)
    except (ValueError, OverflowError) as error:
        raise InputError(
            f"column {shown(column.name)} holds dates that cannot be read ({error}); write them "
            "as 2020-05-31"
        ) from None
    return when.reindex(column.index)
