"""Questions: what do candidates tell, given some columns, and what do permuted copies of them?

Observed and permuted columns go through the same steps. Whether they are screened, split into
pieces or spread over workers is known here and below, and nowhere else.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Self

import numpy as np

from infosieve._core.chunks import chunks
from infosieve._core.types import ColumnNumbers, Columns, ColumnSet, FloatArray, IntArray, View
from infosieve._input.problem import Prepared
from infosieve._resampling.nulls import NullHypothesis
from infosieve._resampling.permutations import Permutations
from infosieve._scoring.jobs import Pair, Scoring
from infosieve._scoring.screened import Screened, block_sizes
from infosieve._scoring.screening import screen_of
from infosieve._scoring.statistic import Statistic

# Columns that tell most alone, among which all pairs are estimated if nothing is screened.
PAIRS_ESTIMATED_AMONG = 64


@dataclass(frozen=True)
class Observed:
    """Columns, or pairs, that were worth an estimate, and what they tell; best first are pairs.

    The first column of a pair is the one that tells more alone, given the known columns.
    ``n_candidates`` is how many they were chosen from.
    """

    which: list[tuple[int, ...]]
    values: FloatArray
    n_candidates: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Question:
    """What do candidates, or pairs of them, tell about the target, given the ``known`` columns?"""

    scoring: Scoring
    """Where the columns are, and who computes."""
    columns: Prepared
    """The same columns, as they are conditioned on."""
    statistic: Statistic
    null: NullHypothesis
    candidates: ColumnNumbers
    known: tuple[int, ...] = ()
    pairs: bool = False
    screen: int | None = None
    """How many candidates are estimated, and half as many pairs; None: all."""
    corrected: bool = True
    """Whether copies of all candidates compete, so that choosing the best is allowed for."""
    purpose: str | None = None
    """What random numbers are for; None: for tests of columns, or of pairs."""
    copies: Permutations | None = None
    """What makes permuted copies instead of the null."""
    encoded: Screened | None = None
    """The same candidates, screened for another question."""

    def but(self, **changes: Any) -> Self:
        """The same question but for some of it; what is given is not taken again."""
        other = replace(self, **changes)
        if other.known == self.known and "given" in vars(self):
            vars(other)["given"] = self.given
        return other

    @cached_property
    def given(self) -> Columns:
        """The known columns, as they are conditioned on."""
        return self.columns.take_given(list(self.known))

    @cached_property
    def permutations(self) -> Permutations:
        """What makes permuted copies."""
        if self.copies is not None:
            return self.copies
        return self.null.given(self.given, self.purpose or ("pair" if self.pairs else "test"))

    @cached_property
    def prepared(self) -> Statistic:
        """The statistic, which now knows what it is asked."""
        return self.statistic.prepared(self)

    @cached_property
    def screened(self) -> Screened | None:
        """The candidates screened, where that is asked for and there are more than are kept."""
        if self.screen is None or not self.statistic.estimates:
            return None
        if not (self.pairs or len(self.candidates) > self.screen):
            return None
        n_best = self.screen // 2 if self.pairs else self.screen
        if self.encoded is not None:
            return self.encoded.keeping(n_best)
        target, metric = self.statistic.target, self.null.metric
        screen = screen_of(n_best, target, self.given, self.permutations, metric)
        return Screened(self.scoring, screen, self.candidates, self.given)

    def of_pairs(self, statistic: Statistic, null: NullHypothesis | None = None) -> Self:
        """The same question about pairs of the candidates, which are encoded once."""
        encoded = vars(self).get("screened")
        null = self.null if null is None else null
        return self.but(pairs=True, statistic=statistic, null=null, encoded=encoded)

    def estimated(self) -> ColumnNumbers:
        """The candidates that are worth an estimate."""
        if self.screened is None:
            return self.candidates
        return ColumnNumbers(self.candidates[j] for j in self.screened.observed())

    def scores(self, columns: ColumnNumbers) -> FloatArray:
        """What columns tell."""
        return self.scoring.scores(self.prepared, columns, self.given)

    def score(self, *columns: int) -> float:
        """What one column tells, or a pair: worth no job."""
        taken, here = self.scoring.x.take(list(columns)), self.scoring.executor.here
        return float(self.prepared(taken, self.given, here, width=len(columns))[0])

    def nearest(self, columns: ColumnNumbers) -> list[View | None]:
        """How columns tell something, as far as the statistic knows."""
        if self.statistic.estimates:
            return [None] * len(columns)
        here = self.scoring.executor.here
        found: list[View | None] = []
        for some in chunks(len(columns), self.scoring.columns_of_a_piece()):
            found += self.prepared.nearest(self.scoring.x.take(columns[some]), here)
        named = zip(columns, found, strict=True)
        return [view and self.columns.in_words(view, j) for j, view in named]

    def observed(self) -> Observed:
        """What candidates tell, or pairs of them."""
        if not self.pairs:
            columns = self.estimated()
            each: list[tuple[int, ...]] = [(j,) for j in columns]
            return Observed(each, self.scores(columns), len(self.candidates))
        if self.screened is not None:
            pairs, n_pairs = self._stronger_first(self.screened.pairs()), self.screened.n_pairs
        else:
            pairs = self._pairs(self._ranked(self.candidates, PAIRS_ESTIMATED_AMONG))
            n_pairs = len(pairs)
        (scores,) = self.scoring.pairs(self.prepared, [pairs], self.given)
        return Observed([*pairs], scores, n_pairs)

    def _ranked(self, columns: ColumnNumbers, n_best: int) -> list[int]:
        """Columns by what each tells alone; ties among the first ``n_best`` go by content."""
        scores = self.scores(columns)
        return [columns[j] for j in best_first(self.scoring.x, columns, scores, n_best=n_best)]

    def _stronger_first(self, pairs: list[Pair]) -> list[Pair]:
        """Pairs, the columns of each by what they tell alone."""
        members = ColumnNumbers(j for pair in pairs for j in pair)
        place = {column: at for at, column in enumerate(self._ranked(members, len(members)))}
        return [(i, j) if place[i] < place[j] else (j, i) for i, j in pairs]

    def permuted(
        self, n_permutations: int, first_decision: int, may_end: bool = True
    ) -> Iterator[FloatArray]:
        """What permuted copies tell: blocks of (some permutations, 1), the best of each.

        If the question is not ``corrected``, of (some permutations, n_candidates). ``may_end``: the
        caller may stop asking, if candidates pass not before the ``first_decision``.
        """
        statistic, drawn = self.prepared, self.permutations
        if self.screened is not None and self.corrected:
            n_workers = self.scoring.executor.here.n_workers
            sizes = block_sizes(n_permutations, first_decision, n_workers)
            find = self.screened.largest_pairs if self.pairs else self.screened.largest
            return find(statistic, drawn, sizes)
        if self.pairs:
            return self._permuted_pairs(n_permutations)
        return self.scoring.permuted(
            statistic,
            self.candidates,
            self.given,
            drawn,
            n_permutations,
            largest=self.corrected,
            may_end=may_end,
            first_decision=first_decision,
        )

    def _permuted_pairs(self, n_permutations: int) -> Iterator[FloatArray]:
        """The best pair of each permutation, among those that tell most alone in it."""
        statistic, drawn, given = self.prepared, self.permutations, self.given
        first = 0
        for block in self.scoring.permuted(
            statistic, self.candidates, given, drawn, n_permutations, may_end=True
        ):
            best = np.argsort(-block, axis=1, kind="stable")
            found = [self._pairs([self.candidates[j] for j in order]) for order in best]
            for scores in self.scoring.pairs(statistic, found, given, drawn, first):
                yield scores.max(keepdims=True)[None]
            first += len(block)

    def _pairs(self, ranked: list[int]) -> list[Pair]:
        """All pairs of the columns that tell most alone."""
        return list(combinations(ranked[:PAIRS_ESTIMATED_AMONG], 2))


def best_first(
    x: ColumnSet,
    columns: Sequence[int],
    scores: FloatArray,
    then: FloatArray | None = None,
    *,
    n_best: int = 1,
) -> IntArray:
    """The places of columns by their scores, and then by others.

    Columns are read where ties begin among the ``n_best``.
    """
    keys = (-scores,) if then is None else (-then, -scores)
    order = np.lexsort(keys)
    same = np.all([key[order][1:] == key[order][:-1] for key in keys], axis=0)
    starts = np.flatnonzero(np.r_[True, ~same])
    ends = np.r_[starts[1:], order.size]
    for start, end in zip(starts, ends, strict=True):
        if start >= n_best:
            break
        if end - start > 1:
            tied = order[start:end]
            order[start:end] = tied[_by_content(x, [columns[j] for j in tied])]
    return np.asarray(order)


def _by_content(x: ColumnSet, columns: Sequence[int]) -> list[int]:
    """The places of columns in an order of their own; a column and its negative are one."""
    marks = []
    for column in columns:
        values = np.abs(x.take([column], with_order=False).values)
        marks.append(hashlib.blake2b(values.tobytes(), digest_size=16).digest())
    return sorted(range(len(columns)), key=marks.__getitem__)
