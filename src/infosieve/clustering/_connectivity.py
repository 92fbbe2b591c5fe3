"""Which columns are neighbours, and may join."""

from typing import Any

import numpy as np
from scipy.sparse import coo_array

from infosieve._core.types import BoolArray


def connected_pairs(connectivity: Any, m: int) -> BoolArray | None:
    """Of each pair of m columns, as scipy's ``pdist`` orders them, whether they are neighbours.

    Parameters
    ----------
    connectivity : None, "chain" or matrix of shape (m, m)
        As in :class:`FeatureClustering`.
    m : int
        The number of columns.

    Returns
    -------
    ndarray of bool, of shape (m * (m - 1) / 2,), or None
        None where all are neighbours.
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
    connected[a * m - a * (a + 1) // 2 + b - a - 1] = True
    return connected


def _edges(matrix: Any, m: int) -> tuple[Any, Any]:
    """The rows and columns where a matrix is not zero."""
    shape = matrix.shape if hasattr(matrix, "shape") else np.shape(matrix)
    if shape != (m, m):
        raise ValueError(
            "The 'connectivity' parameter must be None, 'chain', or a matrix with a row "
            f"and a column for each of the {m} columns of X. Got "
            + (f"the shape {shape}." if shape else f"{matrix!r} instead.")
        )
    graph = coo_array(matrix)
    graph.eliminate_zeros()
    if np.isnan(graph.data.astype(np.float64)).any():
        raise ValueError("The 'connectivity' parameter has NaN: say 0 or 1 for each pair.")
    first, second = graph.coords
    return first, second
