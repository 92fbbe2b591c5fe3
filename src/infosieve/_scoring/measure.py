"""What is measured by nearest neighbours: all of a question but candidates and what is given."""

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
from infosieve._scoring.mixed import averaged, score
from infosieve._scoring.statistic import Statistic


@dataclass(frozen=True, kw_only=True, eq=False)
class Measure(Statistic):
    """Information in nats: all of a batch but the candidates and the given columns."""

    target: Columns
    criterion: Criterion
    method: Method
    metric: Metric
    n_neighbors: tuple[int, int]
    engine: Engine
    folds: IntArray | None = None
    edges: IntArray | None = None
    """Where parts of the samples begin and end: estimates of each are averaged."""

    def __call__(
        self, candidates: Columns, given: Columns, runner: Runner, *, width: int = 1
    ) -> FloatArray:
        """One number a candidate: the mean over K and, where there are some, folds."""
        return averaged(self._scored(self._batch(candidates, given, width=width), runner))

    def of_permuted(
        self, candidates: Columns, given: Columns, runner: Runner, permutations: IntArray
    ) -> FloatArray:
        batch = self._batch(candidates, given, permutations=permutations)
        return averaged(self._scored(batch, runner))

    def detailed(self, candidates: Columns, given: Columns, runner: Runner) -> FloatArray:
        return self._scored(self._batch(candidates, given), runner)

    def of_set(self, columns: Columns, runner: Runner) -> float:
        """The information of a whole set, whatever the criterion."""
        last = columns.n_columns - 1
        whole = replace(self, criterion="mi")
        found = whole(columns.take(slice(last, None)), columns.take(slice(last)), runner)
        return float(found[0])

    def on_device(self, candidates: Columns, given: Columns) -> bool:
        involved = (candidates, given, self.target)
        return self.folds is None and not any(c.labelled.any() for c in involved)

    @property
    def kind(self) -> str:
        return "" if self.folds is None else " folds"

    def _batch(
        self,
        candidates: Columns,
        given: Columns,
        permutations: IntArray | None = None,
        width: int = 1,
    ) -> Batch:
        return Batch(
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

    def _scored(self, batch: Batch, runner: Runner) -> FloatArray:
        """For each fold, candidate and K."""
        if self.edges is None:
            return score(batch, self.engine, runner)
        batch = batch.materialised()
        order = _orders(batch, self.edges, runner)
        parts = [
            score(batch.span(a, b, None if order is None else order[:, a:b]), self.engine, runner)
            for a, b in pairwise(self.edges.tolist())
        ]
        return np.asarray(np.mean(parts, axis=0))


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
