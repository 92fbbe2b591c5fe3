"""A cheap score for all candidates, so that estimates are spent on the best few.

The statistic of a test may be anything, as long as permuted columns go through the same steps
as the observed ones. So each permutation is screened anew: tables of counts
(:mod:`infosieve._engines.numba.screen`) between what local linear fits on the given columns leave
of a candidate and what they leave of the target. A permuted candidate has the cells of the
candidate, permuted: nothing is fitted or sorted again. A column that acts only through a given one
shows in tables that are split by that column; some of the best come from these.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from infosieve._core.categories import category_labels, codes_of
from infosieve._core.chunks import chunks
from infosieve._core.types import (
    Columns,
    FloatArray,
    IntArray,
    Metric,
    Runner,
    WritableArrays,
)
from infosieve._engines.numba.screen import (
    COARSE,
    COARSE_TARGET,
    FINE,
    best_pairs,
    cell_codes,
    centre,
    cut,
    encode,
    fixed_k_log_k,
    score_cells,
    score_splits,
)
from infosieve._resampling.nulls import LocalNull
from infosieve._resampling.permutations import Permutations
from infosieve._resampling.surrogates import LocalFits, Series

# One in four screened columns is chosen by tables that are split by a given column.
SPLIT_SHARE = 4
# Groups that a given column is split into; categories beyond are joined.
_GROUPS, _MOST_GROUPS = 4, 8
# Columns that one task encodes or scores, at most.
_TASK = 512
# Columns with the best tables of their own, among which all pairs are screened.
PAIRS_SCREENED_AMONG = 1024


@dataclass(frozen=True)
class Cells:
    """Columns as sets of samples: one for each cell, a bit for each sample."""

    starts: IntArray
    fine: IntArray
    sizes: IntArray
    coarse: IntArray
    coarse_sizes: IntArray
    marks: IntArray

    @property
    def n_columns(self) -> int:
        return len(self.marks)

    @classmethod
    def joined(cls, parts: "list[Cells]") -> "Cells":
        """Of columns in pieces."""
        if len(parts) == 1:
            return parts[0]
        levels = np.concatenate([np.diff(part.starts) for part in parts])
        rest = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("fine", "sizes", "coarse", "coarse_sizes", "marks")
        )
        return cls(np.concatenate([[0], np.cumsum(levels)]), *rest)


@dataclass(frozen=True, kw_only=True)
class Screen(WritableArrays):
    """What candidates are screened by, given some columns: cells of the target, and of the given.

    ``target`` and ``coarse`` are (n_targets, n_samples) codes, ``splits`` (n_given, n_samples),
    each beside its numbers of codes. ``fits`` or ``labels`` say what is taken from candidates.
    """

    n_best: int
    target: tuple[IntArray, IntArray]
    coarse: tuple[IntArray, IntArray]
    splits: tuple[IntArray, IntArray]
    fits: LocalFits | None
    labels: IntArray | None
    series: Series | None = None

    @property
    def n_split(self) -> int:
        """How many come from tables that are split by a given column."""
        return self.n_best // SPLIT_SHARE if len(self.splits[0]) else 0

    @cached_property
    def _logs(self) -> tuple[IntArray, int]:
        logs, bits = fixed_k_log_k(self.target[0].shape[1])
        return logs, 1 << (bits - 1)

    def encode(self, columns: Columns, runner: Runner) -> Cells:
        """The cells of columns; a task for some of them."""
        m, n = columns.values.shape
        words, categorical = -(-n // 64), columns.categorical
        levels = np.full(m, FINE)
        kind = np.where(categorical, 1, 0)
        if columns.gaps is not None:
            levels[columns.gaps] = FINE + 1
            kind[columns.gaps] = 2
        levels[categorical] = codes_of(columns.values[categorical].max(axis=1, initial=0.0)) + 1
        starts = np.concatenate([[0], np.cumsum(levels)])
        cells = Cells(
            starts,
            np.zeros((int(starts[-1]), words), np.uint64),
            np.zeros(int(starts[-1]), np.int64),
            np.zeros((m, COARSE, words), np.uint64),
            np.zeros((m, COARSE), np.int64),
            np.zeros(m, np.uint64),
        )

        def some(at: slice) -> None:
            for each in range(3):
                columns_at = np.flatnonzero(kind[at] == each) + at.start
                if columns_at.size:
                    _encode(columns, columns_at, self, cells)

        size = max(1, min(_TASK, -(-m // (2 * runner.n_workers))))
        runner.run([partial(some, at) for at in chunks(m, size)])
        return cells

    def scores(self, cells: Cells, permutations: IntArray, runner: Runner) -> IntArray:
        """Of each column in each permutation: (n_permutations, n_columns), in fixed point."""
        out = np.zeros((len(permutations), cells.n_columns), np.int64)
        fine = cells.starts, cells.fine, cells.sizes

        def some(columns: tuple[int, int]) -> None:
            score_cells(fine, columns, self.target, permutations, *self._logs, out)

        _by_columns(some, cells.n_columns, runner)
        return out

    def split_scores(self, cells: Cells, permutations: IntArray, runner: Runner) -> IntArray:
        """The same inside the groups of the given column that shows most."""
        out = np.zeros((len(permutations), cells.n_columns), np.int64)
        coarse = cells.coarse, cells.coarse_sizes

        def some(columns: tuple[int, int]) -> None:
            target, splits = self.coarse, self.splits
            score_splits(coarse, columns, target, splits, permutations, *self._logs, out)

        _by_columns(some, cells.n_columns, runner)
        return out

    def best(self, cells: Cells, permutations: IntArray, runner: Runner) -> list[IntArray]:
        """For each permutation the places of the best columns: by cells, and by split cells."""
        n_split, marks = self.n_split, cells.marks
        scores = self.scores(cells, permutations, runner)
        best = [_top(row, marks, self.n_best - n_split) for row in scores]
        if not n_split:
            return best
        split = self.split_scores(cells, permutations, runner)
        others = (_top(row, marks, n_split) for row in split)
        return [np.union1d(*both) for both in zip(best, others, strict=True)]

    def best_pairs(
        self, cells: Cells, permutations: IntArray, runner: Runner
    ) -> list[list[tuple[int, int]]]:
        """For each permutation the pairs whose coarse cells tell most about the target."""
        n = min(PAIRS_SCREENED_AMONG, cells.n_columns)
        pools = [np.arange(n)] * len(permutations)
        if n < cells.n_columns:
            wide = replace(self, n_best=n, splits=_NO_SPLITS)
            pools = [np.sort(best) for best in wide.best(cells, permutations, runner)]
        n_tasks = max(1, min(n // 16, -(-4 * runner.n_workers // len(permutations))))
        logs, unit = self._logs
        coarse = cells.coarse, cells.coarse_sizes, cells.marks

        def some(number: int, first: int) -> tuple[IntArray, IntArray]:
            return best_pairs(  # type: ignore[no-any-return]
                coarse,
                pools[number],
                (first, n_tasks),
                self.coarse,
                permutations[number],
                logs,
                unit,
                self.n_best,
            )

        tasks = [
            partial(some, number, first)
            for number in range(len(permutations))
            for first in range(n_tasks)
        ]
        found = runner.run(tasks)
        every = []
        for number in range(len(permutations)):
            parts = found[number * n_tasks : (number + 1) * n_tasks]
            rows, marks = (np.concatenate(some) for some in zip(*parts, strict=True))
            kept = np.flatnonzero(rows[:, 0] > -(2**62))
            order = kept[np.lexsort((marks[kept], -rows[kept, 0]))[: self.n_best]]
            every.append([(int(i), int(j)) for _, i, j in rows[order]])
        return every


def _by_columns(some: Callable[[tuple[int, int]], None], m: int, runner: Runner) -> None:
    """A task for some of the columns each."""
    size = max(1, min(_TASK, -(-m // (2 * runner.n_workers))))
    runner.run([partial(some, (at.start, at.stop)) for at in chunks(m, size)])


def screen_of(
    n_best: int, target: Columns, given: Columns, permutations: Permutations, metric: Metric
) -> Screen:
    """What candidates are screened by, given some columns.

    The target loses what is fitted to it, and candidates do if their permuted copies keep that: a
    column that is permuted at will does not follow the given ones. Of a series, what its own past
    tells is taken out of both: it is innovations that are permuted.
    """
    fits, series = permutations.fits, permutations.series
    keeps = permutations.local or not given.n_columns
    if not keeps:
        fits = LocalNull(seed=0, metric=metric).permutations(permutations.key, given).fits
    labels = category_labels(given) if fits is None and given.n_columns else None
    left = _left(target, fits, labels, series)
    return Screen(
        n_best=n_best,
        target=_codes(target, left, FINE, None),
        coarse=_codes(target, left, COARSE_TARGET, _MOST_GROUPS),
        splits=_codes(given, given.filled().values, _GROUPS, _MOST_GROUPS),
        fits=fits if keeps else None,
        labels=labels if keeps else None,
        series=series,
    )


_NO_SPLITS = np.empty((0, 0), np.int64), np.empty(0, np.int64)


def _encode(columns: Columns, at: IntArray, screen: Screen, cells: Cells) -> None:
    """Some columns, all numbers, or all categories, or all with gaps."""
    some = columns.take(at, with_order=False)
    values, tied = some.values, some.n_distinct < columns.n_samples
    if some.categorical[0]:
        codes = codes_of(values).astype(np.int32), _two_and_rest(codes_of(values))
    else:
        left, missing = _left(some, screen.fits, screen.labels, screen.series), some.missing
        codes = np.empty(left.shape, np.int32), np.empty(left.shape, np.int32)
        cut(left, np.zeros(left.shape, bool) if missing is None else missing, tied, *codes)
    into = cells.starts, cells.fine, cells.sizes, cells.coarse, cells.coarse_sizes, cells.marks
    encode(*codes, values, at, into)


def _left(
    columns: Columns, fits: LocalFits | None, labels: IntArray | None, series: Series | None
) -> FloatArray:
    """What the given columns leave of numbers; categories stay as they are, gaps do not matter."""
    categorical = columns.categorical[:, None]
    out = np.where(categorical, 0.0, columns.filled().values)
    if fits is not None:
        out = fits.residuals(out, fits.fitted(out, columns.missing))
    elif labels is not None:
        out = np.asarray(centre(out, labels, int(labels.max()) + 1))
    if series is not None:
        out = series.whitened(out)
    return np.where(categorical, columns.values, out)


def _two_and_rest(codes: IntArray) -> IntArray:
    """Coarse cells of categories: the two largest levels, and the rest."""
    out = np.empty(codes.shape, np.int32)
    for row, own in zip(out, codes, strict=True):
        order = np.argsort(-np.bincount(own), kind="stable")
        place = np.full(order.size, COARSE - 1)
        place[order[: COARSE - 1]] = np.arange(min(COARSE - 1, order.size))
        row[:] = place[own]
    return out


def _codes(
    columns: Columns, left: FloatArray, n_cells: int, most: int | None
) -> tuple[IntArray, IntArray]:
    """Cells of a few columns as codes; categories beyond ``most`` are joined, the rarest first."""
    n = columns.n_samples
    codes = np.zeros((columns.n_columns, n), np.int64)
    scratch = np.empty(n, np.int32), np.empty((2, n + 1), np.int32)
    for j, values in enumerate(left):
        if columns.categorical[j]:
            codes[j] = codes_of(values)
            sizes = np.bincount(codes[j])
            if most is not None and sizes.size > most:
                place = np.empty(sizes.size, np.int64)
                place[np.argsort(-sizes, kind="stable")] = np.arange(sizes.size)
                codes[j] = np.minimum(place, most - 1)[codes[j]]
            continue
        cell = np.empty((1, n), np.int32)
        tied = bool(columns.n_distinct[j] < n)
        cell_codes(np.ascontiguousarray(values), tied, np.array([n_cells]), cell, scratch)
        codes[j] = cell[0]
    return codes, codes.max(axis=1, initial=0) + 1


def _top(scores: IntArray, marks: IntArray, n_best: int) -> IntArray:
    """The places of the best; who shares the last score goes by marks, not by the place."""
    m = scores.size
    if n_best >= m:
        return np.arange(m)
    last = np.partition(scores, m - n_best)[m - n_best]
    above, tied = np.flatnonzero(scores > last), np.flatnonzero(scores == last)
    chosen = tied[np.argsort(marks[tied], kind="stable")[: n_best - above.size]]
    return np.sort(np.concatenate([above, chosen]))
