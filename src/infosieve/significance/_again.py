"""What a column, or a pair, that has passed is asked next; the largest p-value counts.

A column is asked again beside the given columns that it follows, and each column of a pair beside
the other: a pair would otherwise carry a column that adds nothing. As the best partner of that, it
is compared with the best of all permuted columns.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from infosieve._core.types import ColumnNumbers, Columns, FloatArray
from infosieve._input.problem import Prepared
from infosieve._resampling.followed import followed, relatives
from infosieve._resampling.layout import Layout
from infosieve._resampling.permutations import Permutations, key_of, permutations_of
from infosieve._scoring.jobs import Scoring
from infosieve._scoring.measure import Measure
from infosieve._scoring.screened import Screened, block_sizes, screen_of


@dataclass(frozen=True)
class Again:
    """A second question: what is followed, and what permuted columns that follow it score.

    ``same`` is equal for questions with the same permuted values.
    """

    columns: tuple[int, ...]
    same: tuple[object, ...]
    values: Iterator[FloatArray]


def asked_again(
    scoring: Scoring,
    measure: Measure,
    column: int,
    among: ColumnNumbers,
    known: Columns,
    given: Columns,
    drawn: Permutations,
    n_permutations: int,
    may_end: bool,
) -> Again | None:
    """What permuted columns score that follow one or two given columns as closely as one does.

    ``known`` are the given columns, each once and without gaps, ``given`` what is conditioned
    on, and ``drawn`` the local permutations. The largest counts of the column and those ``among``
    others that follow the same columns, because it may be the best of them. None: no columns
    predict it better than all together.
    """
    found = followed(scoring.x.take([column]), known, drawn, measure.metric)
    if found is None:
        return None
    columns = ColumnNumbers([column])
    others = [j for j in among if j != column]
    if others:
        alike = relatives(scoring.x.take(others), found.columns, known, measure.metric)
        alike &= scoring.x.categorical[others] == scoring.x.categorical[column]
        columns = ColumnNumbers([column, *(others[j] for j in np.flatnonzero(alike))])
    values = scoring.permuted(
        measure, columns, given, found.permutations, n_permutations, largest=True, may_end=may_end
    )
    near = found.permutations.fits and found.permutations.fits.near.shape
    return Again(found.columns, (found.columns, near, columns), values)


@dataclass(frozen=True)
class Question:
    """What a column adds, and what its permuted copies do.

    ``follows`` are the columns that the copies follow along a curve, if they do.
    """

    column: int
    observed: float
    values: Iterator[FloatArray]
    follows: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Asking:
    """Asks the next questions of what has passed given the ``known`` columns.

    ``among`` are the candidates of which a column, or the partner of another, is the best;
    ``screen`` says how many of them are estimated. No test ends with fewer permutations than
    ``first_decision``, if it passes.
    """

    scoring: Scoring
    measure: Measure
    columns: Prepared
    layout: Layout
    known: Sequence[int]
    among: ColumnNumbers
    screen: int | None
    null: str
    seed: int
    n_permutations: int
    first_decision: int
    may_end: bool

    def next(
        self, candidate: Sequence[int], observed: float, permutations: Permutations
    ) -> Iterator[Question]:
        """Of a column or a pair; ``permutations`` are those given the known columns."""
        if len(candidate) == 1:
            yield from self._followed(candidate[0], observed, self.known, permutations, self.among)
            return
        here, (one, other) = self.scoring.executor.here, candidate
        for column, partner in ((one, other), (other, one)):
            known = [*self.known, partner]
            given, taken = self.columns.take_given(known), self.scoring.x.take([column])
            key, metric = key_of(self.seed, "member", given), self.measure.metric
            drawn = permutations_of(self.null, key, given, metric, here.n_workers, self.layout)
            adds = float(self.measure(taken, given, here)[0])
            others = ColumnNumbers(j for j in self.among if j != partner)
            yield Question(column, adds, self._of_best(others, given, drawn))
            yield from self._followed(column, adds, known, drawn, others)

    def _of_best(
        self, columns: ColumnNumbers, given: Columns, permutations: Permutations
    ) -> Iterator[FloatArray]:
        """What the best of the permuted columns adds, screened where there are many."""
        n, metric = self.n_permutations, self.measure.metric
        if self.screen is None or len(columns) <= self.screen:
            return self.scoring.permuted(
                self.measure, columns, given, permutations, n, True, self.may_end
            )
        kept = screen_of(self.screen, self.measure.target, given, permutations, metric)
        sizes = block_sizes(n, self.first_decision, self.scoring.executor.here.n_workers)
        return Screened(self.scoring, kept, columns, given).largest(
            self.measure, permutations, sizes
        )

    def _followed(
        self,
        column: int,
        observed: float,
        known: Sequence[int],
        permutations: Permutations,
        among: ColumnNumbers,
    ) -> Iterator[Question]:
        """The second question to a column that follows one or two of the known ones."""
        if self.null != "local" or not known:
            return
        given, taken = self.columns.take_given(known), self.scoring.x.take(known).filled()
        drawn = replace(permutations, key=key_of(self.seed, "follow", given))
        n, may_end = self.n_permutations, self.may_end
        found = asked_again(
            self.scoring, self.measure, column, among, taken, given, drawn, n, may_end
        )
        if found is not None:
            follows = tuple(known[j] for j in found.columns)
            yield Question(column, observed, found.values, follows)
