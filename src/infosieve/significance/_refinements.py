"""Further questions to a column, or a pair, that has passed; the largest p-value counts.

A column is tested again with a refined conditioning set: copies that follow the one or two given
columns which predict it best. Each column of a pair is tested given the other one as well: a pair
would otherwise carry a column that adds nothing. As the best partner of that, it is compared with
the best of all permuted columns.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from infosieve._core.types import ColumnNumbers
from infosieve._resampling.refined import predicted_by
from infosieve._scoring.question import Question


@dataclass(frozen=True)
class Refinement:
    """What a column adds, and the question that its permuted copies are asked.

    ``refined`` are the known columns that the copies follow along a curve, if they do.
    """

    question: Question
    column: int
    observed: float
    refined: tuple[int, ...] = ()

    @property
    def copies(self) -> tuple[object, ...]:
        """What the copies depend on: equal where they are the same."""
        fits = self.question.permutations.fits
        near = fits and fits.near.shape
        return self.refined, near, self.question.candidates


def refinements(
    question: Question, candidate: Sequence[int], observed: float
) -> Iterator[Refinement]:
    """Of a column or a pair; the candidates of the question are those that it is the best of."""
    if len(candidate) == 1:
        yield from _along_a_curve(question, candidate[0], observed)
        return
    one, other = candidate
    for column, partner in ((one, other), (other, one)):
        beside = question.but(
            candidates=ColumnNumbers(j for j in question.candidates if j != partner),
            known=(*question.known, partner),
            pairs=False,
            encoded=None,
            purpose="member",
        )
        adds = beside.score(column)
        yield Refinement(beside, column, adds)
        yield from _along_a_curve(beside, column, adds)


def _along_a_curve(question: Question, column: int, observed: float) -> Iterator[Refinement]:
    found = along_a_curve(question, column, observed, "follow")
    if found is not None:
        yield found


def along_a_curve(
    question: Question, column: int, observed: float, purpose: str
) -> Refinement | None:
    """A column among copies that follow one or two known columns as closely as it does.

    With it compete the copies of those other candidates that the same columns predict, because it
    may be the best of them. None: no columns predict it better than all together.
    """
    if not question.known:
        return None
    x, null = question.scoring.x, question.null
    known, drawn = x.take(list(question.known)).filled(), null.given(question.given, purpose)
    found = null.refined(x.take([column]), known, drawn)
    if found is None:
        return None
    columns = ColumnNumbers([column])
    others = [j for j in question.candidates if j != column]
    if others:
        alike = predicted_by(x.take(others), found.columns, known, null.metric)
        alike &= x.categorical[others] == x.categorical[column]
        columns = ColumnNumbers([column, *(others[j] for j in np.flatnonzero(alike))])
    copied = question.but(
        candidates=columns, screen=None, corrected=True, encoded=None, copies=found.permutations
    )
    return Refinement(copied, column, observed, tuple(question.known[j] for j in found.columns))
