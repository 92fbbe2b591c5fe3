"""Questions about the columns of a table, cut into jobs that an executor spreads.

A job has a few columns, the given ones and, for a test, the numbers of some permutations.
Whoever runs it takes the columns from where they are and draws the permutations itself, so
results do not depend on the cut.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from infosieve._core.types import (
    ColumnNumbers,
    Columns,
    ColumnSet,
    Executor,
    FloatArray,
    IntArray,
    Runner,
    Which,
)
from infosieve._resampling.permutations import Permutations
from infosieve._scoring.measure import Measure
from infosieve._scoring.mixed import Scores

# Pairs are looked for among this many columns, those with the largest information.
PAIRS_AMONG = 64
# What a job holds of a table that it reads, or was sent: bytes at most.
_PIECE_BYTES = 1 << 24
# What permuted surrogates may take where they have to be written out, at most: bytes.
_SURROGATE_BYTES = 1 << 26
# Numbers that are drawn at once.
_DRAWN = 1 << 25
# Where a test may end early, so many surrogates are tried first.
_FIRST_SURROGATES = 64
# Columns that have to be read, or fitted, are so once for so many permutations, at first
# and later.
_A_READING, _MOST_A_READING = 8, 64


@dataclass
class Scoring:
    """Scores columns of ``x``, wherever the executor finds it best.

    Columns are given by their numbers; what is already given, as columns.
    """

    x: ColumnSet
    executor: Executor
    now: str = "all"
    """What is being done, for whoever watches."""

    def __post_init__(self) -> None:
        self.place = self.executor.place(self.x)

    def scores(self, measure: Measure, columns: ColumnNumbers, given: Columns) -> Scores:
        """Of each column on its own."""
        kind = _kind("score", measure, given)
        m = len(columns)
        size = min(
            self._fitting(measure),
            self.executor.batch_size(kind, m, max(m, measure.engine.at_once), _fewest(given)),
        )
        known = self.executor.share(measure), self.executor.share(given)
        jobs = (
            (_count(which, self.x), (*known, ref, which))
            for ref, which in self.place.pieces(columns, size)
        )
        each: list[Scores] = []
        done, progress = 0, self.executor.progress
        for scores in self.executor.map(_score, jobs, kind):
            each.append(scores)
            done += scores.nats.shape[1]
            if done < m or len(each) > 1:  # more than a moment's work
                if len(each) == 1:
                    progress.begin(f"{self.now}, columns", m)
                progress.advance(done, m)
        return _joined(each)

    def permuted(
        self,
        measure: Measure,
        columns: ColumnNumbers,
        given: Columns,
        permutations: Permutations,
        n_permutations: int,
        largest: bool = False,
        may_end: bool = False,
        first: int = 0,
    ) -> Iterator[FloatArray]:
        """What permuted surrogates score: blocks of (some permutations, n_columns), in order.

        One permutation moves all columns together. ``largest``: only the best of each
        permutation. ``may_end``: the caller may stop asking. ``first``: the number of the first
        permutation, for those who go on with some of the columns.
        """
        executor, m = self.executor, len(columns)
        kind = _kind("permute", measure, given)
        known = executor.share(measure), executor.share(given), executor.share(permutations)
        blocks: deque[int] = deque()  # the number of pieces of each
        widest = min(m, self._fitting(measure), self.place.widest)

        def jobs() -> Iterator[tuple[int, tuple[Any, ...]]]:
            at, reading = 0, _A_READING
            while at < n_permutations:
                total = m * (n_permutations - at)
                room = executor.batch_size(
                    kind, total, max(m, measure.engine.at_once), _fewest(given)
                )
                if may_end and at == 0 and not executor.remote:
                    room = min(room, max(m, _FIRST_SURROGATES))
                count, size = -(-room // widest), widest
                plain = isinstance(self.x, Columns) and permutations.plain
                if not plain and count < reading:
                    count, size = reading, max(1, min(widest, room // reading))
                    reading = min(2 * reading, _MOST_A_READING)
                count = min(count, n_permutations - at)
                pieces = list(self.place.pieces(columns, size))
                blocks.append(len(pieces))
                for ref, which in pieces:
                    weight = count * _count(which, self.x)
                    yield weight, (*known, ref, which, first + at, count, largest)
                at += count

        results = executor.map(_permute, jobs(), kind)
        for piece in results:
            whole = [piece, *(next(results) for _ in range(blocks.popleft() - 1))]
            together = np.concatenate(whole, axis=1)
            yield together.max(axis=1, keepdims=True) if largest else together

    def pairs(
        self, measure: Measure, columns: ColumnNumbers, given: Columns
    ) -> tuple[FloatArray, list[tuple[int, int]]]:
        """The joint information of pairs conditional on the given columns, and the pairs.

        They are those of the columns that add most alone.
        """
        alone = self.scores(measure, columns, given).averaged
        job = self._pair_job(measure, columns, given, alone, None, 0)
        scores = next(self.executor.map(_score_pairs, [job]))
        return scores, list(combinations([columns[j] for j in _best(alone)], 2))

    def permuted_pairs(
        self,
        measure: Measure,
        columns: ColumnNumbers,
        given: Columns,
        permutations: Permutations,
        n_permutations: int,
    ) -> Iterator[FloatArray]:
        """What the best pair of each permutation scores, the pairs being chosen anew."""
        alone = self.permuted(measure, columns, given, permutations, n_permutations, may_end=True)
        shared = self.executor.share(permutations)

        def jobs() -> Iterator[tuple[int, tuple[Any, ...]]]:
            number = 0
            for block in alone:
                for row in block:
                    yield self._pair_job(measure, columns, given, row, shared, number)
                    number += 1

        for scores in self.executor.map(_score_pairs, jobs()):
            yield scores.max(keepdims=True)[None]

    def _pair_job(
        self,
        measure: Measure,
        columns: ColumnNumbers,
        given: Columns,
        alone: FloatArray,
        permutations: Permutations | None,
        number: int,
    ) -> tuple[int, tuple[Any, ...]]:
        best = _best(alone)
        where = self.place.together([columns[j] for j in best])
        known = self.executor.share(measure), self.executor.share(given)
        return 1, (*known, *where, permutations, number)

    def _fitting(self, measure: Measure) -> int:
        """Columns of a piece, at most; what has to be read or sent comes in small ones."""
        return self.columns_of_a_piece(measure.engine.piece_bytes)

    def columns_of_a_piece(self, at_hand: int = 1 << 30) -> int:
        """The same for other work than scoring; ``at_hand``: bytes of what is in this process."""
        here = isinstance(self.x, Columns) and not self.executor.remote
        return max(1, (at_hand if here else _PIECE_BYTES) // (8 * self.x.n_samples))


def _kind(what: str, measure: Measure, given: Columns) -> str:
    """Jobs of one kind take about the same time for a candidate."""
    return f"{what} {given.n_columns}{' folds' if measure.folds is not None else ''}"


def _fewest(given: Columns) -> int:
    """How many candidates are worth a job: with given columns, they share lists of rows."""
    return 256 if given.n_columns else 16


def _count(which: Which, x: ColumnSet) -> int:
    return x.n_columns if isinstance(which, slice) else len(which)


def _best(alone: FloatArray) -> IntArray:
    return np.argsort(-alone, kind="stable")[:PAIRS_AMONG]


def _joined(each: list[Scores]) -> Scores:
    if len(each) == 1:
        return each[0]
    return Scores(np.concatenate([scores.nats for scores in each], axis=1))


def _score(runner: Runner, measure: Measure, given: Columns, x: ColumnSet, which: Which) -> Scores:
    return measure.scores(x.take(which, with_order=given.n_columns == 0), given, runner)


def _permute(
    runner: Runner,
    measure: Measure,
    given: Columns,
    permutations: Permutations,
    x: ColumnSet,
    which: Which,
    first: int,
    count: int,
    largest: bool,
) -> FloatArray:
    columns = x.take(which, with_order=given.n_columns == 0)
    involved = (columns, given, measure.target)
    plain = measure.folds is None and not any(c.labelled.any() for c in involved)
    room = measure.engine.surrogate_bytes if plain else _SURROGATE_BYTES
    at_once = max(1, min(room // (8 * columns.values.size), _DRAWN // columns.n_samples))
    surrogates = None
    if not permutations.plain:
        surrogates = permutations.surrogates(columns, runner, measure.engine if plain else None)
    values = []
    for at in range(first, first + count, at_once):
        drawn = draw(permutations, at, min(at_once, first + count - at), runner)
        if surrogates is None:
            scores = measure(columns, given, runner, permutations=drawn)
        else:
            scores = measure(surrogates(drawn), given, runner)
        values.append(scores.reshape(len(drawn), columns.n_columns))
    whole = np.concatenate(values)
    return whole.max(axis=1, keepdims=True) if largest else whole


def draw(permutations: Permutations, first: int, count: int, runner: Runner) -> IntArray:
    """Permutations, drawn by all threads: one is the same whoever draws it."""
    size = max(1, -(-count // (4 * runner.n_workers)), 20_000 // permutations.n_samples)
    spans = [(at, min(size, first + count - at)) for at in range(first, first + count, size)]
    drawn = runner.run([partial(permutations.draw, *span) for span in spans])
    return drawn[0] if len(drawn) == 1 else np.concatenate(drawn)


def _score_pairs(
    runner: Runner,
    measure: Measure,
    given: Columns,
    x: ColumnSet,
    which: Which,
    permutations: Permutations | None,
    number: int,
) -> FloatArray:
    """Of all pairs of some columns, permuted or not."""
    pool = x.take(which, with_order=False)
    if permutations is not None:
        pool = permutations.surrogates(pool, runner)(permutations.draw(number, 1))
    both = np.array(list(combinations(range(pool.n_columns), 2))).ravel()
    return measure(pool.take(both), given, runner, width=2)
