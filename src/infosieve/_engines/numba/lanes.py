"""One instruction, sixteen searches: the innermost steps of the kernels as vector code.

Sixteen searches for the nearest neighbours go on side by side, one in each lane: sixteen
candidate columns of one point (:mod:`.rows`), or sixteen neighbouring points of one column
(:mod:`.plane`). All visit the same neighbours, and there is no branch to mispredict.

Numba has no vector type, and its loops over a handful of lanes do not vectorise (arrays may
overlap, for all LLVM knows), which costs a factor of three in the hottest loops of the
library. So these steps are written in LLVM's own vector types; LLVM fits them to whatever
registers the machine has. Without the JIT (``NUMBA_DISABLE_JIT=1``) the plain functions run
as they stand: they are the definition of what the vector code does.

No multiply and add are ever fused: distances compare the same on every machine.
"""

from inspect import signature
from itertools import pairwise
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic, register_jitable

LANES = 16
# So many listed neighbours are met at a time: their rows of distances are made first and looked
# at afterwards. Rows stay where they were made until three more batches have been met; one row
# more is infinitely far.
BATCH = 16
N_ROWS = 4 * BATCH
# Vectors of this many numbers are worked on at a time where many must be held in registers.
WIDTH = 8

# Floors of a visit: row i keeps lane i from meeting itself, the last row lets all pass.
SELF = np.zeros((LANES + 1, LANES))
np.fill_diagonal(SELF, np.inf)
NOBODY = LANES


@register_jitable
def aligned(n: Any, dtype: Any) -> Any:
    """An empty array of ``n`` numbers that begins where a cache line does.

    Vectors of 64 bytes that lie across two cache lines are read and written half as fast.
    """
    room = np.empty(n + 16, dtype)
    first = (-room.ctypes.data % 64) // room.itemsize
    return room[first : first + n]


# What the vector code does, in plain Python. A "visit" is one neighbour met by all lanes.


def column_distances(visit: Any, i: Any, form: Any) -> Any:
    """Distances of the i-th listed neighbour to one point, of LANES candidates.

    ``visit`` is (x, here, index, shared): the candidates' values (n_samples, width, LANES),
    flattened, the point, the listed neighbours, and their distances in what the candidates
    share. ``form`` is (squared, add, width): a candidate's steps, one for each of its columns, are
    squared or not, and added to the shared distance (Euclidean blocks, hence squared) or the
    larger of the two is taken.
    """
    x, here, index, shared = visit
    squared, add, width = form
    values = x.reshape(-1, width, LANES)
    steps = values[index[i]] - values[here]
    steps = steps * steps if squared else np.abs(steps)
    total = np.full(LANES, shared[i] if add else 0.0)
    for step in steps:
        total = total + step if squared else np.maximum(total, step)
    return total if add else np.maximum(shared[i], total)


def point_distances(visit: Any) -> Any:
    """Distances along both axes of point ``j`` of the plane to LANES other points."""
    a, b, j, a_here, b_here = visit
    return np.abs(a[j] - a_here), np.abs(b[j] - b_here)


def _meet_columns(visit: Any, start: Any, form: Any, floor: Any, limits: Any, rows: Any) -> Any:
    """Distances of BATCH listed neighbours, from ``start`` on; which of them any lane wants.

    ``floor`` has the neighbours' distances in the other blocks. A lane wants what is closer than
    its one of ``limits`` (LANES,). The distances go to the first BATCH ``rows``. Returns bits.
    """
    wanted = 0
    for u in range(BATCH):
        d = np.maximum(column_distances(visit, start + u, form), floor[start + u])
        rows[u * LANES : (u + 1) * LANES] = d
        wanted |= int((d < limits).any()) << u
    return wanted


def _sort_in(rows: Any, queue: Any, nearest: Any, k: Any) -> Any:
    """Merge the rows of distances that the queue's first BATCH tell into each lane's nearest.

    ``nearest`` is sorted, (n, LANES), flattened, with a multiple of BATCH rows, of which at least
    the first ``k`` are right. Returns the widest k-th.
    """
    old = nearest.reshape(-1, LANES)
    new = rows.reshape(-1, LANES)[queue[:BATCH]]
    old[:] = np.sort(np.concatenate([old, new]), axis=0)[: len(old)]
    return float(old[k - 1].max())


