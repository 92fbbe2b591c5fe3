"""Permuted values counted against observed ones.

A test of a fixed number of permutations ends early at the one with which it can no longer pass
(Besag and Clifford 1991, https://doi.org/10.1093/biomet/78.2.301): decisions are those of all
permutations. A sequential test ends as soon as it has surely passed or failed.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from infosieve._core.sequential import exceedances_allowed, sequential_rule
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
        what all permutations would have given, already above alpha. Of a sequential test: exact.
    early_stopped : bool
        Whether it was ended before the last permutation.
    sequential : bool
        Whether it could also end because it had surely passed.
    """

    null: FloatArray
    count: int
    p_value: float
    early_stopped: bool
    sequential: bool


def count_exceedances(
    observed: float,
    values: Iterator[FloatArray],
    n_permutations: int,
    alpha: float | None,
    sequential: bool = False,
) -> Exceedances:
    """Compare an observed value with the largest of each permutation."""
    largest = (block.max(axis=1, keepdims=True) for block in values)
    seen = np.array([observed])
    null = until_decided(seen, largest, n_permutations, alpha, sequential)[:, 0]
    count = int((null >= observed).sum())
    p_value = (count + 1) / (n_permutations + 1)
    if sequential and alpha is not None:
        p_value = sequential_rule(alpha, n_permutations).p_value(count, null.size)
    return Exceedances(
        null=null,
        count=count,
        p_value=p_value,
        early_stopped=null.size < n_permutations,
        sequential=sequential and alpha is not None,
    )


def until_decided(
    observed: FloatArray,
    blocks: Iterator[FloatArray],
    n_permutations: int,
    alpha: float | None,
    sequential: bool = False,
) -> FloatArray:
    """Permuted values up to the permutation with which all tests at ``alpha`` are decided.

    Without ``sequential``: with which none can reach p <= ``alpha`` any more.

    ``blocks`` has some permutations each, (n, n_candidates) or (n, 1); what was computed beyond the
    decision is dropped, so that blocks cannot be told from the result.
    """
    allowed = n_permutations if alpha is None else exceedances_allowed(alpha, n_permutations)
    rule = sequential_rule(alpha, n_permutations) if sequential and alpha is not None else None
    null: list[FloatArray] = []
    counts, ended = np.zeros(observed.size, np.int64), np.zeros(observed.size, bool)
    drawn = 0
    for block in blocks:
        reached = counts + np.cumsum(block >= observed, axis=0)
        over = reached > allowed if rule is None else rule.decided(reached, drawn + 1)
        over = np.logical_or.accumulate(over, axis=0) | ended
        decided = over.all(axis=1)
        if decided.any():
            null.append(block[: int(np.argmax(decided)) + 1])
            break
        null.append(block)
        counts, ended, drawn = reached[-1], over[-1], drawn + len(block)
    return np.concatenate(null)
