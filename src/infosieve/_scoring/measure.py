"""What is measured: all of a question but the candidates and what is given."""

from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np

from infosieve._core.chunks import chunks
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
from infosieve._engines.numba.columns import split_orders
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
    edges: IntArray | None = None
    """Where parts of the samples begin and end: estimates of each are averaged."""

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
        if self.edges is None:
            return score(batch, self.engine, runner)
        batch = batch.materialised()
        order = _orders(batch, self.edges, runner)
        parts = [
            score(batch.span(a, b, None if order is None else order[:, a:b]), self.engine, runner)
            for a, b in pairwise(self.edges.tolist())
        ]
        return Scores(np.mean([part.nats for part in parts], axis=0))

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


def _orders(batch: Batch, edges: IntArray, runner: Runner) -> IntArray | None:
    """What sorts the candidates inside each part, where it is known what sorts them."""
    order = batch.candidates.known_order
    if order is None:
        return None
    part, out = np.repeat(np.arange(len(edges) - 1), np.diff(edges)), np.empty_like(order)

    def some(at: slice) -> None:
        split_orders(order[at], part, edges, out[at])

    size = -(-len(order) // (2 * runner.n_workers))
    runner.run([partial(some, at) for at in chunks(len(order), size)])
    return out
