"""Many candidates given the same given columns: neighbours in a shared order.

All candidates of a batch share the given columns and the target, hence a lower bound of
every joint distance. For each point the others are listed once by rising shared distance;
sixteen candidates at a time (see :mod:`.lanes`) then walk the list only until the bound
exceeds their K-th nearest: some tens of points instead of N. A second list, by distance in
the given columns alone, serves the counts. Lists hold the near points only; whoever
needs more falls back on all of them, so that the result never depends on their length.

Listed points are met sixteen at a time. Those that no lane wants (too far to be among the K
nearest, or to be counted) are dropped; the others wait in a queue, and are sorted or counted
many at once. So nothing waits for a comparison, and no branch depends on one point.

O(N) memory a point, O(N^2) time a batch: for up to some ten thousand samples. Kraskov's second
form, whose rectangles need another look at all points, is left to :mod:`.tree`.
"""

from typing import Any

import numpy as np
from numba import njit

from infosieve._engines.numba.jit import inner_kernel, kernel
from infosieve._engines.numba.lanes import (
    BATCH,
    LANES,
    N_ROWS,
    WIDTH,
    add_psi,
    aligned,
    count_cells,
    count_rows,
    meet_columns,
    sort_in,
    widest,
)
from infosieve._engines.numba.nearest import FAR, any_at_zero, dequeue, enqueue, set_radii
from infosieve._engines.numba.ranks import count_within

# The counting sort has cells over eight doublings of the distance, two to the power of this many
# to each: few points share one, and there are few to be set to zero.
_BITS = 6


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
def _limit_of(d: Any, want: Any, guess: Any) -> Any:
    """A distance below which there are at least ``want`` points, and few more if possible.

    FAR where no more are at a finite distance: in other categories is nobody to be listed.
    """
    if want >= d.size:
        return FAR
    if not 0.0 < guess < FAR:
        guess = _mean_below(d, FAR)
    low, high, limit = 0.0, FAR, guess
    for _ in range(40):
        m = _n_below(d, limit)
        if m < want:
            if low == 0.0 and _n_below(d, FAR) <= want:
                return FAR
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
    d: Any, here: Any, limit: Any, shift: Any, index: Any, value: Any, edges: Any, scratch: Any
) -> Any:
    """List ``here`` and the points closer than ``limit`` by rising distance.

    A counting sort by the bits of the distance above ``shift``: points whose distances differ
    by less than two percent or so share a cell and are not put in order; their value is a
    lower bound that they share. Returns how many there are and the bits of the first cell;
    ``edges`` gets where cells begin; the last one, of what is farther than all, is empty.
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
    n_cells = edges.size - 2
    base = (top >> shift) - (n_cells - 1)
    ends = edges[1:]  # while points are put down, where the next of a cell goes
    edges[:] = 0
    index[0], value[0] = here, 0.0
    for i in range(m):
        cell[i] = max((bits[i] >> shift) - base, 0)
        ends[cell[i] + 1] += 1
    edges[0] = ends[0] = 1
    for c in range(n_cells):
        ends[c + 1] += ends[c]
    low = value.view(np.int64)
    for i in range(m):
        at = ends[cell[i]]
        ends[cell[i]] += 1
        index[at] = some_index[i]
        low[at] = (cell[i] + base) << shift if cell[i] > 0 else 0
    return m + 1, base


@njit(inline="always")
def _count_near(near: Any, exact: Any, d: Any, radii: Any, ks: Any, counts: Any) -> None:
    """Points, the point itself included, strictly inside each lane's radii: by the cells.

    ``exact`` has the distances of the listed points, ``d`` of all.
    """
    _, _, _, limit, _, _, edges, base, shift = near
    for k in range(ks[0] - 1, ks[1]):
        count_cells((exact, edges, base, shift), radii, k, counts)
    if widest(radii, ks[1] - 1) > limit:
        for i in range((ks[0] - 1) * LANES, ks[1] * LANES):
            if radii[i] > limit:
                counts[i] = _n_below(d, radii[i])


@njit(inline="always")
def _attach(near: Any, d_s: Any, d_y: Any, exact: Any) -> None:
    """Put the blocks' distances, and the larger of the two, beside the listed points."""
    index, _, m, _, shared, floor, _, _, _ = near
    for i in range(m):
        shared[i], floor[i] = d_s[index[i]], d_y[index[i]]
    for i in range(m):
        exact[i] = max(shared[i], floor[i])
    exact[m : m + WIDTH] = np.inf
    _pad(near, m)


