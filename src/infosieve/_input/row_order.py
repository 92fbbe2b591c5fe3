"""One order of the rows, whatever order they are passed in, so that no result depends on theirs.

Random numbers belong to places: a permutation says which place receives the value of which. So the
door brings rows to an order that follows from what they hold. Rows in order of time keep theirs.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from infosieve._core.types import FloatArray, IntArray
from infosieve._input.checked import Table

Marks: TypeAlias = NDArray[np.uint64]
Marking: TypeAlias = Callable[[Marks], Marks]


def row_order(n_samples: int, parts: Sequence[Marking], groups: IntArray | None) -> IntArray:
    """What sorts the rows; each of the parts is asked only if those before leave rows equal.

    All are asked twice: columns of two values, as often each, differ by the rows that they mark.
    Rows of different groups differ if their groups do.
    """
    marks, order = np.zeros(n_samples, np.uint64), np.arange(n_samples)
    for part in (*parts, *parts):
        marks = _mixed(marks + part(marks))
        order = np.argsort(marks, kind="stable")
        if (np.diff(marks[order]) > 0).all():
            break
    if groups is None:
        return order
    together = np.zeros(int(groups.max()) + 1, np.uint64)
    np.add.at(together, groups, marks)
    return np.argsort(_mixed(marks + _mixed(together)[groups]), kind="stable")


def marks_of_numbers(table: Table, known: Marks) -> Marks:
    """A number for each row, from the ranks of its numbers and one that is known of it.

    Order, unit and sign of the columns do not matter.
    """
    marks = np.zeros(known.size, np.uint64)
    for j in np.flatnonzero(~table.categorical).tolist():
        marks += _marks(_ranks(table.values[j], known), known)
    return marks


def marks_of_categories(table: Table, known: Marks) -> Marks:
    """The same, from its categories; the order of columns and names of levels do not matter."""
    marks = np.zeros(known.size, np.uint64)
    for j in np.flatnonzero(table.categorical).tolist():
        levels = np.unique(table.values[j], return_inverse=True)[1]
        members = np.zeros(int(levels.max()) + 1, np.uint64)
        np.add.at(members, levels, _mixed(known))
        marks += _marks(members[levels], known)
    return marks


def _ranks(values: FloatArray, known: Marks) -> Marks:
    """Ranks of distinct values, from that end which the known numbers say; gaps are last.

    The sum that decides wraps around, so that it has the opposite sign for the negative column.
    Where nothing is known, as of a target without ties, the values themselves decide.
    """
    distinct, ranks = np.unique(values, return_inverse=True)
    n = distinct.size - int(np.isnan(distinct[-1:]).any())
    from_middle = np.where(ranks < n, 2 * ranks - (n - 1), 0)
    side = (_mixed(known).view(np.int64) * from_middle).sum()
    if side == 0:
        low, high = distinct[:n] - distinct[:1], (distinct[n - 1 : n] - distinct[:n])[::-1]
        side = np.sign(low - high).sum()
    up = -from_middle if side < 0 else from_middle
    return np.where(ranks < n, up, n).astype(np.int64).view(np.uint64)


def _marks(words: Marks, known: Marks) -> Marks:
    """Those of a column, mixed with what all of them are together."""
    column = _mixed(_mixed(words) ^ known).sum()
    return _mixed(words ^ column)


def _mixed(words: Marks) -> Marks:
    """Each bit depends on all bits (the last steps of splitmix64)."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
