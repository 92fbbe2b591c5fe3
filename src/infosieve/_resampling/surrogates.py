"""Surrogates: permuted columns that keep their relation to the given columns.

A candidate that follows the given columns, such as a noisy copy of one of them, must be compared
with surrogates that follow them as closely. Values permuted among near samples do not: of a few
hundred samples, the nearest in three columns are far apart in each. So a local linear fit on the
given columns predicts the value of each sample, and the residuals are permuted among near samples
(Freedman and Lane 1983, https://doi.org/10.2307/1391660, permute residuals of a regression; Runge
2018, https://proceedings.mlr.press/v84/runge18a.html, permutes values locally).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from infosieve._core.chunks import chunks
from infosieve._core.types import Columns, FloatArray, IntArray, Runner

# Samples for each coefficient of a fit; with fewer than the second number, the fit is a mean.
SAMPLES_EACH, FEWEST_EACH = 6, 2
# Added to the squares of a fit's directions, whose sum is one: some directions may not exist.
_RIDGE = 1e-6
# The least residual standard deviation, of one: a sample far from all others is fitted by itself.
_LEAST = 1e-3
# Residuals are winsorised at so many standard deviations (by the median), in so many rounds: an
# outlier would otherwise bend all fits near it.
_OUTLYING, _ROUNDS = 1.5, 3
_MEDIAN = 0.6745  # of |x|, for normal x of standard deviation one
# Numbers that a task works on at once: values of surrogates, coordinates of near samples.
_TASK, _BLOCK = 1 << 17, 1 << 21


@dataclass(frozen=True)
class LocalFits:
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

    def fitted(self, values: FloatArray) -> FloatArray:
        """The fitted values of columns (n_columns, n_samples), outliers winsorised."""
        out = self._weighted(values)
        for _ in range(_ROUNDS):
            residuals = values - out
            usual = (
                np.median(np.abs(residuals) / self.residual_std, axis=1, keepdims=True) / _MEDIAN
            )
            far = _OUTLYING * usual * self.residual_std
            out = self._weighted(out + np.clip(residuals, -far, far))
        return out

    def _weighted(self, values: FloatArray) -> FloatArray:
        out = np.zeros_like(values)
        for near, weights in zip(self.near.T, self.weights.T, strict=True):
            out += weights * np.take(values, near, axis=1)
        return out

    def surrogate_maker(self, columns: Columns, runner: Runner) -> Callable[[IntArray], Columns]:
        """What makes surrogates of the columns from permutations; the columns are fitted once.

        A surrogate has the values of its column in the order of the new ones: no value is new,
        and ties remain ties. Categories have no fit: their values are permuted.
        """
        m, n = columns.values.shape
        fitted, residuals, ordered = np.empty((3, m, n))

        def prepare(which: slice) -> None:
            values = columns.values[which]
            numbers = np.where(columns.categorical[which, None], 0.0, values)
            fitted[which] = self.fitted(numbers)
            residuals[which] = (numbers - fitted[which]) / self.residual_std
            ordered[which] = np.sort(values, axis=1)

        def permute(permutations: IntArray, which: slice, out: FloatArray) -> None:
            new = fitted[which, None] + self.residual_std * np.take(
                residuals[which], permutations, axis=1
            )
            order = np.argsort(new, axis=2, kind="stable")
            np.put_along_axis(new, order, ordered[which, None], axis=2)
            categorical = columns.categorical[which]
            new[categorical] = columns.values[which][categorical][:, permutations]
            out[:, which] = new.transpose(1, 0, 2)

        def surrogates(permutations: IntArray) -> Columns:
            p = len(permutations)
            out = np.empty((p, m, n))
            some = chunks(p, _TASK // n)
            which = chunks(m, _TASK // (n * min(p, max(1, _TASK // n))))
            runner.run([partial(permute, permutations[d], w, out[d]) for w in which for d in some])
            return Columns(
                values=out.reshape(-1, n),
                categorical=np.tile(columns.categorical, p),
                n_distinct=np.tile(columns.n_distinct, p),
            )

        runner.run([partial(prepare, which) for which in chunks(m, _TASK // n)])
        return surrogates


def fit_weights(points: FloatArray, near: IntArray) -> FloatArray:
    """The weights of near samples in local linear fits: least squares.

    ``points`` is (n_samples, n_dimensions), ``near`` (n_samples, n_near).
    """
    k, d = near.shape[1], points.shape[1]
    weights = np.full(near.shape, 1 / k)
    if k < FEWEST_EACH * (d + 1):
        return weights
    size = max(1, _BLOCK // (k * d))
    for at in range(0, len(near), size):
        around = points[near[at : at + size]] - points[at : at + size, None]
        centre = around.mean(axis=1, keepdims=True)
        around -= centre
        unit = np.sqrt((around**2).sum(axis=2).mean(axis=1))[:, None, None]
        unit[unit == 0] = 1.0
        around /= unit
        squares = around.transpose(0, 2, 1) @ around + _RIDGE * k * np.eye(d)
        slopes = np.linalg.solve(squares, -(centre / unit).transpose(0, 2, 1))
        weights[at : at + size] += (around @ slopes)[:, :, 0]
    return weights
