"""One order of the rows, whatever order they are passed in, so that no result depends on theirs.

Random numbers belong to places: a permutation says which place receives the value of which. So the
door brings rows to an order that follows from what they hold. Rows in order of time keep theirs.
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from infosieve._core.types import FloatArray, IntArray
from infosieve._input.checked import Table

Marks: TypeAlias = NDArray[np.uint64]
Marking: TypeAlias = Callable[[Marks], Marks]

# Values that are looked at together.
_BLOCK = 1 << 18


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
    """A number for each row, from its numbers and one that is known of it.

    Order, unit and sign of the columns do not matter.
    """
    values = table.values[~table.categorical]
    marks, size = np.zeros(known.size, np.uint64), max(1, _BLOCK // max(1, known.size))
    for at in range(0, len(values), size):
        marks += _marks(_in_range(values[at : at + size]).view(np.uint64), known)
    return marks


def marks_of_categories(table: Table, known: Marks) -> Marks:
    """The same, from its categories; the order of columns does not matter, names of levels do."""
    marks = np.zeros(known.size, np.uint64)
    for j in np.flatnonzero(table.categorical).tolist():
        names = [_digest(level) for level in table.levels[j]]
        codes = np.where(np.isnan(table.values[j]), len(names), table.values[j]).astype(np.int64)
        marks += _marks(np.array([*names, 0], np.uint64)[codes][None], known)
    return marks


def _in_range(values: FloatArray) -> FloatArray:
    """Columns brought to the range from 0 to 1, with most of the values below the middle."""
    low, high = (f.reduce(values, axis=1)[:, None] for f in (np.fmin, np.fmax))
    with np.errstate(over="ignore", invalid="ignore"):
        width = np.where(high > low, high - low, 1.0)
        up, down = (values - low) / width, (high - values) / width
    turned = (up > down).sum(axis=1) > (up < down).sum(axis=1)
    out = np.where(turned[:, None], down, up)
    out[np.isnan(out)] = 2.0
    return np.asarray(out)


def _marks(words: Marks, known: Marks) -> Marks:
    """A column in a row: each mixed with what all its words are together, then added up."""
    columns = _mixed(_mixed(words) ^ known).sum(axis=1)
    return np.asarray(_mixed(words ^ columns[:, None]).sum(axis=0), np.uint64)


def _mixed(words: Marks) -> Marks:
    """Each bit depends on all bits (the last steps of splitmix64)."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _digest(level: Any) -> int:
    return int.from_bytes(hashlib.blake2b(str(level).encode(), digest_size=8).digest(), "little")
