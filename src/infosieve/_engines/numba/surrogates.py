"""Local linear fits of many columns, and surrogates from them: nothing is sorted by comparison.

What they are for: :mod:`infosieve._resampling.surrogates`.
"""

from typing import Any

import numpy as np
from numba import njit

from infosieve._engines.numba.jit import kernel

# A cell of the bucket sort that holds more than this many sends the whole column to a merge sort.
_MOST_IN_CELL = 64
# The median of |x|, for normal x of standard deviation one.
_MEDIAN = 0.6745


@njit(inline="always")
def _weighted(values: Any, near: Any, weights: Any, out: Any) -> None:
    """Weighted sums of near samples; ``values`` and ``out`` are (n_samples, n_columns)."""
    for i in range(near.shape[0]):
        row = out[i]
        row[:] = 0.0
        for c in range(near.shape[1]):
            w, other = weights[i, c], values[near[i, c]]
            for j in range(row.size):
                row[j] += w * other[j]


@kernel
def fit_columns(
    values: Any, near: Any, weights: Any, residual_std: Any, rounds: Any, outlying: Any
) -> Any:
    """Fitted values of columns (n_columns, n_samples), residuals winsorised in between.

    Each round clips residuals at ``outlying`` standard deviations (by the median) and fits again.
    """
    m, n = values.shape
    fitted, moved = np.empty((n, m)), np.empty((n, m))
    moved[:] = values.T
    size = np.empty(n)
    _weighted(moved, near, weights, fitted)
    for _ in range(rounds):
        for j in range(m):
            for i in range(n):
                size[i] = abs(values[j, i] - fitted[i, j]) / residual_std[i]
            usual = np.median(size) / _MEDIAN
            for i in range(n):
                far = outlying * usual * residual_std[i]
                residual = values[j, i] - fitted[i, j]
                moved[i, j] = fitted[i, j] + min(max(residual, -far), far)
        _weighted(moved, near, weights, fitted)
    return np.ascontiguousarray(fitted.T)


@njit(inline="always")
def _middle_and_width(values: Any) -> Any:
    """Centre and mean distance from it, of a few values: good enough to spread cells."""
    step = max(1, values.size // 64)
    n, middle, width = 0, 0.0, 0.0
    for i in range(0, values.size, step):
        if np.isfinite(values[i]):
            n += 1
            middle += (values[i] - middle) / n
    for i in range(0, values.size, step):
        if np.isfinite(values[i]):
            width += abs(values[i] - middle) / n
    return middle, width


@njit(inline="always")
def _merge_sort(values: Any, order: Any, spare: Any) -> None:
    """What sorts a column, by comparisons, equal values by their place."""
    n = values.size
    for i in range(n):
        order[i] = i
    size = 1
    while size < n:
        for start in range(0, n, 2 * size):
            middle, end = min(start + size, n), min(start + 2 * size, n)
            i, j = start, middle
            for at in range(start, end):
                left = i < middle and (j >= end or values[order[i]] <= values[order[j]])
                spare[at] = order[i] if left else order[j]
                i, j = (i + 1, j) if left else (i, j + 1)
        for i in range(n):
            order[i] = spare[i]
        size *= 2


@kernel
def order_of(values: Any, order: Any, scratch: Any) -> None:
    """What sorts a column, equal values by their place; some may be infinite.

    Samples are thrown into as many cells as there are (x / (1 + |x|) spreads long tails), and an
    insertion sort puts right what is left. ``scratch`` is (2, n + 1) integers.
    """
    n = values.size
    cell, ends = scratch[0], scratch[1]
    middle, width = _middle_and_width(values)
    ends[:] = 0
    scale = 1.0 / width if width > 0.0 else 0.0
    most = 0
    for i in range(n):
        x = (values[i] - middle) * scale
        c = int((0.5 + 0.5 * x / (1.0 + abs(x))) * n) if abs(x) < 1e300 else n * (x > 0)
        c = min(max(c, 0), n - 1)
        cell[i] = c
        ends[c + 1] += 1
        if np.isfinite(values[i]):  # gaps are infinite, and fall into their cell in order
            most = max(most, ends[c + 1])
    if most > _MOST_IN_CELL:
        _merge_sort(values, order, cell)
        return
    for c in range(n):
        ends[c + 1] += ends[c]
    for i in range(n):
        order[ends[cell[i]]] = i
        ends[cell[i]] += 1
    for i in range(1, n):
        a, at = order[i], i
        v = values[a]
        while at > 0 and (
            values[order[at - 1]] > v or (values[order[at - 1]] == v and order[at - 1] > a)
        ):
            order[at] = order[at - 1]
            at -= 1
        order[at] = a


@kernel
def copies(
    fitted: Any,
    residuals: Any,
    ordered: Any,
    residual_std: Any,
    permutations: Any,
    which: Any,
    numbers: Any,
    out: Any,
) -> None:
    """Surrogate ``c``: column ``which[c]`` moved by permutation ``numbers[c]``.

    Fitted values and permuted residuals give the order, the column's own values the rest.
    """
    n = residual_std.size
    new, order = np.empty(n), np.empty(n, np.int32)
    scratch = np.empty((2, n + 1), np.int32)
    for c in range(which.size):
        fit, residual = fitted[which[c]], residuals[which[c]]
        values, moves, row = ordered[which[c]], permutations[numbers[c]], out[c]
        for i in range(n):
            new[i] = fit[i] + residual_std[i] * residual[moves[i]]
        order_of(new, order, scratch)
        for i in range(n):
            row[order[i]] = values[i]


@kernel
def permuted(values: Any, permutations: Any, which: Any, numbers: Any, out: Any) -> None:
    """Copy ``c``: column ``which[c]`` with its rows moved by permutation ``numbers[c]``."""
    for c in range(which.size):
        column, moves, row = values[which[c]], permutations[numbers[c]], out[c]
        for i in range(row.size):
            row[i] = column[moves[i]]


@kernel
def permuted_orders(orders: Any, permutations: Any, which: Any, numbers: Any, out: Any) -> None:
    """What sorts the copies of :func:`permuted`."""
    n = out.shape[1]
    back, last = np.empty(n, np.int32), -1
    for c in range(which.size):
        if numbers[c] != last:
            last = numbers[c]
            for i in range(n):
                back[permutations[last, i]] = i
        order, row = orders[which[c]], out[c]
        for i in range(n):
            row[i] = back[order[i]]
