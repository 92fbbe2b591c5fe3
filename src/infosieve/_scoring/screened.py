"""The best of screened columns, or pairs, as observed and in each permutation: jobs."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from infosieve._core.chunks import chunks
from infosieve._core.types import (
    ColumnNumbers,
    Columns,
    ColumnSet,
    FloatArray,
    IntArray,
    Runner,
    Which,
)
from infosieve._resampling.permutations import Permutations
from infosieve._scoring.jobs import Pair, Scoring, count_of, draw, score_copies
from infosieve._scoring.screening import PAIRS_SCREENED_AMONG, Cells, Screen
from infosieve._scoring.statistic import Statistic

# Permutations of a block: at first, and at most.
_FIRST, _MOST = 4, 64
# Permutations whose surrogates are encoded together, so that columns are fitted once for them.
_ENCODED = 16


@dataclass
class Screened:
    """Some columns of a table, screened: see :mod:`.screening`.

    All cells are kept here where permutations are compared, some bytes for each value; estimates
    are jobs. Where surrogates have other cells than the columns, permuted, they are encoded.
    """

    scoring: Scoring
    screen: Screen
    columns: ColumnNumbers
    given: Columns

    def keeping(self, n_best: int) -> "Screened":
        """The same, keeping so many."""
        other = replace(self, screen=replace(self.screen, n_best=n_best))
        other.cells = self.cells
        return other

    @property
    def n_pairs(self) -> int:
        """How many pairs there are to choose from."""
        n = min(len(self.columns), PAIRS_SCREENED_AMONG)
        return n * (n - 1) // 2

    @cached_property
    def cells(self) -> Cells:
        """Encoded once, by whoever has the columns."""
        return Cells.joined(self._by_pieces(_encode))

    def observed(self) -> IntArray:
        """The places of the columns that are worth an estimate, as they are."""
        return self.screen.best(self.cells, self._as_they_are, self.scoring.executor.here)[0]

    def _copies(
        self, permutations: Permutations, drawn: IntArray, first: int
    ) -> Iterator[tuple[Cells, IntArray]]:
        """The cells of surrogates by permutations from a number on, and how rows move in them."""
        if permutations.moves_rows(self.scoring.x):
            yield self.cells, drawn
            return
        shared = self.scoring.executor.share(permutations)
        for at in chunks(len(drawn), _ENCODED):
            numbers = first + at.start, at.stop - at.start
            parts = self._by_pieces(_encode_surrogates, shared, *numbers)
            for cells in map(Cells.joined, map(list, zip(*parts, strict=True))):
                yield cells, self._as_they_are

    def _by_pieces(self, job: Callable[..., Any], *also: Any) -> list[Any]:
        """What a job makes of the columns, some at a time."""
        scoring, executor = self.scoring, self.scoring.executor
        m = len(self.columns)
        size = min(scoring.columns_of_a_piece(), executor.batch_size("encode", m, m, 64))
        screen = executor.share(self.screen)
        jobs = (
            (len(self.columns), (screen, ref, which, *also))
            for ref, which in scoring.place.pieces(self.columns, size)
        )
        return list(executor.map(job, jobs, "encode"))

    def pairs(self) -> list[Pair]:
        """The best pairs as they are, by the numbers of their columns."""
        return self._best_pairs(self.cells, self._as_they_are)[0]

    def largest(
        self, statistic: Statistic, permutations: Permutations, sizes: Iterator[int]
    ) -> Iterator[FloatArray]:
        """The largest of the screened, for each permutation: blocks of ``sizes``, (size, 1)."""
        executor, place = self.scoring.executor, self.scoring.place
        known = executor.share(statistic), executor.share(self.given), executor.share(permutations)
        blocks: deque[list[IntArray]] = deque()  # the permutations of the copies, job by job

        def jobs() -> Iterator[tuple[int, tuple[Any, ...]]]:
            first = 0
            for size in sizes:
                drawn = draw(permutations, first, size, executor.here)
                best = [
                    places
                    for cells, rows in self._copies(permutations, drawn, first)
                    for places in self.screen.best(cells, rows, executor.here)
                ]
                numbers = np.repeat(np.arange(size), [len(some) for some in best])
                every, places = np.unique(np.concatenate(best), return_inverse=True)
                columns = ColumnNumbers(self.columns[j] for j in every)
                room = executor.batch_size("best", places.size, places.size, 64)
                pieces = list(place.pieces(columns, max(1, room * every.size // places.size)))
                widths = (count_of(which, self.scoring.x) for _, which in pieces)
                edges = np.cumsum([0, *widths])
                mine = [np.flatnonzero((places >= a) & (places < b)) for a, b in pairwise(edges)]
                blocks.append([numbers[at] for at in mine])
                drawn_here = range(first, first + size)
                for (ref, which), at, start in zip(pieces, mine, edges, strict=False):
                    copied = places[at] - start
                    yield at.size, (*known, ref, which, drawn_here, copied, numbers[at])
                first += size

        results = executor.map(score_copies, jobs(), "best")
        for result in results:
            numbers = blocks.popleft()
            whole = [result, *(next(results) for _ in numbers[1:])]
            largest = np.full(int(max(some.max() for some in numbers)) + 1, -np.inf)
            np.maximum.at(largest, np.concatenate(numbers), np.concatenate(whole))
            yield largest[:, None]

    def largest_pairs(
        self, statistic: Statistic, permutations: Permutations, sizes: Iterator[int]
    ) -> Iterator[FloatArray]:
        """The largest of the screened pairs, for each permutation: blocks of (size, 1)."""
        scoring, first = self.scoring, 0
        for size in sizes:
            drawn = draw(permutations, first, size, scoring.executor.here)
            found = [
                pairs
                for cells, rows in self._copies(permutations, drawn, first)
                for pairs in self._best_pairs(cells, rows)
            ]
            at_once = 1 if scoring.executor.remote else size
            scores = scoring.pairs(statistic, found, self.given, permutations, first, at_once)
            yield np.array([[one.max()] for one in scores])
            first += size

    def _best_pairs(self, cells: Cells, rows: IntArray) -> list[list[Pair]]:
        """The best pairs of each permutation, by the numbers of their columns."""
        found = self.screen.best_pairs(cells, rows, self.scoring.executor.here)
        return [[(self.columns[i], self.columns[j]) for i, j in pairs] for pairs in found]

    @property
    def _as_they_are(self) -> IntArray:
        return np.arange(self.given.n_samples, dtype=np.int32)[None]


def block_sizes(n_permutations: int, first_decision: int, n_workers: int = 1) -> Iterator[int]:
    """How many permutations to try at once: a few, then up to where a test may be decided."""
    at, size = 0, max(_FIRST, n_workers)
    while at < n_permutations:
        size = min(size, n_permutations - at)
        if at + size < first_decision < at + 2 * size:
            size = first_decision - at
        yield size
        at += size
        size = min(2 * size, _MOST)


def _encode(runner: Runner, screen: Screen, x: ColumnSet, which: Which) -> Cells:
    return screen.encode(x.take(which, with_order=False), runner)


def _encode_surrogates(
    runner: Runner,
    screen: Screen,
    x: ColumnSet,
    which: Which,
    permutations: Permutations,
    first: int,
    count: int,
) -> list[Cells]:
    surrogates = permutations.surrogates(x.take(which, with_order=False), runner)
    each = (surrogates(drawn[None]) for drawn in draw(permutations, first, count, runner))
    return [screen.encode(made, runner) for made in each]
