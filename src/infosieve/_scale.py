"""From checked numbers to columns that can be measured: scaled, ties broken, codes apart.

Everything here works on one column at a time and depends on nothing but its values, so
that a column is prepared the same way wherever it stands and whoever prepares it.
"""

import hashlib
from functools import partial

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from infosieve._types import BoolArray, Columns, Executor, FloatArray, IntArray, Scale

# Half the width of the noise that separates repeated values, in standard deviations.
TIE_NOISE = 1e-10
# The distance between codes of different categories: infinite for all that follows.
APART = 1e200
_CHUNK_BYTES = 1 << 21


def prepare(
    values: FloatArray,
    categorical: BoolArray,
    scale: Scale,
    exponent: int,
    executor: Executor,
) -> Columns:
    """Scale the columns of ``values`` (n_columns, n_samples), break ties, code categories.

    Categorical columns hold codes 0, 1, ... on entry. ``exponent`` is that of the largest
    number of the whole problem; columns that keep their scale are brought into range by it.
    """
    m, n = values.shape
    out = np.empty((m, n))
    order = np.empty((m, n), np.int32)
    n_distinct = np.empty(m, np.int64)

    def some(at: slice) -> None:
        numbers = np.flatnonzero(~categorical[at]) + at.start
        codes = np.flatnonzero(categorical[at]) + at.start
        out[codes] = values[codes] * APART
        order[codes] = np.argsort(out[codes], axis=1)
        n_distinct[codes] = [np.unique(column).size for column in values[codes]]
        if numbers.size:
            out[numbers], order[numbers] = _scaled(values[numbers], scale, exponent)
            n_distinct[numbers] = _separate(out, order, numbers, relative=scale is None)

    size = max(1, _CHUNK_BYTES // (8 * n))
    executor.run([partial(some, slice(i, min(m, i + size))) for i in range(0, m, size)])
    return Columns(out, order, categorical, n_distinct)


def exponent_of(*tables: FloatArray) -> int:
    """The exponent of two of the largest number in the tables."""
    largest = max((float(np.abs(table).max()) for table in tables if table.size), default=0.0)
    return int(np.frexp(largest)[1])


def _scaled(values: FloatArray, scale: Scale, exponent: int) -> tuple[FloatArray, IntArray]:
    """Centre and scale each row; also return what sorts it.

    Powers of two first, then the middle value off, so that neither a size of 1e-300 nor a
    mean of 1e9 costs any digit; sums run over the sorted values, so that the order of the
    samples does not matter.
    """
    if scale is None:
        x = np.ldexp(values, -exponent)
    else:
        x = np.ldexp(values, -np.frexp(np.abs(values).max(axis=1, keepdims=True))[1])
    order = np.argsort(x, axis=1)
    if scale == "normal-scores":
        ranks = rankdata(x, axis=1)
        return np.where(_spread(x) > 0, ndtri((ranks - 0.5) / x.shape[1]), 0.0), order
    middle = (x.shape[1] - 1) // 2
    x -= np.take_along_axis(x, order[:, middle : middle + 1], axis=1)
    if scale is None:
        return x, order
    x = np.ldexp(x, -np.frexp(np.abs(x).max(axis=1, keepdims=True))[1])
    mean, deviation = _moments(np.take_along_axis(x, order, axis=1))
    return (x - mean) / np.where(deviation > 0, deviation, 1.0), order


def _spread(x: FloatArray) -> FloatArray:
    return np.asarray(np.ptp(x, axis=1, keepdims=True))


def _moments(ordered: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of each row of sorted values."""
    mean = ordered.mean(axis=1, keepdims=True)
    constant = ordered[:, :1] == ordered[:, -1:]
    mean = np.where(constant, ordered[:, :1], mean)
    return mean, np.sqrt(np.square(ordered - mean).mean(axis=1, keepdims=True))


def _separate(out: FloatArray, order: IntArray, rows: IntArray, relative: bool) -> IntArray:
    """Break the ties of some rows in place; return how many distinct values each had.

    A row with repeated values gets uniform noise from a counter-based generator whose key is
    a hash of the row's dense ranks: equal rows stay equal, and shift, scale and place do not
    matter. A row and its negative get opposite noise. Rows without repeats are left alone.
    """
    n = out.shape[1]
    ordered = np.take_along_axis(out[rows], order[rows], axis=1)
    rises = ordered[:, 1:] > ordered[:, :-1]
    n_distinct = np.asarray(1 + rises.sum(axis=1))
    for i in np.flatnonzero((n_distinct < n) & (n_distinct > 1)):
        row = rows[i]
        ranks = np.empty(n, "<i4")
        ranks[order[row]] = np.concatenate([[0], np.cumsum(rises[i])])
        mirrored = ranks.max() - ranks
        first = np.argmax(ranks != mirrored)
        sign = 1.0 if ranks[first] < mirrored[first] else -1.0
        key = hashlib.blake2b((ranks if sign > 0 else mirrored).tobytes(), digest_size=16)
        bits = np.random.Philox(key=int.from_bytes(key.digest(), "little"))
        noise = np.random.Generator(bits).uniform(-TIE_NOISE, TIE_NOISE, n)
        unit = _moments(ordered[i : i + 1])[1][0, 0] if relative else 1.0
        out[row] += sign * unit * noise
        order[row] = np.argsort(out[row])
    return n_distinct
