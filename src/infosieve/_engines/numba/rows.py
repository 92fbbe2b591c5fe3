"""Many candidates given the same given columns: neighbours in a shared order.

All candidates of a batch share the given columns and the target, hence a lower bound of
every joint distance. For each point the others are listed once by rising shared distance;
sixteen candidates at a time (see :mod:`.lanes`) then walk the list only until the bound
exceeds their K-th nearest: some tens of points instead of N. A second list, by distance in
the given columns alone, serves the counts. Lists hold the near points only; whoever
needs more falls back on all of them, so that the result never depends on their length.

O(N) memory a point, O(N^2) time a batch: for up to some ten thousand samples.
"""

from typing import Any

import numpy as np
from numba import njit

from infosieve._engines.numba.jit import kernel
from infosieve._engines.numba.lanes import AT_ONCE, LANES, count_columns, push_columns
from infosieve._engines.numba.nearest import FAR, any_at_zero, set_radii
from infosieve._engines.numba.ranks import count_within

# The counting sort has cells over eight doublings of the distance. Two to the power of this
# many to each are enough for an order; where points are counted by cells, more pay.
_COARSE, _FINE = 6, 8


@njit(inline="always")
def _block_distances(columns: Any, here: Any, squared: Any, out: Any) -> None:
    """Distances of all points to one, inside a block: sums of squares, or the largest step."""
    out[:] = 0.0
    for c in range(columns.shape[0]):
        x = columns[c]
        x0 = x[here]
        if squared:
            for j in range(out.size):
                out[j] += (x[j] - x0) * (x[j] - x0)
        else:
            for j in range(out.size):
                step = abs(x[j] - x0)
                out[j] = step if step > out[j] else out[j]


@njit(inline="always")
def _n_below(d: Any, limit: Any) -> Any:
    m = 0
    for j in range(d.size):
        m += d[j] < limit
    return m


@njit(inline="always")
def _mean_below(d: Any, limit: Any) -> Any:
    total, m = 0.0, 0
    for j in range(d.size):
        if d[j] < limit:
            total += d[j]
            m += 1
    return total / m


@kernel
def _limit(d: Any, want: Any, guess: Any) -> Any:
    """A distance below which there are at least ``want`` points, and few more if possible."""
    if want >= d.size:
        return FAR
    if not 0.0 < guess < FAR:
        guess = _mean_below(d, FAR)
    low, high, limit = 0.0, FAR, guess
    for _ in range(40):
        m = _n_below(d, limit)
        if m < want:
            low = limit
            limit = limit * 2.0 if high == FAR else 0.5 * (low + high)
        elif m > 2 * want:
            high = limit
            limit = limit * 0.5 if low == 0.0 else 0.5 * (low + high)
        else:
            return limit
        if limit == 0.0 or limit >= FAR:
            break
    return high


@kernel
def _near(
    d: Any, here: Any, limit: Any, shift: Any, index: Any, value: Any, ends: Any, scratch: Any
) -> Any:
    """List ``here`` and the points closer than ``limit`` by rising distance.

    A counting sort by the bits of the distance above ``shift``: points whose distances differ
    by less than two percent or so share a cell and are not put in order; their value is a
    lower bound that they share. Returns how many there are and the bits of the first cell;
    ``ends`` gets the end of each cell.
    """
    some_index, some_value, cell = scratch
    m = 0
    for j in range(d.size):
        some_index[m], some_value[m] = j, d[j]
        m += d[j] < limit and j != here
    bits = some_value.view(np.int64)
    top = np.int64(0)
    for i in range(m):
        top = max(top, bits[i])
    n_cells = ends.size - 1
    base = (top >> shift) - (n_cells - 1)
    ends[:] = 0
    ends[0] = 1
    index[0], value[0] = here, 0.0
    for i in range(m):
        cell[i] = max((bits[i] >> shift) - base, 0)
        ends[cell[i] + 1] += 1
    for c in range(n_cells):
        ends[c + 1] += ends[c]
    edges = value.view(np.int64)
    for i in range(m):
        at = ends[cell[i]]
        ends[cell[i]] += 1
        index[at] = some_index[i]
        edges[at] = (cell[i] + base) << shift if cell[i] > 0 else 0
    return m + 1, base


@njit(inline="always")
def _count_near(near: Any, exact: Any, d: Any, radii: Any, ks: Any, counts: Any) -> None:
    """Points, the point itself included, strictly inside each lane's radii: by the cells.

    ``exact`` has the distances of the listed points, ``d`` of all.
    """
    _, _, m, limit, _, _, ends, base, shift = near
    bits = radii.view(np.int64)
    for i in range((ks[0] - 1) * LANES, ks[1] * LANES):
        radius = radii[i]
        if radius > limit:
            counts[i] = _n_below(d, radius)
            continue
        cell = (bits[i] >> shift) - base
        if cell >= ends.size - 1:
            counts[i] = m
            continue
        count = ends[cell - 1] if cell > 0 else 1
        for at in range(count, ends[max(cell, 0)]):
            count += exact[at] < radius
        counts[i] = count


