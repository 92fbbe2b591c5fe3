"""Differential entropy by nearest neighbours (Kozachenko and Leonenko)."""

import math
from typing import Any

import numpy as np
from scipy.spatial import KDTree
from scipy.special import digamma, gammaln

from infosieve._core.settings import ENTROPY_NEIGHBORS, Settings, neighbors_among
from infosieve._core.types import Metric, Neighbors
from infosieve._input.scaling import exponent_of
from infosieve._input.tables import read_table


def entropy(
    X: Any, *, n_neighbors: Neighbors = ENTROPY_NEIGHBORS, metric: Metric = "euclidean"
) -> float:
    """Differential entropy of a set of continuous columns, in nats.

    The estimate counts nearest neighbours [1]_. Nothing is scaled: differential entropy depends on
    the unit of each column.

    Parameters
    ----------
    X : array-like of shape (n_samples,) or (n_samples, n_features)
        One column, or several whose joint entropy is meant.
    n_neighbors : int or pair of ints, default=(3, 10)
        The smoothing parameter K, or an inclusive range of K whose estimates are averaged.
    metric : {"euclidean", "chebyshev"}, default="euclidean"
        The norm of the neighbourhoods.

    Returns
    -------
    float
        The estimate in nats. It may be negative.

    Raises
    ------
    ValueError
        If samples repeat: a distribution with atoms has no differential entropy.

    See Also
    --------
    mutual_information : Information about a target.
    infosieve.estimators.three_entropies : Information as a sum of entropies, and why not.

    References
    ----------
    .. [1] L. F. Kozachenko and N. N. Leonenko (1987). Sample estimate of the entropy of a random
       vector. Problems of Information Transmission 23, 95-101.

    Examples
    --------
    >>> import numpy as np
    >>> from infosieve import entropy
    >>> x = np.random.default_rng(0).normal(size=2000)
    >>> print(f"{entropy(x):.1f}")  # the truth is log(2 pi e) / 2 = 1.419
    1.4
    """
    table = read_table(X, "X", discrete=False)
    Settings.of({"n_neighbors": n_neighbors, "metric": metric})
    lo, hi = neighbors_among(n_neighbors, table.n_samples)
    d, n = table.values.shape
    for j in np.flatnonzero(np.ptp(np.ldexp(table.values, -2), axis=1) == 0):
        raise ValueError(
            f"{table.label(int(j))} is constant (every value is {table.values[j, 0]}): it has no "
            "density, hence no differential entropy. Leave the column out."
        )
    # An entropy shifts by log(2) with each doubling: take the size out, exactly.
    exponent = exponent_of(table.values)
    points = np.ldexp(table.values, -exponent)
    points -= np.median(points, axis=1, keepdims=True)
    size = exponent_of(points)
    points, exponent = np.ldexp(points, -size), exponent + size
    # Sums of squares, and of logarithms, are those of one order of columns, and of rows.
    points = points[sorted(range(d), key=lambda j: np.sort(points[j]).tobytes())].T
    p = 2.0 if metric == "euclidean" else np.inf
    distances = np.asarray(KDTree(points).query(points, k=range(2, hi + 2), p=p)[0])
    if (distances[:, 0] == 0).any():
        repeated = int((distances[:, 0] == 0).sum())
        raise ValueError(
            f"X has {repeated} samples that repeat another one exactly; repeated samples have no "
            "differential entropy. Remove duplicates if they are an accident; for rounded or "
            "discrete data use mutual_information, which handles them."
        )
    log_volume = 0.0  # of the ball of diameter 1: the estimate is written with diameters
    if metric == "euclidean":
        log_volume = d / 2 * math.log(math.pi) - gammaln(1 + d / 2) - d * math.log(2)
    distances = np.sort(distances, axis=0)
    estimates = [
        digamma(n) - digamma(k) + log_volume + d * np.log(2 * distances[:, k - 1]).mean()
        for k in range(lo, hi + 1)
    ]
    return float(np.mean(estimates) + d * exponent * math.log(2))
