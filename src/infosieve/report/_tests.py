"""Facts about estimates and tests: of each column by itself, of candidates; the choice of K."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from infosieve._core.formats import p_text
from infosieve._core.types import FloatArray, IntArray
from infosieve.results import (
    KChoice,
    PermutationTest,
    Provenance,
    RelevanceTest,
    SelectionResult,
)
from infosieve.results._facts import arrangements, few_groups


@dataclass(frozen=True, kw_only=True)
class Screened:
    """How many candidates a cheap score left for an estimate.

    ``ranked``: a ranking without tests, in which those that were best earlier were estimated anew.
    """

    n: int
    n_estimated: int
    pairs: bool = False
    permuted: bool = False
    ranked: bool = False


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """Which samples an estimate compares; ``permuted``: there were permutations, too.

    ``combined``: tests of columns asked in several ways at once; ``pairs``: pairs were tested.
    """

    record: SelectionResult | PermutationTest | RelevanceTest
    permuted: bool = True
    combined: bool = False
    pairs: bool = False
    screened: Sequence[Screened] = ()

    @property
    def groups(self) -> int | None:
        """How many groups of rows there are, where rows belong together."""
        groups = parameter(self.record.provenance, "groups")
        return groups if isinstance(groups, int) else None

    @property
    def series(self) -> bool:
        return is_series(self.record.provenance)

    @property
    def sizes(self) -> list[int]:
        """How many samples a part of them has: one number, or two that differ by 1."""
        size, more = divmod(self.record.n_samples_used or 0, self.record.n_parts)
        return [size, size + 1] if more else [size]


def parameter(known: Provenance | None, name: str, default: Any = None) -> Any:
    """A parameter of what was asked; the default where it is not known."""
    return default if known is None else known.parameters.get(name, default)


def is_series(known: Provenance | None) -> bool:
    """Whether rows are in order of time."""
    return parameter(known, "series", False) is not False


@dataclass(frozen=True)
class RelevanceFacts:
    """Facts about a test of each column."""

    result: RelevanceTest

    @property
    def n_columns(self) -> int:
        return len(self.result.features)

    @cached_property
    def columns(self) -> list[Any]:
        """The rows of ``to_frame``: relevant columns first, the largest statistic first."""
        more = {"information": self.result.information, "view": self.result.views or ""}
        frame = self.result.to_frame().assign(**more)
        by = ["relevant", "statistic"]
        return list(frame.sort_values(by, ascending=False, kind="stable").itertuples(index=False))

    @property
    def combined(self) -> bool:
        """Whether the test asked in several ways at once."""
        return bool(self.result.views)

    @property
    def relevant(self) -> list[Any]:
        return [column for column in self.columns if column.relevant]

    @property
    def nearest(self) -> list[Any]:
        """The columns that are not relevant, those nearest to it first."""
        others = [column for column in self.columns if not column.relevant]
        return sorted(others, key=lambda column: column.p_value)

    def draws(self, shared: bool) -> IntArray:
        """How many draws columns were compared with at most: shared ones, or each with its own."""
        tested = self.result.tested & (self.result.shared == shared)
        return np.asarray(self.result.n_draws_asked[tested])

    @property
    def n_tested(self) -> int:
        return int(self.result.tested.sum())

    @property
    def few_groups(self) -> int:
        """How many groups there are, if too few for one column to be relevant by itself; else 0."""
        return few_groups(self.result)

    @property
    def arrangements(self) -> int:
        """In how many ways groups can be arranged."""
        return round(math.exp(arrangements(self.few_groups, self.combined)))

    @property
    def estimate(self) -> Estimate:
        return Estimate(record=self.result, combined=self.combined)


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
    information: float
    high: float
    null: FloatArray
    view: str = ""

    @property
    def p_text(self) -> str:
        return p_text(self.p_value, self.lower_limit)


@dataclass(frozen=True)
class TestFacts:
    """Facts about a permutation test."""

    __test__ = False  # for pytest

    result: PermutationTest

    @property
    def combined(self) -> bool:
        """Whether the test asked in several ways at once."""
        return bool(self.result.views)

    @cached_property
    def candidates(self) -> list[Tested]:
        """The candidates, the largest observed value first."""
        test = self.result
        null = np.broadcast_to(test.null, (test.n_permutations, len(test.candidates))).T
        high = np.quantile(null, 0.95, axis=1)
        columns = (test.observed, test.exceedances, test.p_values, test.information, high)
        views = test.views or [""] * len(test.candidates)
        values = (column.tolist() for column in columns)
        rows = zip(test.candidates, *values, null, views, strict=True)
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
        return Estimate(record=self.result, combined=self.combined, screened=(screened,))


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


def best_features(choice: KChoice, most: int) -> list[int]:
    """The features of a choice of K with the largest t, by their numbers."""
    order: IntArray = np.argsort(-choice.t.max(axis=1), kind="stable")
    return [int(j) for j in order[:most]]
