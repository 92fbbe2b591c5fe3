"""What samples near in the selected columns foretell of another column, and copies that keep it.

A candidate that follows the selected columns, a noisy copy of one of them, say, must be compared
with copies that follow them as closely. Values that near samples exchange do not: among a few
hundred samples, those near in three columns are far apart in each. So for each sample a plane
through those near it foretells its value, and only what is left is exchanged.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from infosieve._core.types import Columns, FloatArray, IntArray, Runner

# A plane goes through so many samples for each of its coefficients, and never through fewer
# than the second number: then a mean has to do.
SAMPLES_EACH, FEWEST_EACH = 6, 2
# What is added to the squares of a plane's directions, whose sum is one: some may be none.
_RIDGE = 1e-6
# The least that a plane leaves, of one: a sample far from all others draws it to itself.
_LEAST = 1e-3
# Values count up to so many standard deviations (by the median) from what is foretold of them,
# which is found in so many rounds: an outlier would draw all planes near it.
_OUTLYING, _ROUNDS = 1.5, 3
_MEDIAN = 0.6745  # of |x|, for normal x of standard deviation one
# Numbers that a task works on at once: values of copies, coordinates of near samples.
_TASK, _BLOCK = 1 << 17, 1 << 21


@dataclass(frozen=True)
class Planes:
    """Foretells the value of any column at each sample from those at the samples near it.

    Attributes
    ----------
    near : ndarray of shape (n_samples, n_near)
        The samples, each among its own.
    weights : ndarray of shape (n_samples, n_near)
        Of their values; the sum of each row is one.
    spread : ndarray of shape (n_samples,)
        The standard deviation of what is left of independent noise of standard deviation one.
    """

    near: IntArray
    weights: FloatArray
    spread: FloatArray

    @classmethod
    def of(cls, near: IntArray, weights: FloatArray) -> "Planes":
        own = np.where(near == np.arange(len(near))[:, None], weights, 0.0).sum(axis=1)
        variance = 1 - 2 * own + (weights**2).sum(axis=1)
        return cls(near, weights, np.sqrt(np.maximum(variance, _LEAST**2)))

    def foretold(self, values: FloatArray) -> FloatArray:
        """Of columns (n_columns, n_samples), outliers drawn in."""
        out = self._weighted(values)
        for _ in range(_ROUNDS):
            left = values - out
            usual = np.median(np.abs(left) / self.spread, axis=1, keepdims=True) / _MEDIAN
            far = _OUTLYING * usual * self.spread
            out = self._weighted(out + np.clip(left, -far, far))
        return out

    def _weighted(self, values: FloatArray) -> FloatArray:
        out = np.zeros_like(values)
        for near, weights in zip(self.near.T, self.weights.T, strict=True):
            out += weights * np.take(values, near, axis=1)
        return out

    def copying(self, columns: Columns, runner: Runner) -> Callable[[IntArray], Columns]:
        """What writes the columns with what is left of them permuted; foretelling is done once.

        A copy has the values of its column in the order of the new ones: no value is new, and
        ties remain ties. Categories have no planes: theirs are permuted as they are.
        """
        m, n = columns.values.shape
        foretold, left, ordered = np.empty((3, m, n))

        def prepare(which: slice) -> None:
            values = columns.values[which]
            numbers = np.where(columns.categorical[which, None], 0.0, values)
            foretold[which] = self.foretold(numbers)
            left[which] = (numbers - foretold[which]) / self.spread
            ordered[which] = np.sort(values, axis=1)

        def copy(permutations: IntArray, which: slice, out: FloatArray) -> None:
            new = foretold[which, None] + self.spread * np.take(left[which], permutations, axis=1)
            order = np.argsort(new, axis=2, kind="stable")
            np.put_along_axis(new, order, ordered[which, None], axis=2)
            categorical = columns.categorical[which]
            new[categorical] = columns.values[which][categorical][:, permutations]
            out[:, which] = new.transpose(1, 0, 2)

        def copies(permutations: IntArray) -> Columns:
            p = len(permutations)
            out = np.empty((p, m, n))
            some = _slices(p, _TASK // n)
            which = _slices(m, _TASK // (n * min(p, max(1, _TASK // n))))
            runner.run([partial(copy, permutations[d], w, out[d]) for w in which for d in some])
            kinds = np.tile(columns.categorical, p), np.tile(columns.n_distinct, p)
            return Columns(out.reshape(-1, n), *kinds)

        runner.run([partial(prepare, which) for which in _slices(m, _TASK // n)])
        return copies


def _slices(n: int, size: int) -> list[slice]:
    size = max(1, size)
    return [slice(at, min(n, at + size)) for at in range(0, n, size)]


def fit_planes(points: FloatArray, near: IntArray) -> FloatArray:
    """The weights of near samples in planes: least squares, at the samples themselves.

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
