"""Surrogates: permuted columns that keep their relation to the given columns.

A candidate that follows the given columns, such as a noisy copy of one of them, must be compared
with surrogates that follow them as closely. Values permuted among near samples do not: of a few
hundred samples, the nearest in three columns are far apart in each. So a local linear fit on the
given columns predicts the value of each sample, and the residuals are permuted among near samples
(Freedman and Lane 1983, https://doi.org/10.2307/1391660, permute residuals of a regression; Runge
2018, https://proceedings.mlr.press/v84/runge18a.html, permutes values locally).
"""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.linalg import cho_solve_banded, cholesky_banded, solve_banded
from scipy.special import ndtri

from infosieve._core.chunks import chunks
from infosieve._core.types import (
    GAP,
    BoolArray,
    Columns,
    Engine,
    FloatArray,
    IntArray,
    Runner,
    WritableArrays,
)
from infosieve._engines.numba.series import autoregression, series_copies, shifted, whiten
from infosieve._engines.numba.surrogates import copies, fit_columns, permuted, permuted_orders
from infosieve._input.series import most_lags
from infosieve._resampling.random_bits import random_words

# Samples for each coefficient of a fit; with fewer than the second number, the fit is a mean.
SAMPLES_EACH, FEWEST_EACH = 6, 2
# Added to the squares of a fit's directions, whose sum is one: some directions may not exist.
_RIDGE = 1e-6
# The least residual standard deviation, of one: a sample far from all others is fitted by itself.
_LEAST = 1e-3
# Residuals are winsorised at so many standard deviations (by the median), in so many rounds: an
# outlier would otherwise bend all fits near it.
_OUTLYING, _ROUNDS = 1.5, 3
# Gaps are filled with what is fitted there, in so many rounds.
_GAP_ROUNDS = 2
# Gaps of a series are filled, and what fills them is fitted, in so many rounds.
_GAP_FITS = 8
# Numbers that a task works on at once: values of surrogates, coordinates of near samples.
_TASK, _BLOCK = 1 << 17, 1 << 21


@dataclass(frozen=True)
class LocalFits(WritableArrays):
    """Local linear fits: predict any column at each sample from its values at near samples.

    Attributes
    ----------
    near : ndarray of shape (n_samples, n_near)
        The samples, each among its own.
    weights : ndarray of shape (n_samples, n_near)
        Of their values; the sum of each row is one.
    residual_std : ndarray of shape (n_samples,)
        The standard deviation of the residuals of independent noise of standard deviation one.
    """

    near: IntArray
    weights: FloatArray
    residual_std: FloatArray

    @classmethod
    def of(cls, near: IntArray, weights: FloatArray) -> "LocalFits":
        own = np.where(near == np.arange(len(near))[:, None], weights, 0.0).sum(axis=1)
        variance = 1 - 2 * own + (weights**2).sum(axis=1)
        return cls(near, weights, np.sqrt(np.maximum(variance, _LEAST**2)))

    def fitted(self, values: FloatArray, missing: BoolArray | None = None) -> FloatArray:
        """The fitted values of columns (n_columns, n_samples), outliers winsorised.

        What is ``missing`` is what is fitted there, so that it does not matter.
        """
        fitted = self._fitted(values)
        if missing is not None:
            for _ in range(_GAP_ROUNDS):
                fitted = self._fitted(np.where(missing, fitted, values))
        return fitted

    def _fitted(self, values: FloatArray) -> FloatArray:
        return np.asarray(
            fit_columns(values, self.near, self.weights, self.residual_std, _ROUNDS, _OUTLYING)
        )

    def residuals(self, values: FloatArray, fitted: FloatArray) -> FloatArray:
        """What the fits leave, brought to one variance."""
        return np.asarray((values - fitted) / self.residual_std)


