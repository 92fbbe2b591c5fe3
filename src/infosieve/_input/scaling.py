"""From checked numbers to columns that can be measured: scaled, ties broken, codes apart.

Everything here works on one column at a time and depends on nothing but its values, so
that a column is prepared the same way wherever it stands and whoever prepares it.
"""

import hashlib
from functools import lru_cache, partial

import numpy as np

from infosieve._core.categories import APART
from infosieve._core.chunks import chunks
from infosieve._core.types import GAP, BoolArray, Columns, FloatArray, PreparedScale, Runner
from infosieve._engines.numba.columns import (
    LIFT,
    deviation_of,
    middle_of,
    shifts_exactly,
    standardise,
)
from infosieve._executors.threads import Threads

# Half the width of the noise that separates repeated values, in standard deviations; and, at
# the most, in gaps to the nearest other value.
TIE_NOISE, GAP_NOISE = 1e-10, 1e-4
_CHUNK_BYTES = 1 << 18
# Spread scores keep the ties of a column in which one value has more than this share of samples.
_SPREAD = 0.2


def prepare(
    values: FloatArray,
    categorical: BoolArray,
    scale: PreparedScale,
    exponent: int,
    runner: Runner,
    with_order: bool = False,
    separate: bool = True,
) -> Columns:
    """PreparedScale the columns of ``values`` (n_columns, n_samples), break ties, code categories.

    Categorical columns hold codes 0, 1, ... on entry; gaps among numbers are NaN, and become
    :data:`GAP`, what is observed being scaled as if it were all. ``exponent`` is that of the
    largest number of the whole problem; columns that keep their scale are brought into range by it.
    ``with_order`` keeps what sorts the columns, for those who will need it. ``separate=False``
    leaves repeated values as they are.

    The scale "spread-scores" is that of normal scores, but for columns with some ties: equal values
    take neighbouring ranks in the order of the noise that separates them, so that all such columns
    have the same scores, and count as if nothing were repeated. Columns with one value in more than
    a fifth of the samples keep their ties, which tell more (docs/relevant.md).
    """
    m, n = values.shape
    out = np.empty((m, n))
    order = np.empty((m, n), np.int32) if with_order else None
    n_distinct, dominated = np.empty(m, np.int64), np.zeros(m, bool)
    gaps = np.zeros(m, bool)

    def some(at: slice) -> None:
        x, z = values[at], out[at]
        gaps[at] = np.isnan(x).any(axis=1)
        if gaps[at].any():
            x = np.where(gaps[at, None], 0.0, x)
        if order is not None:
            order[at] = np.argsort(x, axis=1)
            ordered = np.take_along_axis(x, order[at], axis=1)
        else:
            ordered = np.sort(x, axis=1)
        if scale == "standard":
            n_distinct[at], dominated[at] = standardise(x, ordered, z)
        else:
            ordered[categorical[at]] = 0.0
            z[:] = _scaled(np.where(categorical[at, None], 0.0, x), ordered, scale, exponent) * LIFT
            n_distinct[at] = 1 + (np.diff(np.sort(z, axis=1)) > 0).sum(axis=1)
        for row in range(at.start, at.stop):
            if categorical[row]:
                out[row] = values[row] * APART
                n_distinct[row], dominated[row] = np.unique(values[row]).size, False
            elif gaps[row]:
                out[row], n_distinct[row], dominated[row] = _with_gaps(
                    values[row], scale, exponent, separate
                )
                if order is not None:
                    order[row] = np.argsort(out[row], kind="stable")
            elif separate and 1 < n_distinct[row] < n:
                _separate(out[row], relative=scale is None)
                if order is not None:
                    order[row] = np.argsort(out[row])
                if scale == "spread-scores":
                    most = np.unique(values[row], return_counts=True)[1].max()
                    if most <= _SPREAD * n:
                        out[row, np.argsort(out[row])], n_distinct[row] = _all_scores(n), n

    runner.run([partial(some, at) for at in chunks(m, _CHUNK_BYTES // (8 * n))])
    return Columns(out, categorical, n_distinct, order, dominated, gaps if gaps.any() else None)


def _with_gaps(
    row: FloatArray, scale: PreparedScale, exponent: int, separate: bool
) -> tuple[FloatArray, int, bool]:
    """A column with gaps, its distinct values (the gap is one), whether one dominates it."""
    out, there = np.full(row.size, GAP), ~np.isnan(row)
    if not there.any():
        return out, 1, False
    number = np.zeros(1, bool)
    one = prepare(row[there][None], number, scale, exponent, Threads(1), separate=separate)
    out[there] = one.values[0]
    assert one.dominated is not None
    return out, 1 + int(one.n_distinct[0]), bool(one.dominated[0])


class Scaling:
    """The scale of some columns (n_columns, n_samples), for samples that come later.

    Unlike :func:`prepare`, "standard" subtracts the mean; normal scores are interpolated between
    known values, and level beyond them. A column that was constant has zeros, whatever comes.
    """

    def __init__(self, values: FloatArray, scale: PreparedScale) -> None:
        self.scale = scale
        if scale == "standard":
            self.exponent = np.frexp(np.abs(values).max(axis=1))[1]
            small = np.ldexp(values, -self.exponent[:, None])
            varies = np.ptp(small, axis=1) > 0
            self.mean = np.where(varies, small.mean(axis=1), small[:, 0])
            self.spread = np.where(varies, small.std(axis=1), np.inf)
        elif scale == "normal-scores":
            ordered = np.sort(values, axis=1)
            scores = _scaled(ordered, ordered, scale, 0)
            firsts = [np.r_[True, row[1:] > row[:-1]] for row in ordered]
            self.known = [(o[f], s[f]) for o, s, f in zip(ordered, scores, firsts, strict=True)]

    def apply(self, values: FloatArray) -> FloatArray:
        """Scaled values, for samples in rows."""
        if self.scale == "standard":
            return np.asarray((np.ldexp(values, -self.exponent) - self.mean) / self.spread)
        if self.scale == "normal-scores":
            return np.column_stack([np.interp(values[:, j], *k) for j, k in enumerate(self.known)])
        return values

    def undo(self, scaled: FloatArray) -> FloatArray:
        """What has these scaled values, where the scale is "standard"."""
        spread = np.where(np.isinf(self.spread), 0.0, self.spread)
        return np.asarray(np.ldexp(scaled * spread + self.mean, self.exponent))


def exponent_of(*tables: FloatArray) -> int:
    """The exponent of two of the largest number in the tables."""
    largest = max((float(np.abs(table).max()) for table in tables if table.size), default=0.0)
    return int(np.frexp(largest)[1])


def _scaled(
    values: FloatArray, ordered: FloatArray, scale: PreparedScale, exponent: int
) -> FloatArray:
    """Normal scores of each row, or the row itself, centred and brought into range."""
    n = values.shape[1]
    if scale in ("normal-scores", "spread-scores"):
        from scipy.special import ndtri
        from scipy.stats import rankdata

        ranks = rankdata(values, axis=1)
        lower = np.minimum(ranks, n + 1 - ranks)
        scores = ndtri((lower - 0.5) / n) * np.where(ranks > lower, -1.0, 1.0)
        return np.asarray(np.where(ordered[:, :1] < ordered[:, -1:], scores, 0.0))
    x = np.ldexp(values, -exponent)
    centre = np.array([middle_of(row) for row in ordered])[:, None]
    middle = np.ldexp(centre, -exponent)
    pairs = zip(np.ldexp(ordered, -exponent), middle[:, 0], strict=True)
    exact = [shifts_exactly(row, m) for row, m in pairs]
    return np.asarray(x - np.where(np.array(exact)[:, None], middle, 0.0))


@lru_cache(maxsize=4)
def _all_scores(n: int) -> FloatArray:
    """The prepared values of a column of n different numbers, sorted."""
    ranks = np.arange(n, dtype=np.float64)[None]
    scores: FloatArray = _scaled(ranks, ranks, "normal-scores", 0)[0] * LIFT
    scores.flags.writeable = False
    return scores


def _separate(row: FloatArray, relative: bool) -> None:
    """Break the ties of a row in place.

    A row with repeated values gets uniform noise from a counter-based generator whose key is
    a hash of the row's dense ranks: equal rows stay equal, and shift, scale and place do not
    matter. A row and its negative get opposite noise. Rows without repeats are left alone. The
    noise is small beside the standard deviation and beside the gap to the next value: a huge
    value may dominate the deviation.
    """
    distinct, ranks = np.unique(row, return_inverse=True)
    mirrored = distinct.size - 1 - ranks
    first = np.argmax(ranks != mirrored)
    sign = 1.0 if ranks[first] < mirrored[first] else -1.0
    canonical = (ranks if sign > 0 else mirrored).astype("<i4")
    key = hashlib.blake2b(canonical.tobytes(), digest_size=16).digest()
    raw = np.random.Philox(key=int.from_bytes(key, "little")).random_raw(row.size)
    noise = np.ldexp((raw >> np.uint64(11)).astype(np.float64), -52) - 1.0
    unit = float(deviation_of(np.sort(row))) if relative else LIFT
    gaps = np.diff(distinct)
    gap = np.minimum(np.r_[np.inf, gaps], np.r_[gaps, np.inf])
    row += sign * np.minimum(TIE_NOISE * unit, GAP_NOISE * gap)[ranks] * noise
