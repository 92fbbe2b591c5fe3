"""Local false neighbours: the samples that a feature puts closer than feature and target do.

These are the C vectors of Verleysen, Rossi and François (2009),
https://doi.org/10.1007/978-3-642-01805-3_4.

The nearest neighbour of a sample in the space of feature and target is looked for in strips of
neighbouring targets, inside which samples are sorted by the feature: outwards from the
sample's own place, strip after strip, while something closer is possible. A strip is about a
neighbourhood wide, so that a sample meets a few others in a few strips: O(N log N) in all. Where
values repeat much (classes, 0/1), strips have the same bounds, and it is O(N sqrt(N)).
"""

from typing import Any

import numpy as np
from numba import njit

from infosieve._engines.numba.jit import kernel
from infosieve._engines.numba.plane import first_not_below

# Scaled distances that differ by less, relatively, are equal: scaling rounds, and distances between
# evenly spaced values must not differ by that.
EQUAL = 1e-8


@njit(inline="always")
def _walk(px: Any, pys: Any, x: Any, ys: Any, places: Any, found: Any, bound: Any) -> Any:
    """Meet, along x, the places below ``places[1]`` and from ``places[2]`` on, outwards.

    ``px`` is the feature, by strips and rising inside each, ``pys`` the targets in the same order;
    ``x`` and ``ys`` are those of the sample in question. ``places`` is (first of the strip, where
    to go down from, where to go up from, after the last), ``found`` the smallest squared distance
    so far, the next smallest, and the distance along x of the nearest. Where ``bound`` is at least
    0, the nearest along x is looked for whose squared distance is at most this. Returns what is
    found.
    """
    nearest, second, beside = found
    first, down, up, last = places
    below = x - px[down - 1] if down > first else np.inf
    above = px[up] - x if up < last else np.inf
    while True:
        gap = min(below, above)
        square = gap * gap
        if gap >= beside if bound >= 0.0 else square >= nearest:
            break
        if below <= above:
            down -= 1
            j = down
            below = x - px[down - 1] if down > first else np.inf
        else:
            j = up
            up += 1
            above = px[up] - x if up < last else np.inf
        for t in range(ys.size):
            square += (pys[t, j] - ys[t]) * (pys[t, j] - ys[t])
        if bound >= 0.0:
            if square <= bound:
                beside = gap
        elif square < nearest:
            nearest, second, beside = square, nearest, gap
        elif square < second:
            second = square
    return nearest, second, beside


@njit(inline="always")
def _closer(ordered: Any, rank: Any, radius: Any) -> Any:
    """How many of the others are strictly closer than ``radius`` in a sorted column."""
    n, x, count = ordered.size, ordered[rank], 0
    for side in (1, -1):
        near, far = 0, 1  # near: inside; far: outside, or untried
        while 0 <= rank + side * far < n and abs(ordered[rank + side * far] - x) < radius:
            near, far = far, 2 * far
        while far - near > 1:
            middle = (near + far) >> 1
            at = rank + side * middle
            if 0 <= at < n and abs(ordered[at] - x) < radius:
                near = middle
            else:
                far = middle
        count += near
    return count


@kernel
def strips_of(target: Any, width: Any) -> Any:
    """The strip of each sample by its rank along the target, ``width`` samples each.

    Returns (n_samples,) strips, and the smallest and the largest target of each strip.
    """
    n = target.size
    order = np.argsort(target)
    strip = np.empty(n, np.int64)
    low, high = np.empty((n + width - 1) // width), np.empty((n + width - 1) // width)
    for i in range(n):
        strip[order[i]] = i // width
        high[i // width] = target[order[i]]
        if i % width == 0:
            low[i // width] = target[order[i]]
    return strip, low, high


@kernel
def count_false(x: Any, order: Any, targets: Any, strips: Any, out: Any) -> None:
    """The C vector of one feature: for each sample, those closer along x than its neighbour.

    Its neighbour is the nearest in the space of x and the targets (Euclidean); of several (within
    :data:`EQUAL`), the nearest along x. ``order`` sorts x (n_samples,); ``targets`` are (n_targets,
    n_samples), ``strips`` those of the first (:func:`strips_of`). ``out`` is filled.
    """
    n, n_targets = x.size, targets.shape[0]
    strip, low, high = strips
    start = np.zeros(low.size + 1, np.int64)
    for i in range(n):
        start[strip[i] + 1] += 1
    for s in range(low.size):
        start[s + 1] += start[s]
    filled = start[:-1].copy()
    px, ordered = np.empty(n), np.empty(n)
    pys, ys = np.empty((n_targets, n)), np.empty(n_targets)
    own, rank = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):  # by strips and, inside each, by x
        at = filled[strip[order[i]]]
        filled[strip[order[i]]] += 1
        px[at], own[at], rank[at] = x[order[i]], order[i], i
        ordered[i] = x[order[i]]
        for t in range(n_targets):
            pys[t, at] = targets[t, order[i]]
    for s in range(low.size):
        filled[:] = start[:-1]  # where the strip's samples are in the others: it only rises
        for i in range(start[s], start[s + 1]):
            for t in range(n_targets):
                ys[t] = pys[t, i]
            found, bound = (np.inf, np.inf, np.inf), -1.0
            for _ in range(2):
                places = (start[s], i, i + 1, start[s + 1])
                found = _walk(px, pys, px[i], ys, places, found, bound)
                left, right = s - 1, s + 1
                while True:
                    below = ys[0] - high[left] if left >= 0 else np.inf
                    above = low[right] - ys[0] if right < low.size else np.inf
                    gap = min(below, above)
                    exact = found[0] == 0.0 and found[2] == 0.0
                    if exact or gap == np.inf or gap * gap > found[0] * (1 + EQUAL):
                        break
                    other = left if below <= above else right
                    left, right = (left - 1, right) if other == left else (left, right + 1)
                    at = first_not_below(px, filled[other], start[other + 1], px[i])
                    filled[other] = at
                    places = (start[other], at, at, start[other + 1])
                    found = _walk(px, pys, px[i], ys, places, found, bound)
                bound = found[0] * (1 + EQUAL)
                if found[1] > bound:  # nobody else is as near
                    break
            out[own[i]] = _closer(ordered, rank[i], found[2] * (1 - EQUAL))
