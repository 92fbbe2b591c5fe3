"""Which sample stands where: parts that are estimated on their own, groups and series in them.

An estimate counts neighbours, so rows that belong together must not meet in one. They are dealt to
parts, whose estimates are averaged: of a group each part has one row, of a series every so manieth.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from infosieve._core.types import Columns, IntArray, WritableArrays
from infosieve._input.problem import Prepared
from infosieve._input.series import bridged
from infosieve._input.together import Together
from infosieve._resampling.parts import part_size, parts_of
from infosieve._resampling.words import random_order

# A part of a series has at least so many rows where its window is found in the data.
_LEAST = 100
# Parts of grouped rows, at most; more of them take longer, and tell less and less more.
_MOST_SLOTS = 100
# Groups of like size are exchanged: at least so many are alike.
_ALIKE = 10


@dataclass(frozen=True, kw_only=True)
class Layout(WritableArrays):
    """Samples by parts.

    Attributes
    ----------
    rows : ndarray or None
        The sample that stands at each place; None: all where they were.
    edges : ndarray or None
        Where parts begin and end; None: all are one.
    slots : tuple of int or None
        Of grouped rows (n_slots, n_groups): place s * n_groups + g has a row of group g. Groups
        with fewer rows than slots have rows several times, never twice in a part.
    alike : ndarray or None
        A number for each group: those of one number have about as many rows, and are exchanged.
    time : ndarray or None
        The places in order of time, for a series.
    window : int
        How many rows of a series a part goes on by.
    """

    rows: IntArray | None = None
    edges: IntArray | None = None
    slots: tuple[int, int] | None = None
    alike: IntArray | None = None
    time: IntArray | None = None
    window: int = 1

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
        layout = _by_groups(together.groups, part_size(max_samples, n), together.mixed)
    elif together.in_order:
        layout = _by_time(columns.target, together, part_size(max_samples, n))
    else:
        parts = parts_of(max_samples, columns.target)
        layout = Layout() if parts is None else Layout(rows=parts[0], edges=parts[1])
    if layout.rows is None:
        return columns, layout
    x, target, given = (c.rows(layout.rows) for c in (columns.x, columns.target, columns.given))
    moved = Prepared(x=x, target=target, given=given, together=together, fills=columns.fills)
    return moved, layout


def _by_groups(groups: IntArray, size: int | None, mixed: bool) -> Layout:
    """As many slots as a group has rows on average; large tables: parts of some of the groups."""
    n, n_groups = groups.size, int(groups.max()) + 1
    n_slots = min(-(-n // n_groups), _MOST_SLOTS)
    order = random_order((0, "places", 0), n) if mixed else np.arange(n)
    order = order[np.argsort(groups[order], kind="stable")]
    sizes = np.bincount(groups)
    first = np.cumsum(sizes) - sizes
    # In the order of the table, evenly: what follows each other in a group may be alike.
    slots = (2 * np.arange(n_slots)[:, None] + 1) * sizes // (2 * n_slots) + first
    turn = random_order((0, "groups", 0), n_groups)  # parts of some groups are random ones
    rows = order[slots[:, turn]].ravel()
    n_pieces = 1 if size is None else max(1, n_groups // size)
    ends = n_groups * np.arange(1, n_pieces + 1) // n_pieces
    edges = np.r_[0, (np.arange(n_slots)[:, None] * n_groups + ends).ravel()]
    return Layout(
        rows=rows,
        edges=edges if edges.size > 2 else None,
        slots=(n_slots, n_groups),
        alike=_alike(sizes[turn]),
    )


def _alike(sizes: IntArray) -> IntArray:
    """Groups of like size: rows of a small group are in several slots, with the same target.

    A large group that received them would part them, and tests would take that for chance.
    """
    order = np.argsort(sizes, kind="stable")
    labels, label, first = np.zeros(sizes.size, np.int64), 0, 0
    for at in range(1, sizes.size):
        larger = sizes[order[at]] > sizes[order[at - 1]]
        if larger and at - first >= _ALIKE and sizes.size - at >= _ALIKE:
            label, first = label + 1, at
        labels[order[at]] = label
    return labels


def _by_time(target: Columns, together: Together, size: int | None) -> Layout:
    """Every so manieth row, for as many parts as rows belong together."""
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
