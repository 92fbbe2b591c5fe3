"""Criteria that hold candidates against one selected column at a time: CMIM and JMI.

Sets outgrow an estimator; two columns and the target never do. What a candidate adds to a selected
column is estimated once and kept, so a step costs one estimate of each candidate at most.
"""

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np

from infosieve._core.types import FloatArray, IntArray

# "cmim": the least of what a candidate adds to each selected column; "jmi": the mean.
OneByOne: TypeAlias = Literal["cmim", "jmi"]
ONE_BY_ONE = get_args(OneByOne)
# What candidates (by number) add to one selected column.
Added: TypeAlias = Callable[[Sequence[int], int], FloatArray]

# Candidates whose least value is brought up to date at once.
_AT_ONCE = 32


class Least:
    """The candidate whose least value is largest (CMIM).

    A least value can only fall: that of a candidate which is not up to date bounds it, and most
    candidates never need to be.
    """

    def __init__(self, alone: FloatArray) -> None:
        self.alone, self.values = alone, np.full(len(alone), np.inf)
        self.n_known = np.zeros(len(alone), np.int64)  # selected columns they were held against

    def best(self, left: Sequence[int], selected: Sequence[int], added: Added) -> tuple[int, float]:
        """Of the candidates that are left: its number, and its value."""
        columns = np.asarray(left)
        if not selected:
            best = columns[np.argmax(self.alone[columns])]
            return int(best), float(self.alone[best])
        self._update(columns[self.n_known[columns] == 0], selected[:1], added)
        while True:
            order = columns[np.argsort(-self.values[columns], kind="stable")]
            stale = self.n_known[order] < len(selected)
            if not stale[0]:
                return int(order[0]), float(self.values[order[0]])
            self._update(order[stale][:_AT_ONCE], selected, added)

    def _update(self, columns: IntArray, selected: Sequence[int], added: Added) -> None:
        for i in range(self.n_known[columns].min(initial=len(selected)), len(selected)):
            some = columns[self.n_known[columns] == i]
            if some.size:
                values = added(some.tolist(), selected[i])
                self.values[some] = np.minimum(self.values[some], values)
                self.n_known[some] = i + 1


class Mean:
    """The candidate whose mean value is largest (JMI)."""

    def __init__(self, alone: FloatArray) -> None:
        self.alone, self.sums, self.n_known = alone, np.zeros(len(alone)), 0

    def best(self, left: Sequence[int], selected: Sequence[int], added: Added) -> tuple[int, float]:
        """Of the candidates that are left: its number, and its value."""
        columns = list(left)
        for column in selected[self.n_known :]:
            self.sums[columns] += added(columns, column)
        self.n_known = len(selected)
        values = self.sums[columns] / self.n_known if self.n_known else self.alone[columns]
        best = int(np.argmax(values))
        return columns[best], float(values[best])
