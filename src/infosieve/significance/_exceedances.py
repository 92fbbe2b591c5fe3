"""Permuted values counted against an observed one."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from infosieve._core.types import FloatArray


@dataclass(frozen=True)
class Exceedances:
    """How often permuted values reached the observed one.

    Attributes
    ----------
    null : ndarray of shape (n_permutations,)
        The permuted values, up to the one that decided.
    count : int
        How many of them are at least the observed one.
    p_value : float
        (count + 1) / (n_permutations + 1); where the count was ended early, a lower bound of
        what all permutations would have given, already above alpha.
    early_stopped : bool
        Whether it was ended early.
    """

    null: FloatArray
    count: int
    p_value: float
    early_stopped: bool


def count_exceedances(
    observed: float, values: Iterator[FloatArray], n_permutations: int, alpha: float | None
) -> Exceedances:
    """Compare an observed value with the largest of each permutation.

    Ends at the permutation with which p <= alpha has become impossible, whatever was
    computed beyond; so the decision is that of all permutations.
    """
    null: list[FloatArray] = []
    count = 0
    allowed = n_permutations if alpha is None else exceedances_allowed(alpha, n_permutations)
    for block in values:
        largest = block.max(axis=1)
        reached = count + np.cumsum(largest >= observed)
        if reached[-1] > allowed:
            end = int(np.argmax(reached > allowed)) + 1
            null.append(largest[:end])
            count = int(reached[end - 1])
            break
        null.append(largest)
        count = int(reached[-1])
    together = np.concatenate(null)
    early_stopped = together.size < n_permutations
    return Exceedances(together, count, (count + 1) / (n_permutations + 1), early_stopped)


def exceedances_allowed(alpha: float, n_permutations: int) -> int:
    """The largest b with (b + 1) / (P + 1) <= alpha; -1 where even none are too many."""
    allowed = int(alpha * (n_permutations + 1))
    while (allowed + 1) / (n_permutations + 1) <= alpha:
        allowed += 1
    while allowed >= 0 and (allowed + 1) / (n_permutations + 1) > alpha:
        allowed -= 1
    return allowed
