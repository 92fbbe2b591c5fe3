"""What the neighbour searches share about radii."""

from typing import Any

import numpy as np
from numba import njit

# Distances from here on are infinite: categories are coded so that unequal ones are.
FAR = 1e150
# What is strictly inside this radius is at distance zero.
ZERO_RADIUS = np.nextafter(0.0, 1.0)


@njit(inline="always")
def closed(radius: Any) -> Any:
    """The radius whose open ball is the closed ball of the given one."""
    return np.nextafter(radius, np.inf)
