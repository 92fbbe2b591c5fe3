"""Permutation tests that end as soon as they have surely passed or failed, and their p-values.

Under the null hypothesis an observed value and its permuted ones can be exchanged: after l of t
permuted values have reached the observed one, the next does with probability (l + 1) / (t + 2)
(Polya's urn). So the probability of every outcome of a rule that ends tests can be enumerated.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from infosieve._core.types import BoolArray, FloatArray, IntArray

# A test has surely failed where all permutations would pass it with this probability or less, and
# so many have reached the observed value. Chosen by figures: at levels of 0.0125 to 0.1 a column
# that 1, 2 or 3 % of its permutations reach loses at most 0.025 of its probability to pass.
_FUTILE, _LEAST = 0.02, 3
# What is a rounding error; doubts that are never called sure.
_NONE, _MOST = 1e-12, 0.5
# Permutations whose outcomes fit into memory; logarithms of numbers that fit into float64.
_MOST_PERMUTATIONS, _MOST_LOG = 10**6, 690


@dataclass(frozen=True, eq=False, kw_only=True)
class SequentialRule:
    """When a test of at most ``n_permutations`` ends.

    Outcomes are ordered: tests that pass come before those that fail, the sooner they passed or the
    later they failed the further in front, and fewer exceedances before more. The p-value of
    an outcome is the probability, under the null hypothesis, of it and all before it.

    Attributes
    ----------
    level : float
        The significance level: p <= level where a test passes, and only there.
    n_permutations : int
        The last permutation, which decides what is left.
    accept : ndarray of int, of shape (n_permutations + 1,)
        The most exceedances with which a test passes at a permutation; -1 where none does.
    reject : ndarray of int, of shape (n_permutations + 1,)
        The fewest with which it fails.
    passed : ndarray
        p-values of tests that pass, by the number of exceedances.
    failed : ndarray of shape (n_permutations + 1,)
        p-values of tests that fail, by the number of permutations.
    """

    level: float
    n_permutations: int
    accept: IntArray
    reject: IntArray
    passed: FloatArray
    failed: FloatArray

    @property
    def first_acceptance(self) -> int:
        """The number of permutations that the surest test needs."""
        return int(np.argmax(self.accept >= 0))

    @property
    def acceptance(self) -> float:
        """The probability to pass under the null hypothesis."""
        return float(self.passed[-1])

    def decided(self, counts: IntArray, first: int) -> BoolArray:
        """Where counts of exceedances end a test; rows are permutations from ``first`` (1, ...)."""
        at = np.arange(first, first + len(counts))
        return (counts <= self.accept[at, None]) | (counts >= self.reject[at, None])

    def endings(self, exceeding: BoolArray) -> tuple[IntArray, IntArray]:
        """The permutation with which each test (a column) ends, and its count; 0 if it goes on."""
        counts = np.cumsum(exceeding, axis=0, dtype=np.int64)
        decided = self.decided(counts, 1)
        last = np.argmax(decided, axis=0)
        times = np.where(decided.any(axis=0), last + 1, 0)
        return times, counts[last, np.arange(counts.shape[1])]

    def p_values(self, counts: IntArray, times: IntArray) -> FloatArray:
        """Of tests that ended with these counts at these permutations."""
        passing = np.minimum(counts, self.passed.size - 1)
        passes = counts <= self.accept[times]
        return np.where(passes, self.passed[passing], self.failed[times])

    def p_value(self, count: int, time: int) -> float:
        """Of the test that ended with so many exceedances at this permutation."""
        if not self.possible(count, time):
            raise ValueError(f"No test ends with {count} exceedances at permutation {time}.")
        return float(self.p_values(np.array(count), np.array(time)))

    def possible(self, count: int, time: int) -> bool:
        """Whether a test can end there."""
        if not 0 <= count <= time or not 1 <= time <= self.n_permutations:
            return False
        if count <= self.accept[time]:
            return bool(count > self.accept[time - 1])
        before = self.accept[time - 1] < count - 1 < self.reject[time - 1]
        return bool(before and count == self.reject[time])


@lru_cache(maxsize=64)
def sequential_rule(level: float, n_permutations: int) -> SequentialRule:
    """The rule that ends tests soonest among those that pass with at most ``level`` by chance.

    A test passes where the doubt, the probability that it would fail with all permutations, is
    small, and fails where it would pass with a probability of 0.02 at the most. How much doubt is
    allowed is the largest value with which the whole rule passes with a probability of at
    most ``level``: what is lost by failing early, and by counts being whole numbers, is spent.

    Parameters
    ----------
    level : float
    n_permutations : int

    Returns
    -------
    SequentialRule
    """
    allowed = exceedances_allowed(level, n_permutations)
    fits = 0 <= allowed < n_permutations <= _MOST_PERMUTATIONS
    if not fits or _log_orders(allowed + 1, n_permutations) > _MOST_LOG:
        raise ValueError(
            f"No sequential test has a level of {level:.4g} and {n_permutations} permutations; "
            "use a number of permutations instead of 'auto'."
        )
    weights = _path_probabilities(allowed + 1, n_permutations)
    passing = _passing(weights, allowed)
    hopeful = (passing > _FUTILE).sum(axis=0)
    reject = np.minimum(np.maximum(hopeful, _LEAST), allowed + 1)
    doubt = 1 - passing
    doubt[:, 0] = 1.0  # at least one permutation
    values = np.unique(doubt[(doubt > _NONE) & (doubt <= _MOST)])
    ends = _ends(doubt, 0.0)
    low, high = 0, values.size  # all below values[low - 1] may pass
    while low < high:
        middle = (low + high) // 2
        tried = _ends(doubt, values[middle])
        if math.fsum(_outcomes(weights, reject, tried)[0]) <= level * (1 + _NONE):
            low, ends = middle + 1, tried
        else:
            high = middle
    passed, failed = _outcomes(weights, reject, ends)
    rule = SequentialRule(
        level=level,
        n_permutations=n_permutations,
        accept=np.searchsorted(ends, np.arange(n_permutations + 1), side="right") - 1,
        reject=reject,
        passed=np.minimum(np.cumsum(passed), level),
        failed=np.maximum(1 - np.cumsum(failed) + failed, np.nextafter(level, 1)),
    )
    for array in (rule.accept, rule.reject, rule.passed, rule.failed):
        array.flags.writeable = False
    return rule


def exceedances_allowed(alpha: float, n_permutations: int) -> int:
    """The largest b with (b + 1) / (P + 1) <= alpha; -1 where even none are too many."""
    allowed = int(alpha * (n_permutations + 1))
    while (allowed + 1) / (n_permutations + 1) <= alpha:
        allowed += 1
    while allowed >= 0 and (allowed + 1) / (n_permutations + 1) > alpha:
        allowed -= 1
    return allowed


def _log_orders(count: int, n: int) -> float:
    """The logarithm of the number of orders in which up to ``count`` of n exceed, at the most."""
    count = min(count, n // 2)
    return math.lgamma(n + 1) - math.lgamma(count + 1) - math.lgamma(n - count + 1)


def _path_probabilities(most: int, n: int) -> FloatArray:
    """For l up to ``most`` and t up to n: of each order in which l of t exceed.

    That is l! (t - l)! / (t + 1)!, and 0 for t < l.
    """
    rows, t = np.arange(most + 1.0)[:, None], np.arange(n + 1.0)
    left = t + 1 - rows
    factors = np.divide(np.maximum(rows, 1), left, where=left > 0, out=np.zeros_like(left))
    return np.cumprod(factors, axis=0)


def _passing(weights: FloatArray, allowed: int) -> FloatArray:
    """The probability that at most ``allowed`` exceed in the end, after l of t; 0 for t < l.

    The step from t to t + 1 is a sum over what is still to come: A(t, l) / w(t, l) does not change
    while nothing exceeds.
    """
    n = weights.shape[1] - 1
    passing = np.zeros((allowed + 2, n + 1))
    for row in range(allowed, -1, -1):
        w = weights[row]
        joined = weights[row + 1, 1:] * passing[row + 1, 1:]
        later = np.append(np.cumsum(joined[::-1])[::-1], 0.0)
        np.divide(w[-1] + later, w, where=w > 0, out=passing[row])
    return passing[:-1]


def _ends(doubt: FloatArray, most: float) -> IntArray:
    """The permutation with which a test passes, for each number of exceedances."""
    return np.maximum.accumulate(np.argmax(doubt <= most + _NONE, axis=1))


def _outcomes(
    weights: FloatArray, reject: IntArray, ends: IntArray
) -> tuple[FloatArray, FloatArray]:
    """The probabilities to pass with l exceedances, and to fail at permutation t.

    Paths are counted: to l exceedances at t come those that had them at t - 1, and those that had
    l - 1, unless the test has ended there.
    """
    passed, failed = np.zeros(ends.size), np.zeros(reject.size)
    arriving = np.zeros(reject.size)
    arriving[0] = 1.0
    for row, end in enumerate(ends):
        start = int(np.searchsorted(reject, row, side="right"))
        failed[:start] += arriving[:start] * weights[row, :start]
        paths = np.cumsum(arriving[start : end + 1])
        passed[row] = paths[-1] * weights[row, end]
        arriving = np.zeros(reject.size)
        arriving[start + 1 : end + 1] = paths[:-1]
    return passed, failed + arriving * weights[-1]