@njit(inline="always")
def _pad(near: Any, m: Any) -> None:
    """After the last listed point: a batch of points infinitely far."""
    index, floor = near[0], near[5]
    index[m : m + 2 * BATCH] = 0
    floor[m : m + BATCH] = np.inf


@inner_kernel
def _list_others(near: Any, d: Any, d_s: Any, d_y: Any, bound: Any) -> Any:
    """List the points from the list's limit to ``bound`` behind it, unordered; how many in all."""
    index, value, m, limit, shared, floor, _, _, _ = near
    for j in range(d.size):
        if limit <= d[j] < bound:
            index[m], value[m], shared[m], floor[m] = j, limit, d_s[j], d_y[j]
            m += 1
    _pad(near, m)
    return m


@njit(inline="always")
def _search(
    x: Any, here: Any, near: Any, span: Any, form: Any, met: Any, nearest: Any, k: Any, bound: Any
) -> Any:
    """Bring some of the listed points among each lane's ``k`` nearest; the widest k-th."""
    index, value, _, _, shared, floor, _, _, _ = near
    rows, queue = met
    visit = (x, here, index, shared)
    kth = nearest[(k - 1) * LANES : k * LANES]
    size = row = unsorted = 0
    for start in range(span[0], span[1], BATCH):
        if value[start] >= bound:
            break
        wanted = meet_columns(visit, start, form, floor, kth, rows[row * LANES :])
        size = enqueue(wanted, row, queue, size)
        row = (row + BATCH) % N_ROWS
        unsorted += 1
        if size >= BATCH or unsorted == 3:
            queue[size : max(size, BATCH)] = N_ROWS
            bound = sort_in(rows, queue, nearest, k)
            size = dequeue(queue, BATCH, max(size, BATCH))
            unsorted = 0
    if size > 0:
        queue[size:BATCH] = N_ROWS
        bound = sort_in(rows, queue, nearest, k)
    return bound


@njit(inline="always")
def _find_nearest(
    x: Any, here: Any, near: Any, d: Any, form: Any, met: Any, nearest: Any, k: Any
) -> None:
    """Each lane's ``k`` nearest distances in the joint space, from the shared list."""
    d_s, d_y, d_j = d
    m, limit = near[2], near[3]
    nearest[:] = np.inf
    bound = _search(x, here, near, (1, m), form, met, nearest, k, np.inf)
    if bound > limit and limit < FAR:  # the list was too short for some lane
        last = _list_others(near, d_j, d_s, d_y, min(bound, FAR))
        _search(x, here, near, (m, last), form, met, nearest, k, bound)
        _pad(near, m)


@njit(inline="always")
def _count(
    x: Any, here: Any, near: Any, span: Any, form: Any, met: Any, radii: Any, ks: Any, counts: Any
) -> None:
    """Count those of the listed points that are strictly inside each lane's radii."""
    index, value, _, _, shared, floor, _, _, _ = near
    rows, queue = met
    visit = (x, here, index, shared)
    first, last = ks[0] - 1, ks[1]
    limits = radii[(last - 1) * LANES : last * LANES]
    bound, closest = widest(radii, last - 1), 0.0
    size = row = uncounted = 0
    for start in range(span[0], span[1], BATCH):
        if value[start] >= bound:
            break
        if uncounted == 0 and size == 0:
            closest = value[start]
        wanted = meet_columns(visit, start, form, floor, limits, rows[row * LANES :])
        size = enqueue(wanted, row, queue, size)
        row = (row + BATCH) % N_ROWS
        uncounted += 1
        if size >= WIDTH or uncounted == 3:
            while closest >= widest(radii, first):  # too far for these K, in all lanes
                first += 1
            queue[size : max(size, WIDTH)] = N_ROWS
            at = 0
            while at + WIDTH <= max(size, WIDTH):
                count_rows(rows, queue, at, radii, counts, first, last)
                at += WIDTH
            size = dequeue(queue, at, max(size, WIDTH))
            uncounted, closest = 0, value[start]
    if size > 0:
        queue[size:WIDTH] = N_ROWS
        count_rows(rows, queue, 0, radii, counts, first, last)