def _count_rows(
    rows: Any, queue: Any, at: Any, radii: Any, counts: Any, first: Any, last: Any
) -> None:
    """Add to ``counts`` how many of WIDTH rows of distances are inside the lane's radii."""
    for d in rows.reshape(-1, LANES)[queue[at : at + WIDTH]]:
        for k in range(first, last):
            lanes = slice(k * LANES, (k + 1) * LANES)
            counts[lanes] += d < radii[lanes]


def _count_cells(near: Any, radii: Any, k: Any, counts: Any) -> None:
    """Set how many listed points are strictly inside each lane's k-th radius, by their cells.

    ``near`` is (exact, edges, base, shift): the points' distances, cell by cell, and WIDTH
    infinite ones; where cells begin (cell i ends where i + 1 begins, and the last is empty); and
    what makes a cell of a distance: the bits above ``shift``, less ``base``.
    """
    exact, edges, base, shift = near
    for i in range(k * LANES, (k + 1) * LANES):
        cell = min(max((radii.view(np.int64)[i] >> shift) - base, 0), edges.size - 2)
        first, last = edges[cell], edges[cell + 1]
        counts[i] = first + np.sum(exact[first:last] < radii[i])


def _add_psi(terms: Any, sign: Any, psi: Any, counts: Any, inner: Any, k: Any) -> None:
    """Add psi of a row of counts, less those not to be counted, to the terms (or subtract it)."""
    lanes = slice(k * LANES, (k + 1) * LANES)
    terms[lanes] += sign * psi[0, counts[lanes] - inner[lanes]]


def _widest(values: Any, row: Any) -> Any:
    """The largest of a row of LANES."""
    return float(values[row * LANES : (row + 1) * LANES].max())


def _push_point(visit: Any, itself: Any, nearest: Any, k: Any) -> Any:
    """Insert point j into each lane's ``k`` nearest, but not into its own (``itself``)."""
    x, y = point_distances(visit)
    d = np.maximum(np.maximum(x, y), SELF[itself])
    kept = nearest[: k * LANES].reshape(k, LANES)
    for row in kept:
        row[:], d = np.minimum(row, d), np.maximum(row, d)
    return float(kept[-1].max())


def _cover_point(visit: Any, itself: Any, nearest: Any, sides: Any, k: Any) -> None:
    """Widen the rectangles around all points within each of the ``k`` nearest distances.

    ``sides`` is (2, k, LANES), flattened.
    """
    x, y = point_distances(visit)
    d = np.maximum(np.maximum(x, y), SELF[itself])
    for i in range(k):
        inside = d <= nearest[i * LANES : (i + 1) * LANES]
        for axis, distance in enumerate((x, y)):
            lanes = slice((axis * k + i) * LANES, (axis * k + i + 1) * LANES)
            sides[lanes] = np.where(inside, np.maximum(sides[lanes], distance), sides[lanes])


def block_distances(visit: Any) -> Any:
    """Distances of point ``j`` to LANES others in a space made of blocks.

    ``visit`` is (points, j, here, edges, squared): points (n, d), the others (d * LANES),
    and the columns at which the blocks begin and end. Inside a block squares are added or
    the largest step is taken; across blocks it is always the largest.
    """
    points, j, here, edges, squared = visit
    total = np.zeros(LANES)
    for first, last in pairwise(edges):
        block = np.zeros(LANES)
        for c in range(first, last):
            step = np.abs(points[j, c] - here[c * LANES : (c + 1) * LANES])
            block = block + step * step if squared else np.maximum(block, step)
        total = np.maximum(total, block)
    return total


def _reaches(visit: Any, limits: Any, k: Any) -> Any:
    """Whether a node's box is closer to the point of any lane than that lane's k-th limit.

    ``visit`` is (boxes, node, here, edges, squared) with boxes (n_nodes, 2, d).
    """
    boxes, node, here, edges, squared = visit
    total = np.zeros(LANES)
    for first, last in pairwise(edges):
        block = np.zeros(LANES)
        for c in range(first, last):
            x = here[c * LANES : (c + 1) * LANES]
            step = np.maximum(np.maximum(boxes[node, 0, c] - x, x - boxes[node, 1, c]), 0.0)
            block = block + step * step if squared else np.maximum(block, step)
        total = np.maximum(total, block)
    return bool((total < limits[(k - 1) * LANES : k * LANES]).any())


def _meet_block(visit: Any, limits: Any, rows: Any) -> Any:
    """Distances of BATCH points, from ``j`` on, to LANES others; which of them any lane wants.

    ``visit`` is as in :func:`block_distances`; the rest as in :func:`_meet_columns`.
    """
    points, first, here, edges, squared = visit
    wanted = 0
    for u in range(BATCH):
        d = block_distances((points, first + u, here, edges, squared))
        rows[u * LANES : (u + 1) * LANES] = d
        wanted |= int((d < limits).any()) << u
    return wanted


