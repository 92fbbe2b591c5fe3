"""Agglomeration: similarities of rows, and who is most similar to whom while rows are joined.

Rows are centred and padded with zeros to a multiple of :data:`WIDTH`. Sums run in a fixed order,
so that similarities are the same bits everywhere. They are kept as scipy keeps distances, one for
each pair of m rows: (0, 1), (0, 2), ... (m - 2, m - 1). A cluster stands at the place of its
first member.

Arguments that several kernels share:

- ``rows``: float64, of shape (m, padded). Centred (but for :func:`centre`) and padded.
- ``square``: float64, of shape (m,). The product of each row with itself; 0 for a constant row.
- ``similar``: float64, of shape (m * (m - 1) / 2,). The similarity of each pair.
- ``allowed``: bool, of the same shape, or empty where all may join. Which pairs may join.
- ``sizes``: int64, of shape (m,). How many members the cluster at each place has; 0 where it has
  joined an earlier one.
- ``partner``, ``best``: int64 and float64, of shape (m,). Of each cluster, the most similar of
  the later ones that it may join, and their similarity; -1 and :data:`NEVER` where there is none.
- ``absolute``: bool. Whether the absolute value of a correlation is the similarity.
- ``i``, ``j``: int. Places of clusters.
"""

import math
from typing import Any

import numpy as np
from numba import njit

from infosieve._engines.numba.jit import kernel

WIDTH = 16
_TILE = 16
NEVER = -np.inf


@njit(inline="always")
def _fold(parts: Any) -> Any:
    """The sum of sixteen numbers, added pairwise."""
    for half in (8, 4, 2, 1):
        for i in range(half):
            parts[i] += parts[i + half]
    return parts[0]


@njit(inline="always")
def _dot(a: Any, b: Any) -> Any:
    """Sum of products in sixteen interleaved parts."""
    parts = np.zeros(WIDTH)
    for start in range(0, a.size, WIDTH):
        for i in range(WIDTH):
            parts[i] += a[start + i] * b[start + i]
    return _fold(parts)


@njit(inline="always")
def _similarity(a: Any, b: Any, square_a: Any, square_b: Any, absolute: Any) -> Any:
    """Correlation of two centred rows, or its absolute value; -1 if one of them is constant."""
    if square_a == 0.0 or square_b == 0.0:
        return -1.0
    r = _dot(a, b) / np.sqrt(square_a * square_b)
    r = min(max(r, -1.0), 1.0)
    return abs(r) if absolute else r


@njit(inline="always")
def _place(m: Any, i: Any, j: Any) -> Any:
    """Where the pair of i and j is kept."""
    first, second = min(i, j), max(i, j)
    return first * m - first * (first + 1) // 2 + second - first - 1


@kernel
def centre(rows: Any, n: Any) -> None:
    """Subtract, in place, their mean from the first ``n`` numbers of each row."""
    for i in range(rows.shape[0]):
        row = rows[i]
        low, high = row[0], row[0]
        parts = np.zeros(WIDTH)
        for start in range(0, row.size, WIDTH):
            for k in range(WIDTH):
                parts[k] += row[start + k]
        for k in range(n):
            low, high = min(low, row[k]), max(high, row[k])
        mean = _fold(parts) / n if low < high else low  # a constant row becomes zeros
        for k in range(n):
            row[k] -= mean


@kernel
def into_range(rows: Any) -> None:
    """Multiply, in place, each row by the power of two that brings its largest number below 1."""
    for i in range(rows.shape[0]):
        largest = 0.0
        for k in range(rows.shape[1]):
            largest = max(largest, abs(rows[i, k]))
        exponent = math.frexp(largest)[1]
        for k in range(rows.shape[1]):
            rows[i, k] = math.ldexp(rows[i, k], -exponent)


@kernel
def squares(rows: Any, out: Any) -> None:
    """The product of each row with itself, into ``out`` (m,)."""
    for i in range(rows.shape[0]):
        out[i] = _dot(rows[i], rows[i])


@kernel
def dots(rows: Any, members: Any, row: Any) -> Any:
    """The products of the rows ``members`` with another ``row``: (n_members,)."""
    out = np.empty(members.size)
    for i in range(members.size):
        out[i] = _dot(rows[members[i]], row)
    return out


