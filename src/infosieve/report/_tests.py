"""Facts about a permutation test, and about a choice of K."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from infosieve._core.formats import p_text
from infosieve._core.types import FloatArray, IntArray
from infosieve.report._estimates import Estimate, Screened, estimate_of
from infosieve.results import KChoice, PermutationTest


@dataclass(frozen=True, kw_only=True)
class Tested:
    """One candidate of a permutation test, and the permuted values that it was compared with.

    ``high`` is the value below which 95 % of them lie.
    """

    name: Any
    observed: float
    null: FloatArray
    high: float
    exceedances: int
    p_value: float
    lower_limit: bool

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
        null = np.broadcast_to(test.null, (test.n_permutations, len(test.candidates)))
        return [
            Tested(
                name=test.candidates[j],
                observed=float(test.observed[j]),
                null=null[:, j],
                high=float(np.quantile(null[:, j], 0.95)),
                exceedances=int(test.exceedances[j]),
                p_value=float(test.p_values[j]),
                lower_limit=test.lower_limit,
            )
            for j in np.argsort(-test.observed, kind="stable").tolist()
        ]

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
        return estimate_of(self.result, screened=(screened,))


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


@dataclass(frozen=True, kw_only=True)
class Line:
    """t against K, of one feature."""

    name: str
    t: FloatArray
    chose: bool


def t_lines(choice: KChoice, features: Sequence[int]) -> list[Line]:
    """t of some features at each K, and which of them chose K."""
    return [
        Line(name=str(name), t=choice.t[j], chose=name == choice.feature)
        for j, name in ((j, choice.features[j]) for j in features)
    ]