def _count_ordered(ordered: Any, ranks: Any, levels: Any, visit: Any) -> None:
    """Add to ``counts`` the points on both sides of each lane's rank that are inside its radius.

    ``visit`` is (radii, counts, k, squared); on either side fewer than 2 ** ``levels`` points
    are inside. Two binary searches, all lanes in step.
    """
    radii, counts, k, squared = visit
    lanes = slice(k * LANES, (k + 1) * LANES)
    for side in (1, -1):
        steps = np.zeros(LANES, np.int32)
        for level in range(levels - 1, -1, -1):
            at = ranks + side * (steps + (1 << level))
            clipped = np.clip(at, 0, ordered.size - 1)
            d = np.abs(ordered[clipped] - ordered[ranks])
            d = d * d if squared else d
            steps += ((at == clipped) & (d < radii[lanes])) << level
        counts[lanes] += steps


# The same as LLVM vector code.

_F64, _I32, _I64, _BIT = ir.DoubleType(), ir.IntType(32), ir.IntType(64), ir.IntType(1)
_FLOATS = ir.VectorType(_F64, LANES)
_INTS = ir.VectorType(_I32, LANES)
_BITS = ir.VectorType(_BIT, LANES)
_LONGS = ir.VectorType(_I64, LANES)
_PART = ir.VectorType(_F64, WIDTH)


def _sorting_network(n: int) -> list[tuple[int, int]]:
    """Pairs to be put in order, one after the other, to sort n numbers (Batcher)."""
    pairs = []
    p = 1
    while p < n:
        k = p
        while k >= 1:
            for j in range(k % p, n - k, 2 * k):
                for i in range(min(k, n - j - k)):
                    if (i + j) // (2 * p) == (i + j + k) // (2 * p):
                        pairs.append((i + j, i + j + k))
            k //= 2
        p *= 2
    return pairs


def _merging_network(n: int) -> list[tuple[int, int]]:
    """The same for n numbers that rise and then fall, or fall and then rise (bitonic)."""
    pairs, step = [], n // 2
    while step >= 1:
        pairs += [(i, i + step) for i in range(n) if not i & step]
        step //= 2
    return pairs


