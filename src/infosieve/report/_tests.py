"""Facts about a permutation test, and about a choice of K."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from infosieve._core.formats import p_text
from infosieve._core.types import FloatArray, IntArray
from infosieve.report._estimates import Estimate, Screened
from infosieve.results import KChoice, PermutationTest


@dataclass(frozen=True)
class Tested:
    """One candidate of a permutation test, and the permuted values that it was compared with.

    ``high`` is the value below which 95 % of them lie.
    """

    lower_limit: bool
    name: Any
    observed: float
    exceedances: int
    p_value: float
    high: float
    null: FloatArray

    @property
    def p_text(self) -> str:
        return p_text(self.p_value, self.lower_limit)


@dataclass(frozen=True)
class TestFacts:
    """Facts about a permutation test."""

    __test__ = False  # for pytest

    result: PermutationTest

    @cached_property
    def candidates(self) -> list[Tested]:
        """The candidates, the largest observed value first."""
        test = self.result
        null = np.broadcast_to(test.null, (test.n_permutations, len(test.candidates))).T
        columns = (test.observed, test.exceedances, test.p_values, np.quantile(null, 0.95, axis=1))
        rows = zip(test.candidates, *(column.tolist() for column in columns), null, strict=True)
        tested = [Tested(test.lower_limit, *row) for row in rows]
        return sorted(tested, key=lambda candidate: -candidate.observed)

    @property
    def pairs(self) -> bool:
        """Whether pairs of columns were asked for."""
        known = {} if self.result.provenance is None else self.result.provenance.parameters
        some = any(isinstance(name, tuple) for name in self.result.candidates)
        return some and known.get("pairs") is True

    @property
    def estimate(self) -> Estimate:
        n, kept = self.result.n_candidates, len(self.result.candidates)
        screened = Screened(n=n, n_estimated=kept, pairs=self.pairs, permuted=True)
        return Estimate(record=self.result, screened=(screened,))


@dataclass(frozen=True)
class ChoiceFacts:
    """Facts about a choice of K."""

    result: KChoice

    @property
    def rows(self) -> list[tuple[int, float, Any]]:
        """Each K, its largest t, and the column that has it."""
        result = self.result
        best, winners = result.t.max(axis=0).tolist(), result.t.argmax(axis=0).tolist()
        names = [result.features[j] for j in winners]
        return list(zip(result.ks.tolist(), best, names, strict=True))

    @property
    def largest(self) -> float:
        return float(self.result.t.max())


def best_features(choice: KChoice, most: int) -> list[int]:
    """The features of a choice of K with the largest t, by their numbers."""
    order: IntArray = np.argsort(-choice.t.max(axis=1), kind="stable")
    return [int(j) for j in order[:most]]
