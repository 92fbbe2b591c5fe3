"""Statistics: what candidates are compared by, and permuted copies of them alike."""

from abc import ABC, abstractmethod
from typing import Any, Self

from infosieve._core.types import Columns, Engine, FloatArray, IntArray, Runner, View
from infosieve._engines.numba.engine import NumbaEngine


class Statistic(ABC):
    """Scores candidates about a target: the larger, the more they tell.

    A statistic is one class, a record that workers can be sent. Tests and searches ask it about
    columns and about permuted copies, which go through the same steps.

    Attributes
    ----------
    target : Columns
        What candidates are to tell something about.
    engine : Engine
        How many columns are scored at once; and, with ``on_device``, who makes permuted copies.
    """

    target: Columns
    engine: Engine = NumbaEngine()
    # Whether values are information, in nats: that takes time, so candidates are screened before.
    estimates = True

    @abstractmethod
    def __call__(
        self, candidates: Columns, given: Columns, runner: Runner, *, width: int = 1
    ) -> FloatArray:
        """One number a candidate, ``width`` neighbouring columns, conditional on the given ones."""

    def of_permuted(
        self, candidates: Columns, given: Columns, runner: Runner, permutations: IntArray
    ) -> FloatArray:
        """Of all candidates permuted by the first permutation, then all by the second, ..."""
        return self(candidates.permuted(permutations), given, runner)

    def detailed(self, candidates: Columns, given: Columns, runner: Runner) -> FloatArray:
        """All that the number is a mean of: (n_folds, n_candidates, n_K)."""
        return self(candidates, given, runner)[None, :, None]

    def nearest(self, candidates: Columns, runner: Runner) -> list[View | None]:
        """Of each candidate how it tells something, if the statistic knows."""
        return [None] * candidates.n_columns

    def prepared(self, question: Any) -> Self:
        """The same for a question (:class:`.Question`): what all its columns share is made once."""
        return self

    def on_device(self, candidates: Columns, given: Columns) -> bool:
        """Whether permuted copies may be made, and stay, where the engine scores them."""
        return False

    @property
    def kind(self) -> str:
        """Jobs of one kind take about the same time for a candidate."""
        return ""
