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


def _picks() -> tuple[Any, Any]:
    """For each set of eight, as bits: how many are in it, and which is the first, second, ..."""
    members = [[c for c in range(8) if mask >> c & 1] for mask in range(256)]
    picks = [[*some, *[0] * (8 - len(some))] for some in members]
    return np.array([len(some) for some in members], np.uint8), np.array(picks, np.uint8)


_COUNT, _PICK = _picks()


@kernel
def shuffle_near(words: Any, near: Any) -> Any:
    """Permutations made of exchanges between near rows: each row takes part in two at most.

    ``near`` is (n_samples, n_near), at most eight: the neighbours of each row. ``words`` is
    (n_permutations, 2 * n_samples). In random order, rows exchange with one of their neighbours
    that has not exchanged yet; then all do so once more, with what they have received.
    """
    n, n_near = near.shape
    out = np.empty((words.shape[0], n), np.int32)
    order, free = np.empty(n, np.int32), np.empty(n, np.uint8)
    for p in range(words.shape[0]):
        giver = out[p]
        for i in range(n):
            order[i], giver[i] = i, i
        for some in (words[p, :n], words[p, n : 2 * n]):
            for i in range(n - 1, 0, -1):
                j = np.int64(np.float64(some[i] >> np.uint64(16)) * 2.0**-48 * (i + 1))
                order[i], order[j] = order[j], order[i]
            free[:] = 1
            for i in range(n):
                row = order[i]
                if free[row] == 0:
                    continue
                free[row] = 0
                mask = np.int64(0)
                for c in range(n_near):
                    mask |= np.int64(free[near[row, c]]) << c
                if mask == 0:
                    continue
                low = some[i] & np.uint64(0xFFFF)
                other = near[row, _PICK[mask, (low * np.uint64(_COUNT[mask])) >> np.uint64(16)]]
                free[other] = 0
                giver[row], giver[other] = giver[other], giver[row]
    return out
