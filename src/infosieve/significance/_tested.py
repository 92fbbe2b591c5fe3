"""One test for all: observed values against those of permuted copies; and the levels of steps.

A test of a fixed number of permutations ends early at the one with which it can no longer pass
(Besag and Clifford 1991, https://doi.org/10.1093/biomet/78.2.301): decisions are those of all
permutations. A sequential test ends as soon as it has surely passed or failed.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from infosieve._core.sequential import exceedances_allowed, sequential_rule
from infosieve._core.types import FloatArray, IntArray
from infosieve._scoring.question import Question


@dataclass(frozen=True)
class Rule:
    """How many permutations a test has at most, and whether it ends once it has surely passed."""

    n_permutations: int
    sequential: bool = False

    def first_decision(self, level: float | None) -> int:
        """With how many permutations a test may pass."""
        if self.sequential and level is not None:
            return sequential_rule(level, self.n_permutations).first_acceptance
        return self.n_permutations


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcome:
    """How often permuted values reached observed ones.

    Attributes
    ----------
    null : ndarray of shape (n_permutations, n_candidates) or (n_permutations, 1)
        The permuted values, up to the one that decided the last test.
    counts : ndarray of int, of shape (n_candidates,)
        How many of them, until the test of a candidate ended, are at least the observed one.
    p_values : ndarray of shape (n_candidates,)
        (count + 1) / (n_permutations + 1); where the count was ended early, a lower bound of
        what all permutations would have given, already above the level. Of a sequential test:
        exact.
    early_stopped : bool
        Whether there were fewer permutations than there could be.
    sequential : bool
        Whether tests could also end because they had surely passed.
    """

    null: FloatArray
    counts: IntArray
    p_values: FloatArray
    early_stopped: bool
    sequential: bool

    @property
    def p_value(self) -> float:
        """Of a single candidate."""
        return float(self.p_values[0])


def tested(
    question: Question,
    level: float | None,
    rule: Rule,
    observed: FloatArray | float,
    progress: Callable[[int, int], None] | None,
) -> Outcome:
    """Compare observed values with those of permuted copies, until all are decided at a level.

    Without a level all permutations are drawn. ``progress`` is told how many of how many are done.
    """
    n = rule.n_permutations
    blocks = question.permuted(n, rule.first_decision(level), may_end=level is not None)
    if progress is not None:
        blocks = _reported(blocks, progress, n)
    return compared(np.atleast_1d(observed), blocks, level, rule)


def compared(
    observed: FloatArray, blocks: Iterator[FloatArray], level: float | None, rule: Rule
) -> Outcome:
    """Compare observed values with permuted ones, which come in blocks."""
    n = rule.n_permutations
    null = until_decided(observed, blocks, level, rule)
    reached = null >= observed
    sequential = rule.sequential and level is not None
    if sequential and level is not None:
        ended = sequential_rule(level, n)
        times, counts = ended.endings(reached)
        p_values = ended.p_values(counts, times)
    else:
        counts = reached.sum(axis=0)
        p_values = np.asarray((counts + 1) / (n + 1))
    return Outcome(
        null=null,
        counts=counts,
        p_values=p_values,
        early_stopped=len(null) < n,
        sequential=sequential,
    )


def until_decided(
    observed: FloatArray, blocks: Iterator[FloatArray], level: float | None, rule: Rule
) -> FloatArray:
    """Permuted values up to the permutation with which all tests at a level are decided.

    If the rule is not sequential: with which none can reach p <= ``level`` any more.

    ``blocks`` has some permutations each, (n, n_candidates) or (n, 1); what was computed beyond the
    decision is dropped, so that blocks cannot be told from the result.
    """
    n = rule.n_permutations
    allowed = n if level is None else exceedances_allowed(level, n)
    ends = sequential_rule(level, n) if rule.sequential and level is not None else None
    null: list[FloatArray] = []
    counts, ended = np.zeros(observed.size, np.int64), np.zeros(observed.size, bool)
    drawn = 0
    for block in blocks:
        reached = counts + np.cumsum(block >= observed, axis=0)
        over = reached > allowed if ends is None else ends.decided(reached, drawn + 1)
        over = np.logical_or.accumulate(over, axis=0) | ended
        decided = over.all(axis=1)
        if decided.any():
            null.append(block[: int(np.argmax(decided)) + 1])
            break
        null.append(block)
        counts, ended, drawn = reached[-1], over[-1], drawn + len(block)
    return np.concatenate(null)


def _reported(
    blocks: Iterator[FloatArray], progress: Callable[[int, int], None], total: int
) -> Iterator[FloatArray]:
    done = 0
    progress(done, total)
    for block in blocks:
        done += len(block)
        progress(done, total)
        yield block


def forward_stop_level(p_values: Sequence[float], alpha: float) -> float:
    """The largest p-value with which the next step passes, after steps of these p-values.

    ForwardStop (G'Sell, Wager, Chouldechova and Tibshirani 2016,
    https://doi.org/10.1111/rssb.12122) goes on while the mean of -log(1 - p) over the steps is at
    most ``alpha``: the false discovery rate of a sequence of tests. At most twice ``alpha``.
    """
    spent = sum(-math.log1p(-p) for p in p_values)
    budget = (len(p_values) + 1) * alpha - spent
    return min(-math.expm1(-max(budget, 0.0)), 2 * alpha)
