"""Columns by what they tell; those that tell the same go by what they hold, not by their place."""

import hashlib
from collections.abc import Sequence

import numpy as np

from infosieve._core.types import ColumnSet, FloatArray, IntArray


def best_first(
    x: ColumnSet,
    columns: Sequence[int],
    scores: FloatArray,
    then: FloatArray | None = None,
    *,
    n_best: int = 1,
) -> IntArray:
    """The places of columns by their scores, and then by others.

    Columns are read where ties begin among the ``n_best``.
    """
    keys = (-scores,) if then is None else (-then, -scores)
    order = np.lexsort(keys)
    same = np.all([key[order][1:] == key[order][:-1] for key in keys], axis=0)
    starts = np.flatnonzero(np.r_[True, ~same])
    ends = np.r_[starts[1:], order.size]
    for start, end in zip(starts, ends, strict=True):
        if start >= n_best:
            break
        if end - start > 1:
            tied = order[start:end]
            order[start:end] = tied[_by_content(x, [columns[j] for j in tied])]
    return np.asarray(order)


def _by_content(x: ColumnSet, columns: Sequence[int]) -> list[int]:
    """The places of columns in an order of their own; a column and its negative are one."""
    marks = []
    for column in columns:
        values = np.abs(x.take([column], with_order=False).values)
        marks.append(hashlib.blake2b(values.tobytes(), digest_size=16).digest())
    return sorted(range(len(columns)), key=marks.__getitem__)