class _Code:
    """The few vector operations that the steps are made of."""

    def __init__(self, context: Any, builder: Any) -> None:
        self.context, self.b = context, builder

    def splat(self, value: Any, vector: Any = _FLOATS) -> Any:
        undefined = ir.Constant(vector, ir.Undefined)
        head = self.b.insert_element(undefined, value, _I32(0))
        first = ir.Constant(ir.VectorType(_I32, vector.count), [_I32(0)] * vector.count)
        return self.b.shuffle_vector(head, undefined, first)

    def bit(self, value: Any) -> Any:
        return value if value.type.width == 1 else self.b.trunc(value, _BIT)

    def flag(self, value: Any) -> Any:
        return self.splat(self.bit(value), _BITS)

    def data(self, kind: Any, array: Any) -> Any:
        return self.context.make_array(kind)(self.context, self.b, array).data

    def vectors(self, kind: Any, array: Any, offset: Any = None, vector: Any = _FLOATS) -> Any:
        start = self.b.gep(self.data(kind, array), [_I64(0) if offset is None else offset])
        return self.b.bitcast(start, vector.as_pointer())

    def load(self, pointer: Any, align: int = 8) -> Any:
        value = self.b.load(pointer)
        value.align = align
        return value

    def store(self, value: Any, pointer: Any, align: int = 8) -> None:
        self.b.store(value, pointer).align = align

    def fetch(self, pointer: Any) -> None:
        """Begin to move a row of LANES to the cache: a hint, which no address can make fail."""
        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, _I32, _I32, _I32])
        fetch = cgutils.get_or_insert_function(self.b.module, kind, "llvm.prefetch.p0")
        for at in range(0, 8 * LANES, 64):
            line = self.b.gep(self.b.bitcast(pointer, byte), [_I64(at)])
            self.b.call(fetch, [line, _I32(0), _I32(3), _I32(1)])

    def gather(self, data: Any, indices: Any, vector: Any = _FLOATS) -> Any:
        """What lies at ``indices`` of an array; read as the vector's type, if that is another."""
        values = ir.Constant(vector, ir.Undefined)
        for lane in range(LANES):
            index = self.b.extract_element(indices, _I32(lane))
            index = self.b.sext(index, _I64) if index.type == _I32 else index
            place = self.b.bitcast(self.b.gep(data, [index]), vector.element.as_pointer())
            values = self.b.insert_element(values, self.load(place, 4), _I32(lane))
        return values

    def larger(self, u: Any, v: Any) -> Any:
        return self.b.select(self.b.fcmp_ordered(">", u, v), u, v)

    def smaller(self, u: Any, v: Any) -> Any:
        return self.b.select(self.b.fcmp_ordered("<", u, v), u, v)

    def gap(self, u: Any, v: Any) -> Any:
        step = self.b.fsub(u, v)
        return self.larger(step, self.b.fneg(step))

    def widest(self, vector: Any) -> Any:
        """The largest lane, by halving."""
        n = LANES
        while n > 1:
            n //= 2
            undefined = ir.Constant(ir.VectorType(_F64, 2 * n), ir.Undefined)
            half = ir.VectorType(_I32, n)
            low = ir.Constant(half, [_I32(i) for i in range(n)])
            high = ir.Constant(half, [_I32(n + i) for i in range(n)])
            vector = self.larger(
                self.b.shuffle_vector(vector, undefined, low),
                self.b.shuffle_vector(vector, undefined, high),
            )
        return self.b.extract_element(vector, _I32(0))

    def fields(self, kind: Any, record: Any) -> list[tuple[Any, Any]]:
        return [(t, self.b.extract_value(record, i)) for i, t in enumerate(kind)]

    def column_distances(self, kind: Any, visit: Any, i: Any, form: Any) -> Any:
        x, here, index, shared = self.fields(kind, visit)
        squared, add = (self.bit(self.b.extract_value(form, at)) for at in range(2))
        width = self.b.extract_value(form, 2)
        row = self.b.mul(width, _I64(LANES))
        own = self.vectors(*x, self.b.mul(here[1], row))
        j = self.b.sext(self.b.load(self.b.gep(self.data(*index), [i])), _I64)
        other_point = self.vectors(*x, self.b.mul(j, row))
        ahead = self.b.load(self.b.gep(self.data(*index), [self.b.add(i, _I64(BATCH))]))
        self.fetch(self.vectors(*x, self.b.mul(self.b.sext(ahead, _I64), row)))
        base = self.splat(self.b.load(self.b.gep(self.data(*shared), [i])))
        distance = cgutils.alloca_once(self.b, _FLOATS)

        def step_of(c: Any) -> tuple[Any, Any]:
            step = self.b.fsub(
                self.load(self.b.gep(other_point, [c])), self.load(self.b.gep(own, [c]))
            )
            return step, self.b.fmul(step, step)

        def further(combine: Any) -> None:
            """The other columns of a candidate."""
            with cgutils.for_range_slice(self.b, _I64(1), width, _I64(1), inc=True) as (c, _):
                self.b.store(combine(self.b.load(distance), *step_of(c)), distance)

        def within(so_far: Any, step: Any, squares: Any) -> Any:
            step = self.larger(step, self.b.fneg(step))
            if so_far is not None:
                step = self.larger(so_far, step)
                squares = self.b.fadd(so_far, squares)
            return self.b.select(self.splat(squared, _BITS), squares, step)

        first = step_of(_I64(0))
        with self.b.if_else(add) as (euclidean, other):  # add implies squared
            with euclidean:
                self.b.store(self.b.fadd(base, first[1]), distance)
                further(lambda so_far, step, squares: self.b.fadd(so_far, squares))
            with other:
                self.b.store(within(None, *first), distance)
                further(within)
                self.b.store(self.larger(base, self.b.load(distance)), distance)
        return self.b.load(distance)

    def point_distances(self, kind: Any, visit: Any) -> tuple[Any, Any]:
        a, b, j, a_here, b_here = self.fields(kind, visit)
        x, y = (self.b.load(self.b.gep(self.data(*v), [j[1]])) for v in (a, b))
        return (
            self.gap(self.splat(x), self.load(self.vectors(*a_here))),
            self.gap(self.splat(y), self.load(self.vectors(*b_here))),
        )

    def in_blocks(self, edges: Any, squared: Any, n: int, vector: Any, steps: Any) -> list[Any]:
        """Distances in a space of blocks: the largest of their sums of squares, or of all steps.

        ``steps`` makes the ``n`` absolute steps along a column.
        """
        zero = ir.Constant(vector, [0.0] * vector.count)
        total, block = ([cgutils.alloca_once(self.b, vector) for _ in range(n)] for _ in range(2))
        edge = self.data(*edges)
        bounds = self.context.make_array(edges[0])(self.context, self.b, edges[1])
        n_blocks = self.b.sub(self.b.extract_value(bounds.shape, 0), _I64(1))

        def add_up(combine: Any) -> None:
            for place in total:
                self.b.store(zero, place)
            with cgutils.for_range(self.b, n_blocks) as outer:
                for place in block:
                    self.b.store(zero, place)
                first = self.b.load(self.b.gep(edge, [outer.index]))
                last = self.b.load(self.b.gep(edge, [self.b.add(outer.index, _I64(1))]))
                with cgutils.for_range_slice(self.b, first, last, _I64(1), inc=True) as (c, _):
                    for step, place in zip(steps(c), block, strict=True):
                        self.b.store(combine(self.b.load(place), step), place)
                for place, widest in zip(block, total, strict=True):
                    self.b.store(self.larger(self.b.load(widest), self.b.load(place)), widest)

        with self.b.if_else(self.bit(squared)) as (euclidean, maximum):
            with euclidean:
                add_up(lambda so_far, step: self.b.fadd(so_far, self.b.fmul(step, step)))
            with maximum:
                add_up(lambda so_far, step: self.larger(so_far, self.absolute(step)))
        return [self.b.load(place) for place in total]

    def absolute(self, step: Any) -> Any:
        return self.larger(step, self.b.fneg(step))

    def box_distances(self, kind: Any, visit: Any) -> Any:
        boxes, (_, node), here, edges, (_, squared) = self.fields(kind, visit)
        array = self.context.make_array(boxes[0])(self.context, self.b, boxes[1])
        d = self.b.extract_value(array.shape, 2)
        values = self.b.gep(array.data, [self.b.mul(node, self.b.mul(d, _I64(2)))])
        lanes, zero = self.vectors(*here), ir.Constant(_FLOATS, [0.0] * LANES)

        def steps(c: Any) -> list[Any]:
            own = self.load(self.b.gep(lanes, [c]))
            low = self.splat(self.b.load(self.b.gep(values, [c])))
            high = self.splat(self.b.load(self.b.gep(values, [self.b.add(c, d)])))
            return [self.larger(self.larger(self.b.fsub(low, own), self.b.fsub(own, high)), zero)]

        return self.in_blocks(edges, squared, 1, _FLOATS, steps)[0]

    def block_distances(self, kind: Any, visit: Any, u: int, part: int) -> list[Any]:
        """Distances of WIDTH points, beginning with the u-th, to one part of the lanes."""
        points, (_, first), here, edges, (_, squared) = self.fields(kind, visit)
        array = self.context.make_array(points[0])(self.context, self.b, points[1])
        d = self.b.extract_value(array.shape, 1)
        rows = [
            self.b.gep(array.data, [self.b.mul(self.b.add(first, _I64(u + i)), d)])
            for i in range(WIDTH)
        ]

        def steps(c: Any) -> list[Any]:
            own = self.load(self.parts(here, 1, c, part)[0])
            values = [self.splat(self.b.load(self.b.gep(row, [c])), _PART) for row in rows]
            return [self.b.fsub(value, own) for value in values]

        return self.in_blocks(edges, squared, WIDTH, _PART, steps)

    def but_itself(self, d: Any, itself: Any) -> Any:
        lane = ir.Constant(_INTS, [_I32(i) for i in range(LANES)])
        own = self.b.icmp_signed("==", lane, self.splat(self.b.trunc(itself, _I32), _INTS))
        return self.b.select(own, ir.Constant(_FLOATS, [np.inf] * LANES), d)

    def push(self, nearest: Any, k: Any, d: Any) -> Any:
        carried, last = (cgutils.alloca_once_value(self.b, d) for _ in range(2))
        with cgutils.for_range(self.b, k) as loop:
            slot = self.b.gep(nearest, [loop.index])
            kept, new = self.load(slot), self.b.load(carried)
            closer = self.b.fcmp_ordered("<", new, kept)
            self.b.store(self.b.select(closer, kept, new), carried)
            kept = self.b.select(closer, new, kept)
            self.store(kept, slot)
            self.b.store(kept, last)
        return self.widest(self.b.load(last))

    def n_below(self, values: Any, first: Any, limit: Any) -> Any:
        some = self.load(self.vectors(values[0], values[1], first, _PART))
        below = self.b.bitcast(self.b.fcmp_ordered("<", some, limit), ir.IntType(WIDTH))
        return self.b.zext(self.b.ctpop(below), _I32)

    def any_below(self, d: Any, limits: Any) -> Any:
        bits = ir.IntType(d.type.count)
        below = self.b.bitcast(self.b.fcmp_ordered("<", d, limits), bits)
        return self.b.icmp_unsigned("!=", below, bits(0))

    def parts(self, source: Any, n: int, first_row: Any, part: int) -> list[Any]:
        """Where ``n`` rows of an array of LANES begin, in one part of the lanes."""
        start = self.b.gep(self.data(*source), [self.b.mul(first_row, _I64(LANES))])
        at = [row * LANES + part * WIDTH for row in range(n)]
        return [self.b.bitcast(self.b.gep(start, [_I64(i)]), _PART.as_pointer()) for i in at]

    def queued(self, rows: Any, queue: Any, n: int, at: Any) -> list[Any]:
        """Where the rows begin that ``n`` of the queue tell."""
        start = self.b.gep(self.data(*queue), [at])
        numbers = [self.b.load(self.b.gep(start, [_I64(i)])) for i in range(n)]
        places = [self.b.mul(self.b.sext(i, _I64), _I64(LANES)) for i in numbers]
        return [self.b.gep(self.data(*rows), [i]) for i in places]

    def part(self, row: Any, part: int) -> Any:
        return self.load(self.b.bitcast(self.b.gep(row, [_I64(part * WIDTH)]), _PART.as_pointer()))

    def in_order(self, values: list[Any], pairs: list[tuple[int, int]]) -> None:
        for i, j in pairs:
            u, v = values[i], values[j]
            values[i], values[j] = self.smaller(u, v), self.larger(u, v)

    def sort_in(self, values: list[Any], old: Any, n_blocks: Any, part: int) -> None:
        """Sort the values, and exchange them for the larger ones of each block of old rows."""
        self.in_order(values, _sorting_network(BATCH))
        carried = [cgutils.alloca_once_value(self.b, v) for v in values]
        last = self.b.sub(n_blocks, _I64(1))
        with cgutils.for_range(self.b, last) as loop:
            larger = self.exchange([self.b.load(v) for v in carried], old, loop.index, part)
            self.in_order(larger, _merging_network(BATCH))
            for value, place in zip(larger, carried, strict=True):
                self.b.store(value, place)
        self.exchange([self.b.load(v) for v in carried], old, last, part)

    def sort_few_in(self, values: list[Any], old: Any, part: int) -> None:
        """The same where half a batch of old rows is enough."""
        half = BATCH // 2
        first, second = values[:half], values[half:]
        for some in (first, second):
            self.in_order(some, _sorting_network(half))
        smaller = [self.smaller(u, v) for u, v in zip(first, second[::-1], strict=True)]
        self.in_order(smaller, _merging_network(half))
        self.exchange(smaller, old, _I64(0), part)

    def exchange(self, values: Any, old: Any, block: Any, part: int) -> list[Any]:
        """Leave the smaller half of sorted values and old rows, sorted; the rest, bitonic."""
        n = len(values)
        places = self.parts(old, n, self.b.mul(block, _I64(n)), part)
        pairs = [(self.load(u), v) for u, v in zip(places, values[::-1], strict=True)]
        smaller = [self.smaller(u, v) for u, v in pairs]
        self.in_order(smaller, _merging_network(n))
        for value, place in zip(smaller, places, strict=True):
            self.store(value, place)
        return [self.larger(u, v) for u, v in pairs]


