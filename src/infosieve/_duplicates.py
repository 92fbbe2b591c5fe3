"""Columns that say the same: equal, shifted, scaled or negated."""

from functools import lru_cache
from typing import Any

import numpy as np

from infosieve._types import Columns, ColumnSet, FloatArray, IntArray

# Columns that differ by less than this part of their size everywhere are the same.
SAME = 1e-6
# Columns that are compared at once.
_BLOCK = 64


def find_duplicates(x: ColumnSet) -> dict[int, tuple[int, ...]]:
    """For the first of each group of equal columns, the others.

    Prepared columns of a group are equal, or opposite, up to a shift and rounding (columns
    that keep their scale are not equal to scaled copies: they do not measure the same). All
    are projected on one direction; only those that nearly meet there are compared.
    """
    shadows, spans = shadows_of(x) if isinstance(x, Columns) else x.shadows  # type: ignore[attr-defined]
    groups: dict[int, list[int]] = {}
    for kind in (False, True):
        columns = np.flatnonzero((x.categorical == kind) & ~x.constant)
        order = columns[np.argsort(shadows[columns], kind="stable")]
        near = SAME * np.sqrt(x.n_samples) * spans[order]
        apart = np.diff(shadows[order]) > np.maximum(near[1:], near[:-1])
        for run in np.split(order, np.flatnonzero(apart) + 1):
            if run.size > 1:
                groups |= _groups(x, np.sort(run))
    return {first: tuple(others) for first, others in sorted(groups.items())}


def shadows_of(columns: Columns) -> tuple[FloatArray, FloatArray]:
    """Where each column falls on one direction, whatever its shift and sign; and its span.

    The sums are those of each column, whichever columns stand beside it.
    """
    shadows = np.empty(columns.n_columns)
    for j, row in enumerate(columns.values):
        shadows[j] = abs(float((row * _direction(row.size)).sum()))
    return shadows, np.ptp(columns.values, axis=1)


@lru_cache(maxsize=4)
def _direction(n: int) -> FloatArray:
    direction = np.random.Generator(np.random.Philox(key=n)).normal(size=n) / np.sqrt(n)
    return np.asarray(direction - direction.mean())


def _groups(x: ColumnSet, run: IntArray) -> dict[int, list[int]]:
    """The columns of a run, compared with the first of each group."""
    groups: dict[int, list[int]] = {}
    firsts: dict[int, Any] = {}
    for start in range(0, run.size, _BLOCK):
        block = run[start : start + _BLOCK]
        for j, values in zip(block.tolist(), x.take(block, with_order=False).values, strict=True):
            same = next((f for f, known in firsts.items() if _same(known, values)), None)
            if same is None:
                firsts[j] = values
            else:
                groups.setdefault(same, []).append(j)
    return groups


def _same(a: FloatArray, b: FloatArray) -> bool:
    """Whether two columns differ by a shift and a sign only."""
    a, b = a - a.mean(), b - b.mean()
    limit = SAME * float(np.abs(a).max())
    return bool(min(np.abs(a - b).max(), np.abs(a + b).max()) < limit)
