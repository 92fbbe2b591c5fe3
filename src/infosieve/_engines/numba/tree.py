"""Few candidates or very many samples: neighbours by k-d trees.

One tree holds the joint space, others the subspaces in which neighbours are counted. A leaf
has at most sixteen points, and these search together (see :mod:`.lanes`): they meet the
points of every leaf whose box may be closer to theirs than the widest K-th neighbour so far.

Space is made of blocks, the columns from one of ``edges`` to the next: inside a block the
Euclidean or the maximum norm, across blocks always the maximum.
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
    count_rows,
    meet_block,
    reaches,
    sort_in,
)
from infosieve._engines.numba.nearest import (
    FAR,
    ZERO_RADIUS,
    any_at_zero,
    dequeue,
    enqueue,
    set_radii,
)
from infosieve._engines.numba.ranks import count_within


@kernel
def _select(values: Any, order: Any, first: Any, last: Any, middle: Any) -> None:
    """Reorder ``order[first:last]`` so that ``middle`` splits it by value."""
    low, high = first, last - 1
    while low < high:
        pivot = values[order[(low + high) >> 1]]
        i, j = low, high
        while i <= j:
            while values[order[i]] < pivot:
                i += 1
            while values[order[j]] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@kernel
def build(columns: Any, leaf_size: Any) -> Any:
    """A balanced tree: its points, row by row; each node's range, box, and column that it splits.

    Node i has the children 2i + 1 and 2i + 2; a node splits its widest column, such that all
    leaves but one are full. After the points come BATCH that are infinitely far.
    """
    d, n = columns.shape
    n_inner = (n + leaf_size - 1) // leaf_size - 1
    n_leaves = np.ones(2 * n_inner + 1, np.int64)
    for node in range(n_inner - 1, -1, -1):
        n_leaves[node] = n_leaves[2 * node + 1] + n_leaves[2 * node + 2]
    order = np.arange(n)
    ranges = np.zeros((2 * n_inner + 1, 2), np.int64)
    ranges[0, 1] = n
    boxes = np.empty((2 * n_inner + 1, 2, d))
    splits = np.zeros(2 * n_inner + 1, np.int64)
    for node in range(2 * n_inner + 1):
        first, last = ranges[node]
        widest = -1.0
        for c in range(d):
            low, high = np.inf, -np.inf
            for i in range(first, last):
                x = columns[c, order[i]]
                low, high = min(low, x), max(high, x)
            boxes[node, 0, c], boxes[node, 1, c] = low, high
            if high - low > widest:
                widest, splits[node] = high - low, c
        if node < n_inner:
            middle = first + n_leaves[2 * node + 1] * leaf_size
            _select(columns[splits[node]], order, first, last, middle)
            ranges[2 * node + 1, 0], ranges[2 * node + 1, 1] = first, middle
            ranges[2 * node + 2, 0], ranges[2 * node + 2, 1] = middle, last
    points = np.full((n + BATCH, d), np.inf)
    for i in range(n):
        for c in range(d):
            points[i, c] = columns[c, order[i]]
    return (points, ranges, boxes, splits), order


@njit(inline="always")
def _least_distance(boxes: Any, node: Any, box: Any, edges: Any, squared: Any) -> Any:
    """The least distance between points of a node's box and another box."""
    near = 0.0
    for b in range(edges.size - 1):
        block = 0.0
        for c in range(edges[b], edges[b + 1]):
            gap = max(boxes[node, 0, c] - box[1, c], box[0, c] - boxes[node, 1, c], 0.0)
            block = block + gap * gap if squared else max(block, gap)
        near = max(near, block)
    return near


@njit(inline="always")
def _all_within(boxes: Any, node: Any, box: Any, edges: Any, squared: Any, limit: Any) -> Any:
    """Whether all points of a node's box are closer to all of another box than a limit."""
    for b in range(edges.size - 1):
        block = 0.0
        for c in range(edges[b], edges[b + 1]):
            reach = max(boxes[node, 1, c] - box[0, c], box[1, c] - boxes[node, 0, c])
            block = block + reach * reach if squared else max(block, reach)
            if block >= limit:
                return False
    return True


@njit(inline="always")
def _closer_child(boxes: Any, splits: Any, node: Any, box: Any) -> Any:
    """The child on whose side of the split the middle of a box is."""
    left, c = 2 * node + 1, splits[node]
    return left + (box[0, c] + box[1, c] > boxes[left, 1, c] + boxes[left + 1, 0, c])


