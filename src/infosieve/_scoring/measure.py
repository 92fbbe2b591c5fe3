"""What is measured: all of a question but the candidates and what is given."""

from dataclasses import dataclass

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


@dataclass(frozen=True)
class Measure:
    """How candidates are measured: all of a batch but the candidates and the given."""

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
        permutations: IntArray | None = None,
    ) -> Scores:
        batch = Batch(
            candidates,
            given,
            self.target,
            self.criterion,
            self.method,
            self.metric,
            self.n_neighbors,
            self.folds,
            permutations=permutations,
        )
        return score(batch, self.engine, runner)

    def __call__(
        self,
        candidates: Columns,
        given: Columns,
        runner: Runner,
        permutations: IntArray | None = None,
    ) -> FloatArray:
        """One number a candidate: the mean over K and, where there are some, folds."""
        return self.scores(candidates, given, runner, permutations).averaged
