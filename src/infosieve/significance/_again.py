"""A column that has passed beside all given columns is asked again beside those that it follows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from infosieve._core.types import Columns, FloatArray
from infosieve._resampling.followed import followed, relatives
from infosieve._resampling.permutations import Permutations
from infosieve._scoring.jobs import Scoring
from infosieve._scoring.measure import Measure


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
    among: Sequence[int],
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
    columns = [column]
    others = [j for j in among if j != column]
    if others:
        alike = relatives(scoring.x.take(others), found.columns, known, measure.metric)
        alike &= scoring.x.categorical[others] == scoring.x.categorical[column]
        columns = sorted([column, *(others[j] for j in np.flatnonzero(alike))])
    values = scoring.permuted(
        measure, columns, given, found.permutations, n_permutations, largest=True, may_end=may_end
    )
    near = found.permutations.fits and found.permutations.fits.near.shape
    return Again(found.columns, (found.columns, near, tuple(columns)), values)