@njit(inline="always")
def _meet_leaf(
    tree: Any, leaf: Any, here: Any, edges: Any, squared: Any, limits: Any, rows: Any
) -> Any:
    """Distances of a leaf's points to all lanes, and which of them any lane wants: as bits."""
    points, ranges, _, _ = tree
    first, last = ranges[leaf]
    wanted = meet_block((points, first, here, edges, squared), limits, rows)
    return wanted & ((1 << (last - first)) - 1)


@inner_kernel
def find_nearest(
    tree: Any, edges: Any, leaf: Any, here: Any, squared: Any, work: Any, k: Any, nearest: Any
) -> None:
    """The ``k`` nearest distances of the points of a leaf, one in each lane."""
    _, _, boxes, splits = tree
    rows, queue, stack = work
    n_inner = boxes.shape[0] // 2
    nearest[:] = FAR  # those that are farther are in other categories
    kth = nearest[(k - 1) * LANES : k * LANES]
    wanted = _meet_leaf(tree, leaf, here, edges, squared, kth, rows)
    for lane in range(LANES):  # nobody is his own neighbour
        rows[lane * LANES + lane] = np.inf
    size, row, unsorted = enqueue(wanted, 0, queue, 0), BATCH, 3
    stack[0], depth = 0, 1
    while depth > 0 or size > 0:
        if size >= BATCH or unsorted == 3 or depth == 0:
            queue[size : max(size, BATCH)] = N_ROWS
            sort_in(rows, queue, nearest, k)
            size = dequeue(queue, BATCH, max(size, BATCH))
            unsorted = 0
            continue
        depth -= 1
        node = stack[depth]
        if node == leaf or not reaches((boxes, node, here, edges, squared), nearest, k):
            continue
        if node < n_inner:
            closer = _closer_child(boxes, splits, node, boxes[leaf])
            stack[depth], stack[depth + 1] = 4 * node + 3 - closer, closer
            depth += 2
            continue
        wanted = _meet_leaf(tree, node, here, edges, squared, kth, rows[row * LANES :])
        size = enqueue(wanted, row, queue, size)
        row = (row + BATCH) % N_ROWS
        unsorted += 1


@inner_kernel
def count_inside(
    tree: Any,
    edges: Any,
    box: Any,
    here: Any,
    squared: Any,
    work: Any,
    radii: Any,
    ks: Any,
    counts: Any,
) -> None:
    """How many of the tree's points are strictly inside each lane's radii.

    ``box`` holds the lanes' points ``here``. The radii, (hi, LANES) flattened, rise with K.
    """
    _, ranges, boxes, _ = tree
    rows, queue, stack = work
    n_inner = boxes.shape[0] // 2
    first, last = ks[0] - 1, ks[1]
    limits = radii[(last - 1) * LANES : last * LANES]
    least = np.inf
    for lane in range(LANES):
        least = min(least, radii[first * LANES + lane])
    counts[:] = 0
    inside = size = row = uncounted = 0
    stack[0], depth = 0, 1
    while depth > 0 or size > 0:
        if size >= WIDTH or uncounted == 3 or depth == 0:
            queue[size : max(size, WIDTH)] = N_ROWS
            count_rows(rows, queue, 0, radii, counts, first, last)
            size = dequeue(queue, WIDTH, max(size, WIDTH))
            uncounted = 0 if size < WIDTH else uncounted
            continue
        depth -= 1
        node = stack[depth]
        if not reaches((boxes, node, here, edges, squared), radii, last):
            continue
        if _all_within(boxes, node, box, edges, squared, least):
            inside += ranges[node, 1] - ranges[node, 0]
        elif node < n_inner:
            stack[depth], stack[depth + 1] = 2 * node + 1, 2 * node + 2
            depth += 2
        else:
            wanted = _meet_leaf(tree, node, here, edges, squared, limits, rows[row * LANES :])
            size = enqueue(wanted, row, queue, size)
            row = (row + BATCH) % N_ROWS
            uncounted += 1
    for i in range(first * LANES, last * LANES):
        counts[i] += inside


