"""Counting in one dimension: how many points of a sorted column lie within a radius.

Sixteen searches at a time, as everywhere here: the steps of one binary search wait for each
other, those of different searches do not.
"""

from typing import Any

from numba import njit

from infosieve._engines.numba.lanes import LANES, count_ordered


@njit(inline="always")
def _inside(ordered: Any, rank: Any, step: Any, radius: Any, squared: Any) -> Any:
    """Whether the point ``step`` places from ``rank`` exists and is closer than ``radius``."""
    i = rank + step
    at = min(max(i, 0), ordered.size - 1)
    d = abs(ordered[at] - ordered[rank])
    d = d * d if squared else d
    return (i == at) & (d < radius)


@njit(inline="always")
def count_within(
    ordered: Any,
    ranks: Any,
    radii: Any,
    first: Any,
    last: Any,
    squared: Any,
    levels: Any,
    counts: Any,
) -> Any:
    """Count, for each lane and K, the points strictly closer to ``ordered[ranks[lane]]``.

    The point itself is included. ``radii`` and ``counts`` are (n_K, LANES), flattened, and
    the radii rise with K. A search goes 2 ** ``levels`` ranks far, doubled until that is far
    enough. Returns the levels to begin with next time.
    """
    counts[first * LANES : last * LANES] = 1
    for side in (1, -1):
        lane = 0
        while lane < LANES and 1 << levels < ordered.size:
            radius = radii[(last - 1) * LANES + lane]
            if _inside(ordered, ranks[lane], side << levels, radius, squared):
                levels += 1
            else:
                lane += 1
    for k in range(first, last):
        count_ordered(ordered, ranks, levels, (radii, counts, k, squared))
    return max(levels - 1, 1)
