"""Columns that say the same: equal, shifted, scaled or negated."""

import numpy as np

from infosieve._types import Columns, FloatArray

# Columns that differ by less than this part of their size everywhere are the same.
SAME = 1e-6


def find_duplicates(x: Columns) -> dict[int, tuple[int, ...]]:
    """For the first of each group of equal columns, the others.

    Prepared columns of a group are equal, or opposite, up to a shift and rounding (columns
    that keep their scale are not equal to scaled copies: they do not measure the same). All
    are projected on one direction; only those that nearly meet there are compared.
    """
    groups: dict[int, tuple[int, ...]] = {}
    for kind in (False, True):
        columns = np.flatnonzero((x.categorical == kind) & ~x.constant)
        if columns.size > 1:
            groups |= {
                int(columns[first]): tuple(int(columns[j]) for j in others)
                for first, others in _groups(x.values[columns]).items()
            }
    return dict(sorted(groups.items()))


def _groups(values: FloatArray) -> dict[int, list[int]]:
    n = values.shape[1]
    direction = np.random.Generator(np.random.Philox(key=n)).normal(size=n) / np.sqrt(n)
    shadow = np.abs(values @ (direction - direction.mean()))  # a shift changes nothing
    order = np.argsort(shadow, kind="stable")
    near = SAME * np.sqrt(n) * np.ptp(values, axis=1)[order]
    apart = np.diff(shadow[order]) > np.maximum(near[1:], near[:-1])
    groups: dict[int, list[int]] = {}
    for run in np.split(order, np.flatnonzero(apart) + 1):
        firsts: list[int] = []
        for j in sorted(run.tolist()) if run.size > 1 else []:
            same = next((f for f in firsts if _same(values[f], values[j])), None)
            if same is None:
                firsts.append(j)
            else:
                groups.setdefault(same, []).append(j)
    return groups


def _same(a: FloatArray, b: FloatArray) -> bool:
    """Whether two columns differ by a shift and a sign only."""
    a, b = a - a.mean(), b - b.mean()
    limit = SAME * float(np.abs(a).max())
    return bool(min(np.abs(a - b).max(), np.abs(a + b).max()) < limit)
