"""Columns that label rows, and are no data: an index, names of rows, identifiers, individuals."""

import sys
from collections.abc import Sequence
from typing import Any

import pandas as pd

from infosieve._core.messages import quoted, shown
from infosieve._input.number_texts import tidied
from infosieve.cli.dates import holds_dates
from infosieve.cli.tables import Table
from infosieve.cli.texts import is_number

# What pandas calls a column without a name, and Arrow an index.
_NAMELESS = ("Unnamed: ", "__index_level_")
# Fewer rows are numbered by chance, too.
_COUNTED = 10


def labels_of_rows(table: Table, asked: Sequence[str]) -> list[Any]:
    """Columns that only label rows: they have no name, and count or are empty.

    So does the first one if all its values are different: R and pandas write names of rows there.
    Those that somebody asked for stay.
    """
    out = []
    for place, name in enumerate(table.columns):
        nameless = isinstance(name, str) and (not name or name.startswith(_NAMELESS))
        if not nameless or name in asked:
            continue
        column = table.column(name)
        if column.isna().all():
            out.append(name)
            continue
        steps = _steps(column)
        if steps is not None and (steps > 0).all():
            what = "counts rows"
        elif place == 0 and _names_rows(column):
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
    if _steps(column) is not None:
        return True
    if not pd.api.types.is_string_dtype(column) or holds_dates(column):
        return False
    texts = [tidied(value) for value in column]
    return all(text.isdigit() for text in texts) or not all(map(is_number, texts))


def _steps(column: "pd.Series[Any]") -> "pd.Series[Any] | None":
    """How whole numbers differ from row to row; None of a column that has others, or gaps."""
    if not pd.api.types.is_numeric_dtype(column.dtype) or len(column) < 3 or column.isna().any():
        return None
    values = column.astype("float64")
    return values.diff().iloc[1:] if (values % 1 == 0).all() else None


def tell_of_counters(frame: pd.DataFrame, target: str, told: bool) -> None:
    """Say which column with a name numbers the rows, or runs of them.

    ``told``: which rows belong together, or that they are in order of time, is known already.
    """
    for name, kind in frame.dtypes.items():
        if name == target or not pd.api.types.is_integer_dtype(kind):
            continue
        column = frame[name]
        steps = _steps(column)
        if steps is None or column.iloc[0] not in (0, 1) or column.iloc[-1] < _COUNTED - 1:
            continue
        if (steps == 1).all():
            said = "numbers the rows; if it is an identifier, "
            said += f"--exclude {quoted(str(name))} leaves it out"
        elif not told and steps.isin([0, 1]).all() and 2 * (steps.sum() + 1) <= len(column):
            said = (
                "numbers rows that follow each other; if these belong together, such as repeated "
                f"measurements, --groups {quoted(str(name))} says so"
            )
        else:
            continue
        print(f"infosieve: column {shown(name)} {said}", file=sys.stderr)
