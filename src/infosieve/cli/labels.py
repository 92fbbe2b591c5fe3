"""What labels rows and columns, and is no data: an index, a second header, repeated names."""

import sys
from collections.abc import Sequence
from typing import Any

import pandas as pd

from infosieve._core.command_line import quoted
from infosieve._core.messages import brief, shown
from infosieve._input.number_texts import tidied
from infosieve._sources import ColumnSource
from infosieve.cli.dates import holds_dates
from infosieve.cli.errors import InputError
from infosieve.cli.texts import is_gap, is_number

# What pandas calls a column without a name, and Arrow an index.
_NAMELESS = ("Unnamed: ", "__index_level_")
# Rows below the header that tell whether there is a second one.
_LOOK_AT = 50
# Fewer rows are numbered by chance, too.
_COUNTED = 10


def check_names(names: Sequence[Any], file: str, hint: str) -> None:
    """Refuse a header that is none, and names that several columns have."""
    if not names:
        raise InputError(f"{file} has no columns")
    if len(names) < 2:
        raise InputError(
            f"{file} has one column, {shown(names[0])}; a target and a feature are two{hint}"
        )
    if all(map(_is_float, names)):
        raise InputError(
            f"{file} has a first row of numbers ({brief(', '.join(map(str, names[:3])))}, ...): it "
            "needs a header with the columns' names"
        )
    places: dict[Any, list[int]] = {}
    for place, name in enumerate(names, 1):
        places.setdefault(name, []).append(place)
    twice = [
        f"{shown(name)} (columns {', '.join(map(str, where))})"
        for name, where in places.items()
        if len(where) > 1
    ]
    if twice:
        listed = ", ".join(twice[:5]) + (f" and {len(twice) - 5} more" if len(twice) > 5 else "")
        raise InputError(f"{file} has more than one column named {listed}; rename them")


def refuse_second_header(frame: pd.DataFrame, file: str) -> None:
    """Refuse two rows of names, as tables with a hierarchy of columns have, or units below them."""
    texts = [j for j, kind in enumerate(frame.dtypes) if pd.api.types.is_string_dtype(kind)]
    found = [j for j in texts if _has_name_above_numbers(frame.iloc[: _LOOK_AT + 1, j])]
    if len(found) > 1 and 2 * len(found) >= frame.shape[1]:
        names = ", ".join(shown(frame.columns[j]) for j in found[:2])
        below = ", ".join(shown(frame.iloc[0, j]) for j in found[:2])
        raise InputError(
            f"{file} has two rows of names, or of names and units ({names}, ... and {below}, ...): "
            "keep one"
        )


def _has_name_above_numbers(column: "pd.Series[Any]") -> bool:
    rows = [None if not isinstance(value, str) else tidied(value) for value in column]
    first, below = rows[0], [text for text in rows[1:] if text is not None and not is_gap(text)]
    named = first is not None and not is_number(first) and not is_gap(first)
    return named and bool(below) and all(map(is_number, below))


def labels_of_rows(table: pd.DataFrame | ColumnSource, asked: Sequence[str]) -> list[Any]:
    """Columns that only label rows: they have no name, and count or are empty.

    So does the first one if all its values are different: R and pandas write names of rows there.
    Those that somebody asked for stay. A column with a name that counts rows is told.
    """
    out = []
    for name in table.columns:
        if not _nameless(name) or name in asked:
            continue
        column = table[name]
        if column.isna().all():
            out.append(name)
            continue
        if _counts(column, exactly=False):
            what = "counts rows"
        elif name == table.columns[0] and _names_rows(column):
            what = "a different value in every row"
        else:
            continue
        print(f"infosieve: column {shown(name)} has no name and {what}: left out", file=sys.stderr)
        out.append(name)
    return out


def _names_rows(column: "pd.Series[Any]") -> bool:
    """Whether whole numbers or texts are all different; dates and measurements may be, too."""
    if len(column) < 3 or column.isna().any() or not column.is_unique:
        return False
    if pd.api.types.is_numeric_dtype(column.dtype):
        return bool((column.astype("float64") % 1 == 0).all())
    values = column.astype(object)
    if not all(isinstance(value, str) for value in values) or holds_dates(values):
        return False
    texts = [tidied(value) for value in values]
    return all(text.isdigit() for text in texts) or not all(map(is_number, texts))


def tell_of_counters(frame: pd.DataFrame, target: str, told: bool = False) -> None:
    """Say which column with a name numbers the rows, or runs of them.

    ``told``: which rows belong together, or that they are in order of time, is known already.
    """
    for name, kind in frame.dtypes.items():
        if name == target or not pd.api.types.is_integer_dtype(kind):
            continue
        values, column = frame[name], shown(name)
        first, last = values.iloc[0], values.iloc[-1]
        if pd.isna(first) or pd.isna(last):  # which cannot be compared, and no counter has
            continue
        if first not in (0, 1) or last < _COUNTED - 1:
            continue  # most columns, in one look
        if _counts(values, exactly=True):
            said = "numbers the rows; if it is an identifier, "
            said += f"--exclude {quoted(str(name))} leaves it out"
        elif not told and _counts_runs(values):
            said = (
                "numbers rows that follow each other; if these belong together, such as repeated "
                f"measurements, --groups {quoted(str(name))} says so"
            )
        else:
            continue
        print(f"infosieve: column {column} {said}", file=sys.stderr)


def _nameless(name: Any) -> bool:
    return isinstance(name, str) and (not name or name.startswith(_NAMELESS))


def _counts(column: "pd.Series[Any]", exactly: bool) -> bool:
    """Whether whole numbers rise from row to row; ``exactly``: one by one."""
    if not pd.api.types.is_numeric_dtype(column.dtype) or len(column) < 3 or column.isna().any():
        return False
    steps = column.astype("float64").diff().iloc[1:]
    if exactly:
        return bool((steps == 1).all())
    return bool((steps > 0).all() and (steps % 1 == 0).all() and float(column.iloc[0]) % 1 == 0)


def _counts_runs(column: "pd.Series[Any]") -> bool:
    """Whether whole numbers rise by one after some rows each: 1, 1, 1, 2, 2, 2, ..."""
    if column.isna().any():
        return False
    steps = column.diff().iloc[1:]
    return bool(steps.isin([0, 1]).all() and 2 * (int(steps.sum()) + 1) <= len(column))


def _is_float(text: Any) -> bool:
    try:
        float(text)
    except (TypeError, ValueError):
        return False
    return True
