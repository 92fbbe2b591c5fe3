"""Permutations of the rows from random words: of all of them, and among neighbours.

Words come from a counter-based generator (:mod:`infosieve._resampling.permutations`), so that a
permutation depends on its number alone, not on who draws it or in which company.
"""

from typing import Any

import numpy as np
from numba import njit

from infosieve._engines.numba.jit import kernel


@njit(inline="always")
def _below(word: Any, n: Any) -> Any:
    """An integer below ``n`` from 53 random bits (uniform to within n / 2^53)."""
    return np.int64(np.float64(word >> np.uint64(11)) * 2.0**-53 * n)


@njit(inline="always")
def _fill(words: Any, group: Any, out: Any) -> None:
    """Permute the rows of ``group``, a stratum, among themselves (Fisher and Yates)."""
    for i in range(group.size):
        out[group[i]] = group[i]
    for i in range(group.size - 1, 0, -1):
        a, b = group[i], group[_below(words[i], i + 1)]
        out[a], out[b] = out[b], out[a]


@kernel
def shuffle(words: Any, order: Any, edges: Any) -> Any:
    """Permutations inside strata: row i receives the value of row ``result[p, i]``.

    ``words`` is (n_permutations, n_samples); stratum g has the rows
    ``order[edges[g] : edges[g + 1]]``.
    """
    out = np.empty(words.shape, np.int32)
    for p in range(words.shape[0]):
        for g in range(edges.size - 1):
            first, last = edges[g], edges[g + 1]
            _fill(words[p, first:last], order[first:last], out[p])
    return out


@njit(inline="always")
def _make_room(start: Any, near: Any, giver: Any, taker: Any, scratch: Any) -> None:
    """Find ``start`` a giver by moving others on to theirs: the shortest augmenting path.

    There is one, because all rows keeping their own values would do. ``scratch`` has a queue
    of rows, the givers met, and for each giver the row that met it first (-1: none).
    """
    queue, met, met_by = scratch
    giver[start] = -1
    queue[0] = start
    n_met, n_queued, at = 0, 1, 0
    while at < n_queued:
        row = queue[at]
        at += 1
        for c in range(near.shape[1]):
            g = near[row, c]
            if met_by[g] >= 0:
                continue
            met_by[g], met[n_met] = row, g
            n_met += 1
            if taker[g] >= 0:
                queue[n_queued] = taker[g]
                n_queued += 1
                continue
            while g >= 0:  # a free one: everyone on the way back takes what it met
                row = met_by[g]
                taker[g] = row
                giver[row], g = g, giver[row]
            for i in range(n_met):
                met_by[met[i]] = -1
            return


@kernel
def shuffle_near(words: Any, near: Any) -> Any:
    """Permutations in which every row receives the value of one of its neighbours.

    ``near`` is (n_samples, n_near): the neighbours of each row, itself among them. ``words``
    is (n_permutations, 2 * n_samples). Rows choose in random order among the neighbours
    still free; who finds none makes others move on.
    """
    n, n_near = near.shape
    out = np.empty((words.shape[0], n), np.int32)
    order, taker, left = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    scratch = (np.empty(n, np.int32), np.empty(n, np.int32), np.full(n, -1, np.int32))
    for p in range(words.shape[0]):
        giver = out[p]
        for i in range(n):
            order[i], taker[i] = i, -1
        for i in range(n - 1, 0, -1):
            j = _below(words[p, i], i + 1)
            order[i], order[j] = order[j], order[i]
        n_left = 0
        for i in range(n):
            row = order[i]
            free = 0
            for c in range(n_near):
                free += taker[near[row, c]] < 0
            if free == 0:
                left[n_left] = row
                n_left += 1
                continue
            chosen = _below(words[p, n + i], free)
            for c in range(n_near):
                g = near[row, c]
                if taker[g] < 0:
                    if chosen == 0:
                        giver[row], taker[g] = g, row
                        break
                    chosen -= 1
        for i in range(n_left):
            _make_room(left[i], near, giver, taker, scratch)
    return out
