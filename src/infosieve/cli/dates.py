"""Columns of dates and times: refused with the ways out, or days as a number."""

import datetime
import re
from collections.abc import Sequence
from typing import Any

import pandas as pd

from infosieve._core.messages import shown, warn
from infosieve._input.in_time import out_of_order, repeated
from infosieve.cli.errors import InputError

WAYS = ("error", "ordinal")
_SINCE = "days since 1970-01-01"
_MONTHS = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?"
_ZONE = r"(?: ?(?:Z|[+-]\d{2}:?\d{2}|UTC|GMT))?"
_TIME = re.compile(rf"{_CLOCK}(?: ?[ap]m)?", re.IGNORECASE)
_NUMBERS = re.compile(rf"(\d{{1,2}})([/.-])(\d{{1,2}})\2(\d{{4}}|(?<=[/.])\d{{2}})(?:,? {_CLOCK})?")
_DATES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"[12]\d{{3}}([-/.])(?:0?[1-9]|1[012])\1(?:0?[1-9]|[12]\d|3[01])(?:[T ]{_CLOCK}{_ZONE})?",
        r"(?:1[89]|20)\d{2}-(?:0[1-9]|1[012])",
        rf"\d{{1,2}}[. -]+{_MONTHS}[ ,-]+(?:\d{{4}}|\d{{2}})(?: {_CLOCK})?",
        rf"{_MONTHS} \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}(?: {_CLOCK})?",
    )
]
_OBJECTS = (datetime.date, datetime.time, datetime.timedelta)  # a datetime is a date


def without_dates(
    frame: pd.DataFrame, declared: Sequence[str], way: str, in_time: Sequence[str] = ()
) -> pd.DataFrame:
    """The table with days as numbers, if ``way`` is "ordinal"; "error" names columns of dates.

    What is declared a category becomes text. ``in_time`` are columns by which rows may be in order
    of time, where that can be said.
    """
    if way not in WAYS:
        raise InputError(f"--dates must be one of {', '.join(WAYS)}; got {shown(way)}")
    numbers = pd.api.types.is_numeric_dtype
    others = [name for name, kind in frame.dtypes.items() if not numbers(kind)]
    dates = [name for name in others if holds_dates(frame[name])]
    categories = [name for name in dates if name in set(declared)]
    dates = [name for name in dates if name not in set(declared)]
    if not dates and not categories:
        return frame
    if dates and way == "error":
        raise InputError(_refusal(frame, dates, in_time))
    new = {name: _days(frame[name], name) for name in dates}
    new |= {name: _texts(frame[name]) for name in categories}
    return pd.DataFrame({name: new.get(name, frame[name]) for name in frame})


def tell_of_order(table: Any) -> None:
    """Warn of rows that are said to be in order of time, and by their dates are not.

    Of several columns of dates one in order is enough: others may say when something else was.
    """
    frame = table if isinstance(table, pd.DataFrame) else table[table.dates].read()
    columns = {name: days for name in frame if (days := _moments(frame[name])) is not None}
    if not columns:
        return
    name = next((one for one, days in columns.items() if out_of_order(days) is None), None)
    if name is None:
        name = next(iter(columns))
        said = (
            f"--series says that rows are in order of time, but by column {shown(name)} they are "
            f"not: {out_of_order(columns[name])}; if that is when they were measured, sort the "
            "file by it"
        )
    elif (rows := repeated(columns[name])) is not None:
        said = (
            f"--series takes the rows as one series, but by column {shown(name)} {rows}; if these "
            "are several individuals, or places, give --groups with the column that names them"
        )
    else:
        return
    warn(said)


def _moments(column: "pd.Series[Any]") -> Any:
    """When rows were, by a column of dates; None of another column, or of one date."""
    if pd.api.types.is_numeric_dtype(column.dtype) or not holds_dates(column):
        return None
    if _unit(column) != _SINCE:
        return None
    try:
        days = _days(column, column.name)
    except InputError:
        return None
    moments = pd.Timestamp(0) + pd.to_timedelta(days, unit="D").dt.round("us")
    return pd.DatetimeIndex(moments) if moments.nunique() > 1 else None


def units_of_days(frame: pd.DataFrame, declared: Sequence[str]) -> dict[Any, str]:
    """What the numbers count that stand for dates: for each such column, in words."""
    others = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name].dtype)]
    dates = [name for name in others if name not in set(declared) and holds_dates(frame[name])]
    return {name: _unit(frame[name]) for name in dates}