@njit(inline="always")
def _attach(near: Any, d_s: Any, d_y: Any) -> None:
    """Put the blocks' distances beside the listed points; pad with points infinitely far."""
    index, _, m, _, shared, floor, _, _, _ = near
    for i in range(m):
        shared[i], floor[i] = d_s[index[i]], d_y[index[i]]
    for i in range(m, m + AT_ONCE):
        index[i], shared[i], floor[i] = 0, np.inf, np.inf


@njit(inline="always")
def _find_nearest(x: Any, here: Any, near: Any, d: Any, form: Any, nearest: Any, k: Any) -> None:
    """Each lane's ``k`` nearest distances in the joint space, from the shared list."""
    index, value, m, limit, shared, floor, _, _, _ = near
    d_s, d_y, d_j = d
    nearest[:] = np.inf
    bound = np.inf
    for i in range(1, m, AT_ONCE):
        if value[i] >= bound:
            break
        bound = push_columns((x, here, index, shared), i, form, floor, nearest, k)
    if bound > limit and limit < FAR:
        # The list was too short for some lane: all the others, beyond the list's padding.
        i = m
        for j in range(d_j.size):
            if limit <= d_j[j] < min(bound, FAR):
                index[i], shared[i], floor[i] = j, d_s[j], d_y[j]
                i += 1
            if i == m + AT_ONCE or (i > m and j == d_j.size - 1):
                bound = push_columns((x, here, index, shared), m, form, floor, nearest, k)
                for u in range(m, m + AT_ONCE):
                    index[u], shared[u], floor[u] = 0, np.inf, np.inf
                i = m


@njit(inline="always")
def _count_inside(
    x: Any, here: Any, near: Any, d_s: Any, form: Any, radii: Any, ks: Any, counts: Any
) -> None:
    """Points strictly inside each lane's radii in the block of candidate and given."""
    index, value, m, limit, shared, _, _, _, _ = near
    first, last = ks[0] - 1, ks[1]
    bound = 0.0
    for i in range(first * LANES, last * LANES):
        counts[i] = 1
        bound = radii[i] if radii[i] > bound else bound
    for i in range(1, m, AT_ONCE):
        if value[i] >= bound:
            break
        count_columns((x, here, index, shared), i, form, radii, counts, first, last)
    if bound > limit:
        i = m
        for j in range(d_s.size):
            if limit <= d_s[j] < bound:
                index[i], shared[i] = j, d_s[j]
                i += 1
            if i == m + AT_ONCE or (i > m and j == d_s.size - 1):
                count_columns((x, here, index, shared), m, form, radii, counts, first, last)
                for u in range(m, m + AT_ONCE):
                    index[u], shared[u] = 0, np.inf
                i = m


@njit(inline="always")
def _lane_distance(x: Any, here: Any, j: Any, lane: Any, shared: Any, form: Any) -> Any:
    """What :func:`.lanes.column_distances` computes, for one lane."""
    squared, add = form
    step = abs(x[j * LANES + lane] - x[here * LANES + lane])
    if squared:
        step = step * step
    return shared + step if add else max(shared, step)


@kernel
def _rectangle(x: Any, here: Any, lane: Any, d: Any, form: Any, radius: Any) -> Any:
    """Extent in both blocks of all points within ``radius``, and how many are at zero."""
    d_s, d_y, d_j = d
    side_a = side_b = 0.0
    zeros = 1
    for j in range(d_j.size):
        if d_j[j] <= radius and j != here:
            d_a = _lane_distance(x, here, j, lane, d_s[j], form)
            if d_a <= radius:
                side_a, side_b = max(side_a, d_a), max(side_b, d_y[j])
                zeros += d_a == 0.0 and d_y[j] == 0.0
    return side_a, side_b, zeros


@kernel
def _look_around(
    x: Any, here: Any, d: Any, form: Any, nearest: Any, sides: Any, zeros: Any
) -> None:
    """For each lane the rectangles of KSG2, where asked for, and who is at distance zero."""
    for lane in range(LANES):
        zeros[lane] = _rectangle(x, here, lane, d, form, 0.0)[2]
        for at in range(lane, sides.shape[1], LANES):
            if nearest[at] < FAR:
                extent = _rectangle(x, here, lane, d, form, nearest[at])
                sides[0, at], sides[1, at] = extent[0], extent[1]


