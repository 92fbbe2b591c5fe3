"""Permuted values counted against observed ones.

A test ends early at the permutation with which it can no longer pass (Besag and Clifford 1991,
https://doi.org/10.1093/biomet/78.2.301): decisions are those of all permutations.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from infosieve._core.types import FloatArray


@dataclass(frozen=True, kw_only=True)
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
    """Compare an observed value with the largest of each permutation."""
    largest = (block.max(axis=1, keepdims=True) for block in values)
    null = until_decided(np.array([observed]), largest, n_permutations, alpha)[:, 0]
    count = int((null >= observed).sum())
    return Exceedances(
        null=null,
        count=count,
        p_value=(count + 1) / (n_permutations + 1),
        early_stopped=null.size < n_permutations,
    )


def until_decided(
    observed: FloatArray, blocks: Iterator[FloatArray], n_permutations: int, alpha: float | None
) -> FloatArray:
    """Permuted values up to the permutation with which no p <= alpha is possible any more.

    ``blocks`` has some permutations each, (n, n_candidates) or (n, 1); what was computed beyond the
    decision is dropped, so that blocks cannot be told from the result.
    """
    allowed = n_permutations if alpha is None else exceedances_allowed(alpha, n_permutations)
    null: list[FloatArray] = []
    counts = np.zeros(observed.size, np.int64)
    for block in blocks:
        reached = counts + np.cumsum(block >= observed, axis=0)
        decided = (reached > allowed).all(axis=1)
        if decided.any():
            null.append(block[: int(np.argmax(decided)) + 1])
            break
        null.append(block)
        counts = reached[-1]
    return np.concatenate(null)


def exceedances_allowed(alpha: float, n_permutations: int) -> int:
    """The largest b with (b + 1) / (P + 1) <= alpha; -1 where even none are too many."""
    allowed = int(alpha * (n_permutations + 1))
    while (allowed + 1) / (n_permutations + 1) <= alpha:
        allowed += 1
    while allowed >= 0 and (allowed + 1) / (n_permutations + 1) > alpha:
        allowed -= 1
    return allowed
