"""From integer counts to nats.

The kernels add up digamma values in fixed point: a table, made once on the host, holds
psi(k) as integers, and integer sums do not depend on the order of the samples, the number
of threads, the chunks or the device. This module makes the table and turns sums into nats.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.special import digamma

from infosieve._core.types import FloatArray, IntArray


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
