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

from infosieve._engines.numba.jit import kernel
from infosieve._engines.numba.lanes import LANES, NOBODY, count_block, push_block, reaches
from infosieve._engines.numba.nearest import FAR, ZERO_RADIUS, any_at_zero, set_radii
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
    """A balanced tree: the points in its order, row by row, each node's range and box.

    Node i has the children 2i + 1 and 2i + 2; a node splits its widest column in half.
    """
    d, n = columns.shape
    n_leaves = 1
    while n_leaves * leaf_size < n:
        n_leaves *= 2
    order = np.arange(n)
    ranges = np.zeros((2 * n_leaves - 1, 2), np.int64)
    ranges[0, 1] = n
    boxes = np.empty((2 * n_leaves - 1, 2, d))
    for node in range(2 * n_leaves - 1):
        first, last = ranges[node]
        widest, split = -1.0, 0
        for c in range(d):
            low, high = np.inf, -np.inf
            for i in range(first, last):
                x = columns[c, order[i]]
                low, high = min(low, x), max(high, x)
            boxes[node, 0, c], boxes[node, 1, c] = low, high
            if high - low > widest:
                widest, split = high - low, c
        if node < n_leaves - 1:
            middle = (first + last) >> 1
            _select(columns[split], order, first, last, middle)
            ranges[2 * node + 1, 0], ranges[2 * node + 1, 1] = first, middle
            ranges[2 * node + 2, 0], ranges[2 * node + 2, 1] = middle, last
    points = np.empty((n, d))
    for i in range(n):
        for c in range(d):
            points[i, c] = columns[c, order[i]]
    return (points, ranges, boxes), order


@njit(inline="always")
def _box_distances(boxes: Any, node: Any, box: Any, edges: Any, squared: Any) -> Any:
    """The least and the greatest distance between points of a node's box and another box."""
    near = far = 0.0
    for b in range(edges.size - 1):
        near_block = far_block = 0.0
        for c in range(edges[b], edges[b + 1]):
            low, high = boxes[node, 0, c], boxes[node, 1, c]
            gap = max(low - box[1, c], box[0, c] - high, 0.0)
            reach = max(high - box[0, c], box[1, c] - low)
            if squared:
                near_block += gap * gap
                far_block += reach * reach
            else:
                near_block, far_block = max(near_block, gap), max(far_block, reach)
        near, far = max(near, near_block), max(far, far_block)
    return near, far


@kernel
def find_nearest(
    tree: Any, edges: Any, leaf: Any, here: Any, squared: Any, k: Any, nearest: Any
) -> None:
    """The ``k`` nearest distances of the points of a leaf, one in each lane."""
    points, ranges, boxes = tree
    n_inner = boxes.shape[0] // 2
    box = boxes[leaf]
    nearest[:] = np.inf
    bound = np.inf
    for j in range(ranges[leaf, 0], ranges[leaf, 1]):
        itself = j - ranges[leaf, 0]
        bound = push_block((points, j, here, edges, squared), itself, nearest, k)
    stack_node, stack_near = np.empty(64, np.int64), np.empty(64)
    stack_node[0], stack_near[0], size = 0, 0.0, 1
    while size > 0:
        size -= 1
        node = stack_node[size]
        if stack_near[size] >= min(bound, FAR) or node == leaf:
            continue
        if node >= n_inner:
            if not reaches((boxes, node, here, edges, squared), nearest, k):
                continue
            for j in range(ranges[node, 0], ranges[node, 1]):
                bound = push_block((points, j, here, edges, squared), NOBODY, nearest, k)
            continue
        left, _ = _box_distances(boxes, 2 * node + 1, box, edges, squared)
        right, _ = _box_distances(boxes, 2 * node + 2, box, edges, squared)
        closer = 1 if left <= right else 2
        stack_node[size], stack_near[size] = 2 * node + 3 - closer, max(left, right)
        stack_node[size + 1], stack_near[size + 1] = 2 * node + closer, min(left, right)
        size += 2


@kernel
def count_inside(
    tree: Any, edges: Any, box: Any, here: Any, squared: Any, radii: Any, ks: Any, counts: Any
) -> None:
    """How many of the tree's points are strictly inside each lane's radii.

    ``box`` holds the lanes' points ``here``. The radii, (hi, LANES) flattened, rise with K.
    """
    points, ranges, boxes = tree
    n_inner = boxes.shape[0] // 2
    first, last = ks[0] - 1, ks[1]
    least, most = np.inf, 0.0
    for lane in range(LANES):
        least = min(least, radii[first * LANES + lane])
        most = max(most, radii[(last - 1) * LANES + lane])
    counts[:] = 0
    stack = np.empty(64, np.int64)
    stack[0], size = 0, 1
    while size > 0:
        size -= 1
        node = stack[size]
        near, far = _box_distances(boxes, node, box, edges, squared)
        if near >= most:
            continue
        if far < least:
            counts += np.int32(ranges[node, 1] - ranges[node, 0])
        elif node < n_inner:
            stack[size], stack[size + 1] = 2 * node + 1, 2 * node + 2
            size += 2
        elif reaches((boxes, node, here, edges, squared), radii, last):
            for j in range(ranges[node, 0], ranges[node, 1]):
                count_block((points, j, here, edges, squared), radii, counts, first, last)


@kernel
def find_extents(
    tree: Any, edges: Any, leaf: Any, squared: Any, nearest: Any, k: Any, sides: Any
) -> None:
    """The extent in each of two blocks of all points within each of the nearest distances."""
    points, ranges, boxes = tree
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
        if _box_distances(boxes, node, box, edges, squared)[0] > most:
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
    points, ranges, _ = tree
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
    points, ranges, boxes = joint
    every = np.arange(points.shape[1])
    here, own = np.empty(every.size * LANES), np.empty(every.size * LANES)
    nearest, radii = np.empty(hi * LANES), np.empty((2, hi * LANES))
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
        find_nearest(joint, edges, leaf, here, squared, hi, nearest)
        if rectangle:
            find_extents(joint, edges, leaf, squared, nearest, hi, sides)
        if any_at_zero(nearest):
            count_inside(joint, edges, boxes[leaf], here, squared, zero, (1, 1), zeros)
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
                count_inside(tree, some_edges, box, own, squared, radius, ks, counts)
            for at in range((lo - 1) * LANES, hi * LANES):
                terms[at] += sign * psi[0, counts[at] - inner[at]]
        for k in range(lo, hi + 1):
            for lane in range(n_lanes):
                sums[k - lo] += terms[(k - 1) * LANES + lane]
    return sums
