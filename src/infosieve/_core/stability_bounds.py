"""How much sets of columns agree, and how many false columns a threshold on frequencies lets in.

Formulas only; records derive what they show from them.
"""

import math
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.special import ndtri

from infosieve._core.types import BoolArray, FloatArray

Assumption: TypeAlias = Literal["r-concave", "unimodal"] | None
# r of the share of pairs with both halves, and of the share of halves (Shah and Samworth 2013).
_R_BOTH, _R_ONE = -1 / 2, -1 / 4
# Beyond this share of columns there is no bound for unimodal distributions.
_LARGEST_SHARE = 1 / math.sqrt(3)


def stability_index(chosen: BoolArray) -> tuple[float, float]:
    """Nogueira, Sechidis and Brown (2018): their index, and the variance of its estimate.

    ``chosen`` has a row for each set. NaN where all sets are empty, or whole.
    """
    n_sets, n_columns = chosen.shape
    share = chosen.mean(axis=0)
    sizes = chosen.sum(axis=1) / n_columns
    mean = sizes.mean()
    by_chance = mean * (1 - mean)
    if n_sets < 2 or by_chance == 0:
        return math.nan, math.nan
    index = 1 - n_sets / (n_sets - 1) * (share * (1 - share)).mean() / by_chance
    each = (chosen @ share) / n_columns - sizes * mean
    each = (each + index / 2 * (2 * mean * sizes - sizes - mean + 1)) / by_chance
    return float(index), float(4 / n_sets**2 * ((each - each.mean()) ** 2).sum())


def normal_interval(value: float, variance: float, level: float = 0.95) -> tuple[float, float]:
    """Around an estimate that is asymptotically normal; 1 is the largest."""
    half = ndtri((1 + level) / 2) * math.sqrt(variance)
    return float(value - half), float(min(1.0, value + half))


def false_bound(
    n_columns: int, n_selected: float, n_pairs: int, count: int, assumption: Assumption
) -> float:
    """How many columns of low probability to expect among those chosen ``count`` times or more.

    Columns are chosen from 2 ``n_pairs`` halves, ``n_selected`` in each on average; low is a
    probability of ``n_selected / n_columns`` or less. ``count`` is at least 1.
    """
    if n_selected == 0:
        return 0.0
    threshold, low = count / (2 * n_pairs), n_selected / n_columns
    bounds = [n_columns, n_selected / threshold]  # the latter is Markov's inequality
    if 2 * threshold > 1:
        bounds.append(low * n_selected / (2 * threshold - 1))
    if assumption is not None and low <= _LARGEST_SHARE:
        bounds.append(low * n_selected * _unimodal(threshold, low, n_pairs))
    if assumption == "r-concave":
        bounds.append(n_columns * float(_tails(low, 2 * n_pairs, _R_ONE)[count]))
        if count > n_pairs:
            bounds.append(n_columns * float(_tails(low**2, n_pairs, _R_BOTH)[count - n_pairs]))
    return float(min(bounds))


def _unimodal(threshold: float, low: float, n_pairs: int) -> float:
    """C of Shah and Samworth (2013), theorem 2; infinite where there is none."""
    step = 1 / (2 * n_pairs)
    if threshold > 3 / 4:
        return 4 * (1 - threshold + step) / (1 + 2 * step)
    if threshold > min(1 / 2 + low**2, 1 / 2 + step + 3 / 4 * low**2):
        room = 2 * threshold - 1 - step
        return 1 / (2 * room) if room > 0 else math.inf
    return math.inf


@lru_cache(maxsize=32)
def _tails(mean: float, n: int, r: float) -> FloatArray:
    """The largest P(X >= t), t = 0 ... n, of r-concave X on 0 ... n whose mean is n ``mean``.

    D of Shah and Samworth (2013), appendix A.4. What is largest has probabilities proportional to
    (a + i) ** (1 / r) on 0 ... k; of all k, a follows from the mean. 1 where t <= 2 n mean.
    """
    from scipy.optimize import brentq  # nothing else needs it: imports are part of each start

    mean = max(mean, 1e-30)  # or a is out of reach
    tails = np.ones(n + 1)
    first = math.ceil(2 * n * mean) + 1
    if first > n:
        return tails
    tails[first:] = 0.0
    for k in range(first, n + 1):
        places = np.arange(k + 1)

        def excess(log_a: float, places: Any = places) -> float:
            weights = _weights(log_a, places, r)
            return float((places * weights).sum() / weights.sum() - n * mean)

        weights = _weights(brentq(excess, -40.0, 40.0, xtol=1e-12), places, r)
        reached = weights[::-1].cumsum()[::-1] / weights.sum()
        tails[first : k + 1] = np.maximum(tails[first : k + 1], reached[first:])
    return tails


def _weights(log_a: float, places: Any, r: float) -> Any:
    return (1 + places / math.exp(log_a)) ** (1 / r)