@kernel
def combine(rows: Any, members: Any, weights: Any) -> Any:
    """The sum of the rows ``members`` with their ``weights``, added in their order: (padded,)."""
    out = np.zeros(rows.shape[1])
    for i in range(members.size):
        row, weight = rows[members[i]], weights[i]
        for k in range(out.size):
            out[k] += weight * row[k]
    return out


@kernel
def correlate(
    rows: Any, square: Any, span: Any, absolute: Any, allowed: Any, start: Any, out: Any
) -> None:
    """Similarities of the rows of ``span`` (first, last) to all later ones, where ``allowed``.

    ``out`` is filled at the number of a pair less ``start``, the number of the first one.
    """
    m = rows.shape[0]
    for first in range(span[0], span[1], _TILE):
        for other in range(first, m, _TILE):
            for i in range(first, min(span[1], first + _TILE)):
                for j in range(max(i + 1, other), min(m, other + _TILE)):
                    at = _place(m, i, j)
                    if allowed.size == 0 or allowed[at]:
                        r = _similarity(rows[i], rows[j], square[i], square[j], absolute)
                        out[at - start] = r


@kernel
def correlate_one(rows: Any, square: Any, i: Any, others: Any, absolute: Any, out: Any) -> None:
    """Similarities of row i to the ``others``, into ``out`` (m,) at their places."""
    for at in range(others.size):
        j = others[at]
        out[j] = _similarity(rows[i], rows[j], square[i], square[j], absolute)


@kernel
def link(similar: Any, sizes: Any, i: Any, j: Any, complete: Any, out: Any) -> None:
    """Similarities to clusters i and j together, into ``out`` (m,) at the places of the others.

    The smallest of those to their members (``complete``), or the mean (average linkage).
    """
    m = sizes.size
    for k in range(m):
        if sizes[k] > 0 and k != i and k != j:
            a, b = similar[_place(m, i, k)], similar[_place(m, j, k)]
            if complete:
                out[k] = min(a, b)
            else:
                out[k] = (sizes[i] * a + sizes[j] * b) / (sizes[i] + sizes[j])


@kernel
def unite(allowed: Any, sizes: Any, i: Any, j: Any) -> Any:
    """The places of the clusters that may join i and j together: who might join either, rising.

    ``allowed`` is changed in place for cluster i.
    """
    m = sizes.size
    found = np.empty(m, np.int64)
    n = 0
    for k in range(m):
        if sizes[k] == 0 or k in (i, j):
            continue
        if allowed.size > 0:
            at = _place(m, i, k)
            allowed[at] |= allowed[_place(m, j, k)]
            if not allowed[at]:
                continue
        found[n] = k
        n += 1
    return found[:n]


@njit(inline="always")
def _find_partner(similar: Any, allowed: Any, sizes: Any, i: Any, partner: Any, best: Any) -> None:
    """The most similar of the later clusters that may join; of several, the first."""
    best[i], partner[i] = NEVER, -1
    at = _place(sizes.size, i, i + 1)
    for j in range(i + 1, sizes.size):
        may = sizes[j] > 0 and (allowed.size == 0 or allowed[at])
        if may and similar[at] > best[i]:
            best[i], partner[i] = similar[at], j
        at += 1


@kernel
def find_partners(similar: Any, allowed: Any, sizes: Any, partner: Any, best: Any) -> None:
    """For each cluster, the most similar of the later ones, and how similar: both filled."""
    for i in range(sizes.size):
        _find_partner(similar, allowed, sizes, i, partner, best)


@kernel
def renew(
    similar: Any, allowed: Any, sizes: Any, i: Any, j: Any, fresh: Any, partner: Any, best: Any
) -> None:
    """Cluster j has joined cluster i: keep its similarities, and who is most similar to whom.

    ``sizes`` are those after the merge; ``fresh`` (m,) has the similarities of cluster i to all
    others, :data:`NEVER` where none was computed. ``similar``, ``partner`` and ``best`` are changed
    in place.
    """
    m = sizes.size
    best[j], partner[j] = NEVER, -1
    for k in range(m):
        if sizes[k] == 0 or k == i:
            continue
        at = _place(m, i, k)
        similar[at] = fresh[k]
        if partner[k] == j or (partner[k] == i and k < i):
            _find_partner(similar, allowed, sizes, k, partner, best)
        elif k < i and (allowed.size == 0 or allowed[at]):
            earlier = fresh[k] == best[k] and i < partner[k]
            if fresh[k] > best[k] or earlier:
                best[k], partner[k] = fresh[k], i
    _find_partner(similar, allowed, sizes, i, partner, best)
