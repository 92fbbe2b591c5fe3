"""What features are compared by, and how similar they are."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.stats import rankdata

from infosieve._core.chunks import chunks
from infosieve._core.settings import Correlation, Representative
from infosieve._core.types import BoolArray, Columns, Executor, FloatArray, IntArray, Runner, Scale
from infosieve._engines.numba import agglomerate as kernels
from infosieve._executors.threads import Threads
from infosieve._input.scaling import prepare
from infosieve.clustering._false_neighbors import false_counts, target_strips

# How many rows a task centres.
_TASK_ROWS = 16
# How many pairs are compared at once, at most, and how many are worth a job.
_PAIRS, _FEW_PAIRS = 1 << 22, 1 << 14


def centred(values: Any, runner: Runner) -> FloatArray:
    """Rows minus their means, padded with zeros as the kernels need them."""
    m, n = values.shape
    rows = np.zeros((m, -(-n // kernels.WIDTH) * kernels.WIDTH))
    rows[:, :n] = values
    runner.run([partial(kernels.centre, rows[part], n) for part in chunks(m, _TASK_ROWS)])
    return rows


@dataclass(frozen=True)
class Comparison:
    """What features are compared by: their C vectors if there is a target, else themselves.

    A feature and its negative are alike: their C vectors are equal, and where features
    themselves are compared, the absolute value of the correlation counts.
    """

    target: Columns | None
    correlation: Correlation
    scale: Scale  # of representatives

    @property
    def absolute(self) -> bool:
        """Whether the absolute value of a correlation counts."""
        return self.target is None

    @cached_property
    def _strips(self) -> Any:
        assert self.target is not None
        return target_strips(self.target)

    def profiles(self, x: Columns, executor: Executor) -> FloatArray:
        """The centred rows whose correlations are the similarities of the columns."""
        rows: Any = x.values
        if self.target is not None:
            rows = false_counts(x, self.target, self._strips, executor)
        if self.correlation == "spearman":
            rows = rankdata(rows, axis=1)
        profiles = centred(rows, executor.here)
        kernels.into_range(profiles)
        return profiles

    def profile(self, column: FloatArray) -> FloatArray:
        """The same for one representative, which is scaled first."""
        runner, categorical = Threads(1), np.zeros(1, bool)
        x = prepare(
            column[None], categorical, self.scale, 0, runner, with_order=True, separate=False
        )
        return np.asarray(self.profiles(x, runner)[0])


def covariances(rows: FloatArray, target: Columns) -> FloatArray:
    """Of each centred row with each target, or with the indicator of each of its categories."""
    n = target.n_samples
    columns: list[Any] = []
    for values, categorical in zip(target.values, target.categorical, strict=True):
        columns += [values == level for level in np.unique(values)] if categorical else [values]
    members = np.arange(len(rows))
    targets = centred(np.array(columns, np.float64), Threads(1))
    return np.array([kernels.dots(rows, members, t) / n for t in targets])


@dataclass(frozen=True, kw_only=True)
class Features:
    """The features that are clustered."""

    rows: FloatArray  # the scaled columns, centred and padded: (n_features, width)
    profiles: FloatArray  # what they are compared by: (n_features, width)
    slopes: FloatArray  # covariances with the targets: (n_targets, n_features)
    n_samples: int  # the numbers of a row that are no padding
    comparison: Comparison

    @classmethod
    def of(
        cls, x: Columns, target: Columns | None, comparison: Comparison, executor: Executor
    ) -> "Features":
        """The scaled columns ``x``."""
        rows = centred(x.values, executor.here)
        return cls(
            rows=rows,
            profiles=comparison.profiles(x, executor),
            slopes=np.empty((0, x.n_columns)) if target is None else covariances(rows, target),
            n_samples=x.n_samples,
            comparison=comparison,
        )

    @property
    def n(self) -> int:
        """The number of features."""
        return len(self.rows)

    @cached_property
    def squares(self) -> FloatArray:
        """The profiles' products with themselves: 0 where a profile is constant."""
        out = np.empty(self.n)
        kernels.squares(self.profiles, out)
        return out

    @cached_property
    def varying(self) -> BoolArray:
        """Whether each column varies."""
        return np.asarray((self.rows != 0).any(axis=1))

    def weights(self, members: IntArray, kind: Representative) -> FloatArray:
        """What each member, in rising order, contributes to the representative of a cluster."""
        if kind == "medoid":
            return np.asarray(members == self.medoid(members), np.float64)
        if kind == "pls":  # the first direction of partial least squares
            slopes = self.slopes[:, members]
            direction = slopes[0]
            if len(slopes) > 1:
                direction = np.linalg.svd(slopes, full_matrices=False)[2][0]
                direction = direction * np.sign(direction[np.argmax(np.abs(direction))])
            total = np.abs(direction).sum()
            if total > 0:
                return np.asarray(direction / total)
        counting = self.varying[members] if self.varying[members].any() else members >= 0
        signs = self._signs(self.rows, members, members[counting][0])
        return np.asarray(signs * counting / counting.sum())

    def medoid(self, members: IntArray) -> int:
        """The member whose profile is most like the mean of all; of several, the first.

        A column that varies and whose profile is constant has no false neighbours at all: it is
        the medoid wherever it is.
        """
        perfect = members[self.varying[members] & (self.squares[members] == 0)]
        if perfect.size:
            return int(perfect[0])
        varying = members[self.squares[members] > 0]
        if varying.size == 0:
            return int(members[0])
        lengths = np.sqrt(self.squares[varying])
        if self.comparison.absolute:
            lengths *= self._signs(self.profiles, varying, varying[0])
        mean = kernels.combine(self.profiles, varying, 1 / lengths)
        return int(varying[np.argmax(kernels.dots(self.profiles, varying, mean) / lengths)])

    @staticmethod
    def _signs(rows: FloatArray, members: IntArray, first: int) -> FloatArray:
        """-1 for the members that fall where the first one rises, else 1."""
        return np.where(kernels.dots(rows, members, rows[first]) < 0, -1.0, 1.0)


