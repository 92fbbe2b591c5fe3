"""Which columns may join, and which join before all others."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from infosieve._core.dialect import parameter
from infosieve._core.types import BoolArray, Columns, IntArray
from infosieve._input.duplicates import find_duplicates


@dataclass(frozen=True)
class Constraints:
    """Which columns may join, and which join before all others."""

    connected: BoolArray | None  # see connected_pairs
    copies: list[IntArray]  # groups of columns that are copies of each other, in rising order

    @classmethod
    def of(cls, x: Columns, connected: BoolArray | None) -> "Constraints":
        """Those of scaled columns; copies that no neighbours among them connect stay apart."""
        groups = [np.sort([first, *others]) for first, others in find_duplicates(x).items()]
        if connected is not None:
            parts = (_components(group, connected, x.n_columns) for group in groups)
            groups = [part for several in parts for part in several if part.size > 1]
        return cls(connected, sorted(groups, key=lambda group: int(group[0])))


def connected_pairs(connectivity: Any, m: int) -> BoolArray | None:
    """Of each pair of m columns, as scipy's ``pdist`` orders them, whether they are neighbours.

    ``connectivity`` is that of :class:`FeatureClustering`. None: all are neighbours.
    """
    if connectivity is None:
        return None
    if isinstance(connectivity, str) and connectivity == "chain":
        first: Any = np.arange(m - 1)
        second: Any = first + 1
    else:
        first, second = _edges(connectivity, m)
    a, b = np.minimum(first, second), np.maximum(first, second)
    a, b = a[a < b].astype(np.int64), b[a < b].astype(np.int64)
    connected = np.zeros(m * (m - 1) // 2, bool)
    connected[_index(m, a, b)] = True
    return connected


def _index(m: int, a: Any, b: Any) -> Any:
    """The number of the pairs a < b of m columns, in scipy's order."""
    return a * m - a * (a + 1) // 2 + b - a - 1


def _components(group: IntArray, connected: BoolArray, m: int) -> list[IntArray]:
    """The parts of a group that neighbours inside it connect."""
    a, b = np.triu_indices(group.size, 1)
    linked = connected[_index(m, group[a], group[b])]
    graph = coo_array((linked[linked], (a[linked], b[linked])), shape=(group.size, group.size))
    n_parts, part = connected_components(graph, directed=False)
    return [group[part == number] for number in range(n_parts)]


def _edges(matrix: Any, m: int) -> tuple[Any, Any]:
    """The rows and columns where a matrix is not zero."""
    shape = matrix.shape if hasattr(matrix, "shape") else np.shape(matrix)
    if shape != (m, m):
        raise ValueError(
            f"{parameter('connectivity')} must be None, 'chain', or a matrix with a row "
            f"and a column for each of the {m} columns of X. Got "
            + (f"the shape {shape}." if shape else f"{matrix!r} instead.")
        )
    graph = coo_array(matrix)
    graph.eliminate_zeros()
    if np.isnan(graph.data.astype(np.float64)).any():
        raise ValueError(f"{parameter('connectivity')} has NaN: say 0 or 1 for each pair.")
    first, second = graph.coords
    return first, second
