"""What engines share: samples without each fold, K beyond the sample, the simplest norm."""

from dataclasses import replace

import numpy as np

from infosieve._core.types import Batch, FloatArray, IntArray, Runner
from infosieve._engines.ksg import nats


class CountingEngine:
    """An engine that counts neighbours: :meth:`sums` is what it must do."""

    def score(self, batch: Batch, runner: Runner) -> FloatArray:
        """Nats, of shape (n_folds, n_candidates, n_K)."""
        if batch.folds is None:
            return self._score(batch, runner)[None]
        batch = batch.materialised()
        return np.stack([self._score(batch.rows(rows), runner) for rows in batch.without_folds()])

    def sums(self, batch: Batch, runner: Runner) -> IntArray:
        """Sums of psi terms in fixed point, of shape (n_candidates, n_K)."""
        raise NotImplementedError

    def _score(self, batch: Batch, runner: Runner) -> FloatArray:
        n = batch.target.n_samples
        lo, hi = batch.n_neighbors
        if n < 2 or batch.n_candidates == 0:
            return np.zeros((batch.n_candidates, hi - lo + 1))
        if hi >= n:  # a fold may have been left out; a sample has n - 1 neighbours at most
            fewer = replace(batch, n_neighbors=(min(lo, n - 1), n - 1))
            last = np.minimum(np.arange(lo, hi + 1), n - 1) - min(lo, n - 1)
            return self._score(fewer, runner)[:, last]
        batch = _simplest_norm(batch if batch.conditional else replace(batch, criterion="mi"))
        # One layout, whoever computed it: averages over K then add in the same order, too.
        return nats(np.ascontiguousarray(self.sums(batch, runner)), n, batch.conditional)


def bivariate(batch: Batch) -> bool:
    """Whether single columns meet a single target, and nothing else."""
    return batch.given.n_columns == 0 and batch.target.n_columns == 1 and batch.width == 1


def _simplest_norm(batch: Batch) -> Batch:
    """Where every block has one column, both norms are |d|: compare that, not its square."""
    together = batch.width + (0 if batch.criterion == "cmi" else batch.given.n_columns)
    blocks = (together, batch.given.n_columns, batch.target.n_columns)
    if max(blocks) <= 1:
        return replace(batch, metric="chebyshev")
    return batch
