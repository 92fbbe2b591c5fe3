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
    """Sum of the deviations from ``mean``, or of their squares, in four interleaved parts."""
    parts = np.zeros(4)
    for i in range(z.size):
        step = z[i] - mean
        parts[i & 3] += step * step if squared else step
    return (parts[0] + parts[1]) + (parts[2] + parts[3])


@kernel
def standardise(values: Any, ordered: Any, out: Any) -> Any:
    """Centre each row and divide by its standard deviation; count its distinct values.

    ``ordered`` has the sorted rows. Powers of two first, then the middle value off, so that
    neither a size of 1e-300 nor a mean of 1e9 costs any digit; sums run over the sorted
    values, so that the order of the samples does not matter. A constant row becomes zeros.
    """
    m, n = values.shape
    n_distinct = np.ones(m, np.int64)
    for row in range(m):
        x, z = values[row], ordered[row]
        a, b = _halves(max(abs(z[0]), abs(z[n - 1])))
        middle = z[(n - 1) // 2] * a * b
        low, high = z[0] * a * b - middle, z[n - 1] * a * b - middle
        if low == high:
            out[row] = 0.0
            continue
        c, d = _halves(max(abs(low), abs(high)))
        for i in range(n):
            z[i] = (z[i] * a * b - middle) * c * d
        mean = _sum(z, 0.0, False) / n
        deviation = math.sqrt(_sum(z, mean, True) / n)
        for i in range(n):
            z[i] = (z[i] - mean) / deviation
        for i in range(1, n):
            n_distinct[row] += z[i] > z[i - 1]
        for i in range(n):
            out[row, i] = ((x[i] * a * b - middle) * c * d - mean) / deviation
    return n_distinct
