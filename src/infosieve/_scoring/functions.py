"""Columns as orthonormal functions: lines, curves, waves, levels of categories, gaps.

What two columns have to do with each other shows in the correlations of their functions. These are
the column itself, as normal scores (or all levels of a category, and where gaps are), its square,
and cosines of its ranks, of an order that is the number of their half waves. The square, of heavy
tails, is asked for apart from the cosines, which are not orthogonal to it. Given some columns it
is what smoothers leave of a column that has functions.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from infosieve._core.types import BoolArray, Columns, FloatArray, IntArray, WritableArrays
from infosieve._engines.numba.columns import LIFT
from infosieve._engines.numba.functions import functions, moments, orthonormalise
from infosieve._resampling.ranks import cosines, levels_of, ranks_of, scores_of
from infosieve._resampling.surrogates import Series
from infosieve._scoring.smoothers import (
    FARTHEST_SMOOTHED,
    Smoothers,
    products_of,
    rounded,
    winsorised,
    without,
)

# Values of functions are multiples of this: products of two add up exactly, in any order, in
# float64, for a million rows and more.
UNIT = 2.0**-12
# Orders of functions: of a line, or levels; of a square. Those of cosines are 2 and more.
LINE, SQUARE = 0, 1


@dataclass(frozen=True)
class Past(WritableArrays):
    """What functions of a series lose: what their own past tells, and the past of known columns.

    What smoothers leave of a persistent column has some of the known columns by chance, far more
    than there would be of independent rows, and candidate and target would have it in common. Once
    an autoregression has whitened them, it is a multiple of the known columns, their squares and
    the last values of both, which are taken out (``known``, orthonormal).
    """

    series: Series
    known: FloatArray

    @classmethod
    def of(cls, time: IntArray, given: Columns) -> "Past":
        rows = [np.ones((1, time.size))]
        for some in lines_of(given):
            if len(some) == 2:
                some = np.concatenate([some, winsorised(some[:1]) ** 2])
            before = np.empty_like(some)
            before[:, time] = np.roll(some[:, time], 1, axis=1)
            rows += [some, before]
        return cls(Series.of(time), _spanning(np.concatenate(rows)))

    def beside(self, given: Columns, values: FloatArray) -> "Past":
        """The same, with innovations of the known columns times functions (n_functions, n_samples).

        What is left of a known column moves a function by its slope times the innovation.
        """
        marks = np.concatenate(lines_of(given)) if given.n_columns else values[:0]
        moved = self.series.whitened(np.ascontiguousarray(marks))
        slopes = [(mark * values).reshape(-1, values.shape[1]) for mark in moved]
        return replace(self, known=_spanning(np.concatenate([self.known, *slopes])))

    def taken_from(self, values: FloatArray) -> FloatArray:
        """Innovations of functions (n_functions, n_samples)."""
        return self._without_known(self.series.whitened(np.ascontiguousarray(values)))

    def taken_again(self, values: FloatArray) -> FloatArray:
        """The same of permuted functions, which have some of the known columns again."""
        left = self._without_known(np.ascontiguousarray(values))
        size = np.sqrt((left * left).sum(axis=1, keepdims=True) / left.shape[1])
        return np.asarray(np.rint(left / np.where(size > 0, size, 1.0) / UNIT) * UNIT)

    def _without_known(self, left: FloatArray) -> FloatArray:
        return without(self.known, products_of(left)(self.known), left)


def _spanning(rows: FloatArray) -> FloatArray:
    """Orthonormal functions of which rows are made."""
    found, size = np.linalg.qr(rows.T)
    return rounded(found.T[np.abs(np.diag(size)) > 1e-9])


def marks_of(given: Columns) -> list[FloatArray]:
    """Of each known column its values, or the levels of a category: (1 or more, n_samples)."""
    found = []
    for j in range(given.n_columns):
        one = given.take([j])
        if one.categorical[0]:
            codes = levels_of(one.values[0])
            rows = (codes == np.arange(codes.max())[:, None]).astype(float)
            found.append(rows - rows.mean(axis=1, keepdims=True))
        else:
            found.append(winsorised(one.values))
    return found


def lines_of(given: Columns) -> list[FloatArray]:
    """Of each known column what is of the first order in smoothers: (1 or more, n_samples)."""
    found = marks_of(given)
    for j in np.flatnonzero(~given.categorical).tolist():
        one = given.take([j])
        scores = scores_of(ranks_of(one))
        found[j] = np.concatenate([winsorised(one.values, FARTHEST_SMOOTHED), scores])
    return found


@dataclass(frozen=True)
class Functions(WritableArrays):
    """Orthonormal functions of columns of one kind.

    Attributes
    ----------
    places : ndarray of int, of shape (n_columns,)
        Which columns they are.
    values : ndarray of shape (n_columns, n_functions, n_samples)
    orders : ndarray of int, of shape (n_functions,)
        Of each a line, a square, or the half waves of a cosine.
    deflation : ndarray of shape (n_columns,)
        What correlations of the first order with the target are multiplied by.
    gaps : bool
        Whether the first function tells where gaps are, and the second what is beside them.
    scale : ndarray of shape (n_columns, n_functions, n_of_target), optional
        The size of permuted correlations, where rows belong together.
    """

    places: IntArray
    values: FloatArray
    orders: IntArray
    deflation: FloatArray
    gaps: bool = False
    scale: FloatArray | None = None

    @cached_property
    def moments(self) -> FloatArray:
        """Of each function the mean of the third power, and of the fourth: see `moments_of`."""
        return moments_of(self.values)


def moments_of(values: FloatArray) -> FloatArray:
    """Of functions (n_columns, n_functions, n_samples): (2, n_columns, n_functions).

    The mean of the fourth power is n / c where a function hangs on c of n samples.
    """
    found = np.empty((2, *values.shape[:2]))
    moments(values, found)
    return found


def raw_functions(
    columns: Columns, smoothers: Smoothers | None, most: int
) -> Iterator[tuple[IntArray, FloatArray, IntArray, IntArray | None]]:
    """Columns by kind: their places, functions before they are orthonormal, orders, smoothers.

    Numbers have cosines up to the order ``most``, unless they have fewer distinct values;
    categories a function for each level but the first; numbers with gaps one more for these, which
    is the first.
    """
    missing = columns.missing
    n = columns.n_samples
    gaps = np.zeros(columns.n_columns, bool) if missing is None else missing.any(axis=1)
    marked = columns.categorical | (~gaps & (columns.n_distinct == 2))
    varied = np.minimum(columns.n_distinct - gaps - 1, most)
    for j in map(int, np.flatnonzero(marked)):
        values = columns.values[j]
        if columns.categorical[j]:
            codes = levels_of(values)
        else:
            codes = (ranks_of(columns.take([j]))[0] > n).astype(np.int64)
            codes = np.unique(codes, return_inverse=True)[1]
        if codes.max() == 0:
            continue
        marks = (codes == np.arange(1, int(codes.max()) + 1)[:, None]).astype(float)
        chosen = None
        if smoothers is not None:
            marks, chosen = smoothers.residuals(marks)
            chosen = chosen[0]
        orders = np.full(len(marks), LINE)
        yield np.array([j]), marks[None], orders, None if chosen is None else chosen[None]
    for j in map(int, np.flatnonzero(gaps & ~marked)):
        assert missing is not None
        yield _with_gaps(columns, j, missing[j], smoothers, int(max(varied[j], 1)))
    rest = ~marked & ~gaps
    for k in np.unique(varied[rest]).tolist():
        places = np.flatnonzero(rest & (varied == k))
        ranks = ranks_of(columns.take(places))
        values = columns.values[places] / LIFT
        yield places, *_of_numbers(values, ranks, smoothers, max(k, 1), most)


def _of_numbers(
    values: FloatArray, ranks: IntArray, smoothers: Smoothers | None, highest: int, most: int
) -> tuple[FloatArray, IntArray, IntArray | None]:
    scores, chosen = scores_of(ranks), None
    if smoothers is not None:
        left, chosen = smoothers.better(scores, winsorised(values, FARTHEST_SMOOTHED))
        left /= smoothers.spreads(left)
        scores, highest = winsorised(left), most
        ranks = _doubled_ranks(left)
    rows = _rows(scores, ranks, highest)
    return rows, np.arange(rows.shape[1]), chosen


def _rows(scores: FloatArray, ranks: IntArray, highest: int) -> FloatArray:
    """A line of each column, and, if there are cosines, a square and these, in their order."""
    m, n = scores.shape
    rows = np.empty((m, highest + 1 if highest > 1 else 1, n))
    waves = np.array([cosines(n, order) for order in range(2, highest + 1)]).reshape(-1, 2 * n)
    functions(scores, ranks, waves, rows)
    return rows


def _doubled_ranks(left: FloatArray) -> IntArray:
    """Of what is left of columns: equal values share the mean."""
    n_distinct = 1 + (np.diff(np.sort(left, axis=1), axis=1) > 0).sum(axis=1)
    return ranks_of(Columns(left, np.zeros(len(left), bool), n_distinct))


def _with_gaps(
    columns: Columns, j: int, missing: BoolArray, smoothers: Smoothers | None, highest: int
) -> tuple[IntArray, FloatArray, IntArray, IntArray | None]:
    """A column with gaps: where they are, and functions of the others that are zero there."""
    there = ~missing
    one = Columns(
        columns.values[j : j + 1, there],
        np.zeros(1, bool),
        np.minimum(columns.n_distinct[j : j + 1] - 1, int(there.sum())),
    )
    marks, chosen = missing.astype(float)[None], None
    if there.sum() < 3 or one.n_distinct[0] < 2:
        if smoothers is not None:
            marks, chosen = smoothers.residuals(marks)
        return np.array([j]), marks[None], np.array([LINE]), chosen
    ranks = ranks_of(one)
    filled = np.zeros((1, columns.n_samples))
    filled[0, there] = scores_of(ranks)[0]
    if smoothers is not None:
        left, chosen = smoothers.residuals(np.concatenate([filled, marks]))
        marks, some, chosen = left[1:], left[:1], chosen[:1]
        some = some / smoothers.spreads(some)
        ranks = _doubled_ranks(some[:, there])
        filled = np.where(missing, 0.0, some)
    rows = _rows(filled[:, there], ranks, highest)[0]
    rows[SQUARE:] -= rows[SQUARE:].mean(axis=1, keepdims=True)
    whole = np.zeros((1, 1 + len(rows), columns.n_samples))
    whole[0, 0] = marks
    whole[0, 1:, there] = rows.T
    return np.array([j]), whole, np.r_[LINE, np.arange(len(rows))], chosen


def functions_of(
    columns: Columns,
    smoothers: Smoothers | None,
    inflations: FloatArray | None,
    past: Past | None,
    most: int,
) -> list[Functions]:
    """The orthonormal functions of candidates, those of one kind together."""
    found = []
    for places, rows, orders, chosen in raw_functions(columns, smoothers, most):
        gaps = columns.missing is not None and bool(columns.missing[places].any())
        values, kept = orthonormal(rows, orders, past)
        deflation = np.ones(len(places))
        if inflations is not None and chosen is not None:
            deflation = 1 / np.sqrt(inflations[chosen])
        same, which = np.unique(kept, axis=0, return_inverse=True)
        for number, some in enumerate(same):
            mine = which.ravel() == number
            if some.any():
                whole = mine.all() and some.all()
                one = values if whole else np.ascontiguousarray(values[mine][:, some])
                both = gaps and bool(some[:2].all()) and rows.shape[1] > 1
                found.append(Functions(places[mine], one, orders[some], deflation[mine], both))
    return found


def orthonormal(
    rows: FloatArray, orders: IntArray, past: Past | None
) -> tuple[FloatArray, BoolArray]:
    """Functions (n_columns, n_functions, n_samples) made orthonormal, in place; which are some.

    Cosines keep what they have of squares. Of a series, functions lose what their past tells
    before.
    """
    values = rows
    if past is not None:
        values = past.taken_from(rows.reshape(-1, rows.shape[-1])).reshape(rows.shape)
    kept = np.zeros(values.shape[:2], np.bool_)
    orthonormalise(values, orders == SQUARE, UNIT, kept)
    return values, kept
