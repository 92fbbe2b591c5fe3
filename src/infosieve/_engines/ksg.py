"""From integer counts to nats, and what engines share that count.

The kernels add up digamma values in fixed point: a table, made once on the host, holds
psi(k) as integers, and integer sums do not depend on the order of the samples, the number
of threads, the chunks or the device. This module makes the table and turns sums into nats.
"""

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np
from scipy.special import digamma

from infosieve._core.types import Batch, FloatArray, IntArray, Runner


def fraction_bits(n_samples: int) -> int:
    """Bits behind the point, such that no sum over the samples leaves 64 bits.

    A sample adds at most four digamma values, each below ln(N) + 1 < 16 for N < 3e6 (and
    below 32 for any N that fits a machine).
    """
    return 62 - 7 - max(1, math.ceil(math.log2(n_samples)))


@lru_cache(maxsize=8)
def psi_table(n_samples: int) -> IntArray:
    """Rows psi(k) and psi(k) - 1/k for k up to ``n_samples``, in fixed point."""
    k = np.arange(1, n_samples + 1)
    psi = np.zeros((2, n_samples + 1))
    psi[0, 1:] = digamma(k)
    psi[1, 1:] = psi[0, 1:] - 1 / k
    return np.rint(np.ldexp(psi, fraction_bits(n_samples))).astype(np.int64)


def nats(sums: IntArray, n_samples: int, conditional: bool) -> FloatArray:
    """Kraskov's estimate (both forms), or Frenzel and Pompe's, from the sums of a kernel.

    MI = <psi(K) - psi(n_x) - psi(n_y)> + psi(N) (Kraskov et al. 2004, equations 8 and 9; the
    kernels put the 1/K of the second form into the first term), and
    I(X; Y | Z) = <psi(K) + psi(n_z) - psi(n_xz) - psi(n_yz)> (Frenzel and Pompe 2007).
    """
    mean = np.ldexp(sums.astype(np.float64), -fraction_bits(n_samples)) / n_samples
    return mean if conditional else mean + digamma(n_samples)


def bivariate(batch: Batch) -> bool:
    """Whether single columns meet a single target, and nothing else."""
    return batch.given.n_columns == 0 and batch.target.n_columns == 1 and batch.width == 1


class CountingEngine:
    """An engine that counts neighbours: :meth:`sums` is what it must do."""

    def sums(self, batch: Batch, runner: Runner) -> IntArray:
        """Sums of psi terms in fixed point, of shape (n_candidates, n_K)."""
        raise NotImplementedError

    def without_folds(self, batch: Batch, runner: Runner) -> FloatArray:
        """The score without each fold."""
        rest = batch.without_folds()
        return np.concatenate([self.score(batch.rows(rows), runner) for rows in rest])

    def score(self, batch: Batch, runner: Runner) -> FloatArray:
        """Nats, of shape (n_folds, n_candidates, n_K)."""
        if batch.folds is not None:
            return self.without_folds(batch.materialised(), runner)
        n, (lo, hi) = batch.target.n_samples, batch.n_neighbors
        if n < 2 or batch.n_candidates == 0:
            return np.zeros((1, batch.n_candidates, hi - lo + 1))
        if hi >= n:  # a fold may have been left out; a sample has n - 1 neighbours at most
            fewer = replace(batch, n_neighbors=(min(lo, n - 1), n - 1))
            last = np.minimum(np.arange(lo, hi + 1), n - 1) - min(lo, n - 1)
            return self.score(fewer, runner)[:, :, last]
        if not batch.conditional:
            batch = replace(batch, criterion="mi")
        n_given = batch.given.n_columns
        together = batch.width + (0 if batch.criterion == "cmi" else n_given)
        if max(together, n_given, batch.target.n_columns) <= 1:
            # Every block has one column, both norms are |d|: compare that, not its square.
            batch = replace(batch, metric="chebyshev")
        # One layout, whoever computed it: averages over K then add in the same order, too.
        return nats(np.ascontiguousarray(self.sums(batch, runner)), n, batch.conditional)[None]
