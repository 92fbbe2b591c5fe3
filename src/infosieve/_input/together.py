"""Rows that belong together: groups, such as several rows of one patient, and series."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from infosieve._core.messages import shown
from infosieve._core.parameters import is_flag, is_int
from infosieve._core.types import BoolArray, FloatArray, IntArray, WritableArrays
from infosieve._input.checked import same_labels_in_another_order

# A part of a series has at least so many rows if its window is given (if not: layout.py).
_ROWS = 10
# Rows that most columns show in that they do not follow the order within groups.
_LOOK = 64


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
    mixed : bool
        Whether the rows of each group are taken in random order: else in the order of the table.
    """

    groups: IntArray | None = None
    in_order: bool = False
    window: int | None = None
    mixed: bool = False

    def of_rows(self, rows: IntArray) -> "Together":
        """The same of some of the rows."""
        if self.groups is None or rows.size == self.groups.size:
            return self
        groups = np.unique(self.groups[rows], return_inverse=True)[1]
        if groups.max(initial=0) == 0:
            raise ValueError(
                "The 'groups' parameter has a single group among the samples that are used: "
                "nothing can be estimated."
            )
        return Together(groups)


INDEPENDENT = Together()


def together_of(groups: Any, series: Any, n_samples: int, index: Any = None) -> Together:
    """What users say of rows that belong together, checked; ``index`` is that of X, or None."""
    if not (is_flag(series) or (is_int(series) and series >= 1)):
        raise ValueError(
            "The 'series' parameter must be False, True (rows are in order of time), or how many "
            f"neighbouring rows belong together, at least 1. Got {series!r} instead."
        )
    if groups is None:
        if series is False:
            return INDEPENDENT
        if not is_flag(series) and _ROWS * series > n_samples:
            raise ValueError(
                f"The 'series' parameter says that {series} neighbouring rows belong together: of "
                f"{n_samples} samples, fewer than {_ROWS} are so far apart. Pass "
                f"{max(1, n_samples // _ROWS)} or less, or True."
            )
        return Together(in_order=True, window=None if is_flag(series) else int(series))
    if series:
        raise ValueError(
            "The 'series' parameter is for rows in order of time, 'groups' for rows of several "
            "individuals: pass one of them. Series of several individuals are groups."
        )
    if same_labels_in_another_order(index, getattr(groups, "index", None)):
        raise ValueError(
            "X and groups have the same index labels in another order: the samples would be mixed "
            "up. Pass groups.loc[X.index], or drop the indexes if they mean nothing (reset_index)."
        )
    return Together(_codes(groups, n_samples))


def _codes(groups: Any, n_samples: int) -> IntArray:
    if isinstance(groups, np.ma.MaskedArray):
        missing, groups = np.ma.getmaskarray(groups), groups.data.astype(object)
        groups[missing] = None
    array = np.asarray(groups, object)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(
            "The 'groups' parameter must be one column, a label for each sample. Got "
            f"{'a text' if isinstance(groups, str) else f'the shape {array.shape}'} instead."
        )
    labels = pd.Series(array)
    if labels.size != n_samples:
        raise ValueError(
            f"The 'groups' parameter has {labels.size} labels for {n_samples} samples. Pass "
            "one for each row of X."
        )
    codes, levels = pd.factorize(labels, use_na_sentinel=True)
    if (codes < 0).any():
        row = int(np.argmax(codes < 0))
        raise ValueError(
            f"The 'groups' parameter has no label in row {row} ({(codes < 0).sum()} of {n_samples} "
            "are missing). Give each of these rows a group of its own, or leave them out."
        )
    if len(levels) == 1:
        raise ValueError(
            f"The 'groups' parameter has a single group, {shown(levels[0])}: rows of one group are "
            "not compared with each other, so nothing can be estimated. Leave 'groups' out if the "
            "rows are independent; if they are in order of time, pass series=True."
        )
    return np.asarray(codes, np.int64)


def follows_place(values: FloatArray, groups: IntArray) -> IntArray:
    """Which columns have the same values in the same order in every group.

    ``values`` has a column in a row.
    """
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    place = np.arange(groups.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    expected = order[groups[order] == sizes.argmax()][place]  # the longest group has all places
    some = np.linspace(0, order.size - 1, _LOOK).astype(np.int64)  # where most columns differ
    found = np.flatnonzero(_same(values[:, order[some]], values[:, expected[some]]))
    kept = [
        j
        for j, row in zip(found.tolist(), values[found], strict=True)
        if _same(row[order], row[expected]) and not _same(row, row[:1])
    ]
    return np.array(kept, np.int64)


def _same(one: FloatArray, other: FloatArray) -> BoolArray:
    """Whether values are the same, gaps and all, in each row."""
    return np.asarray(((one == other) | (np.isnan(one) & np.isnan(other))).all(axis=-1))