def _vector_code(plain: Any, returns: Any = types.void) -> Any:
    """What a kernel calls instead of a plain function: what the decorated one writes.

    That gets what writes vectors and, for each argument, its type and value. Without the compiler,
    the plain function is called.
    """

    def made(write: Any) -> Any:
        def typed(_context: Any, *kinds: Any) -> Any:
            def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
                found = write(_Code(context, builder), *zip(kinds, args, strict=True))
                return context.get_dummy_value() if found is None else found

            return returns(*kinds), generate

        typed.__name__, typed.__signature__ = write.__name__, signature(write)  # type: ignore[attr-defined]
        return plain if config.DISABLE_JIT else intrinsic(typed)

    return made


@_vector_code(_meet_columns, types.int64)
def meet_columns(
    c: Any, visit: Any, start: Any, form: Any, floor: Any, limits: Any, rows: Any
) -> Any:
    b, floors, limit = c.b, c.data(*floor), c.load(c.vectors(*limits))
    wanted = cgutils.alloca_once_value(b, _I64(0))
    with cgutils.for_range(b, _I64(BATCH)) as loop:
        i = b.add(start[1], loop.index)
        d = c.column_distances(*visit, i, form[1])
        d = c.larger(d, c.splat(b.load(b.gep(floors, [i]))))
        c.store(d, b.gep(c.vectors(*rows), [loop.index]))
        bit = b.shl(b.zext(c.any_below(d, limit), _I64), loop.index)
        b.store(b.or_(b.load(wanted), bit), wanted)
    return b.load(wanted)


