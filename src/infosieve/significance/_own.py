"""Columns compared with permutations of their own, each as many as it takes.

Draws for a column end when enough of them have reached it (Besag and Clifford 1991,
https://doi.org/10.1093/biomet/78.2.301): p is then exceedances / draws, else (exceedances + 1) /
(draws + 1). Permutations are the same for all columns.
"""

from dataclasses import dataclass

import numpy as np

from infosieve._core.chunks import chunks
from infosieve._core.tails import strengths
from infosieve._core.types import BoolArray, ColumnNumbers, FloatArray, IntArray
from infosieve._scoring.question import Question

# Draws with which each column begins, and numbers that a round holds at most.
_FIRST, _ROUND = 99, 1 << 22


@dataclass(frozen=True)
class Own:
    """How many draws reached each column, of how many; and by the first of them, what 95 % of
    chance stays below, and how strong the column is."""

    exceedances: IntArray
    n_draws: IntArray
    chance: FloatArray
    strength: FloatArray

    def p_values(self, most: int, enough: int) -> FloatArray:
        """Where draws could be so many, and ended with so many exceedances."""
        early = self.exceedances / np.maximum(self.n_draws, 1)
        late = (self.exceedances + 1) / (most + 1)
        return np.where(self.exceedances >= enough, early, late)


def own_draws(
    question: Question,
    columns: IntArray,
    observed: FloatArray,
    most: int,
    enough: int,
    least: int = _FIRST,
) -> Own:
    """Columns by themselves, with so many draws at most, up to so many exceedances.

    ``least``: draws with which they begin.
    """
    m = columns.size
    found = Own(np.zeros(m, np.int64), np.zeros(m, np.int64), np.zeros(m), np.ones(m))
    scoring, progress = question.scoring, question.scoring.executor.progress
    statistic, given, drawn = question.prepared, question.given, question.permutations
    for part in chunks(m, _ROUND // _FIRST):
        places, at, count = np.arange(m)[part], 0, min(least, most)
        progress.begin(f"{m} columns by themselves, draws", most)
        while at < most and places.size:
            which = ColumnNumbers(columns[places])
            blocks = scoring.permuted(statistic, which, given, drawn, count, first=at)
            null = np.concatenate(list(blocks))
            ended = _count(found, places, observed[places], null, at, enough)
            if at == 0 and not statistic.estimates:
                found.strength[places] = strengths(observed[places], null)[0]
            at, places = at + count, places[~ended]
            count = min(at, most - at, max(1, _ROUND // max(1, places.size)))
            progress.advance(at, most)
    return found


def _count(
    found: Own, places: IntArray, observed: FloatArray, null: FloatArray, at: int, enough: int
) -> BoolArray:
    """Add draws, from number ``at`` on, to those of some columns; which of them have enough.

    Draws beyond that do not count, so that it does not matter how many there are at a time.
    """
    if at == 0:
        found.chance[places] = np.quantile(null, 0.95, axis=0)
    reached = found.exceedances[places] + np.cumsum(null >= observed, axis=0)
    over = reached >= enough
    ended = over.any(axis=0)
    last = np.where(ended, over.argmax(axis=0), len(null) - 1)
    found.exceedances[places] = reached[last, np.arange(places.size)]
    found.n_draws[places] = at + last + 1
    return np.asarray(ended)