@kernel
def rows(
    blocks: Any,
    given: Any,
    target: Any,
    span: Any,
    ks: Any,
    form: Any,
    wants: Any,
    psi: Any,
) -> Any:
    """Sums over the points of ``span`` of the psi terms, in fixed point: (n_K, n_candidates).

    ``blocks`` holds the candidates, LANES at a time: (n_blocks, n_samples * LANES). ``form``
    is (squared, add, conditional, rectangle), ``add`` saying that a candidate's distance is
    added to that of the given columns; ``wants`` has the lengths of the two lists.
    """
    n = target.shape[1]
    lo, hi = ks
    squared, add, conditional, rectangle = form
    metric = (squared, add)
    d = (np.empty(n), np.empty(n), np.empty(n))
    d_s, d_y, d_j = d
    room = n + AT_ONCE
    index, value = np.empty((3, room), np.int32), np.empty((3, room))
    shared, floor = np.empty((3, room)), np.empty((3, room))
    together = np.empty(room)
    scratch = (
        np.empty(room, np.int32),
        np.empty(room),
        np.empty(n, np.int32),
    )
    bits = _FINE if conditional else _COARSE
    shift = 52 - bits
    ends = np.empty((3, (8 << bits) + 1), np.int32)
    one_target = target.shape[0] == 1
    order_y = np.argsort(target[0])
    ordered_y = target[0][order_y]
    rank_y = np.empty(n, np.int64)
    rank_y[order_y] = np.arange(n)
    ranks = np.empty(LANES, np.int32)
    levels = 4
    nearest, radii = np.empty(hi * LANES), np.empty((2, hi * LANES))
    terms, inner = np.empty(hi * LANES, np.int64), np.empty(hi * LANES, np.int64)
    counts = np.empty((3, hi * LANES), np.int32)
    sides, zeros = np.empty((2, hi * LANES if rectangle else 0)), np.empty(LANES, np.int64)
    n_a, n_b, n_c = counts
    sums = np.zeros((hi - lo + 1, blocks.shape[0] * LANES), np.int64)
    limit_j = limit_s = FAR  # to be guessed
    for here in range(span[0], span[1]):
        _block_distances(given, here, squared, d_s)
        _block_distances(target, here, squared, d_y)
        for j in range(n):
            d_j[j] = d_s[j] if d_s[j] > d_y[j] else d_y[j]
        limit_j = _limit(d_j, wants[0], limit_j)
        limit_s = _limit(d_s, wants[1], limit_s)
        m, base = _near(d_j, here, limit_j, shift, index[0], value[0], ends[0], scratch)
        near_j = (index[0], value[0], m, limit_j, shared[0], floor[0], ends[0], base, shift)
        m, base = _near(d_s, here, limit_s, shift, index[1], value[1], ends[1], scratch)
        near_s = (index[1], value[1], m, limit_s, shared[1], floor[1], ends[1], base, shift)
        _attach(near_j, d_s, d_y)
        _attach(near_s, d_s, d_s)
        near_y = near_s
        if conditional:
            for i in range(near_j[2]):
                together[i] = max(shared[0, i], floor[0, i])
        elif not one_target:
            m, base = _near(d_y, here, FAR, shift, index[2], value[2], ends[2], scratch)
            near_y = (index[2], value[2], m, FAR, shared[2], floor[2], ends[2], base, shift)
            _attach(near_y, d_y, d_y)
        ranks[:] = rank_y[here]
        for block in range(blocks.shape[0]):
            x = blocks[block]
            _find_nearest(x, here, near_j, d, metric, nearest, hi)
            if rectangle or any_at_zero(nearest):
                _look_around(x, here, d, metric, nearest, sides, zeros)
            set_radii(nearest, sides, zeros, ks, psi, radii, terms, inner)
            _count_inside(x, here, near_s, d_s, metric, radii[0], ks, n_a)
            if conditional:
                _count_near(near_j, together, d_j, radii[1], ks, n_b)
                _count_near(near_s, shared[1], d_s, radii[1], ks, n_c)
            elif one_target:
                levels = count_within(ordered_y, ranks, radii[1], lo - 1, hi, squared, levels, n_b)
            else:
                _count_near(near_y, shared[2], d_y, radii[1], ks, n_b)
            for k in range(lo, hi + 1):
                for lane in range(LANES):
                    at = (k - 1) * LANES + lane
                    term = terms[at] - psi[0, n_a[at] - inner[at]] - psi[0, n_b[at] - inner[at]]
                    if conditional:
                        term += psi[0, n_c[at]]
                    sums[k - lo, block * LANES + lane] += term
    return sums