def _unit(column: "pd.Series[Any]") -> str:
    first = next(iter(column.dropna()), None)
    if isinstance(first, str):
        return "days since midnight" if _TIME.fullmatch(first.strip()) else _SINCE
    if isinstance(first, datetime.time):
        return "days since midnight"
    return "days" if isinstance(first, datetime.timedelta) else _SINCE


def _texts(column: "pd.Series[Any]") -> "pd.Series[Any]":
    return column.astype(object).map(str, na_action="ignore").infer_objects()


def _refusal(frame: pd.DataFrame, dates: Sequence[Any], in_time: Sequence[str]) -> str:
    row = frame[dates[0]].first_valid_index()
    example = f"{shown(str(frame[dates[0]][row]))} in row {row + 1}"
    if len(dates) == 1:
        what = f"column {shown(dates[0])} holds dates or times ({example})"
    else:
        listed = ", ".join(map(shown, dates[:5])) + (", ..." if len(dates) > 5 else "")
        what = f"{len(dates)} columns hold dates or times ({listed}; {example})"
    it = "it" if len(dates) == 1 else "them"
    days = frame[dates[0]].dropna()
    in_order = not isinstance(days.iloc[0], str) and days.is_monotonic_increasing
    in_order = in_order and days.iloc[0] != days.iloc[-1] and dates[0] in in_time
    order = "; rows are in its order: --series says so" if in_order else ""
    return (
        f"{what}: --dates ordinal takes {it} as days, a number, --exclude leaves {it} out; or "
        "write what matters, such as the hour or the weekday, as a column of its own"
        f"{order}"
    )


def holds_dates(column: "pd.Series[Any]") -> bool:
    """Whether all values are dates or times, or texts of some."""
    kind = column.dtype
    if pd.api.types.is_datetime64_any_dtype(kind) or pd.api.types.is_timedelta64_dtype(kind):
        return True
    if isinstance(kind, pd.CategoricalDtype):
        return False
    known = column.dropna()
    if len(known) == 0 or not is_date(known.iloc[0]):
        return False
    return all(map(is_date, known.drop_duplicates()))


def is_date(value: Any) -> bool:
    """Whether a value is a date or a time, or a text of one."""
    if isinstance(value, str):
        text = value.strip()
        return len(text) < 40 and bool(
            _TIME.fullmatch(text) or _read_numbers(text) or any(d.fullmatch(text) for d in _DATES)
        )
    return isinstance(value, _OBJECTS)


def _read_numbers(text: str) -> tuple[int, int] | None:
    """Of a date such as 5/12/2020 the first two numbers, of which one is the month."""
    found = _NUMBERS.fullmatch(text)
    if found is None:
        return None
    one, other = int(found[1]), int(found[3])
    return (one, other) if 0 < min(one, other) <= 12 and 0 < max(one, other) <= 31 else None


def _days(column: "pd.Series[Any]", name: Any) -> "pd.Series[Any]":
    """Days since 1970, or of a time since midnight."""
    known = column.dropna()
    if len(known) == 0:
        return pd.Series(float("nan"), column.index)
    if pd.api.types.is_timedelta64_dtype(column.dtype):
        return pd.Series(column.dt.total_seconds() / 86_400)
    if isinstance(known.iloc[0], str):
        known = known.map(str.strip)
        numbers = [_read_numbers(text) for text in known]
        first = _day_comes_first([n for n in numbers if n is not None], known, name)
    elif isinstance(known.iloc[0], (datetime.time, datetime.timedelta)):
        known, first = known.map(str), False
    else:
        first = False
    try:
        if all(isinstance(value, str) and _TIME.fullmatch(value) for value in known):
            clock = pd.to_datetime("1970-01-01 " + known, format="mixed")
            return ((clock - pd.Timestamp(0)) / pd.Timedelta(days=1)).reindex(column.index)
        when = pd.to_datetime(known, format="mixed", dayfirst=first, utc=True)
    except (ValueError, OverflowError) as error:
        raise InputError(
            f"column {shown(name)} holds dates that cannot be read ({error}); write them as "
            "2020-05-31"
        ) from None
    days = (when - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)
    return days.reindex(column.index)


def _day_comes_first(
    numbers: Sequence[tuple[int, int]], texts: "pd.Series[Any]", name: Any
) -> bool:
    """Whether 5/12/2020 is in December; points are written so, else one day beyond 12 says it."""
    if not numbers or any(other > 12 for _, other in numbers):
        return False
    if "." in texts.iloc[0] or any(one > 12 for one, _ in numbers):
        return True
    raise InputError(
        f"column {shown(name)} holds dates that may begin with the day or the month "
        f"({shown(texts.iloc[0])}); write them as 2020-05-31"
    )