@kernel
def find_extents(
    tree: Any, edges: Any, leaf: Any, squared: Any, nearest: Any, k: Any, sides: Any
) -> None:
    """The extent in each of two blocks of all points within each of the nearest distances."""
    points, ranges, boxes, _ = tree
    n_inner = boxes.shape[0] // 2
    n_lanes = ranges[leaf, 1] - ranges[leaf, 0]
    box = boxes[leaf]
    most = 0.0
    for i in range(k * LANES):
        most = max(most, nearest[i] if nearest[i] < FAR else 0.0)
    sides[:] = 0.0
    step = np.empty(2)
    stack = np.empty(64, np.int64)
    stack[0], size = 0, 1
    while size > 0:
        size -= 1
        node = stack[size]
        if _least_distance(boxes, node, box, edges, squared) > most:
            continue
        if node < n_inner:
            stack[size], stack[size + 1] = 2 * node + 1, 2 * node + 2
            size += 2
            continue
        for j in range(ranges[node, 0], ranges[node, 1]):
            for lane in range(n_lanes):
                i = ranges[leaf, 0] + lane
                step[:] = 0.0
                for c in range(points.shape[1]):
                    x, b = abs(points[j, c] - points[i, c]), 0 if c < edges[1] else 1
                    step[b] = step[b] + x * x if squared else max(step[b], x)
                for at in range((k - 1) * LANES + lane, -1, -LANES):
                    if i == j or max(step[0], step[1]) > nearest[at]:
                        break
                    sides[0, at] = max(sides[0, at], step[0])
                    sides[1, at] = max(sides[1, at], step[1])


@njit(inline="always")
def _lanes_of(tree: Any, leaf: Any, columns: Any, here: Any) -> None:
    """Lay some columns of the points of a leaf out in lanes; the last point fills the rest."""
    points, ranges, _, _ = tree
    for lane in range(LANES):
        i = min(ranges[leaf, 0] + lane, ranges[leaf, 1] - 1)
        for c in range(columns.size):
            here[c * LANES + lane] = points[i, columns[c]]


@kernel
def scan(joint: Any, edges: Any, margins: Any, leaves: Any, ks: Any, form: Any, psi: Any) -> Any:
    """Sums over the points of some leaves of the psi terms, in fixed point, for each K.

    ``margins`` has, for each space in which points are counted, its (tree, edges, columns,
    sign, ordered, ranks): a space of one column is not searched by its tree but in the sorted
    column, where ``ranks`` are the joint tree's points; otherwise these two are empty.
    ``form`` is (squared, rectangle). With a rectangle, the margins are the two blocks.
    """
    lo, hi = ks
    squared, rectangle = form
    points, ranges, boxes, _ = joint
    every = np.arange(points.shape[1])
    here, own = aligned(every.size * LANES, np.float64), aligned(every.size * LANES, np.float64)
    rows = aligned((N_ROWS + 1) * LANES, np.float64)
    rows[N_ROWS * LANES :] = np.inf
    work = (rows, np.empty(3 * BATCH, np.int32), np.empty(64, np.int64))
    nearest, radii = aligned(-(-hi // BATCH) * BATCH * LANES, np.float64), np.empty((2, hi * LANES))
    sides = np.empty((2, hi * LANES if rectangle else 0))
    zero = np.full(LANES, ZERO_RADIUS)
    terms, inner = np.empty(hi * LANES, np.int64), np.empty(hi * LANES, np.int32)
    counts, zeros = np.empty(hi * LANES, np.int32), np.empty(LANES, np.int32)
    rank = np.empty(LANES, np.int32)
    sums = np.zeros(hi - lo + 1, np.int64)
    for leaf in range(boxes.shape[0] // 2 + leaves[0], boxes.shape[0] // 2 + leaves[1]):
        n_lanes = ranges[leaf, 1] - ranges[leaf, 0]
        if n_lanes == 0:
            continue
        _lanes_of(joint, leaf, every, here)
        find_nearest(joint, edges, leaf, here, squared, work, hi, nearest)
        if rectangle:
            find_extents(joint, edges, leaf, squared, nearest, hi, sides)
        if any_at_zero(nearest):
            count_inside(joint, edges, boxes[leaf], here, squared, work, zero, (1, 1), zeros)
        set_radii(nearest, sides, zeros, ks, psi, radii, terms, inner)
        for side in range(len(margins)):
            tree, some_edges, columns, sign, ordered, ranks = margins[side]
            radius = radii[side if rectangle else 0]
            if ordered.size > 0:
                for lane in range(LANES):
                    rank[lane] = ranks[min(ranges[leaf, 0] + lane, ranges[leaf, 1] - 1)]
                count_within(ordered, rank, radius, lo - 1, hi, squared, 4, counts)
            else:
                _lanes_of(joint, leaf, columns, own)
                box = boxes[leaf][:, columns]
                count_inside(tree, some_edges, box, own, squared, work, radius, ks, counts)
            for k in range(lo - 1, hi):
                add_psi(terms, sign, psi, counts, inner, k)
        for k in range(lo, hi + 1):
            for lane in range(n_lanes):
                sums[k - lo] += terms[(k - 1) * LANES + lane]
    return sums
