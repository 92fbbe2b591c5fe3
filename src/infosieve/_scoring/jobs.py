"""Questions about the columns of a table, cut into jobs that an executor spreads.

A job has a few columns, the given ones and, for a test, the numbers of some permutations.
Whoever runs it takes the columns from where they are and draws the permutations itself, so
results do not depend on the cut.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from infosieve._core.chunks import chunks
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
from infosieve._scoring.mixed import averaged
from infosieve._scoring.statistic import Statistic

if TYPE_CHECKING:
    from infosieve._resampling.permutations import Permutations

# Bytes of a table that one job reads, or is sent, at most.
_PIECE_BYTES = 1 << 24
# Bytes of surrogates that are held in memory at once, at most.
_SURROGATE_BYTES = 1 << 26
# Random numbers that are drawn at once, at most.
_DRAWN = 1 << 25
# Surrogates of the first block of a test, which may end after it.
_FIRST_SURROGATES = 64
# Permutations that statistics which take no time are asked about together: at first, and then.
_FIRST_QUICK, _QUICK = 16, 64
# Bytes of a table whose columns they take together.
_QUICK_BYTES = 1 << 25
# Permutations for which a column is read, or fitted, once: at first, and at most.
_A_READING, _MOST_A_READING = 8, 64

Pair: TypeAlias = tuple[int, int]


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

    def scores(self, statistic: Statistic, columns: ColumnNumbers, given: Columns) -> FloatArray:
        """Of each column on its own."""
        return averaged(self.detailed(statistic, columns, given))

    def detailed(self, statistic: Statistic, columns: ColumnNumbers, given: Columns) -> FloatArray:
        """The same for each fold and K: (n_folds, n_columns, n_K)."""
        kind = _kind("score", statistic, given)
        m = len(columns)
        size = min(
            self._fitting(statistic),
            self.executor.batch_size(kind, m, max(m, statistic.engine.at_once), _fewest(given)),
        )
        known = self.executor.share(statistic), self.executor.share(given)
        jobs = (
            (count_of(which, self.x), (*known, ref, which))
            for ref, which in self.place.pieces(columns, size)
        )
        each: list[FloatArray] = []
        done, progress = 0, self.executor.progress
        for scores in self.executor.map(_score, jobs, kind):
            each.append(scores)
            done += scores.shape[1]
            if done < m or len(each) > 1:  # more than a moment's work
                if len(each) == 1:
                    progress.begin(f"{self.now}, columns", m)
                progress.advance(done, m)
        return each[0] if len(each) == 1 else np.concatenate(each, axis=1)

    def permuted(
        self,
        statistic: Statistic,
        columns: ColumnNumbers,
        given: Columns,
        permutations: "Permutations",
        n_permutations: int,
        *,
        largest: bool = False,
        may_end: bool = False,
        first_decision: int = 0,
        first: int = 0,
    ) -> Iterator[FloatArray]:
        """What permuted surrogates score: blocks of (some permutations, n_columns), in order.

        One permutation moves all columns together. ``largest``: only the best of each
        permutation. ``may_end``: the caller may stop asking, and likely does with the one of the
        ``first_decision``, if candidates pass. ``first``: the number of the first
        permutation, for those who go on with some of the columns.
        """
        executor, m = self.executor, len(columns)
        kind = _kind("permute", statistic, given)
        known = executor.share(statistic), executor.share(given), executor.share(permutations)
        blocks: deque[int] = deque()  # the number of pieces of each
        widest = min(m, self._fitting(statistic), self.place.widest)

        def jobs() -> Iterator[tuple[int, tuple[Any, ...]]]:
            at, reading = 0, _A_READING
            while at < n_permutations:
                total = m * (n_permutations - at)
                room = executor.batch_size(
                    kind, total, max(m, statistic.engine.at_once), _fewest(given)
                )
                if may_end and at == 0 and not executor.remote:
                    room = min(room, max(m, _FIRST_SURROGATES))
                count, size = -(-room // widest), widest
                if not statistic.estimates:
                    count, size = (_FIRST_QUICK if may_end and at == 0 else _QUICK), widest
                    if 0 < at < first_decision:
                        count = min(count, first_decision - at)
                plain = not statistic.estimates or (
                    isinstance(self.x, Columns) and permutations.plain
                )
                if not plain and count < reading:
                    count, size = reading, max(1, min(widest, room // reading))
                    reading = min(2 * reading, _MOST_A_READING)
                count = min(count, n_permutations - at)
                pieces = list(self.place.pieces(columns, size))
                blocks.append(len(pieces))
                for ref, which in pieces:
                    weight = count * count_of(which, self.x)
                    yield weight, (*known, ref, which, first + at, count, largest)
                at += count

        results = executor.map(_permute, jobs(), kind)
        for piece in results:
            whole = [piece, *(next(results) for _ in range(blocks.popleft() - 1))]
            together = np.concatenate(whole, axis=1)
            yield together.max(axis=1, keepdims=True) if largest else together

    def pairs(
        self,
        statistic: Statistic,
        found: list[list[Pair]],
        given: Columns,
        permutations: "Permutations | None" = None,
        first: int = 0,
        at_once: int = 1,
    ) -> Iterator[FloatArray]:
        """Of the pairs found as columns are, or in some permutations, each on its own.

        ``at_once``: so many permutations are the job of whoever has it.
        """
        executor = self.executor
        known = executor.share(statistic), executor.share(given), executor.share(permutations)
        jobs, edges = [], []
        for at in range(0, len(found), at_once):
            some = found[at : at + at_once]
            every, places = np.unique(np.concatenate(some), return_inverse=True)
            sizes = [len(pairs) for pairs in some]
            where, number = self.place.together(every.tolist()), first + at
            of = np.repeat(np.arange(len(some)), 2 * np.array(sizes))
            copies = range(number, number + len(some)), places.ravel(), of
            jobs.append((len(some), (*known, *where, *copies, 2)))
            edges.append(np.cumsum(sizes)[:-1])
        for scores, inner in zip(executor.map(score_copies, jobs), edges, strict=True):
            yield from np.split(scores, inner)

    def _fitting(self, statistic: Statistic) -> int:
        """Columns of a piece, at most; what has to be read or sent comes in small ones."""
        most = statistic.engine.piece_bytes
        return self.columns_of_a_piece(most if statistic.estimates else min(most, _QUICK_BYTES))

    def columns_of_a_piece(self, at_hand: int = 1 << 30) -> int:
        """The same for other work than scoring; ``at_hand``: bytes of what is in this process."""
        here = isinstance(self.x, Columns) and not self.executor.remote
        return max(1, (at_hand if here else _PIECE_BYTES) // (8 * self.x.n_samples))


def count_of(which: Which, x: ColumnSet) -> int:
    """How many columns are meant."""
    return x.n_columns if isinstance(which, slice) else len(which)


def draw(permutations: "Permutations", first: int, count: int, runner: Runner) -> IntArray:
    """Permutations, drawn by all threads: one is the same whoever draws it."""
    size = max(1, -(-count // (4 * runner.n_workers)), 20_000 // permutations.n_samples)
    spans = [(at, min(size, first + count - at)) for at in range(first, first + count, size)]
    drawn = runner.run([partial(permutations.draw, *span) for span in spans])
    return drawn[0] if len(drawn) == 1 else np.concatenate(drawn)


def _kind(what: str, statistic: Statistic, given: Columns) -> str:
    """Jobs of one kind take about the same time for a candidate."""
    return f"{what} {given.n_columns}{statistic.kind}"


def _fewest(given: Columns) -> int:
    """How many candidates are worth a job: with given columns, they share lists of rows."""
    return 256 if given.n_columns else 16


def _score(
    runner: Runner, statistic: Statistic, given: Columns, x: ColumnSet, which: Which
) -> FloatArray:
    return statistic.detailed(x.take(which, with_order=given.n_columns == 0), given, runner)


def _permute(
    runner: Runner,
    statistic: Statistic,
    given: Columns,
    permutations: "Permutations",
    x: ColumnSet,
    which: Which,
    first: int,
    count: int,
    largest: bool,
) -> FloatArray:
    columns = x.take(which, with_order=given.n_columns == 0)
    engine = statistic.engine if statistic.on_device(columns, given) else None
    room = engine.surrogate_bytes if engine is not None else _SURROGATE_BYTES
    at_once = max(1, _DRAWN // columns.n_samples)
    if statistic.estimates:
        at_once = max(1, min(room // (8 * columns.values.size), at_once))
    surrogates = None
    if not permutations.plain:
        surrogates = permutations.surrogates(columns, runner, engine)
    values = []
    for at in range(first, first + count, at_once):
        drawn = draw(permutations, at, min(at_once, first + count - at), runner)
        if surrogates is None:
            scores = statistic.of_permuted(columns, given, runner, drawn)
        else:
            scores = statistic(surrogates(drawn), given, runner)
        values.append(scores.reshape(len(drawn), columns.n_columns))
    whole = np.concatenate(values)
    return whole.max(axis=1, keepdims=True) if largest else whole


def score_copies(
    runner: Runner,
    statistic: Statistic,
    given: Columns,
    permutations: "Permutations | None",
    x: ColumnSet,
    which: Which,
    numbers: range,
    places: IntArray,
    of: IntArray,
    width: int = 1,
) -> FloatArray:
    """Of some copies: of the column at each of the places, permuted by that ``of`` the numbers.

    ``width`` copies are scored together. Without permutations columns are scored as they are.
    """
    columns = x.take(which, with_order=given.n_columns == 0 and width == 1)
    if permutations is None:
        return statistic(columns.take(places), given, runner, width=width)
    m, drawn = columns.n_columns, draw(permutations, numbers.start, len(numbers), runner)
    engine = statistic.engine if width == 1 and statistic.on_device(columns, given) else None
    surrogates = permutations.surrogates(columns, runner, engine)
    at_once = max(1, statistic.engine.surrogate_bytes // (8 * columns.n_samples * width))
    scores = np.empty(places.size // width)
    for at in chunks(scores.size, at_once):
        some = slice(at.start * width, at.stop * width)
        if width == 1:
            made = surrogates.some(drawn, places[some], of[some])
        else:  # a column is in many pairs
            every, each = np.unique(of[some] * m + places[some], return_inverse=True)
            made = surrogates.some(drawn, every % m, every // m).take(each.ravel())
        scores[at] = statistic(made, given, runner, width=width)
    return scores
