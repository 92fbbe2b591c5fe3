"""Rows that belong together: groups, such as several rows of one patient, and series."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from infosieve._core.dialect import either, mention, parameter, row, setting
from infosieve._core.messages import shown
from infosieve._core.rules import is_flag, is_int
from infosieve._core.types import FloatArray, IntArray, WritableArrays
from infosieve._input.checked import same_labels_in_another_order
from infosieve._input.kinds import read_columns
from infosieve._sources import in_memory

# A part of a series has at least so many rows if its window is given (if not: layout.py).
_ROWS = 10
# Columns that follow the order within groups are the same in so many of the samples, or more.
_ALIKE = 0.3
# A column that repeats itself does so from its first values on.
_HEAD = 16


@dataclass(frozen=True)
class Together(WritableArrays):
    """Which rows belong together.

    Attributes
    ----------
    groups : ndarray of shape (n_samples,) or None
        The number of each sample's group: 0, 1, ...
    in_order : bool
        Whether the rows are in order of time.
    window : int or None
        Of a series: rows that are closer are not each other's neighbours; None: by the data.
    places : ndarray of shape (n_samples,) or None
        Of grouped rows, what sorts those of a group as they were passed.
    """

    groups: IntArray | None = None
    in_order: bool = False
    window: int | None = None
    places: IntArray | None = None

    @property
    def by_group(self) -> IntArray:
        """What sorts the samples by group, and those of a group by place."""
        assert self.groups is not None
        assert self.places is not None
        return np.lexsort((self.places, self.groups))

    def of_rows(self, rows: IntArray) -> "Together":
        """The same of some of the rows, in this order; groups are numbered as they appear."""
        if self.groups is None:
            return self
        assert self.places is not None
        groups, places = pd.factorize(self.groups[rows])[0], self.places[rows]
        if groups.max(initial=0) == 0:
            raise ValueError(
                f"{parameter('groups')} has a single group among the samples that are used: "
                "nothing can be estimated."
            )
        return Together(groups, places=places)


INDEPENDENT = Together()


def together_of(groups: Any, series: Any, n_samples: int, index: Any = None) -> Together:
    """What users say of rows that belong together, checked; ``index`` is that of X, or None."""
    if not (is_flag(series) or (is_int(series) and series >= 1)):
        raise ValueError(
            f"{parameter('series')} must be False, True (rows are in order of time), or how many "
            f"neighbouring rows belong together, at least 1. Got {series!r} instead."
        )
    if groups is None:
        if series is False:
            return INDEPENDENT
        if not is_flag(series) and _ROWS * series > n_samples:
            most = max(1, n_samples // _ROWS)
            way = either(f"Pass {most} or less, or True", f"Give {most} or less to --series-window")
            raise ValueError(
                f"{parameter('series')} says that {series} neighbouring rows belong together: of "
                f"{n_samples} samples, fewer than {_ROWS} are so far apart. {way}."
            )
        return Together(in_order=True, window=None if is_flag(series) else int(series))
    if series:
        raise ValueError(
            f"{parameter('series')} is for rows in order of time, {mention('groups')} for rows "
            "of several individuals: pass one of them. Series of several individuals are groups."
        )
    if same_labels_in_another_order(index, getattr(groups, "index", None)):
        raise ValueError(
            "X and groups have the same index labels in another order: the samples would be mixed "
            "up. Pass groups.loc[X.index], or drop the indexes if they mean nothing (reset_index)."
        )
    return Together(_codes(groups, n_samples), places=np.arange(n_samples))


def _codes(groups: Any, n_samples: int) -> IntArray:
    if isinstance(groups, str):
        raise ValueError(
            f"{parameter('groups')} must be one column, a label for each sample. Got a text: pass "
            f"the column itself, such as table[{shown(groups)}], and leave it out of X."
        )
    columns = read_columns(in_memory(groups, "groups"), "groups")[0]
    if len(columns) != 1:
        raise ValueError(
            f"{parameter('groups')} must be one column, a label for each sample. Got "
            f"{len(columns)} columns instead."
        )
    labels = pd.Series(np.asarray(columns[0], object))
    if labels.size != n_samples:
        raise ValueError(
            f"{parameter('groups')} has {labels.size} labels for {n_samples} samples. "
            f"{either('Pass one for each row of X', 'Each row needs one')}."
        )
    codes, levels = pd.factorize(labels, use_na_sentinel=True)
    if (codes < 0).any():
        at = int(np.argmax(codes < 0))
        raise ValueError(
            f"{parameter('groups')} has no label in {row(at)} ({(codes < 0).sum()} of {n_samples} "
            "are missing). Give each of these rows a group of its own, or leave them out."
        )
    if len(levels) == 1:
        raise ValueError(
            f"{parameter('groups')} has a single group, {shown(levels[0])}: rows of one group are "
            "not compared with each other, so nothing can be estimated. Leave "
            f"{mention('groups')} out if the rows are independent; if they are in order of time, "
            f"pass {setting('series', True)}."
        )
    return np.asarray(codes, np.int64)


def period_of(column: FloatArray) -> int | None:
    """After how many rows a column of a series repeats itself, throughout; None where it does not.

    A calendar does. It is seen three times at least.
    """
    x = np.where(np.isnan(column), np.inf, column)
    head = x[: min(_HEAD, x.size // 3)]
    if head.size < 2 or (x == x[0]).all():
        return None
    windows = np.lib.stride_tricks.sliding_window_view(x[: x.size // 3 + head.size], head.size)
    for period in (1 + np.flatnonzero((windows[1:] == head).all(axis=1))).tolist():
        if (x[period:] == x[:-period]).all():
            return int(period)
    return None


def predicted_by_place(values: FloatArray, together: Together, most: int = 12) -> FloatArray:
    """How well the place within a group predicts each column: 0, or up to 1.

    Of the samples that the most frequent value does not predict, the share that the most frequent
    value of each place predicts (Goodman and Kruskal's lambda). ``values`` has a column in a row.
    Up to ``most`` groups are looked at, and of places those that half of them have.
    """
    assert together.groups is not None
    sizes, order = np.bincount(together.groups), together.by_group
    first = np.cumsum(sizes) - sizes
    looked = np.linspace(0, sizes.size - 1, min(most, sizes.size)).astype(np.int64)
    n_places = int(np.median(sizes[looked]))
    rows = [order[first[g] : first[g] + min(sizes[g], n_places)] for g in looked]
    place = np.concatenate([np.arange(len(some)) for some in rows])
    longest, taken = max(rows, key=len), np.concatenate(rows)
    one, other = values[:, taken], values[:, longest[place]]
    alike = ((one == other) | (np.isnan(one) & np.isnan(other))).mean(axis=1)
    predicted = np.zeros(len(values))
    for j in np.flatnonzero(alike > _ALIKE):
        codes, levels = pd.factorize(one[j], use_na_sentinel=False)
        counts = np.bincount(place * len(levels) + codes, minlength=n_places * len(levels))
        counts = counts.reshape(n_places, -1)
        best = counts.sum(axis=0).max()
        if best < taken.size:
            predicted[j] = (counts.max(axis=1).sum() - best) / (taken.size - best)
    return predicted
