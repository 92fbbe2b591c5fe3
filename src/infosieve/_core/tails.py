"""How strong a column is, beyond the smallest p-value that some permutations can give.

Combined statistics are logarithms of what would be a p-value, in decimal digits, so that their
upper tail falls by about a factor of ten a digit, or more slowly. An exponential tail with that
rate as prior knowledge is fitted to the largest permuted values (a gamma prior; the tail that is
expected is Lomax'). It shows strength and decides nothing.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaincinv

from infosieve._core.types import FloatArray

# The prior knowledge counts as much as so many values above the threshold.
_PRIOR = 20.0
# Values above the threshold: this share of the permuted ones, and at most so many.
_TAIL, _MOST = 1 / 3, 200
# Nothing that is extrapolated is smaller.
FLOOR = 1e-12


class Strength(NamedTuple):
    """A p-value from a fitted tail, with limits of 90 %."""

    p_value: float
    low: float
    high: float


def strengths(observed: Any, null: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
    """How often chance would reach observed values, with limits; of each its own permuted ones.

    ``null`` (n_permutations, n_values), or (n_permutations, 1) that all share.
    """
    seen, values = np.asarray(observed, np.float64), np.sort(null, axis=0)
    n = len(values)
    k = min(int(n * _TAIL), _MOST)
    p = ((values >= seen).sum(axis=0) + 1) / (n + 1)
    if k < 1:
        return p, p, p
    threshold = values[n - k - 1]
    above = np.maximum(seen - threshold, 0.0)
    shape = _PRIOR + k
    scale = _PRIOR / np.log(10) + (values[n - k :] - threshold).sum(axis=0)
    slow, fast = (float(gammaincinv(shape, q)) for q in (0.05, 0.95))
    found = (
        (scale / (scale + above)) ** shape,
        np.exp(-fast / scale * above),
        np.exp(-slow / scale * above),
    )
    one, low, high = (np.where(above > 0, np.maximum(k / n * x, FLOOR), p) for x in found)
    return one, low, high


def strength(observed: float, null: Any) -> Strength:
    """The same of one value."""
    found = strengths([observed], np.asarray(null, np.float64)[:, None])
    return Strength(*(float(part[0]) for part in found))
