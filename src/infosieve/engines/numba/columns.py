"""Scaling of columns: what NumPy would need a dozen passes for, in three."""

import math
from typing import Any

import numpy as np

from infosieve.engines.numba.jit import kernel


@kernel
def _halves(x: Any) -> Any:
    """Two factors whose product brings x to a size between 1/2 and 1, by a power of two.

    Two, because one alone could overflow for the smallest numbers there are.
    """
    exponent = math.frexp(x)[1]
    half = exponent // 2
    return math.ldexp(1.0, -half), math.ldexp(1.0, half - exponent)


@kernel
def _sum(z: Any, mean: Any, squared: Any) -> Any:
    """Sum of the deviations from ``mean``, or of their squares, in four interleaved parts.

    From both ends inwards, so that a sorted row and its negative have the same sum.
    """
    parts = np.zeros(4)
    for i in range(z.size // 2):
        a, b = z[i] - mean, z[z.size - 1 - i] - mean
        parts[i & 3] += a * a + b * b if squared else a + b
    if z.size % 2:
        step = z[z.size // 2] - mean
        parts[3] += step * step if squared else step
    return (parts[0] + parts[1]) + (parts[2] + parts[3])


@kernel
def middle_of(ordered: Any) -> Any:
    """A middle value of a sorted row: of two, the one nearer to zero; between, zero itself.

    The middle of the negative row is the negative middle.
    """
    below, above = ordered[(ordered.size - 1) // 2], ordered[ordered.size // 2]
    if below == -above:
        return 0.0
    return below if abs(below) < abs(above) else above


@kernel
def standardise(values: Any, ordered: Any, out: Any) -> Any:
    """Divide each row by its standard deviation; count its distinct values.

    ``ordered`` has the sorted rows, and is used up. Only differences matter later, so rows
    are moved towards zero just where that saves digits: neither a size of 1e-300 nor a mean
    of 1e9 nor a heavy tail costs any. Sums run over the sorted values, so that the order of
    the samples does not matter. A constant row becomes zeros.
    """
    m, n = values.shape
    n_distinct = np.ones(m, np.int64)
    for row in range(m):
        x, z = values[row], ordered[row]
        a, b = _halves(max(abs(z[0]), abs(z[n - 1])))
        low, high = z[0] * a * b, z[n - 1] * a * b
        if low == high:
            out[row] = 0.0
            continue
        # Far from zero, all values are within a factor of two: the subtraction is exact.
        # Elsewhere it would cost small values their digits, and is not needed; but repeated
        # values will get noise, and that must not round differently after a shift.
        move = high - low <= min(abs(low), abs(high))
        for i in range(1, n):
            move |= z[i] == z[i - 1]
        middle = middle_of(z) * a * b if move else 0.0
        c, d = _halves(max(abs(low - middle), abs(high - middle)))
        for i in range(n):
            z[i] = (z[i] * a * b - middle) * c * d
        deviation = math.sqrt(_sum(z, _sum(z, 0.0, False) / n, True) / n)
        for i in range(n):
            z[i] = z[i] / deviation
        for i in range(1, n):
            n_distinct[row] += z[i] > z[i - 1]
        for i in range(n):
            out[row, i] = (x[i] * a * b - middle) * c * d / deviation
    return n_distinct