@njit(inline="always")
def _count_inside(
    x: Any, here: Any, near: Any, d_s: Any, form: Any, met: Any, radii: Any, ks: Any, counts: Any
) -> None:
    """Points strictly inside each lane's radii in the block of candidate and given."""
    m, limit = near[2], near[3]
    counts[(ks[0] - 1) * LANES : ks[1] * LANES] = 1
    _count(x, here, near, (1, m), form, met, radii, ks, counts)
    bound = widest(radii, ks[1] - 1)
    if bound > limit:
        last = _list_others(near, d_s, d_s, d_s, bound)
        _count(x, here, near, (m, last), form, met, radii, ks, counts)
        _pad(near, m)


@njit(inline="always")
def _lane_distance(x: Any, here: Any, j: Any, lane: Any, shared: Any, form: Any) -> Any:
    """What :func:`.lanes.column_distances` computes, for one lane."""
    squared, add, width = form
    total = shared if add else 0.0
    for c in range(width):
        step = abs(x[(j * width + c) * LANES + lane] - x[(here * width + c) * LANES + lane])
        total = total + step * step if squared else max(total, step)
    return total if add else max(shared, total)


@kernel
def _count_zeros(x: Any, here: Any, d: Any, form: Any, zeros: Any) -> None:
    """How many points are at distance zero of each lane, itself included."""
    d_s, _, d_j = d
    zeros[:] = 1
    for j in range(d_j.size):
        if d_j[j] == 0.0 and j != here:
            for lane in range(LANES):
                zeros[lane] += _lane_distance(x, here, j, lane, d_s[j], form) == 0.0


