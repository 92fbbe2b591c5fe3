"""Few candidates or very many samples: neighbours by k-d trees.

One tree holds the joint space, others the subspaces in which neighbours are counted. Space
is made of blocks (a column's block is ``block_of[column]``): inside a block the Euclidean or
the maximum norm, across blocks always the maximum. Up to some two thousand samples a tree is
a single leaf and the search is a plain scan, which is then the fastest.
"""

from typing import Any

import numpy as np
from numba import njit

from infosieve.engines.numba.jit import kernel
from infosieve.engines.numba.nearest import FAR, ZERO_RADIUS, closed, push


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
    """A balanced tree: the points in its order, each node's range and bounding box.

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
    points = np.empty((d, n))
    for c in range(d):
        for i in range(n):
            points[c, i] = columns[c, order[i]]
    return points, order, ranges, boxes


@njit(inline="always")
def _join(total: Any, block: Any, step: Any, new_block: Any, squared: Any) -> Any:
    """Take one more column's step into a distance: (largest finished block, current block)."""
    if squared:
        step = step * step
    if new_block:
        return max(total, block), step
    return total, block + step if squared else max(block, step)


@njit(inline="always")
def _box_distances(box: Any, block_of: Any, query: Any, squared: Any) -> Any:
    """The least and the greatest distance of a point to a box."""
    near = far = near_block = far_block = 0.0
    for c in range(query.size):
        below, above = box[0, c] - query[c], query[c] - box[1, c]
        gap = max(below, above, 0.0)
        reach = max(abs(below), abs(above))
        fresh = c > 0 and block_of[c] != block_of[c - 1]
        near, near_block = _join(near, near_block, gap, fresh, squared)
        far, far_block = _join(far, far_block, reach, fresh, squared)
    return max(near, near_block), max(far, far_block)


@njit(inline="always")
def _leaf_distances(
    tree: Any, node: Any, block_of: Any, query: Any, squared: Any, room: Any
) -> Any:
    """Distances of the points of a leaf, into ``room[0]``; the leaf's range."""
    points, ranges = tree[0], tree[2]
    first, last = ranges[node]
    total, block = room[0], room[1]
    for c in range(query.size):
        x, x0 = points[c], query[c]
        if c == 0 or block_of[c] != block_of[c - 1]:
            for i in range(last - first):
                total[i] = 0.0 if c == 0 else max(total[i], block[i])
                block[i] = 0.0
        if squared:
            for i in range(last - first):
                block[i] += (x[first + i] - x0) * (x[first + i] - x0)
        else:
            for i in range(last - first):
                block[i] = max(block[i], abs(x[first + i] - x0))
    for i in range(last - first):
        total[i] = max(total[i], block[i])
    return first, last


@kernel
def nearest_in(
    tree: Any, block_of: Any, here: Any, squared: Any, k: Any, room: Any, nearest: Any
) -> None:
    """The ``k`` nearest distances of the tree's ``here``-th point to the others."""
    points, _, _, boxes = tree
    n_inner = boxes.shape[0] // 2
    query = points[:, here].copy()
    nearest[:] = np.inf
    bound = np.inf
    stack_node, stack_near = np.empty(64, np.int64), np.empty(64)
    stack_node[0], stack_near[0], size = 0, 0.0, 1
    while size > 0:
        size -= 1
        node = stack_node[size]
        if stack_near[size] >= bound:
            continue
        if node >= n_inner:
            first, last = _leaf_distances(tree, node, block_of, query, squared, room)
            for i in range(last - first):
                if room[0, i] < bound and first + i != here:
                    bound = push(nearest, k, room[0, i])
            continue
        left, _ = _box_distances(boxes[2 * node + 1], block_of, query, squared)
        right, _ = _box_distances(boxes[2 * node + 2], block_of, query, squared)
        closer = 1 if left <= right else 2
        stack_node[size], stack_near[size] = 2 * node + 3 - closer, max(left, right)
        stack_node[size + 1], stack_near[size + 1] = 2 * node + closer, min(left, right)
        size += 2


