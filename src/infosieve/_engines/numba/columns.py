"""Scaling of columns: what NumPy would need a dozen passes for, in three."""

import math
from typing import Any

import numpy as np

from infosieve._engines.numba.jit import kernel

# Prepared columns are this many times larger than their scale says. A power of two, common to
# all, changes no comparison; it keeps the squares of tiny differences, those of a column that
# one huge value dominates, from becoming zero. Distances stay below what counts as infinite.
LIFT = 2.0**200
# One value dominates a column of at least so many samples if the others have less than this part of
# the variance; a few do, of which no more than one in so many lie at either end.
_FEW, _LITTLE, _TAIL = 20, 1e-4, 20


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
def deviation_of(ordered: Any) -> Any:
    """The standard deviation of a sorted row; the negative row has the same."""
    mean = _sum(ordered, 0.0, False) / ordered.size
    return math.sqrt(_sum(ordered, mean, True) / ordered.size)


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
def shifts_exactly(ordered: Any, middle: Any) -> Any:
    """Whether subtracting ``middle`` rounds no value."""
    for x in ordered:
        step = x - middle
        back = step - x
        if (x - (step - back)) - (middle + back) != 0.0:  # what the subtraction lost
            return False
    return True


@kernel
def _is_dominated(ordered: Any, mean: Any, deviation: Any) -> Any:
    """Whether one value, however often it occurs, or a few make up the standard deviation.

    Whether nine tenths of the values vary, and by less than a hundredth of it; or all but one
    value: one that c of n samples have is at most sqrt((n - c) / c) deviations from the mean, and
    only if all others are equal.
    """
    n = ordered.size
    cut = (n - 1) // _TAIL
    width = (ordered[n - 1 - cut] - ordered[cut]) / deviation
    if n >= _FEW and 0.0 < width * width < _LITTLE:
        return True
    first, last, value = 0, n, ordered[0]
    if ordered[n - 1] - mean > mean - ordered[0]:
        value = ordered[n - 1]
        while ordered[last - 1] == value and last > 1:
            last -= 1
    else:
        while ordered[first] == value and first < n - 1:
            first += 1
    others = last - first
    far = (value - mean) / deviation
    share = far * far * (n - others) / others
    return n >= _FEW and share > 1 - _LITTLE and ordered[first] < ordered[last - 1]


@kernel
def standardise(values: Any, ordered: Any, out: Any) -> Any:
    """Divide each row by its standard deviation (times :data:`LIFT`); count its distinct values.

    ``ordered`` has the sorted rows, and is used up. Only differences matter later, so rows
    are moved towards zero just where that rounds nothing: neither a size of 1e-300 nor a mean
    of 1e9 nor a heavy tail costs a digit, and an exact shift changes no bit. Sums run over the
    sorted values, so that the order of the samples does not matter. A constant row becomes
    zeros. Also says which rows one value dominates.
    """
    m, n = values.shape
    n_distinct, dominated = np.ones(m, np.int64), np.zeros(m, np.bool_)
    for row in range(m):
        x, z = values[row], ordered[row]
        a, b = _halves(max(abs(z[0]), abs(z[n - 1])))
        low, high = z[0] * a * b, z[n - 1] * a * b
        if low == high:
            out[row] = 0.0
            continue
        for i in range(n):
            z[i] = z[i] * a * b
        middle = middle_of(z)
        if not shifts_exactly(z, middle):
            middle = 0.0
        c, d = _halves(max(abs(low - middle), abs(high - middle)))
        for i in range(n):
            z[i] = (z[i] - middle) * c * d
        mean = _sum(z, 0.0, False) / n
        deviation = math.sqrt(_sum(z, mean, True) / n)
        dominated[row] = _is_dominated(z, mean, deviation)
        for i in range(n):
            z[i] = z[i] * LIFT / deviation
        for i in range(1, n):
            n_distinct[row] += z[i] > z[i - 1]
        for i in range(n):
            out[row, i] = (x[i] * a * b - middle) * c * d * LIFT / deviation
    return n_distinct, dominated


@kernel
def split_orders(order: Any, part: Any, edges: Any, out: Any) -> None:
    """What sorts each column inside parts of the samples: ``out[j, edges[p] : edges[p + 1]]``.

    ``part`` has the part of each sample; samples of a part stand together.
    """
    for j in range(order.shape[0]):
        filled = edges[:-1].copy()
        for r in range(order.shape[1]):
            i = order[j, r]
            p = part[i]
            out[j, filled[p]] = i - edges[p]
            filled[p] += 1


@kernel
def project_bulk(
    ordered: Any, row: Any, least: Any, tails: Any, outside: Any, directions: Any, out: Any
) -> Any:
    """The width of a varying column's bulk; ``out`` gets its projections, in that unit.

    ``ordered`` is the sorted ``row``. Steps below ``least`` are noise that separates equal values,
    and no width.
    """
    n = row.size
    width = 0.0
    for tail in tails:
        cut = int(tail * (n - 1))
        if width <= 0.0:
            for i in range(cut, n - 1 - cut):
                step = ordered[i + 1] - ordered[i]
                width += step if step >= least else 0.0
    middle = ordered[(n - 1) // 2] / 2 + ordered[n // 2] / 2
    for axis in range(out.size):
        out[axis] = 0.0
    for i in range(n):
        inner = min(max((row[i] - middle) / width, -outside), outside)
        for axis in range(out.size):
            out[axis] += inner * directions[axis, i]
    for axis in range(out.size):
        out[axis] = abs(out[axis])
    return width
