"""Which given columns a candidate follows along a curve, and surrogates that follow them as well.

Fits to samples that are near in all given columns are lines. With three columns, near samples are
far apart in each of them, and lines miss what a candidate has of a curve of one of them, or of a
product of two: its surrogates follow the given columns less closely than it does, and it passes.
Fits of second degree to samples near in one or two columns alone predict such a candidate better;
then these make its surrogates. A category changes places with samples near in these columns.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy.spatial import cKDTree

from infosieve._core.categories import codes_of
from infosieve._core.types import BoolArray, Columns, FloatArray, IntArray, Metric
from infosieve._resampling.permutations import N_NEAR, Permutations, put_first
from infosieve._resampling.random_bits import random_order
from infosieve._resampling.surrogates import LocalFits, fit_weights

# Samples for each coefficient of a curve: what predicts better is taken.
_SAMPLES_EACH = (6, 12)
# Columns that are followed together, at most, and how many such sets have curves fitted.
_MOST_TOGETHER, _MOST_FITTED = 2, 3
# What predicts a candidate is judged by so many samples, or fewer that have a value.
_JUDGED, _FEWEST = 200, 20
# The least weight of others that an error of prediction is divided by.
_LEAST_OTHERS = 0.1


@dataclass(frozen=True)
class Followed:
    """The columns, by their place among the given ones, and permutations that keep to them."""

    columns: tuple[int, ...]
    permutations: Permutations


def followed(
    candidate: Columns, given: Columns, permutations: Permutations, metric: Metric
) -> Followed | None:
    """One or two given columns that predict a candidate better than all of them do.

    ``permutations`` are the local ones of the given columns. None: no columns do, samples are too
    few to tell, or permutations do not exchange near samples (strata, groups, series).
    """
    if permutations.near is None or permutations.fits is None or permutations.by_place is not None:
        return None
    if candidate.n_samples < _FEWEST:
        return None
    norm, given = 2 if metric == "euclidean" else np.inf, given.upright()
    if candidate.categorical[0]:
        return _by_category(candidate, given, permutations, norm)
    fits, missing = permutations.fits, candidate.missing
    values, rows = candidate.filled().values[0], _judged(candidate.n_samples)
    if missing is not None:  # what is fitted to a gap does not matter
        values = np.where(missing[0], fits.fitted(values[None], missing)[0], values)
        rows = rows[~missing[0][rows]]
        if rows.size < _FEWEST:
            return None
    least = _error(values, rows, fits.near[rows], fits.weights[rows])
    best = None
    errors, subsets = _by_neighbours(values, rows, given, norm)
    if not errors or errors[0] >= _spread(values[rows]):
        return None  # nothing predicts it, and lines do no harm
    for columns in subsets[:_MOST_FITTED]:
        points = given.values[list(columns)].T
        for n_near in _sizes(len(columns), len(points)):
            near = _near(points, rows, n_near, norm)
            error = _error(values, rows, near, fit_weights(points, near, rows, curved=True))
            if error < least:
                least, best = error, (columns, n_near)
    if best is None:
        return None
    columns, n_near = best
    points, every = given.values[list(columns)].T, np.arange(values.size)
    near = _near(points, every, n_near, norm)
    curves = LocalFits.of(near, fit_weights(points, near, every, curved=True))
    return Followed(columns, replace(permutations, fits=curves))


def _by_category(
    candidate: Columns, given: Columns, permutations: Permutations, norm: float
) -> Followed | None:
    assert permutations.near is not None
    codes, rows = codes_of(candidate.values[0]), _judged(candidate.n_samples)
    least = _misses(codes, rows, permutations.near[rows], True)
    errors, subsets = _by_neighbours(codes, rows, given, norm, True)
    if not errors or errors[0] >= least:
        return None
    near = _near(given.values[list(subsets[0])].T, np.arange(codes.size), N_NEAR, norm)
    return Followed(subsets[0], replace(permutations, near=near))


def relatives(
    candidates: Columns, columns: tuple[int, ...], given: Columns, metric: Metric
) -> BoolArray:
    """Which candidates some given columns predict, if by the mean, or the share, of neighbours."""
    norm, rows = 2 if metric == "euclidean" else np.inf, _judged(candidates.n_samples)
    near = _near(given.upright().values[list(columns)].T, rows, N_NEAR, norm)
    found = np.zeros(candidates.n_columns, bool)
    for j, categorical in enumerate(candidates.categorical.tolist()):
        values = candidates.take([j]).filled().values[0]
        if categorical:
            values = codes_of(values)
            spread = 1 - float(((np.bincount(values) / values.size) ** 2).sum())
        else:
            spread = _spread(values)
        found[j] = _misses(values, rows, near, categorical) < spread
    return found


def _spread(values: FloatArray) -> float:
    """What is left of a column that nothing predicts."""
    return float(np.mean(np.abs(values - np.median(values))))


def follow_any(candidates: Columns, given: Columns, metric: Metric) -> BoolArray:
    """Which candidates are predicted by any one or two given columns."""
    found = np.zeros(candidates.n_columns, bool)
    for columns in _subsets(given):
        found |= relatives(candidates, columns, given, metric)
    return found


def _subsets(given: Columns) -> Iterator[tuple[int, ...]]:
    numbers = np.flatnonzero(~given.categorical).tolist()
    for size in range(1, _MOST_TOGETHER + 1):
        yield from combinations(numbers, size)


def _judged(n_samples: int) -> IntArray:
    return np.sort(random_order((0, "judged", 0), n_samples)[:_JUDGED])


def _by_neighbours(
    values: FloatArray | IntArray,
    rows: IntArray,
    given: Columns,
    norm: float,
    categorical: bool = False,
) -> tuple[list[float], list[tuple[int, ...]]]:
    """How well near samples predict, in one and in two columns: errors and columns, best first."""
    found = []
    for columns in _subsets(given):
        near = _near(given.values[list(columns)].T, rows, N_NEAR, norm)
        found.append((_misses(values, rows, near, categorical), columns))
    found.sort()
    return [error for error, _ in found], [columns for _, columns in found]


def _near(points: FloatArray, rows: IntArray, n_near: int, norm: float) -> IntArray:
    n_near = min(n_near, len(points))
    found = np.asarray(cKDTree(points).query(points[rows], n_near, p=norm)[1])
    put_first(found, rows)
    return np.ascontiguousarray(found, np.int32)


def _sizes(n_columns: int, n_samples: int) -> list[int]:
    """How many near samples a curve is fitted to: three quarters of all at most."""
    n_coefficients = 1 + n_columns + n_columns * (n_columns + 1) // 2
    sizes = [each * n_coefficients for each in _SAMPLES_EACH]
    return [size for size in sizes if 4 * size <= 3 * n_samples]


def _error(values: FloatArray, rows: IntArray, near: IntArray, weights: FloatArray) -> float:
    """The mean absolute error of a fit that does not know the sample itself."""
    own = np.where(near == rows[:, None], weights, 0.0).sum(axis=1)
    left = values[rows] - (values[near] * weights).sum(axis=1)
    return float(np.mean(np.abs(left) / np.maximum(1 - own, _LEAST_OTHERS)))


def _misses(
    values: FloatArray | IntArray, rows: IntArray, near: IntArray, categorical: bool
) -> float:
    """How far the mean of near samples is from a sample; or how often their category differs."""
    other = near != rows[:, None]
    if categorical:
        return float((values[near] != values[rows][:, None])[other].mean())
    means = (values[near] * other).sum(axis=1) / other.sum(axis=1)
    return float(np.mean(np.abs(values[rows] - means)))
