"""What is measured: all of a question but the candidates and what is given."""

from dataclasses import dataclass

from infosieve._core.types import (
    Batch,
    Columns,
    Criterion,
    Engine,
    Estimator,
    FloatArray,
    IntArray,
    Metric,
    Runner,
)
from infosieve._scoring.mixed import Scores, score


@dataclass(frozen=True)
class Measure:
    """How candidates are measured: all of a batch but the candidates and the selected."""

    target: Columns
    criterion: Criterion
    estimator: Estimator
    metric: Metric
    n_neighbors: tuple[int, int]
    engine: Engine
    parts: IntArray | None = None

    def scores(
        self,
        candidates: Columns,
        selected: Columns,
        runner: Runner,
        permutations: IntArray | None = None,
    ) -> Scores:
        batch = Batch(
            candidates,
            selected,
            self.target,
            self.criterion,
            self.estimator,
            self.metric,
            self.n_neighbors,
            self.parts,
            permutations=permutations,
        )
        return score(batch, self.engine, runner)

    def __call__(
        self,
        candidates: Columns,
        selected: Columns,
        runner: Runner,
        permutations: IntArray | None = None,
    ) -> FloatArray:
        """One number a candidate: the mean over K and, where there are some, parts."""
        return self.scores(candidates, selected, runner, permutations).averaged
