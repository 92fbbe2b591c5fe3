"""One column against one target, without each of several folds of the samples in turn.

One search on all samples serves every fold and every K: a few neighbours more than K are
found, and for each fold those that belong to it are passed over. What lies inside a radius
is counted for all samples and for each fold; the difference is what remains.
"""

from typing import Any

import numpy as np
from numba import njit

from infosieve._engines.numba.jit import kernel


@njit(inline="always")
def _next_along(sorted_values: Any, left: Any, right: Any, value: Any) -> Any:
    """Which way the next nearest along a sorted column lies, and how far: (to_left, distance)."""
    d_left = value - sorted_values[left] if left >= 0 else np.inf
    d_right = sorted_values[right] - value if right < sorted_values.size else np.inf
    return d_left <= d_right, min(d_left, d_right)


@njit(inline="always")
def _find(at: Any, sx: Any, sy: Any, sp: Any, near: Any, near_part: Any) -> Any:
    """The nearest points of the point at place ``at`` along x, by rising joint distance."""
    size = near.size
    near[:] = np.inf
    left, right = at - 1, at + 1
    while True:
        to_left, d = _next_along(sx, left, right, sx[at])
        if d >= near[size - 1] or d == np.inf:
            return
        j = left if to_left else right
        if to_left:
            left -= 1
        else:
            right += 1
        d = max(d, abs(sy[j] - sy[at]))
        if d < near[size - 1]:
            i = size - 1
            while i > 0 and near[i - 1] > d:
                near[i], near_part[i] = near[i - 1], near_part[i - 1]
                i -= 1
            near[i], near_part[i] = d, sp[j]


@njit(inline="always")
def _count(at: Any, sorted_values: Any, sorted_parts: Any, near: Any, total: Any, own: Any) -> None:
    """Points strictly inside each radius of ``near``: ``total`` of all, ``own`` of each fold."""
    total[:] = 0
    own[:] = 0
    left, right = at - 1, at + 1
    r = 0
    while True:
        to_left, d = _next_along(sorted_values, left, right, sorted_values[at])
        while r < near.size and near[r] <= d:
            r += 1
        if r == near.size or d == np.inf:
            break
        j = left if to_left else right
        if to_left:
            left -= 1
        else:
            right += 1
        total[r] += 1
        own[r, sorted_parts[j]] += 1
    for r in range(1, near.size):
        total[r] += total[r - 1]
        for s in range(own.shape[1]):
            own[r, s] += own[r - 1, s]


@kernel
def leave_out(x: Any, y: Any, order_x: Any, order_y: Any, folds: Any, ks: Any, psi: Any) -> Any:
    """Sums of the psi terms, in fixed point: (n_parts, n_K); empty where points coincide.

    ``psi[s]`` is the table for the samples without fold s.
    """
    n, n_parts = x.size, psi.shape[0]
    lo, hi = ks
    sums = np.zeros((n_parts, hi - lo + 1), np.int64)
    sx, sy, fold_x = x[order_x], y[order_x], folds[order_x]
    by_y, fold_y = y[order_y], folds[order_y]
    place_y = np.empty(n, np.int64)
    place_y[order_y] = np.arange(n)
    share = n // n_parts + 1  # nobody needs to pass over more than a whole fold
    spare = min(share, 3 + 3 * hi // n_parts)
    size = min(hi + spare, n - 1)
    near, near_part = np.empty(size), np.empty(size, np.int64)
    in_x, in_y = np.empty(size, np.int32), np.empty(size, np.int32)
    own_x, own_y = np.empty((size, n_parts), np.int32), np.empty((size, n_parts), np.int32)
    for at in range(n):
        here = order_x[at]
        while True:
            _find(at, sx, sy, fold_x, near, near_part)
            most = 0
            own_x[0] = 0
            for r in range(near.size):
                own_x[0, near_part[r]] += 1
            for s in range(n_parts):
                if s != folds[here]:
                    most = max(most, own_x[0, s])
            if near.size - most >= hi:
                break
            size = min(near.size + most, n - 1)  # too many of one fold: look further
            near, near_part = np.empty(size), np.empty(size, np.int64)
            in_x, in_y = np.empty(size, np.int32), np.empty(size, np.int32)
            own_x, own_y = np.empty((size, n_parts), np.int32), np.empty((size, n_parts), np.int32)
        if near[0] == 0.0:
            return np.empty((0, 0), np.int64)
        _count(at, sx, fold_x, near, in_x, own_x)
        _count(place_y[here], by_y, fold_y, near, in_y, own_y)
        for s in range(n_parts):
            if s == folds[here]:
                continue
            k = 0
            for r in range(near.size):
                if near_part[r] == s:
                    continue
                k += 1
                if k >= lo:
                    n_x, n_y = in_x[r] - own_x[r, s] + 1, in_y[r] - own_y[r, s] + 1
                    sums[s, k - lo] += psi[s, k] - psi[s, n_x] - psi[s, n_y]
                if k == hi:
                    break
    return sums
