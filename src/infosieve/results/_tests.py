"""Permutation tests."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from infosieve._core.types import FloatArray, IntArray
from infosieve.results._base import QUANTILE_NAMES, QUANTILES, keep


@dataclass(frozen=True, eq=False, kw_only=True)
class PermutationTest:
    """Candidates compared with permuted copies of themselves.

    Attributes
    ----------
    candidates : tuple
        Names of the candidates, or their numbers.
    observed : ndarray of shape (n_candidates,)
        What was measured, in nats.
    null : ndarray of shape (n_permutations, n_candidates) or (n_permutations, 1)
        What the permuted copies score; with the correction "max" the largest of each
        permutation.
    exceedances : ndarray of shape (n_candidates,)
        How many permuted values are at least the observed one.
    p_values : ndarray of shape (n_candidates,)
        (exceedances + 1) / (n_permutations + 1).
    device : str
        Where it was computed.
    """

    candidates: tuple[Any, ...]
    observed: FloatArray
    null: FloatArray
    device: str = "cpu"

    def __post_init__(self) -> None:
        keep(self, observed=self.observed, null=self.null)

    @property
    def n_permutations(self) -> int:
        return len(self.null)

    @property
    def exceedances(self) -> IntArray:
        return np.asarray((self.null >= self.observed).sum(axis=0))

    @property
    def p_values(self) -> FloatArray:
        return np.asarray((self.exceedances + 1) / (self.n_permutations + 1))

    @property
    def p_value(self) -> float:
        """That of the candidate with the largest observed value."""
        return float(self.p_values[np.argmax(self.observed)])

    def __repr__(self) -> str:
        best = self.candidates[int(np.argmax(self.observed))]
        return (
            f"PermutationTest({best!r}: {self.observed.max():.4g} nats, p = {self.p_value:.4g}, "
            f"{len(self.candidates)} candidates, {self.n_permutations} permutations)"
        )

    def to_frame(self) -> pd.DataFrame:
        """A row for each candidate."""
        null = np.broadcast_to(self.null, (self.n_permutations, len(self.candidates)))
        columns: dict[str, Any] = {
            "feature": list(self.candidates),
            "observed": self.observed,
            "exceedances": self.exceedances,
            "p_value": self.p_values,
        }
        columns |= dict(zip(QUANTILE_NAMES, np.quantile(null, QUANTILES, axis=0), strict=True))
        return pd.DataFrame(columns)
