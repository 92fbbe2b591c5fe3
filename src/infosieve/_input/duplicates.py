"""Duplicated columns: equal, shifted, scaled or negated."""

from functools import lru_cache
from typing import Any

import numpy as np

from infosieve._core.types import Columns, ColumnSet, FloatArray, IntArray
from infosieve._engines.numba.columns import project_bulk

# Columns that differ by less than this part of their bulk's width are the same; far from the
# bulk, by less than this part of the distance from it.
SAME = 1e-6
# What is left out at both ends to find the bulk: the largest share that leaves different values.
_TAILS = (0.25, 0.1, 0.05, 0.01, 0.0)
# Values further from the bulk than this many widths are not told apart by projections.
_OUTSIDE = 8.0
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
    projections, widths = projections_of(x) if isinstance(x, Columns) else x.projections  # type: ignore[attr-defined]
    groups: dict[int, list[int]] = {}
    for kind in (False, True):
        columns = np.flatnonzero((x.categorical == kind) & ~x.constant)
        for near in _meeting(projections[:, columns], widths[columns], x.n_samples):
            groups |= _groups(x, columns[near], widths)
    return {first: tuple(others) for first, others in sorted(groups.items())}


def _meeting(projections: FloatArray, widths: FloatArray, n_samples: int) -> list[IntArray]:
    """Columns that nearly meet, directly or through others, in rising order."""
    order = np.argsort(projections[0], kind="stable")
    at, widths = projections[:, order], widths[order]
    near = SAME * (1 + _OUTSIDE) * np.sqrt(n_samples)
    m = order.size
    met = np.zeros(m, np.int64)
    pairs: list[IntArray] = []
    earlier = np.arange(m)
    for offset in range(1, min(m, _MEET)):  # wide enough for any but copies, which meet early
        earlier = earlier[earlier + offset < m]
        later = earlier + offset
        inside = at[0, later] - at[0, earlier] <= near
        same = inside & (met[later] < _ENOUGH)
        same &= np.abs(widths[later] - widths[earlier]) <= 4 * SAME * widths[later]
        for axis in range(1, len(at)):
            same &= np.abs(at[axis, later] - at[axis, earlier]) <= near
        met[later[same]] += 1
        pairs.append(np.stack([earlier[same], later[same]]))
        earlier = earlier[inside]
        if earlier.size == 0:
            break
    if not any(pair.size for pair in pairs):
        return []
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    a, b = np.concatenate(pairs, axis=1)
    graph = coo_array((np.ones(a.size, bool), (a, b)), shape=(m, m))
    label = connected_components(graph, directed=False)[1]
    members = np.flatnonzero(np.bincount(label)[label] > 1)
    members = members[np.argsort(label[members], kind="stable")]
    edges = np.flatnonzero(np.diff(label[members])) + 1
    return [np.sort(order[part]) for part in np.split(members, edges)] if members.size else []


def projections_of(columns: Columns) -> tuple[FloatArray, FloatArray]:
    """Where each column falls on a few directions, whatever its shift and sign; and its width.

    Values are those of the bulk, in its units: what lies far outside would hide all others. The
    sums are those of each column, whichever columns stand beside it.
    """
    missing, columns = columns.missing, columns.filled()
    directions = _directions(columns.n_samples)
    projections = np.zeros((len(directions), columns.n_columns))
    widths = np.zeros(columns.n_columns)
    order, each = columns.known_order, np.empty(len(directions))
    for j in np.flatnonzero(~columns.constant):
        row = columns.values[j]
        if missing is not None and row.min() == row.max():
            row = missing[j].astype(float)  # one value, and gaps
        ordered = np.sort(row) if order is None else row[order[j]]
        least, n_tied = 0.0, row.size - int(columns.n_distinct[j])
        if n_tied > 0:  # all but the largest steps are noise that separates equal values
            least = float(np.partition(np.diff(ordered), n_tied)[n_tied])
        widths[j] = project_bulk(ordered, row, least, _TAILS, _OUTSIDE, directions, each)
        projections[:, j] = each
    return projections, widths


@lru_cache(maxsize=4)
def _directions(n: int) -> FloatArray:
    directions = np.random.Generator(np.random.Philox(key=n)).normal(size=(_AXES, n)) / np.sqrt(n)
    return np.asarray(directions - directions.mean(axis=1, keepdims=True))


def _groups(x: ColumnSet, run: IntArray, widths: FloatArray) -> dict[int, list[int]]:
    """The columns of a run, compared with the first of each group."""
    groups: dict[int, list[int]] = {}
    firsts: dict[int, Any] = {}
    for start in range(0, run.size, _BLOCK):
        block = run[start : start + _BLOCK]
        taken = x.take(block, with_order=False)
        missing = taken.missing
        for i, (j, values) in enumerate(zip(block.tolist(), taken.filled().values, strict=True)):
            ordered = np.sort(values)
            own = values - (ordered[(ordered.size - 1) // 2] / 2 + ordered[ordered.size // 2] / 2)
            if missing is not None:
                own[missing[i]] = np.inf
            same = next((f for f, known in firsts.items() if _same(known, own, widths[f])), None)
            if same is None:
                firsts[j] = own
            else:
                groups.setdefault(same, []).append(j)
    return groups


def _same(a: FloatArray, b: FloatArray, width: float) -> bool:
    """Whether two columns, their middle at zero, are equal or opposite in every row."""
    there = np.isfinite(a)
    if not np.array_equal(there, np.isfinite(b)):  # gaps elsewhere
        return False
    a, b = a[there], b[there]
    limit = SAME * (width + np.abs(a))
    return bool((np.abs(a - b) < limit).all() or (np.abs(a + b) < limit).all())