def similarities(features: Features, wanted: BoolArray, executor: Executor) -> FloatArray:
    """Of all pairs of features, as scipy's ``pdist`` orders them; NEVER where not ``wanted``."""
    m = features.n
    total = m * (m - 1) // 2
    shared = [executor.share(v) for v in (features.profiles, features.squares, wanted)]
    absolute = features.comparison.absolute

    def jobs() -> Iterator[tuple[int, tuple[Any, ...]]]:
        first, left = 0, total
        while left > 0:
            size = executor.batch_size("correlate", left, _PAIRS, _FEW_PAIRS)
            last, cells = first, 0
            while last < m and (cells == 0 or cells + m - 1 - last <= size):
                cells += m - 1 - last
                last += 1
            yield cells, (*shared, absolute, first, last)
            first, left = last, left - cells

    similar, at = np.empty(total), 0
    for part in executor.map(_correlate, jobs(), "correlate"):
        similar[at : at + part.size] = part
        at += part.size
    return similar


def _correlate(
    runner: Runner,
    profiles: FloatArray,
    squares: FloatArray,
    wanted: BoolArray,
    absolute: bool,
    first: int,
    last: int,
) -> FloatArray:
    """Of the rows from ``first`` to ``last`` with all later ones."""
    m = len(profiles)
    start, end = (row * m - row * (row + 1) // 2 for row in (first, last))
    out = np.full(end - start, kernels.NEVER)

    def some(rows: slice) -> None:
        span = first + rows.start, first + rows.stop
        kernels.correlate(profiles, squares, span, absolute, wanted, start, out)

    runner.run([partial(some, rows) for rows in chunks(last - first, 2 * _TASK_ROWS)])
    return out
