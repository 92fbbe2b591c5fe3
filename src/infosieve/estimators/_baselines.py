"""Older estimates of mutual information, kept so that users can see where they fail.

All three estimate densities or entropies first and subtract; beyond about three dimensions
their errors no longer cancel. :func:`infosieve.mutual_information` is the one to use.
"""

from typing import Any

import numpy as np
from scipy.special import logsumexp

from infosieve._core.rules import ParameterError, is_int, is_number
from infosieve._core.settings import ENTROPY_NEIGHBORS
from infosieve._core.types import FloatArray, Metric, Neighbors
from infosieve._engines.numba.columns import LIFT, standardise
from infosieve._input.tables import check_lengths, check_target, read_table
from infosieve.estimators._entropy import entropy


def histogram(X: Any, y: Any, *, bins: int | str = "auto") -> float:
    """Mutual information by counting in cells of equal width, in nats.

    Parameters
    ----------
    X : array-like of shape (n_samples,) or (n_samples, n_features)
        One column or several, measured together.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        The target, numbers.
    bins : int or "auto", default="auto"
        Cells along each column; "auto" is Scott's rule for the joint dimension, at least 2.

    Returns
    -------
    float
        The plug-in estimate. It is never negative, and grows with the number of empty cells.

    See Also
    --------
    mutual_information : What to use instead.
    parzen : By densities of kernels.
    three_entropies : By entropies of nearest neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from infosieve.estimators import histogram
    >>> x, y = np.random.default_rng(0).normal(size=(2, 500))
    >>> histogram(x, y) > 0.02  # the truth is 0
    True
    """
    x, t = _standardised(X, y)
    n, d = x.shape[1], x.shape[0] + t.shape[0]
    if isinstance(bins, str) and bins == "auto":
        bins = max(
            2, round(float(np.ptp(np.r_[x, t], axis=1).mean()) / (3.5 * n ** (-1 / (2 + d))))
        )
    if not is_int(bins) or not 1 <= int(bins) <= 10**6:
        raise ParameterError("bins", "'auto' or an int from 1 to 1,000,000", bins)
    n_bins = int(bins)

    def cells(block: FloatArray) -> FloatArray:
        low, span = block.min(axis=1, keepdims=True), np.ptp(block, axis=1, keepdims=True)
        share = (block - low) / np.where(span > 0, span, 1)
        return np.asarray(np.floor(np.minimum(share * n_bins, n_bins - 1)))

    def log_share(codes: FloatArray) -> FloatArray:
        _, label, count = np.unique(codes, axis=1, return_inverse=True, return_counts=True)
        return np.asarray(np.log(count[label.ravel()] / n))

    a, b = cells(x), cells(t)
    return float((log_share(np.r_[a, b]) - log_share(a) - log_share(b)).mean())


def parzen(X: Any, y: Any, *, bandwidth: float | str = "scott") -> float:
    """Mutual information by Gaussian kernel densities, each sample left out of its own.

    Parameters
    ----------
    X, y
        As in :func:`histogram`.
    bandwidth : float or "scott", default="scott"
        Standard deviation of the kernels on standardised columns; "scott" is
        ``n ** (-1 / (d + 4))`` with d the joint dimension.

    Returns
    -------
    float
        The estimate in nats.

    See Also
    --------
    mutual_information : What to use instead.
    histogram : By counting in cells.
    three_entropies : By entropies of nearest neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from infosieve.estimators import parzen
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=500)
    >>> print(f"{parzen(x, x + rng.normal(size=500)):.1f}")  # the truth is 0.35
    0.4
    """
    x, t = _standardised(X, y)
    n, d = x.shape[1], x.shape[0] + t.shape[0]
    if isinstance(bandwidth, str) and bandwidth == "scott":
        bandwidth = n ** (-1 / (d + 4))
    if not is_number(bandwidth) or not 1e-6 <= float(bandwidth) <= 1e6:
        raise ParameterError("bandwidth", "'scott' or a number from 1e-6 to 1e6", bandwidth)
    width = float(bandwidth)

    def exponents(block: FloatArray) -> FloatArray:
        squares = np.square(block[:, :, None] - block[:, None, :]).sum(axis=0)
        np.fill_diagonal(squares, np.inf)
        return np.asarray(-squares / (2 * width**2))

    # The kernels' norming factors cancel: those of the joint are the product of the others.
    a, b = exponents(x), exponents(t)
    log_densities = [logsumexp(e, axis=1) - np.log(n - 1) for e in (a + b, a, b)]
    return float((log_densities[0] - log_densities[1] - log_densities[2]).mean())


def three_entropies(
    X: Any, y: Any, *, n_neighbors: Neighbors = ENTROPY_NEIGHBORS, metric: Metric = "euclidean"
) -> float:
    """Mutual information as H(X) + H(y) - H(X, y), each by its own nearest neighbours.

    The three estimates use balls of different sizes, so that their biases do not cancel.

    Parameters
    ----------
    X, y
        As in :func:`histogram`.
    n_neighbors, metric
        As in :func:`infosieve.entropy`.

    Returns
    -------
    float
        The estimate in nats.

    See Also
    --------
    mutual_information : What to use instead.
    entropy : The entropy that it is made of.
    histogram : By counting in cells.

    Examples
    --------
    >>> import numpy as np
    >>> from infosieve.estimators import three_entropies
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=500)
    >>> print(f"{three_entropies(x, x + rng.normal(size=500)):.1f}")  # the truth is 0.35
    0.4
    """
    x, t = _standardised(X, y)
    parts = (x.T, t.T, np.r_[x, t].T)
    h_x, h_y, h_xy = (entropy(part, n_neighbors=n_neighbors, metric=metric) for part in parts)
    return h_x + h_y - h_xy


def _standardised(X: Any, y: Any) -> tuple[FloatArray, FloatArray]:
    tables = read_table(X, "X", discrete=False), read_table(y, "y", discrete=False)
    check_lengths(*tables)
    check_target(tables[1])
    x, t = (np.empty(table.values.shape) for table in tables)
    for table, out in zip(tables, (x, t), strict=True):
        standardise(table.values, np.sort(table.values, axis=1), out)
        out /= LIFT
        out -= out.mean(axis=1, keepdims=True)
    return x, t