@_vector_code(_sort_in, types.float64)
def sort_in(c: Any, rows: Any, queue: Any, nearest: Any, k: Any) -> Any:
    b, (_, n) = c.b, k
    n_blocks = b.udiv(b.add(n, _I64(BATCH - 1)), _I64(BATCH))
    places = c.queued(rows, queue, BATCH, _I64(0))
    with b.if_else(b.icmp_signed("<=", n, _I64(BATCH // 2))) as (few, many):
        with few:
            for part in range(LANES // WIDTH):
                c.sort_few_in([c.part(row, part) for row in places], nearest, part)
        with many:
            for part in range(LANES // WIDTH):
                c.sort_in([c.part(row, part) for row in places], nearest, n_blocks, part)
    return c.widest(c.load(b.gep(c.vectors(*nearest), [b.sub(n, _I64(1))])))


@_vector_code(_count_rows)
def count_rows(
    c: Any, rows: Any, queue: Any, at: Any, radii: Any, counts: Any, first: Any, last: Any
) -> None:
    b, ints = c.b, ir.VectorType(_I32, WIDTH)
    places = c.queued(rows, queue, WIDTH, at[1])
    for part in range(LANES // WIDTH):
        distances = [c.part(row, part) for row in places]
        with cgutils.for_range_slice(b, first[1], last[1], _I64(1), inc=True) as (k, _):
            limit = c.load(c.parts(radii, 1, k, part)[0])
            place = b.add(b.mul(k, _I64(LANES)), _I64(part * WIDTH))
            slot = c.vectors(*counts, place, ints)
            count = c.load(slot, 4)
            for d in distances:
                inside = b.fcmp_ordered("<", d, limit)
                count = b.add(count, b.zext(inside, ints))
            c.store(count, slot, 4)


@_vector_code(_count_cells)
def count_cells(c: Any, near: Any, radii: Any, k: Any, counts: Any) -> None:
    b, (exact, edges, (_, base), (_, shift)) = c.b, c.fields(*near)
    array = c.context.make_array(edges[0])(c.context, b, edges[1])
    top = c.splat(b.sub(b.extract_value(array.shape, 0), _I64(2)), _LONGS)
    radius = c.load(b.gep(c.vectors(*radii), [k[1]]))
    cell = b.ashr(b.bitcast(radius, _LONGS), c.splat(shift, _LONGS))
    cell = b.sub(cell, c.splat(base, _LONGS))
    zero = ir.Constant(_LONGS, [_I64(0)] * LANES)
    cell = b.select(b.icmp_signed("<", cell, zero), zero, cell)
    cell = b.select(b.icmp_signed(">", cell, top), top, cell)
    for lane in range(LANES):
        slot = b.gep(array.data, [b.extract_element(cell, _I32(lane))])
        first = b.sext(b.load(slot), _I64)
        last = b.sext(b.load(b.gep(slot, [_I64(1)])), _I64)
        limit = c.splat(b.extract_element(radius, _I32(lane)), _PART)
        at = b.add(b.mul(k[1], _I64(LANES)), _I64(lane))
        total = b.gep(c.data(*counts), [at])
        b.store(b.add(b.trunc(first, _I32), c.n_below(exact, first, limit)), total)
        # What follows the cell is farther, so that only a long one needs another look.
        second = b.add(first, _I64(WIDTH))
        with cgutils.for_range_slice(b, second, last, _I64(WIDTH), inc=True) as (i, _):
            b.store(b.add(b.load(total), c.n_below(exact, i, limit)), total)


@_vector_code(_add_psi)
def add_psi(c: Any, terms: Any, sign: Any, psi: Any, counts: Any, inner: Any, k: Any) -> None:
    b = c.b
    count, less = (
        c.load(b.gep(c.vectors(*some, vector=_INTS), [k[1]]), 4) for some in (counts, inner)
    )
    value = c.gather(c.data(*psi), b.sub(count, less), _LONGS)
    slot = b.gep(c.vectors(*terms, vector=_LONGS), [k[1]])
    c.store(b.add(c.load(slot), b.mul(value, c.splat(sign[1], _LONGS))), slot)


@_vector_code(_widest, types.float64)
def widest(c: Any, values: Any, row: Any) -> Any:
    return c.widest(c.load(c.b.gep(c.vectors(*values), [row[1]])))


@_vector_code(_push_point, types.float64)
def push_point(c: Any, visit: Any, itself: Any, nearest: Any, k: Any) -> Any:
    d = c.but_itself(c.larger(*c.point_distances(*visit)), itself[1])
    return c.push(c.vectors(*nearest), k[1], d)


@_vector_code(_cover_point)
def cover_point(c: Any, visit: Any, itself: Any, nearest: Any, sides: Any, k: Any) -> None:
    b, (_, n) = c.b, k
    xy = c.point_distances(*visit)
    d = c.but_itself(c.larger(*xy), itself[1])
    radius, side = c.vectors(*nearest), c.vectors(*sides)
    with cgutils.for_range(b, n) as loop:
        inside = b.fcmp_ordered("<=", d, c.load(b.gep(radius, [loop.index])))
        for axis, distance in enumerate(xy):
            slot = b.gep(side, [b.add(loop.index, b.mul(n, n.type(axis)))])
            kept = c.load(slot)
            c.store(b.select(inside, c.larger(distance, kept), kept), slot)


@_vector_code(_reaches, types.boolean)
def reaches(c: Any, visit: Any, limits: Any, k: Any) -> Any:
    slot = c.b.gep(c.vectors(*limits), [c.b.sub(k[1], _I64(1))])
    return c.any_below(c.box_distances(*visit), c.load(slot))


@_vector_code(_meet_block, types.int64)
def meet_block(c: Any, visit: Any, limits: Any, rows: Any) -> Any:
    b, wanted = c.b, _I64(0)
    for part in range(LANES // WIDTH):
        limit = c.load(c.parts(limits, 1, _I64(0), part)[0])
        for u in range(0, BATCH, WIDTH):
            distances = c.block_distances(*visit, u, part)
            places = c.parts(rows, WIDTH, _I64(u), part)
            for i, (d, place) in enumerate(zip(distances, places, strict=True)):
                c.store(d, place)
                bit = b.zext(c.any_below(d, limit), _I64)
                wanted = b.or_(wanted, b.shl(bit, _I64(u + i)))
    return wanted


@_vector_code(_count_ordered)
def count_ordered(c: Any, ordered: Any, ranks: Any, levels: Any, visit: Any) -> None:
    b, (radii, counts, (_, k), (_, squared)) = c.b, c.fields(*visit)
    squares = c.flag(squared)
    array = c.context.make_array(ordered[0])(c.context, b, ordered[1])
    size = b.trunc(b.extract_value(array.shape, 0), _I32)
    last = c.splat(b.sub(size, _I32(1)), _INTS)
    zero = ir.Constant(_INTS, [_I32(0)] * LANES)
    rank = c.load(c.vectors(*ranks, vector=_INTS), 4)
    radius = c.load(b.gep(c.vectors(*radii), [k]))
    own = c.gather(array.data, rank)
    up, down = (cgutils.alloca_once_value(b, zero) for _ in range(2))
    with cgutils.for_range(b, levels[1]) as loop:
        level = b.sub(b.sub(levels[1], _I64(1)), loop.index)
        step = c.splat(b.trunc(b.shl(_I64(1), level), _I32), _INTS)
        # Both sides in one round: neither waits for the other.
        for place, move in ((up, b.add), (down, b.sub)):
            steps = b.add(b.load(place), step)
            at = move(rank, steps)
            clipped = b.select(b.icmp_signed("<", at, zero), zero, at)
            clipped = b.select(b.icmp_signed(">", clipped, last), last, clipped)
            d = c.gap(c.gather(array.data, clipped), own)
            d = b.select(squares, b.fmul(d, d), d)
            exists = b.icmp_signed("==", at, clipped)
            inside = b.and_(exists, b.fcmp_ordered("<", d, radius))
            b.store(b.select(inside, steps, b.load(place)), place)
    slot = b.gep(c.vectors(*counts, vector=_INTS), [k])
    found = b.add(b.load(up), b.load(down))
    c.store(b.add(c.load(slot, 4), found), slot, 4)
