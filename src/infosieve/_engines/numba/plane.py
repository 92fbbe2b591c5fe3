"""One feature against one target: neighbours in the plane, by strips.

The points are sorted along one axis and cut into strips; inside a strip they are sorted
along the other. Sixteen neighbouring points of a strip look for their neighbours together
(see :mod:`.lanes`): outwards from their own place in their own strip, then in the strips to
both sides while the near edge is closer than the widest K-th neighbour so far. With strips
about as wide as a neighbourhood, a group meets about a hundred points, in nearly sequential
memory: O(N log N) in all, from sorting.
"""

from typing import Any

import numpy as np
from numba import njit

from infosieve._engines.numba.jit import kernel
from infosieve._engines.numba.lanes import LANES, NOBODY, cover_point, push_point
from infosieve._engines.numba.nearest import FAR, any_at_zero, closed, set_radii
from infosieve._engines.numba.ranks import count_within


@kernel
def _strips(a: Any, b: Any, order_a: Any, order_b: Any, width: Any) -> Any:
    """The points by strips of a and, inside each, by b: values and ranks of both."""
    n = a.size
    rank_a = np.empty(n, np.int32)
    for i in range(n):
        rank_a[order_a[i]] = i
    filled = np.zeros((n + width - 1) // width, np.int32)
    pa, pb = np.empty(n), np.empty(n)
    ranks_a, ranks_b = np.empty(n, np.int32), np.empty(n, np.int32)
    for i in range(n):
        j = order_b[i]
        strip = rank_a[j] // width
        at = strip * width + filled[strip]
        filled[strip] += 1
        pa[at], pb[at] = a[j], b[j]
        ranks_a[at], ranks_b[at] = rank_a[j], i
    return pa, pb, ranks_a, ranks_b


@njit(inline="always")
def first_not_below(v: Any, low: Any, high: Any, value: Any) -> Any:
    """The first place from ``low`` on, ``high`` at most, whose number is not below ``value``."""
    size = high - low
    while size > 0:
        half = (size + 1) >> 1
        low += half * (v[low + half - 1] < value)
        size -= half
    return low


@njit(inline="always")
def _meet(points: Any, j: Any, itself: Any, group: Any, bound: Any, k: Any) -> Any:
    """All lanes meet point j: it enters their nearest, or widens their rectangles."""
    pa, pb = points
    a_here, b_here, nearest, sides = group
    if sides.size == 0:
        return push_point((pa, pb, j, a_here, b_here), itself, nearest, k)
    cover_point((pa, pb, j, a_here, b_here), itself, nearest, sides, k)
    return bound


@njit(inline="always")
def _walk(points: Any, at: Any, first: Any, last: Any, group: Any, bound: Any, k: Any) -> Any:
    """Meet the points of [first, last) from ``at`` up and from below it down, while closer."""
    pb = points[1]
    b_low, b_high = group[1][0], group[1][LANES - 1]
    j = at
    while j < last and pb[j] - b_high < bound:
        bound = _meet(points, j, NOBODY, group, bound, k)
        j += 1
    j = at - 1
    while j >= first and b_low - pb[j] < bound:
        bound = _meet(points, j, NOBODY, group, bound, k)
        j -= 1
    return bound


@njit(inline="always")
def _search(
    points: Any, ordered: Any, width: Any, start: Any, cursor: Any, group: Any, bound: Any, k: Any
) -> None:
    """Let the lanes meet every point that may be closer to one of them than ``bound``.

    ``cursor`` says where the last group of the same strip was in the other strips: groups
    are served by rising b, so that the place moves only forwards.
    """
    pb = points[1]
    a_here, b_low = group[0], group[1][0]
    n, strip = ordered.size, start // width
    first, last = strip * width, min(n, (strip + 1) * width)
    stop = min(last, start + LANES)
    for j in range(start, stop):
        bound = _meet(points, j, j - start, group, bound, k)
    bound = _walk(points, stop, stop, last, group, bound, k)
    bound = _walk(points, start, first, start, group, bound, k)
    a_low, a_high = a_here.min(), a_here.max()
    left, right = strip - 1, strip + 1
    while True:
        if right * width < n and ordered[right * width] - a_high < bound:
            other = right
            right += 1
        elif left >= 0 and a_low - ordered[left * width + width - 1] < bound:
            other = left
            left -= 1
        else:
            break
        first, last = other * width, min(n, (other + 1) * width)
        if cursor[0, other] == strip:
            at = cursor[1, other]
            while at < last and pb[at] < b_low:
                at += 1
        else:
            cursor[0, other] = strip
            at = first_not_below(pb, first, last, b_low)
        cursor[1, other] = at
        bound = _walk(points, at, first, last, group, bound, k)


@kernel
def _at_distance_zero(pa: Any, pb: Any, here: Any) -> Any:
    """How many points, itself included, have the coordinates of ``here``."""
    m = 0
    for j in range(pa.size):
        m += pa[j] == pa[here] and pb[j] == pb[here]
    return m


@kernel
def plane(
    a: Any,
    b: Any,
    order_a: Any,
    order_b: Any,
    width: Any,
    ks: Any,
    rectangle: Any,
    psi: Any,
) -> Any:
    """Sum over the samples of psi(K) - psi(n_a) - psi(n_b), in fixed point, for each K.

    ``ks`` is (lo, hi); ``rectangle`` asks for KSG2; ``psi`` has two rows, psi(k) and
    psi(k) - 1/k.
    """
    n = a.size
    lo, hi = ks
    ordered_a, ordered_b = a[order_a], b[order_b]
    pa, pb, ranks_a, ranks_b = _strips(a, b, order_a, order_b, width)
    cursor = np.full((2, (n + width - 1) // width), -1, np.int32)
    a_here, b_here = np.empty(LANES), np.empty(LANES)
    rank_a, rank_b = np.empty(LANES, np.int32), np.empty(LANES, np.int32)
    nearest = np.empty(hi * LANES)
    sides, none = np.empty((2, hi * LANES if rectangle else 0)), np.empty(0)
    zeros = np.empty(LANES, np.int64)
    radii = np.empty((2, hi * LANES))
    counts = np.empty((2, hi * LANES), np.int32)
    terms, inner = np.empty(hi * LANES, np.int64), np.empty(hi * LANES, np.int32)
    sums = np.zeros(hi - lo + 1, np.int64)
    levels_a = levels_b = 4
    start = 0
    while start < n:
        stop = min(n, (start // width + 1) * width, start + LANES)
        for lane in range(LANES):
            here = min(start + lane, stop - 1)
            a_here[lane], b_here[lane] = pa[here], pb[here]
            rank_a[lane], rank_b[lane] = ranks_a[here], ranks_b[here]
        nearest[:] = np.inf
        group = (a_here, b_here, nearest, none)
        _search((pa, pb), ordered_a, width, start, cursor, group, np.inf, hi)
        if rectangle:
            bound = 0.0
            for i in range(hi * LANES):
                if nearest[i] < FAR:
                    bound = max(bound, closed(nearest[i]))
            sides[:] = 0.0
            group = (a_here, b_here, nearest, sides.reshape(sides.size))
            _search((pa, pb), ordered_a, width, start, cursor, group, bound, hi)
        if any_at_zero(nearest):
            for lane in range(LANES):
                zeros[lane] = _at_distance_zero(pa, pb, min(start + lane, stop - 1))
        set_radii(nearest, sides, zeros, ks, psi, radii, terms, inner)
        levels_a = count_within(ordered_a, rank_a, radii[0], lo - 1, hi, False, levels_a, counts[0])
        levels_b = count_within(ordered_b, rank_b, radii[1], lo - 1, hi, False, levels_b, counts[1])
        for k in range(lo, hi + 1):
            for lane in range(stop - start):
                at = (k - 1) * LANES + lane
                n_a, n_b = counts[0, at] - inner[at], counts[1, at] - inner[at]
                sums[k - lo] += terms[at] - psi[0, n_a] - psi[0, n_b]
        start = stop
    return sums


@kernel
def planes(
    x: Any,
    y: Any,
    orders_x: Any,
    order_y: Any,
    swapped: Any,
    widths: Any,
    ks: Any,
    rectangle: Any,
    psi: Any,
    out: Any,
) -> None:
    """:func:`plane` of each column of ``x`` and ``y``, into ``out`` (n_columns, n_K).

    Where ``swapped`` says so, strips are those of ``y``.
    """
    for j in range(x.shape[0]):
        if swapped[j]:
            out[j] = plane(y, x[j], order_y, orders_x[j], widths[j], ks, rectangle, psi)
        else:
            out[j] = plane(x[j], y, orders_x[j], order_y, widths[j], ks, rectangle, psi)
