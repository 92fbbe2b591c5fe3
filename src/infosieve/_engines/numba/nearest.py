"""What the neighbour searches share: from nearest distances to the radii of the counts."""

from typing import Any

import numpy as np
from numba import njit

from infosieve._engines.numba.lanes import BATCH, LANES

# Distances from here on are infinite: categories are coded so that unequal ones are.
FAR = 1e150
# What is strictly inside this radius is at distance zero.
ZERO_RADIUS = np.nextafter(0.0, 1.0)


@njit(inline="always")
def closed(radius: Any) -> Any:
    """The radius whose open ball is the closed ball of the given one."""
    return np.nextafter(radius, np.inf)


@njit(inline="always")
def any_at_zero(nearest: Any) -> Any:
    """Whether a lane has a neighbour at distance zero."""
    for lane in range(LANES):
        if nearest[lane] == 0.0:
            return True
    return False


@njit(inline="always")
def _all_ordinary(nearest: Any, lo: Any, hi: Any) -> Any:
    """Whether all lanes have all neighbours, at distances that are neither zero nor infinite."""
    first, last = (lo - 1) * LANES, (hi - 1) * LANES
    some = False
    for lane in range(LANES):
        some |= (nearest[first + lane] == 0.0) | (nearest[last + lane] >= FAR)
    return not some


@njit(inline="always")
def set_radii(
    nearest: Any, sides: Any, zeros: Any, ks: Any, psi: Any, radii: Any, terms: Any, inner: Any
) -> None:
    """The radii in which each lane counts in the two blocks, and its first term, for each K.

    ``nearest`` is (hi, LANES), flattened; ``sides`` (2, hi * LANES) has the rectangles of KSG2
    and is empty for KSG1; ``zeros`` how many points are at distance zero, itself included.
    ``inner`` becomes 1 where the point itself is not to be counted. Where no point is at a finite
    distance, K is 1 and the radius is infinite: alone in its combination of categories, the
    point counts as in a table of counts.
    """
    lo, hi = ks
    if sides.shape[1] == 0 and _all_ordinary(nearest, lo, hi):
        first, last = (lo - 1) * LANES, hi * LANES
        some = nearest[first:last]
        for side in range(2):
            copy = radii[side, first:last]
            for i in range(some.size):
                copy[i] = some[i]
        inner[first:last] = 0
        for k in range(lo, hi + 1):
            terms[(k - 1) * LANES : k * LANES] = psi[0, k]
        return
    for lane in range(LANES):
        found = hi
        while found > 1 and nearest[(found - 1) * LANES + lane] >= FAR:
            found -= 1
        for k in range(lo, hi + 1):
            kn = min(k, found)
            at, slot = (k - 1) * LANES + lane, (kn - 1) * LANES + lane
            radii[0, at] = radii[1, at] = nearest[slot]
            terms[at], inner[at] = psi[0, kn], 0
            if nearest[slot] >= FAR:  # nobody: count all that a block can reach
                radii[0, at] = radii[1, at] = FAR
            elif nearest[slot] == 0.0:
                radii[0, at] = radii[1, at] = ZERO_RADIUS
                terms[at] = psi[0, zeros[lane]]
            elif sides.shape[1] > 0:
                radii[0, at], radii[1, at] = closed(sides[0, slot]), closed(sides[1, slot])
                terms[at], inner[at] = psi[1, kn], 1


@njit(inline="always")
def enqueue(wanted: Any, first: Any, queue: Any, size: Any) -> Any:
    """Put the numbers of the wanted rows of a batch, which begins at ``first``, into the queue."""
    for u in range(BATCH):
        queue[size] = first + u
        size += wanted >> u & 1
    return size


@njit(inline="always")
def dequeue(queue: Any, n: Any, size: Any) -> Any:
    """Take the first ``n`` from the queue; how many are left, at most a batch."""
    for i in range(BATCH):
        queue[i] = queue[n + i]
    return size - n