@kernel
def count_in(
    tree: Any, block_of: Any, query: Any, squared: Any, radii: Any, room: Any, counts: Any
) -> None:
    """How many of the tree's points are strictly closer than each of the rising radii."""
    _, _, ranges, boxes = tree
    n_inner = boxes.shape[0] // 2
    n_k = radii.size
    counts[:] = 0
    stack = np.empty(64, np.int64)
    stack[0], size = 0, 1
    while size > 0:
        size -= 1
        node = stack[size]
        near, far = _box_distances(boxes[node], block_of, query, squared)
        if near >= radii[n_k - 1]:
            continue
        if far < radii[0]:
            counts += ranges[node, 1] - ranges[node, 0]
        elif node < n_inner:
            stack[size], stack[size + 1] = 2 * node + 1, 2 * node + 2
            size += 2
        else:
            first, last = _leaf_distances(tree, node, block_of, query, squared, room)
            for k in range(n_k):
                m = 0
                for i in range(last - first):
                    m += room[0, i] < radii[k]
                counts[k] += m


@kernel
def extent_in(
    tree: Any, block_of: Any, here: Any, squared: Any, radii: Any, room: Any, sides: Any
) -> None:
    """The extent, in each of two blocks, of all points within each of the rising radii."""
    points, _, _, boxes = tree
    n_inner = boxes.shape[0] // 2
    n_k = radii.size
    query = points[:, here].copy()
    sides[:] = 0.0
    step = np.empty(2)
    stack = np.empty(64, np.int64)
    stack[0], size = 0, 1
    while size > 0:
        size -= 1
        node = stack[size]
        near, _ = _box_distances(boxes[node], block_of, query, squared)
        if near > radii[n_k - 1]:
            continue
        if node < n_inner:
            stack[size], stack[size + 1] = 2 * node + 1, 2 * node + 2
            size += 2
            continue
        first, last = _leaf_distances(tree, node, block_of, query, squared, room)
        for i in range(last - first):
            if room[0, i] > radii[n_k - 1] or first + i == here:
                continue
            step[:] = 0.0
            for c in range(query.size):
                x = abs(points[c, first + i] - query[c])
                at = block_of[c]
                step[at] = step[at] + x * x if squared else max(step[at], x)
            for k in range(n_k - 1, -1, -1):
                if room[0, i] > radii[k]:
                    break
                sides[0, k], sides[1, k] = max(sides[0, k], step[0]), max(sides[1, k], step[1])


@kernel
def scan(joint: Any, block_of: Any, margins: Any, span: Any, ks: Any, form: Any, psi: Any) -> Any:
    """Sums over the points of ``span`` of the psi terms, in fixed point, for each K.

    ``margins`` has a (tree, columns, sign) for each space in which points are counted;
    ``form`` is (squared, rectangle). With a rectangle, the margins are the two blocks.
    """
    lo, hi = ks
    squared, rectangle = form
    n_k = hi - lo + 1
    points, _, ranges, boxes = joint
    largest = 0
    for node in range(boxes.shape[0] // 2, boxes.shape[0]):
        largest = max(largest, ranges[node, 1] - ranges[node, 0])
    room = np.empty((2, largest))
    nearest, radii, terms = np.empty(hi), np.empty((2, n_k)), np.empty(n_k, np.int64)
    inner = np.zeros(n_k, np.int64)
    sides, counts, zeros = np.empty((2, n_k)), np.empty(n_k, np.int64), np.empty(1, np.int64)
    sums = np.zeros(n_k, np.int64)
    for here in range(span[0], span[1]):
        query = points[:, here].copy()
        nearest_in(joint, block_of, here, squared, hi, room, nearest)
        found = hi
        while found > 1 and nearest[found - 1] >= FAR:
            found -= 1
        for k in range(n_k):
            radii[0, k] = radii[1, k] = nearest[min(lo + k, found) - 1]
            terms[k] = psi[0, min(lo + k, found)]
        if rectangle:
            extent_in(joint, block_of, here, squared, radii[0], room, sides)
        for k in range(n_k):
            inner[k] = 0
            if radii[0, k] == 0.0:
                radii[:, k] = ZERO_RADIUS
                count_in(joint, block_of, query, squared, radii[0, k : k + 1], room, zeros)
                terms[k] = psi[0, zeros[0]]
            elif rectangle:
                radii[0, k], radii[1, k] = closed(sides[0, k]), closed(sides[1, k])
                terms[k] = psi[1, min(lo + k, found)]
                inner[k] = 1
        for side in range(len(margins)):
            tree, columns, sign = margins[side]
            radius = radii[side if rectangle else 0]
            count_in(tree, block_of[columns], query[columns], squared, radius, room, counts)
            for k in range(n_k):
                terms[k] += sign * psi[0, counts[k] - inner[k]]
        sums += terms
    return sums