@njit(inline="always")
def _workspace(hi: Any) -> Any:
    """What a block of candidates needs while it is scored, used again for each."""
    width = hi * LANES
    made = aligned((N_ROWS + 1) * LANES, np.float64)
    made[N_ROWS * LANES :] = np.inf
    met = (made, np.empty(3 * BATCH, np.int32))
    nearest = aligned(-(-hi // BATCH) * BATCH * LANES, np.float64)
    sides, zeros = np.empty((2, 0)), np.empty(LANES, np.int64)
    radii = aligned(2 * width, np.float64).reshape((2, width))
    terms, inner = aligned(width, np.int64), aligned(width, np.int32)
    counts = (aligned(width, np.int32), aligned(width, np.int32), aligned(width, np.int32))
    return met, nearest, sides, zeros, radii, terms, inner, counts


@inner_kernel
def _score(
    blocks: Any,
    here: Any,
    d: Any,
    lists: Any,
    line: Any,
    ks: Any,
    form: Any,
    psi: Any,
    work: Any,
    sums: Any,
) -> Any:
    """Add the psi terms of one point to the sums of all candidates."""
    near_j, near_s, near_y, exact = lists
    ordered_y, ranks, levels = line
    met, nearest, sides, zeros, radii, terms, inner, counts = work
    n_a, n_b, n_c = counts
    d_s, d_y, d_j = d
    squared, add, conditional, width = form
    metric = (squared, add, width)
    lo, hi = ks
    for block in range(blocks.shape[0]):
        x = blocks[block]
        _find_nearest(x, here, near_j, d, metric, met, nearest, hi)
        if any_at_zero(nearest):
            _count_zeros(x, here, d, metric, zeros)
        set_radii(nearest, sides, zeros, ks, psi, radii, terms, inner)
        _count_inside(x, here, near_s, d_s, metric, met, radii[0], ks, n_a)
        if conditional:
            _count_near(near_j, exact[0], d_j, radii[1], ks, n_b)
            _count_near(near_s, exact[1], d_s, radii[1], ks, n_c)
        elif ordered_y.size > 0:
            levels = count_within(ordered_y, ranks, radii[1], lo - 1, hi, squared, levels, n_b)
        else:
            _count_near(near_y, exact[2], d_y, radii[1], ks, n_b)
        for k in range(lo - 1, hi):
            add_psi(terms, -1, psi, n_a, inner, k)
            add_psi(terms, -1, psi, n_b, inner, k)
            if conditional:
                add_psi(terms, 1, psi, n_c, inner, k)
            for lane in range(LANES):
                sums[k + 1 - lo, block * LANES + lane] += terms[k * LANES + lane]
    return levels


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

    ``blocks`` holds the candidates, LANES at a time: (n_blocks, n_samples * width * LANES).
    ``form`` is (squared, add, conditional, width), ``add`` saying that a candidate's
    distance is added to that of the given columns, ``width`` how many columns a candidate has;
    ``wants`` has the lengths of the two lists.
    """
    n = target.shape[1]
    lo, hi = ks
    squared, _, conditional, _ = form
    d = (np.empty(n), np.empty(n), np.empty(n))
    d_s, d_y, d_j = d
    room = n + 2 * BATCH
    index, value = np.zeros((3, room), np.int32), np.empty((3, room))
    shared, floor, exact = np.empty((3, room)), np.empty((3, room)), np.empty((3, room))
    scratch = (np.empty(room, np.int32), np.empty(room), np.empty(n, np.int32))
    shift = 52 - _BITS
    edges = np.empty((3, (8 << _BITS) + 2), np.int32)
    one_target = target.shape[0] == 1
    order_y = np.argsort(target[0])
    ordered_y = target[0][order_y] if one_target else np.empty(0)
    rank_y = np.empty(n, np.int64)
    rank_y[order_y] = np.arange(n)
    ranks = np.empty(LANES, np.int32)
    levels = 4
    work = _workspace(hi)
    sums = np.zeros((hi - lo + 1, blocks.shape[0] * LANES), np.int64)
    limit_j = limit_s = FAR  # to be guessed
    for here in range(span[0], span[1]):
        _block_distances(given, here, squared, d_s)
        _block_distances(target, here, squared, d_y)
        for j in range(n):
            d_j[j] = d_s[j] if d_s[j] > d_y[j] else d_y[j]
        limit_j = _limit_of(d_j, wants[0], limit_j)
        limit_s = _limit_of(d_s, wants[1], limit_s)
        m, base = _near(d_j, here, limit_j, shift, index[0], value[0], edges[0], scratch)
        near_j = (index[0], value[0], m, limit_j, shared[0], floor[0], edges[0], base, shift)
        m, base = _near(d_s, here, limit_s, shift, index[1], value[1], edges[1], scratch)
        near_s = (index[1], value[1], m, limit_s, shared[1], floor[1], edges[1], base, shift)
        _attach(near_j, d_s, d_y, exact[0])
        _attach(near_s, d_s, d_s, exact[1])
        near_y = near_s
        if not conditional and not one_target:
            m, base = _near(d_y, here, FAR, shift, index[2], value[2], edges[2], scratch)
            near_y = (index[2], value[2], m, FAR, shared[2], floor[2], edges[2], base, shift)
            _attach(near_y, d_y, d_y, exact[2])
        ranks[:] = rank_y[here]
        lists = (near_j, near_s, near_y, exact)
        levels = _score(
            blocks, here, d, lists, (ordered_y, ranks, levels), ks, form, psi, work, sums
        )
    return sums