@dataclass(frozen=True)
class Series(WritableArrays):
    """Rows in order of time: surrogates are as persistent as their columns.

    What an autoregression does not predict of a column (its innovations) is permuted, and the
    autoregression makes a series of it again. Categories, gaps, and columns without innovations (a
    trend, a wave) move in a circle. Shifts, and Fourier surrogates, of columns that return to their
    mean slowly pass too often.

    Before, gaps are filled with what the autoregression expects there and noise of its size, and it
    is fitted again: medians would make the column look less persistent than it is.

    Attributes
    ----------
    time : ndarray of shape (n_samples,)
        The row of each moment.
    n_lags : int
        The largest order of an autoregression.
    """

    time: IntArray
    n_lags: int

    @classmethod
    def of(cls, time: IntArray) -> "Series":
        return cls(time, most_lags(time.size))

    def innovations(
        self, values: FloatArray, missing: BoolArray | None = None
    ) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Of columns (n_columns, n_samples), in order of time; coefficients; which are rigid."""
        ordered = np.ascontiguousarray(values[:, self.time])
        n_known = np.full(len(ordered), ordered.shape[1])
        if missing is not None:
            gaps = missing[:, self.time]
            n_known -= gaps.sum(axis=1)
            for j in np.flatnonzero(gaps.any(axis=1)).tolist():
                ordered[j] = self._without_gaps(ordered[j], gaps[j])
        out = np.empty_like(ordered)
        coefficients, rigid = whiten(ordered, n_known, self.n_lags, out)
        return out, coefficients, rigid

    def _without_gaps(self, values: FloatArray, gaps: BoolArray) -> FloatArray:
        """A column in order of time with its gaps filled as an autoregression goes on."""
        there = np.flatnonzero(~gaps)
        if there.size < 2:
            return values
        middle = values[there].mean()
        row = np.interp(np.arange(values.size), there, values[there] - middle)
        for _ in range(_GAP_FITS):
            found = autoregression(row - row.mean(), self.n_lags)
            row[gaps] = _draw_gaps(row, gaps, found, self._noise[gaps])
        return np.asarray(row + middle)

    @cached_property
    def _noise(self) -> FloatArray:
        words = random_words((0, "gaps", 0), 0, 1, self.time.size)[0]
        return np.asarray(ndtri((words >> np.uint64(11)).astype(np.float64) / 2**53 + 2.0**-54))

    def whitened(self, values: FloatArray) -> FloatArray:
        """Innovations in the order of the rows; of rigid columns nothing, as of a constant one."""
        innovations, _, rigid = self.innovations(values)
        out = np.empty_like(values)
        out[:, self.time] = np.where(rigid[:, None], 0.0, innovations)
        return out


def _draw_gaps(
    row: FloatArray, gaps: BoolArray, coefficients: FloatArray, noise: FloatArray
) -> FloatArray:
    """Values for the gaps of a row, drawn given the others, as an autoregression goes on.

    The sum of the squares of all innovations is a quadratic form in the values, whose matrix has
    as many diagonals as there are lags on each side: a normal density, restricted to the gaps.
    """
    model, at, p = np.r_[1.0, -coefficients], np.flatnonzero(gaps), coefficients.size
    size = np.sqrt(np.mean(np.convolve(row, model)[p : row.size] ** 2))
    known = np.convolve(np.where(gaps, 0.0, row), model)
    pull = np.correlate(known, model, "valid")[gaps]
    form, products = np.zeros((p + 1, at.size)), np.correlate(model, model, "full")[p:]
    for d in range(min(p + 1, at.size)):
        apart = at[d:] - at[: at.size - d]
        form[d, : at.size - d] = np.where(apart <= p, products[np.minimum(apart, p)], 0.0)
    factor = cholesky_banded(form, lower=True)
    turned = np.zeros_like(factor)  # its transpose, by diagonals
    for d in range(min(p + 1, at.size)):
        turned[p - d, d:] = factor[d, : at.size - d]
    drawn = solve_banded((0, p), turned, noise)
    return np.asarray(cho_solve_banded((factor, True), -pull) + size * drawn)


class Surrogates:
    """Makes surrogates of some columns from permutations; the columns are fitted once.

    Without ``fits`` a surrogate is the permuted column. With them it has the values of its column
    in the order of fitted values and permuted residuals: no value is new, and ties remain ties.
    Categories have no fit: their values are permuted. A gap moves as the residual of its sample
    would: the largest, as gaps are in the order of values. An engine that has a device makes them
    there, where all columns are numbers.
    """

    def __init__(
        self,
        columns: Columns,
        fits: LocalFits | None,
        runner: Runner,
        engine: Engine | None = None,
        series: Series | None = None,
    ) -> None:
        self.columns, self.fits, self.runner, self.series = columns, fits, runner, series
        self._device = getattr(engine, "surrogates", None)
        if columns.labelled.any() or series is not None:
            self._device = None
        if (fits is None and series is None) or columns.categorical.all():
            return
        m, n = columns.values.shape
        self._fitted, self._residuals, self._ordered = np.zeros((3, m, n))
        if series is not None:
            self._coefficients = np.zeros((m, series.n_lags))
            self._missing, self._rigid = np.zeros((m, n), bool), np.zeros(m, bool)

        def prepare(which: slice) -> None:
            signs = columns.take(which, with_order=False).signs
            some = columns.take(which, with_order=False).upright()
            numbers = np.where(some.categorical[:, None], 0.0, some.filled().values)
            missing = some.missing
            left = numbers
            if fits is not None:
                self._fitted[which] = fits.fitted(numbers, missing)
                left = fits.residuals(numbers, self._fitted[which])
            if series is not None:
                if missing is not None:
                    self._missing[which] = missing[:, series.time]
                found = series.innovations(left, missing)
                left, self._coefficients[which], self._rigid[which] = found
            elif missing is not None:
                left[missing] = np.inf
            self._residuals[which] = left
            ordered = np.sort(some.values, axis=1)
            self._ordered[which] = np.where(ordered == GAP, GAP, ordered * signs)

        size = max(1, min(_TASK // n, -(-m // (2 * runner.n_workers))))
        runner.run([partial(prepare, which) for which in chunks(m, size)])

    def __call__(self, permutations: IntArray) -> Columns:
        """All columns by the first permutation, then all by the second, ..."""
        p, m = len(permutations), self.columns.n_columns
        return self.some(permutations, np.tile(np.arange(m), p), np.repeat(np.arange(p), m))

    def some(self, permutations: IntArray, which: IntArray, numbers: IntArray) -> Columns:
        """Column ``which[c]`` by permutation ``numbers[c]``, for each c."""
        columns, c, n = self.columns, which.size, self.columns.n_samples
        out: Any = None
        if self._device is not None:
            out = self._device(self._parts, permutations, which, numbers)
        if out is not None:
            return Columns(out, columns.categorical[which], columns.n_distinct[which])
        out = np.empty((c, n))
        order = None
        plain = self.fits is None and self.series is None
        if plain and columns.known_order is not None:
            order = np.empty((c, n), np.int32)
        size = max(1, min(_TASK // n, -(-c // (2 * self.runner.n_workers))))
        self.runner.run(
            [
                partial(self._fill, permutations, which[at], numbers[at], out[at], at, order)
                for at in chunks(c, size)
            ]
        )
        return Columns(
            values=out,
            categorical=columns.categorical[which],
            n_distinct=columns.n_distinct[which],
            known_order=order,
            gaps=None if columns.gaps is None else columns.gaps[which],
        )

    @property
    def _parts(self) -> tuple[FloatArray, ...]:
        """What a device makes surrogates from."""
        if self.fits is None:
            return (self.columns.values,)
        return self._fitted, self._residuals, self._ordered, self.fits.residual_std

    def _fill(
        self,
        permutations: IntArray,
        which: IntArray,
        numbers: IntArray,
        out: FloatArray,
        at: slice,
        order: IntArray | None,
    ) -> None:
        columns = self.columns
        if self.series is not None:
            self._fill_series(self.series, permutations, which, numbers, out)
            return
        if self.fits is None:
            permuted(columns.values, permutations, which, numbers, out)
            if order is not None:
                permuted_orders(columns.known_order, permutations, which, numbers, order[at])
            return
        plain = columns.categorical[which]
        moved = np.empty((int(plain.sum()), columns.n_samples))
        permuted(columns.values, permutations, which[plain], numbers[plain], moved)
        out[plain] = moved
        if plain.all():
            return
        fitted = np.empty((int((~plain).sum()), columns.n_samples)) if plain.any() else out
        copies(
            self._fitted,
            self._residuals,
            self._ordered,
            self.fits.residual_std,
            permutations,
            which[~plain],
            numbers[~plain],
            fitted,
        )
        if plain.any():
            out[~plain] = fitted

    def _fill_series(
        self,
        series: Series,
        permutations: IntArray,
        which: IntArray,
        numbers: IntArray,
        out: FloatArray,
    ) -> None:
        plain, n = self.columns.categorical[which], self.columns.n_samples
        if plain.any():
            moved = np.empty((int(plain.sum()), n))
            values = self.columns.values
            shifted(values, series.time, permutations, which[plain], numbers[plain], moved)
            out[plain] = moved
        if not plain.all():
            made = np.empty((int((~plain).sum()), n))
            parts = self._residuals, self._coefficients, self._missing, self._rigid
            scale = np.ones(n) if self.fits is None else self.fits.residual_std
            series_copies(
                self._fitted,
                scale,
                self._ordered,
                parts,
                series.time,
                permutations,
                which[~plain],
                numbers[~plain],
                made,
            )
            out[~plain] = made


def fit_weights(
    points: FloatArray, near: IntArray, rows: IntArray | None = None, curved: bool = False
) -> FloatArray:
    """The weights of near samples in local linear fits: least squares.

    ``points`` is (n_samples, n_dimensions), ``near`` (n_rows, n_near) those of ``rows``, which are
    all samples unless given. ``curved``: with squares and products of the dimensions.
    """
    k, d = near.shape[1], points.shape[1]
    d += d * (d + 1) // 2 if curved else 0
    weights = np.full(near.shape, 1 / k)
    if k < FEWEST_EACH * (d + 1):
        return weights
    centres = points if rows is None else points[rows]
    size = max(1, _BLOCK // (k * d))
    for at in range(0, len(near), size):
        around = points[near[at : at + size]] - centres[at : at + size, None]
        if curved:
            around = _with_products(around)
        centre = around.mean(axis=1, keepdims=True)
        around -= centre
        unit = np.sqrt((around**2).sum(axis=2).mean(axis=1))[:, None, None]
        unit[unit == 0] = 1.0
        around /= unit
        squares = around.transpose(0, 2, 1) @ around + _RIDGE * k * np.eye(d)
        slopes = np.linalg.solve(squares, -(centre / unit).transpose(0, 2, 1))
        weights[at : at + size] += (around @ slopes)[:, :, 0]
    return weights


def _with_products(around: FloatArray) -> FloatArray:
    """Differences (n, n_near, n_dimensions), brought to one size, their squares and products."""
    radius = np.sqrt((around**2).sum(axis=2).mean(axis=1))[:, None, None]
    radius[radius == 0] = 1.0
    around = around / radius
    one, other = np.triu_indices(around.shape[2])
    return np.concatenate([around, around[:, :, one] * around[:, :, other]], axis=2)
