"""Columns that say the same: equal, shifted, scaled or negated."""

from functools import lru_cache
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from infosieve._types import Columns, ColumnSet, FloatArray, IntArray

# Columns that differ by less than this part of their size everywhere are the same.
SAME = 1e-6
# Columns that are compared at once.
_BLOCK = 64
# Directions that columns are projected on; how many neighbours on the first are looked at; how
# many that meet on all are enough to know that a column has company.
_AXES, _MEET, _ENOUGH = 3, 4096, 2


def find_duplicates(x: ColumnSet) -> dict[int, tuple[int, ...]]:
    """For the first of each group of equal columns, the others.

    Prepared columns of a group are equal, or opposite, up to a shift and rounding (columns
    that keep their scale are not equal to scaled copies: they do not measure the same). All
    are projected on a few directions; only those that nearly meet on all are compared.
    """
    shadows, spans = shadows_of(x) if isinstance(x, Columns) else x.shadows  # type: ignore[attr-defined]
    groups: dict[int, list[int]] = {}
    for kind in (False, True):
        columns = np.flatnonzero((x.categorical == kind) & ~x.constant)
        for near in _meeting(shadows[:, columns], spans[columns], x.n_samples):
            groups |= _groups(x, columns[near])
    return {first: tuple(others) for first, others in sorted(groups.items())}


def _meeting(shadows: FloatArray, spans: FloatArray, n_samples: int) -> list[IntArray]:
    """Columns that nearly meet, directly or through others, in rising order."""
    order = np.argsort(shadows[0], kind="stable")
    at, spans = shadows[:, order], spans[order]
    near = SAME * np.sqrt(n_samples) * spans
    m = order.size
    met = np.zeros(m, np.int64)
    pairs: list[IntArray] = []
    earlier = np.arange(m)
    for offset in range(1, min(m, _MEET)):  # wide enough for any but copies, which meet early
        earlier = earlier[earlier + offset < m]
        later = earlier + offset
        width = np.maximum(near[earlier], near[later])
        inside = at[0, later] - at[0, earlier] <= width
        same = inside & (met[later] < _ENOUGH)
        same &= np.abs(spans[later] - spans[earlier]) <= 4 * SAME * spans[later]
        for axis in range(1, len(at)):
            same &= np.abs(at[axis, later] - at[axis, earlier]) <= width
        met[later[same]] += 1
        pairs.append(np.stack([earlier[same], later[same]]))
        earlier = earlier[inside]
        if earlier.size == 0:
            break
    if not pairs:
        return []
    a, b = np.concatenate(pairs, axis=1)
    graph = coo_array((np.ones(a.size, bool), (a, b)), shape=(m, m))
    label = connected_components(graph, directed=False)[1]
    members = np.flatnonzero(np.bincount(label)[label] > 1)
    members = members[np.argsort(label[members], kind="stable")]
    edges = np.flatnonzero(np.diff(label[members])) + 1
    return [np.sort(order[part]) for part in np.split(members, edges)] if members.size else []


def shadows_of(columns: Columns) -> tuple[FloatArray, FloatArray]:
    """Where each column falls on a few directions, whatever its shift and sign; and its span.

    The sums are those of each column, whichever columns stand beside it.
    """
    directions = _directions(columns.n_samples)
    shadows = np.empty((len(directions), columns.n_columns))
    for j, row in enumerate(columns.values):
        for axis, direction in enumerate(directions):
            shadows[axis, j] = abs(float((row * direction).sum()))
    return shadows, np.ptp(columns.values, axis=1)


@lru_cache(maxsize=4)
def _directions(n: int) -> FloatArray:
    directions = np.random.Generator(np.random.Philox(key=n)).normal(size=(_AXES, n)) / np.sqrt(n)
    return np.asarray(directions - directions.mean(axis=1, keepdims=True))


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
