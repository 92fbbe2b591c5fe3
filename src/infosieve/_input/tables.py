"""What users pass, checked once, at the door.

Every error names the argument or the column, the rule, the value, and a way out.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse

from infosieve._core.dialect import either
from infosieve._core.messages import shown, warn
from infosieve._input.checked import Table, check_lengths, check_target, fingerprint, refuse_values
from infosieve._input.kinds import (
    by_order,
    codes_and_levels,
    codes_of_two,
    few_valued,
    has_two_values,
    kind_of,
    read_columns,
)
from infosieve._input.named import declared_columns, find_columns
from infosieve._input.number_texts import CODES, seems_dates, seems_numbers, way_to_numbers
from infosieve._input.numbers import Offset, as_floats
from infosieve._sources import in_memory

__all__ = [
    "Table",
    "check_columns",
    "check_lengths",
    "check_target",
    "declared_columns",
    "find_columns",
    "fingerprint",
    "read_columns",
    "read_table",
    "refuse_values",
    "warn_of_number_texts",
]


# Classes of a target have so many samples each, on average; numbers as text may have fewer.
_RARE = 5


def read_table(
    data: Any,
    argument: str,
    discrete: Any = "auto",
    least: int = 2,
    offsets: Mapping[int, Offset] | None = None,
    missing: str = "error",
) -> Table:
    """Check a column or a table of columns and turn it into numbers and codes.

    ``least`` is the number of samples that it must have. ``offsets`` are those of an earlier
    table, for samples that come later; {} leaves numbers where they are. Gaps are NaN (in codes,
    too) unless ``missing`` is "error".
    """
    if issparse(data):
        raise TypeError(
            f"{argument} is a sparse matrix; neighbours need all values at hand. Pass "
            f"{argument}.toarray(), on fewer columns if it does not fit into memory."
        )
    columns, names = read_columns(in_memory(data, argument), argument)
    m, n = len(columns), columns[0].shape[0] if len(columns) else 0
    if m == 0:
        raise ValueError(
            f"{argument} has 0 feature(s) (shape={np.shape(data)}) while a minimum of 1 is "
            "required. Check what became of its columns."
        )
    if n == 0:
        raise ValueError(
            f"{argument} is empty (shape {np.shape(data)}); it needs at least two samples and "
            "one column."
        )
    if n < least:
        raise ValueError(
            f"{argument} has one sample; information is estimated from neighbours and needs at "
            "least two."
        )
    index = data.index if isinstance(data, (pd.DataFrame, pd.Series)) else None
    unread = Table.without_values(argument, names, m, index)
    declared = declared_columns(discrete, argument, unread.names, unread.named)
    if argument == "y" and isinstance(discrete, str) and m == 1:
        declared = {0: True} if has_two_values(columns[0], unread.label(0)) else {}
    checked = check_columns(columns, unread, declared, offsets)
    if checked.levels:
        typed = [isinstance(column.dtype, pd.CategoricalDtype) for column in columns]
        undeclared = [j for j in checked.levels if not (declared.get(j) or typed[j])]
        warn_of_number_texts(checked, undeclared)
    with np.errstate(over="ignore", invalid="ignore"):
        total = checked.values.sum()
    if not np.isfinite(total):  # which may have overflown
        infinite, gaps = np.isinf(checked.values), np.isnan(checked.values)
        counts = infinite.sum(axis=1), gaps.sum(axis=1) * (missing == "error")
        refuse_values(argument, checked.names, n, *counts)
    return checked


def warn_of_number_texts(table: Any, texts: Iterable[int]) -> None:
    """Tell that texts are categories, where they look like numbers or dates and nobody declared.

    A target of numbers that hardly repeat is refused: classes would be another question.
    """
    found = {j: table.levels[j] for j in texts if j in table.levels}
    numbers = [j for j, levels in found.items() if seems_numbers(levels)]
    dates = [j for j, levels in found.items() if j not in numbers and seems_dates(levels)]
    for those, what in ((numbers, "numbers"), (dates, "dates")):
        if not those:
            continue
        first, *others = those
        way = "Turn it into numbers, such as days since a date, the hour, or the weekday"
        if what == "numbers":
            way = way_to_numbers(found[first])
        n_levels = len(found[first])
        rare = n_levels > CODES and _RARE * n_levels > table.n_samples
        if what == "numbers" and table.argument == "y" and rare:
            raise ValueError(
                f"{table.label(first)} holds numbers as text ({shown(found[first][0])}): "
                f"{n_levels:,} different values in {table.n_samples:,} samples, too many for "
                f"classes. {way}; if they are classes, "
                f"{either('pass a pandas categorical', '--categorical says so')}."
            )
        more = f" So do {len(others)} other columns." if others else ""
        warn(
            f"{table.label(first)} holds {what} as text ({shown(found[first][0])}), and text is "
            f"categories.{more} {way}; if it is categories, "
            f"{either('declare it discrete', '--categorical says so')}."
        )


def check_columns(
    columns: Any,
    unread: Table,
    declared: Mapping[int, bool],
    known: Mapping[int, Offset] | None = None,
) -> Table:
    """The columns of a table as numbers and codes; missing values are NaN.

    Two different numbers are categories, except those of a target. ``known`` are the offsets to
    subtract; by default, each column has its own where it needs one.
    """
    two = _of_two_values(columns, unread, declared)
    numbers = isinstance(columns, np.ndarray) and not (two or any(declared.values()) or known)
    if numbers:
        return replace(unread, values=np.array(columns, np.float64, order="C"))
    checked = replace(
        unread,
        values=np.empty((len(columns), columns[0].shape[0])),
        categorical=np.zeros(len(columns), bool),
        levels={},
        offsets={},
    )
    for j, column in enumerate(columns):
        label = unread.label(j)
        kind = kind_of(column, label)
        if declared.get(j, kind == "category" or j in two):
            coded = codes_of_two if j in two else codes_and_levels
            checked.values[j], checked.levels[j] = coded(column)
            checked.categorical[j] = True
            continue
        if kind == "category" and not pd.api.types.is_bool_dtype(column.dtype):
            raise TypeError(
                f"{label} holds {shown(np.asarray(column, object)[0])}, which is no number, where "
                "only numbers will do. Turn it into numbers (pandas.get_dummies makes a column of "
                "0 and 1 for each category), or "
                + either(
                    "leave it out; if it was declared continuous, declare it discrete.",
                    "leave it out with --exclude.",
                )
            )
        checked.values[j], offset = as_floats(
            by_order(column), label, None if known is None else known.get(j, 0)
        )
        if offset:
            checked.offsets[j] = offset
    return checked


def _of_two_values(columns: Any, unread: Table, declared: Mapping[int, bool]) -> set[int]:
    """Columns of two different numbers, of which nobody has said that they are numbers."""
    if unread.argument == "y":  # read_table knows whether it may have classes
        return set()
    among = few_valued(columns) if isinstance(columns, np.ndarray) else range(len(columns))
    left = (int(j) for j in among if int(j) not in declared)
    return {j for j in left if has_two_values(columns[j], unread.label(j))}
