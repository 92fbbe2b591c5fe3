"""Facts about a relevance test: which columns are informative at all."""

import math
import shlex
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from infosieve._core.types import BoolArray, IntArray
from infosieve.report._estimates import Estimate, estimate_of
from infosieve.results import Provenance, RelevanceTest
from infosieve.results._facts import few_groups


@dataclass(frozen=True, kw_only=True)
class TestedColumn:
    """A column of a relevance test."""

    name: Any
    information: float
    chance: float
    p_value: float
    q_value: float
    relevant: bool
    constant: bool


@dataclass(frozen=True)
class RelevanceFacts:
    """Facts about a test of each column."""

    result: RelevanceTest

    @property
    def n_columns(self) -> int:
        return len(self.result.features)

    @cached_property
    def order(self) -> IntArray:
        """The numbers of the columns: relevant ones first, the largest information first."""
        return np.lexsort((-self.result.information, ~self.result.relevant))

    @cached_property
    def columns(self) -> list[TestedColumn]:
        """The columns in that order."""
        result = self.result
        p, q, relevant = result.p_values.tolist(), result.q_values.tolist(), result.relevant
        return [
            TestedColumn(
                name=result.features[j],
                information=float(result.information[j]),
                chance=float(result.chance[j]),
                p_value=p[j],
                q_value=q[j],
                relevant=bool(relevant[j]),
                constant=int(result.n_draws[j]) == 0,
            )
            for j in self.order.tolist()
        ]

    @property
    def relevant(self) -> list[TestedColumn]:
        return [column for column in self.columns if column.relevant]

    @property
    def nearest(self) -> list[TestedColumn]:
        """The columns that are not relevant, those nearest to it first."""
        others = [column for column in self.columns if not column.relevant]
        return sorted(others, key=lambda column: column.p_value)

    @property
    def largest(self) -> float:
        return float(self.result.information.max())

    @property
    def target(self) -> str | None:
        return target_name(self.result.provenance)

    @property
    def n_shared(self) -> int:
        """How many columns were compared with draws that all of them share."""
        return int(self.result.shared.sum())

    @property
    def shared_draws(self) -> tuple[int, int]:
        """How many draws these are, at least and at most."""
        draws = self.result.n_draws_asked[self.result.shared]
        return int(draws.min()), int(draws.max())

    @property
    def _own(self) -> BoolArray:
        return np.asarray(self.result.tested & ~self.result.shared)

    @property
    def n_own(self) -> int:
        """How many columns were compared with permutations of their own."""
        return int(self._own.sum())

    @property
    def own_draws(self) -> int:
        return int(self.result.n_draws_asked[self._own].max())

    @property
    def n_tested(self) -> int:
        return int(self.result.tested.sum())

    @property
    def n_irrelevant(self) -> int:
        return int((self.result.tested & ~self.result.relevant).sum())

    @property
    def few_groups(self) -> int:
        """How many groups there are, if too few for one column to be relevant by itself; else 0."""
        return few_groups(self.result)

    @property
    def arrangements(self) -> int:
        """In how many ways groups can be arranged."""
        return math.factorial(self.few_groups)

    @property
    def coarsest_p(self) -> float:
        return float(self.result.smallest_p[self.result.tested].max())

    @property
    def n_enough(self) -> int:
        """With so many permutations, one column could be relevant by itself."""
        return math.ceil(self.n_tested / self.result.alpha)

    @property
    def estimate(self) -> Estimate:
        return estimate_of(self.result)


def target_name(known: Provenance) -> str | None:
    """The target of a test, by the command that asked for it; None where that does not say it."""
    try:
        given = shlex.split(known.command or "")
    except ValueError:  # a quote without an end, in a record that somebody wrote
        return None
    for i, one in enumerate(given):
        if one.startswith("--target="):
            return one.removeprefix("--target=")
        if one == "--target" and i + 1 < len(given):
            return given[i + 1]
    return None
