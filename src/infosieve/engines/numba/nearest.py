"""What the neighbour searches share: the K nearest distances, and a sample's contribution."""

from typing import Any

import numpy as np
from numba import njit

# Distances from here on are infinite: categories are coded so that unequal ones are.
FAR = 1e150
# What is strictly inside this radius is at distance zero.
ZERO_RADIUS = np.nextafter(0.0, 1.0)


@njit(inline="always")
def push(nearest: Any, k: Any, distance: Any) -> Any:
    """Insert a distance into the sorted ``k`` nearest; return the new k-th. No branches."""
    for i in range(k):
        kept = nearest[i]
        nearest[i] = distance if distance < kept else kept
        distance = kept if distance < kept else distance
    return nearest[k - 1]


@njit(inline="always")
def n_finite(nearest: Any, k: Any) -> Any:
    """How many of the ``k`` nearest are at a finite distance."""
    while k > 0 and nearest[k - 1] >= FAR:
        k -= 1
    return k


@njit(inline="always")
def closed(radius: Any) -> Any:
    """The radius whose open ball is the closed ball of the given one."""
    return np.nextafter(radius, np.inf)
