"""Columns that the order of the rows tells, which tests that go by it cannot tell from chance."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from infosieve._core.messages import shown, warn
from infosieve._core.types import FloatArray
from infosieve._input.tables import Table
from infosieve._input.together import Together, period_of, predicted_by_place

if TYPE_CHECKING:
    from infosieve._input.problem import AnyTable

# A target is matched, and a column in order, if the place in the group tells so much of it.
_MATCHED, _ORDERED = 0.9, 0.7
# Of a table on disk, so many values are looked at together.
_BLOCK = 2**21


def columns_by_order(
    together: Together, x: "AnyTable", y: Table, by_place: bool
) -> tuple[Together, frozenset[int]]:
    """Columns of a series that repeat themselves, or that follow the place in the groups.

    The place matters to tests of estimates and of pairs, which replace rows of a group by those at
    the same place of another. Of a target that follows it nothing would change, so its rows have
    other places. ``by_place``: whether columns are tested so, and not only pairs.
    """
    if together.groups is None:
        return together, _calendars(x) if together.in_order else frozenset()
    n = y.n_samples
    if (predicted_by_place(y.values, together, n) >= _MATCHED).all():
        if by_place:
            warn(
                f"{y.label(0) if y.n_columns == 1 else 'y'} has the same values in the same order "
                "in the groups, as in matched pairs. The rows of each group are exchanged in "
                "random order, so that they can be compared. Where groups differ much, subtract "
                "each group's mean from columns of numbers first."
            )
        return replace(together, places=np.arange(n)), frozenset()
    if not by_place:
        return together, frozenset()
    found, by_order = list[int](), set[int]()
    for first, values in _blocks(x):
        some = np.flatnonzero(predicted_by_place(values, together) >= _ORDERED)
        predicted = predicted_by_place(values[some], together, n)
        found += (first + some).tolist()
        by_order |= {*(first + some[predicted >= _MATCHED]).tolist()}
    if not found:
        return together, frozenset()
    names = ", ".join(shown(x.names[j]) for j in found[:3])
    more = f" and {len(found) - 3} other columns" if len(found) > 3 else ""
    warn(
        f"{names}{more}: the same values in the same order in most groups. With groups, a "
        "test replaces each row by that at the same place of another group, where these columns "
        "hardly differ. So it cannot say what they tell, and what others tell is tested "
        "given the place. To ask, shuffle the rows of X, y and groups (together): then all that "
        "takes the same course in every group counts as related. If you ask about these groups "
        "only, and not about others of their kind, do without groups and keep the column that "
        "names them in X, as a category."
    )
    return together, frozenset(by_order)


def _blocks(x: "AnyTable") -> Iterator[tuple[int, FloatArray]]:
    """The values of all columns, a column in a row, with the number of the first of a block."""
    if isinstance(x, Table):
        yield 0, x.values
        return
    size = max(1, _BLOCK // x.n_samples)
    for first in range(0, x.n_columns, size):
        yield first, x.read(np.arange(first, min(first + size, x.n_columns))).values


def _calendars(x: "AnyTable") -> frozenset[int]:
    """Columns of a series that repeat themselves."""
    found = {
        first + i: period
        for first, values in _blocks(x)
        for i, column in enumerate(values)
        if (period := period_of(column))
    }
    if found:
        j = min(found)
        more = f" So do {len(found) - 1} other columns." if len(found) > 1 else ""
        warn(
            f"{x.label(j)} repeats itself every {found[j]} rows, as a calendar does.{more} Moved "
            "in a circle it is the same again, so that no test can tell it from chance. To ask "
            "what matters beyond the season, subtract the season's means from the target first: "
            "y - y.groupby(season).transform('mean')."
        )
    return frozenset(found)
