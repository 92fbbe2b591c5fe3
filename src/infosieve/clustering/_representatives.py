"""From columns to the representatives of their clusters, and back."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from infosieve._core.types import FloatArray, IntArray
from infosieve._input.scaling import Scaling


@dataclass(frozen=True, kw_only=True)
class Reduction:
    """Clusters of columns, and the weights of columns in the representatives."""

    clusters: list[IntArray]  # the columns of each, rising
    medoids: IntArray  # the most typical column of each
    # Of each column in each representative; None: medoids stand for their clusters, unscaled.
    weights: csc_array | None
    scaling: Scaling  # of the columns in the data of fit

    def transform(self, values: FloatArray) -> FloatArray:
        """The representatives, for samples in rows."""
        if self.weights is None:
            return values[:, self.medoids]
        return np.ascontiguousarray((self.weights.T @ self.scaling.apply(values).T).T)


class BackToColumns:
    """Columns from the representatives of their clusters, by least squares.

    ``values`` and ``representatives`` have samples in rows; ``labels`` are the columns' clusters.
    """

    def __init__(self, values: FloatArray, representatives: FloatArray, labels: IntArray) -> None:
        scale = Scaling(values.T, "standard")  # keeps sums in range
        x = scale.apply(values)
        r = Scaling(representatives.T, "standard")
        self.labels = labels
        self.slopes = (x * r.apply(representatives)[:, labels]).mean(axis=0)
        self._x, self._r = scale, r

    def predict(self, representatives: FloatArray) -> FloatArray:
        """The columns, for samples in rows."""
        return self._x.undo(self._r.apply(representatives)[:, self.labels] * self.slopes)


def cluster_name(names: Any, members: IntArray) -> str:
    """Runs of neighbouring columns by their ends, at most three of them."""
    runs = np.split(members, np.flatnonzero(np.diff(members) > 1) + 1)
    shown = [
        ",".join(names[run]) if run.size < 3 else f"{names[run[0]]}..{names[run[-1]]}"
        for run in runs[:3]
    ]
    rest = sum(run.size for run in runs[3:])
    return f"cluster[{','.join(shown)}{f',+{rest}' if rest else ''}]"
