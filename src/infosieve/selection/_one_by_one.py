"""Criteria that hold candidates against one selected column at a time: CMIM and JMI.

Sets outgrow an estimator; two columns and the target never do. What a candidate adds to a selected
column is estimated once and kept, so a step costs one estimate of each candidate at most.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import numpy as np

from infosieve._core.types import ColumnNumbers, FloatArray, IntArray

# "cmim": the least of what a candidate adds to each selected column; "jmi": the mean.
PairwiseCriterion: TypeAlias = Literal["cmim", "jmi"]
# What candidates (by number) add to one selected column.
Added: TypeAlias = Callable[[ColumnNumbers, int], FloatArray]
# The places of candidates, the best first.
Ordered: TypeAlias = Callable[[Sequence[int], FloatArray], IntArray]

# Candidates whose least value is brought up to date together.
_AT_ONCE = 32


class OneByOne(ABC):
    """What candidates add to each selected column, in one number.

    ``alone`` is what they tell by themselves; ``n_known`` how many of the selected columns each was
    compared with.
    """

    def __init__(self, alone: FloatArray) -> None:
        self.alone, self.n_known = alone, np.zeros(len(alone), np.int64)

    @property
    @abstractmethod
    def values(self) -> FloatArray:
        """Of all candidates, as far as it is known."""

    @abstractmethod
    def _add(self, columns: IntArray, values: FloatArray) -> None:
        """What candidates add to one more selected column."""

    # Whether a value can only fall, so that one that is not up to date is a bound.
    falls = False

    def best(
        self, left: Sequence[int], selected: Sequence[int], added: Added, ordered: Ordered
    ) -> tuple[int, float]:
        """Of the candidates that are left: its number, and its value."""
        columns = np.asarray(left)
        self._update(columns, selected[:1] if self.falls else selected, added)
        while True:
            values = self.values[columns]
            order = columns[ordered(columns.tolist(), values)]
            stale = self.n_known[order] < len(selected)
            if not stale[0]:
                return int(order[0]), float(values.max())
            self._update(order[stale][:_AT_ONCE], selected, added)

    def _update(self, columns: IntArray, selected: Sequence[int], added: Added) -> None:
        """Compare candidates with all selected columns that they have not been compared with."""
        for i in range(self.n_known[columns].min(initial=len(selected)), len(selected)):
            some = np.sort(columns[self.n_known[columns] == i])
            if some.size:
                self._add(some, added(ColumnNumbers(some), selected[i]))
                self.n_known[some] = i + 1


class CMIM(OneByOne):
    """The candidate whose least value is largest; some candidates never need to be up to date."""

    falls = True

    def __init__(self, alone: FloatArray) -> None:
        super().__init__(alone)
        self._least = np.full(len(alone), np.inf)

    @property
    def values(self) -> FloatArray:
        return np.where(self.n_known > 0, self._least, self.alone)

    def _add(self, columns: IntArray, values: FloatArray) -> None:
        self._least[columns] = np.minimum(self._least[columns], values)


class JMI(OneByOne):
    """The candidate whose mean value is largest."""

    def __init__(self, alone: FloatArray) -> None:
        super().__init__(alone)
        self._sums = np.zeros(len(alone))

    @property
    def values(self) -> FloatArray:
        return np.where(self.n_known > 0, self._sums / np.maximum(self.n_known, 1), self.alone)

    def _add(self, columns: IntArray, values: FloatArray) -> None:
        self._sums[columns] += values


CRITERIA: dict[str, type[OneByOne]] = {"cmim": CMIM, "jmi": JMI}
