"""Facts about stability: which columns another sample would choose again."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from infosieve.results import Stability


@dataclass(frozen=True)
class StabilityFacts:
    """Facts about what a selector chose from each half of the samples."""

    result: Stability

    @property
    def n_columns(self) -> int:
        return len(self.result.features)

    @property
    def stable(self) -> list[Any]:
        return [self.result.features[j] for j in self.result.stable()]

    @cached_property
    def chosen(self) -> list[Any]:
        """The rows of ``to_frame`` of columns that were chosen, most often first."""
        frame = self.result.to_frame().sort_values("frequency", ascending=False, kind="stable")
        return list(frame[frame["frequency"] > 0].itertuples(index=False))

    def useless(self, bound: float) -> bool:
        """Whether a bound is more than half of the columns would keep to."""
        return bound > self.n_columns / 2

    @cached_property
    def threshold(self) -> float | None:
        """How often stable columns are chosen, at least; None: no threshold keeps others out."""
        threshold = self.result.threshold()
        return None if math.isnan(threshold) else threshold

    @property
    def bound(self) -> float:
        """The bound at the threshold or, where there is none, of what all halves have chosen."""
        return self.result.expected_false(1.0 if self.threshold is None else self.threshold)

    def sets(self, most: int, least: int = 1) -> list[tuple[list[Any], int]]:
        """The sets that were chosen most often, and at least so often, and from how many halves."""
        sets = [(columns, times) for columns, times in self.result.sets if times >= least]
        return [([self.result.features[j] for j in columns], n) for columns, n in sets[:most]]
