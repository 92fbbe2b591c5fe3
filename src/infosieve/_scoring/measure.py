"""What is measured: all of a question but the candidates and what is given."""

from dataclasses import dataclass, replace

from infosieve._core.types import (
    Batch,
    Columns,
    Criterion,
    Engine,
    FloatArray,
    IntArray,
    Method,
    Metric,
    Runner,
)
from infosieve._scoring.mixed import Scores, score


@dataclass(frozen=True, kw_only=True)
class Measure:
    """How candidates are measured: all of a batch but the candidates and the given columns."""

    target: Columns
    criterion: Criterion
    method: Method
    metric: Metric
    n_neighbors: tuple[int, int]
    engine: Engine
    folds: IntArray | None = None

    def scores(
        self,
        candidates: Columns,
        given: Columns,
        runner: Runner,
        *,
        permutations: IntArray | None = None,
        width: int = 1,
    ) -> Scores:
        """Of each candidate, ``width`` neighbouring columns, for each K and fold."""
        batch = Batch(
            candidates=candidates,
            given=given,
            target=self.target,
            criterion=self.criterion,
            method=self.method,
            metric=self.metric,
            n_neighbors=self.n_neighbors,
            folds=self.folds,
            permutations=permutations,
            width=width,
        )
        return score(batch, self.engine, runner)

    def __call__(
        self,
        candidates: Columns,
        given: Columns,
        runner: Runner,
        *,
        permutations: IntArray | None = None,
        width: int = 1,
    ) -> FloatArray:
        """One number a candidate: the mean over K and, where there are some, folds."""
        scores = self.scores(candidates, given, runner, permutations=permutations, width=width)
        return scores.averaged

    def of_set(self, columns: Columns, runner: Runner) -> float:
        """The information of a whole set, whatever the criterion."""
        last = columns.n_columns - 1
        whole = replace(self, criterion="mi")
        found = whole(columns.take(slice(last, None)), columns.take(slice(last)), runner)
        return float(found[0])
