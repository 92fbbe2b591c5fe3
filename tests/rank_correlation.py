"""Another statistic than information: what ranks have in common."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.stats import rankdata

from infosieve._core.types import Columns, FloatArray, Runner
from infosieve._scoring.statistic import Statistic


@dataclass(frozen=True, eq=False)
class RankCorrelation(Statistic):
    """The absolute correlation of ranks, multiple for pairs; partial where columns are given."""

    target: Columns
    left: FloatArray | None = None
    estimates = False

    def __call__(
        self, candidates: Columns, given: Columns, runner: Runner, *, width: int = 1
    ) -> FloatArray:
        y = (_unexplained(self.target, given) if self.left is None else self.left)[0]
        x = _unexplained(candidates, given)
        if width == 1:
            return np.asarray(np.abs(x @ y))
        fits = [both.T @ np.linalg.lstsq(both.T, y)[0] for both in x.reshape(-1, width, y.size)]
        return np.asarray(np.linalg.norm(fits, axis=1))

    def prepared(self, question: Any) -> Self:
        return replace(self, left=_unexplained(self.target, question.given))


def _unexplained(columns: Columns, given: Columns) -> FloatArray:
    """What a line through the ranks of the given columns leaves of ranks, at length 1."""
    ranks = rankdata(columns.values, axis=1)
    known = np.vstack([np.ones(columns.n_samples), rankdata(given.values, axis=1)])
    ranks -= np.linalg.lstsq(known.T, ranks.T)[0].T @ known
    return np.asarray(ranks / np.linalg.norm(ranks, axis=1, keepdims=True))
