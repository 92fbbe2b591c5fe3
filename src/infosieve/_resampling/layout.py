"""Which sample stands where: parts that are estimated on their own, groups and series in them.

An estimate counts neighbours, so rows that belong together must not meet in one. They are dealt to
parts, whose estimates are averaged: of a group each part has one row, which one is random; a part
of a series skips as many rows as belong together.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from infosieve._core.types import Columns, IntArray, WritableArrays
from infosieve._input.problem import Prepared
from infosieve._input.series import bridged
from infosieve._input.together import Together
from infosieve._resampling.random_bits import random_order, random_words
from infosieve._resampling.subsamples import part_size, parts_of

# Rows of a part of a series, at least, where its window is found in the data.
_LEAST = 100
# The share of grouped rows that have a place, and parts at most: more take longer and hardly help.
_USED, _MOST_SLOTS = 0.9, 100
# Groups of like size are exchanged: how many of them there are at least.
_ALIKE = 5


@dataclass(frozen=True, kw_only=True)
class Layout(WritableArrays):
    """Samples by parts.

    Attributes
    ----------
    rows : ndarray or None
        The sample that stands at each place; None: all where they were.
    edges : ndarray or None
        Where parts begin and end; None: all are one.
    by_place : ndarray of shape (n_slots, n_groups) or None
        Of grouped rows: place s * n_groups + g has a row of group g. Groups with fewer rows than
        slots have rows several times, never twice in a part. Here are the slots of each group in
        the order in which its rows were passed: that is how groups are exchanged.
    sizes : ndarray of shape (n_groups,) or None
        How many rows each group has.
    time : ndarray or None
        The places in order of time, for a series.
    window : int
        How many rows of a series a part goes on by.
    """

    rows: IntArray | None = None
    edges: IntArray | None = None
    by_place: IntArray | None = None
    sizes: IntArray | None = None
    time: IntArray | None = None
    window: int = 1

    @property
    def slots(self) -> tuple[int, int] | None:
        """How many slots and groups there are."""
        return None if self.by_place is None else (len(self.by_place), self.by_place.shape[1])

    @cached_property
    def once(self) -> tuple[IntArray, IntArray]:
        """A place of each grouped row that has one, group by group, and where groups begin."""
        assert self.rows is not None
        assert self.slots is not None
        places, n_groups = np.unique(self.rows, return_index=True)[1], self.slots[1]
        groups = places % n_groups
        order = np.argsort(groups, kind="stable")
        return places[order], np.searchsorted(groups[order], np.arange(n_groups))

    @property
    def n_parts(self) -> int:
        return 1 if self.edges is None else self.edges.size - 1

    @property
    def dependent(self) -> bool:
        """Whether rows belong together."""
        return self.slots is not None or self.time is not None

    def n_together(self, n_samples: int) -> int:
        """How many samples have neighbours among each other: those of the smallest part."""
        return n_samples if self.edges is None else int(np.diff(self.edges).min())

    def n_used(self, n_samples: int) -> int:
        """How many of the samples stand somewhere."""
        return n_samples if self.rows is None else int(np.unique(self.rows).size)


def laid_out(columns: Prepared, max_samples: Any) -> tuple[Prepared, Layout]:
    """Columns whose samples stand by parts."""
    n, together = columns.target.n_samples, columns.together
    if together.groups is not None:
        layout = _by_groups(together, part_size(max_samples, n))
    elif together.in_order:
        layout = _by_time(columns.target, together, part_size(max_samples, n))
    else:
        parts = parts_of(max_samples, columns.target)
        layout = Layout() if parts is None else Layout(rows=parts[0], edges=parts[1])
    if layout.rows is None:
        return columns, layout
    x, target, given = (c.rows(layout.rows) for c in (columns.x, columns.target, columns.given))
    moved = replace(columns, x=x, target=target, given=given, together=together)
    return moved, layout


def _by_groups(together: Together, size: int | None) -> Layout:
    """Slots in which each row of a group meets others of the other groups: who meets is random.

    Of large tables, parts of some of the groups.
    """
    groups, places = together.groups, together.places
    assert groups is not None
    assert places is not None
    n_groups, sizes = int(groups.max()) + 1, np.bincount(groups)
    n_slots = _n_slots(sizes)
    first, turn = np.cumsum(sizes) - sizes, random_order((0, "groups", 0), n_groups)
    evenly = (2 * np.arange(n_slots)[:, None] + 1) * sizes // (2 * n_slots) + first
    words = random_words((0, "slots", 0), 0, n_groups, n_slots)
    evenly = np.take_along_axis(evenly, np.argsort(words, axis=1).T, axis=0)
    rows = np.argsort(groups, kind="stable")[evenly[:, turn]]
    n_pieces = 1 if size is None else max(1, n_groups // size)
    ends = n_groups * np.arange(1, n_pieces + 1) // n_pieces
    edges = np.r_[0, (np.arange(n_slots)[:, None] * n_groups + ends).ravel()]
    return Layout(
        rows=rows.ravel(),
        edges=edges if edges.size > 2 else None,
        by_place=np.argsort(places[rows], axis=0, kind="stable"),
        sizes=sizes[turn],
    )


def _n_slots(sizes: IntArray) -> int:
    """So many that nearly all rows stand in one, also of groups that are larger than others."""
    used = np.cumsum([np.sum(sizes > size) for size in range(min(int(sizes.max()), _MOST_SLOTS))])
    return 1 + int(np.searchsorted(used, min(_USED * sizes.sum(), used[-1])))


def alike(sizes: IntArray, strata: IntArray | None = None) -> IntArray:
    """A number for each group: those of one number have about as many rows, in each stratum.

    Rows of a small group are in several slots, each with its target. If a large group received
    them, they would stand beside many targets, and permuted columns would vary less than observed
    ones do.
    """
    labels = np.zeros(sizes.size, np.int64)
    if strata is not None:
        for stratum in range(int(strata.max()) + 1):
            here = np.flatnonzero(strata == stratum)
            labels[here] = labels.max() + 1 + alike(sizes[here])
        return np.unique(labels, return_inverse=True)[1]
    order: IntArray = np.argsort(sizes, kind="stable")
    label, first = 0, 0
    for at in range(1, sizes.size):
        larger = sizes[order[at]] > sizes[order[at - 1]]
        if larger and at - first >= _ALIKE and sizes.size - at >= _ALIKE:
            label, first = label + 1, at
        labels[order[at]] = label
    return labels


def _by_time(target: Columns, together: Together, size: int | None) -> Layout:
    """Parts of every k-th row; k is at least the number of rows that belong together."""
    n = target.n_samples
    window = together.window
    if window is None:
        window = max(1, min(max(memory(row) for row in target.values), n // _LEAST))
    n_parts = window if size is None else max(window, n // size)
    rows = np.concatenate([np.arange(part, n, n_parts) for part in range(n_parts)])
    sizes = [-(-(n - part) // n_parts) for part in range(n_parts)]
    edges = np.concatenate([[0], np.cumsum(sizes)])
    time = np.empty(n, np.int64)
    time[rows] = np.arange(n)
    return Layout(
        rows=rows if n_parts > 1 else None,
        edges=edges if n_parts > 1 else None,
        time=time,
        window=window,
    )


def memory(values: Any) -> int:
    """The time in which the correlation of a column with itself falls to 1 / e, roughly."""
    row = bridged(values)
    spread = float(np.ptp(row))
    if spread <= 0.0:
        return 1
    row = row / spread
    row = row - row.mean()
    correlation = float(row[1:] @ row[:-1]) / float(row @ row)
    return 1 if correlation <= np.exp(-1) else int(np.ceil(-1 / np.log(correlation)))
