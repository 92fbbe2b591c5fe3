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

from itertools import pairwise
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

LANES = 16
# Listed neighbours are met four at a time, which saves loads and stores of the nearest.
AT_ONCE = 4

# Floors of a visit: row i keeps lane i from meeting itself, the last row lets all pass.
SELF = np.zeros((LANES + 1, LANES))
np.fill_diagonal(SELF, np.inf)
NOBODY = LANES


# What the vector code does, in plain Python. A "visit" is one neighbour met by all lanes.


def column_distances(visit: Any, i: Any, form: Any) -> Any:
    """Distances of the i-th listed neighbour to one point, in LANES candidate columns.

    ``visit`` is (x, here, index, shared): the candidates' values (n_samples, LANES),
    flattened, the point, the listed neighbours, and their distances in what the candidates
    share. ``form`` is (squared, add): a candidate's step is squared or not, and added to the
    shared distance (Euclidean blocks) or the larger of the two is taken.
    """
    x, here, index, shared = visit
    squared, add = form
    at = index[i] * LANES
    step = x[at : at + LANES] - x[here * LANES : (here + 1) * LANES]
    step = step * step if squared else np.abs(step)
    return shared[i] + step if add else np.maximum(shared[i], step)


def point_distances(visit: Any) -> Any:
    """Distances along both axes of point ``j`` of the plane to LANES other points."""
    a, b, j, a_here, b_here = visit
    return np.abs(a[j] - a_here), np.abs(b[j] - b_here)


def _push(nearest: Any, k: int, d: Any) -> float:
    smaller = d
    for i in range(k):
        lanes = slice(i * LANES, (i + 1) * LANES)
        smaller, d = np.minimum(nearest[lanes], d), np.maximum(nearest[lanes], d)
        nearest[lanes] = smaller
    return float(smaller.max())


def push_columns(visit: Any, i: Any, form: Any, floor: Any, nearest: Any, k: Any) -> Any:
    """Insert AT_ONCE listed neighbours, from the i-th on, into each lane's ``k`` nearest.

    ``floor`` has the neighbours' distances in the other blocks; ``nearest`` is (k, LANES),
    flattened and sorted. Returns the widest k-th.
    """
    for u in range(i, i + AT_ONCE):
        widest = _push(nearest, k, np.maximum(column_distances(visit, u, form), floor[u]))
    return widest


def count_columns(
    visit: Any, i: Any, form: Any, radii: Any, counts: Any, first: Any, last: Any
) -> None:
    """Add to ``counts`` how many of AT_ONCE listed neighbours are inside the lane's radii."""
    for u in range(i, i + AT_ONCE):
        d = column_distances(visit, u, form)
        for k in range(first, last):
            lanes = slice(k * LANES, (k + 1) * LANES)
            counts[lanes] += d < radii[lanes]


def push_point(visit: Any, itself: Any, nearest: Any, k: Any) -> Any:
    """Insert point j into each lane's ``k`` nearest, but not into its own (``itself``)."""
    x, y = point_distances(visit)
    return _push(nearest, k, np.maximum(np.maximum(x, y), SELF[itself]))


def cover_point(visit: Any, itself: Any, nearest: Any, sides: Any, k: Any) -> None:
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


def reaches(visit: Any, limits: Any, k: Any) -> Any:
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


def push_block(visit: Any, itself: Any, nearest: Any, k: Any) -> Any:
    """Insert point j into each lane's ``k`` nearest, but not into its own (``itself``)."""
    return _push(nearest, k, np.maximum(block_distances(visit), SELF[itself]))


def count_block(visit: Any, radii: Any, counts: Any, first: Any, last: Any) -> None:
    """Add 1 to ``counts`` where point j is strictly inside the lane's radius."""
    d = block_distances(visit)
    for k in range(first, last):
        lanes = slice(k * LANES, (k + 1) * LANES)
        counts[lanes] += d < radii[lanes]


def count_ordered(ordered: Any, ranks: Any, levels: Any, visit: Any) -> None:
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


class _Code:
    """The few vector operations that the steps are made of."""

    def __init__(self, context: Any, builder: Any) -> None:
        self.context, self.b = context, builder

    def splat(self, value: Any, vector: Any = _FLOATS) -> Any:
        undefined = ir.Constant(vector, ir.Undefined)
        head = self.b.insert_element(undefined, value, _I32(0))
        return self.b.shuffle_vector(head, undefined, ir.Constant(_INTS, [_I32(0)] * LANES))

    def flag(self, value: Any) -> Any:
        bit = value if value.type.width == 1 else self.b.trunc(value, _BIT)
        return self.splat(bit, _BITS)

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

    def gather(self, data: Any, indices: Any) -> Any:
        values = ir.Constant(_FLOATS, ir.Undefined)
        for lane in range(LANES):
            index = self.b.sext(self.b.extract_element(indices, _I32(lane)), _I64)
            value = self.b.load(self.b.gep(data, [index]))
            values = self.b.insert_element(values, value, _I32(lane))
        return values

    def larger(self, u: Any, v: Any) -> Any:
        return self.b.select(self.b.fcmp_ordered(">", u, v), u, v)

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

    def column_distances(self, kind: Any, visit: Any, i: Any, form: Any) -> list[Any]:
        x, here, index, shared = self.fields(kind, visit)
        squared, add = (self.flag(self.b.extract_value(form, at)) for at in range(2))
        own = self.load(self.vectors(*x, self.b.mul(here[1], _I64(LANES))))
        distances = []
        for u in range(AT_ONCE):
            at = self.b.add(i, _I64(u))
            j = self.b.sext(self.b.load(self.b.gep(self.data(*index), [at])), _I64)
            step = self.b.fsub(self.load(self.vectors(*x, self.b.mul(j, _I64(LANES)))), own)
            absolute = self.larger(step, self.b.fneg(step))
            step = self.b.select(squared, self.b.fmul(step, step), absolute)
            base = self.splat(self.b.load(self.b.gep(self.data(*shared), [at])))
            d = self.b.select(add, self.b.fadd(base, step), self.larger(base, step))
            distances.append(d)
        return distances

    def point_distances(self, kind: Any, visit: Any) -> tuple[Any, Any]:
        a, b, j, a_here, b_here = self.fields(kind, visit)
        x, y = (self.b.load(self.b.gep(self.data(*v), [j[1]])) for v in (a, b))
        return (
            self.gap(self.splat(x), self.load(self.vectors(*a_here))),
            self.gap(self.splat(y), self.load(self.vectors(*b_here))),
        )

    def block_distances(self, kind: Any, visit: Any, to_box: bool = False) -> Any:
        source, (_, row), here, edges, (_, squared) = self.fields(kind, visit)
        zero = ir.Constant(_FLOATS, [0.0] * LANES)
        total, block = (cgutils.alloca_once(self.b, _FLOATS) for _ in range(2))
        array = self.context.make_array(source[0])(self.context, self.b, source[1])
        d = self.b.extract_value(array.shape, 2 if to_box else 1)
        start = self.b.mul(row, self.b.mul(d, _I64(2)) if to_box else d)
        values = self.b.gep(array.data, [start])
        lanes, edge = self.vectors(*here), self.data(*edges)
        bounds = self.context.make_array(edges[0])(self.context, self.b, edges[1])
        n_blocks = self.b.sub(self.b.extract_value(bounds.shape, 0), _I64(1))

        def step_in(c: Any) -> Any:
            own = self.load(self.b.gep(lanes, [c]))
            below = self.b.fsub(self.splat(self.b.load(self.b.gep(values, [c]))), own)
            if not to_box:
                return self.larger(below, self.b.fneg(below))
            high = self.splat(self.b.load(self.b.gep(values, [self.b.add(c, d)])))
            return self.larger(self.larger(below, self.b.fsub(own, high)), zero)

        def add_up(combine: Any) -> None:
            self.b.store(zero, total)
            with cgutils.for_range(self.b, n_blocks) as outer:
                self.b.store(zero, block)
                first = self.b.load(self.b.gep(edge, [outer.index]))
                last = self.b.load(self.b.gep(edge, [self.b.add(outer.index, _I64(1))]))
                with cgutils.for_range_slice(self.b, first, last, _I64(1), inc=True) as (c, _):
                    self.b.store(combine(self.b.load(block), step_in(c)), block)
                self.b.store(self.larger(self.b.load(total), self.b.load(block)), total)

        flag = squared if squared.type.width == 1 else self.b.trunc(squared, _BIT)
        with self.b.if_else(flag) as (euclidean, maximum):
            with euclidean:
                add_up(lambda so_far, step: self.b.fadd(so_far, self.b.fmul(step, step)))
            with maximum:
                add_up(self.larger)
        return self.b.load(total)

    def but_itself(self, d: Any, itself: Any) -> Any:
        lane = ir.Constant(_INTS, [_I32(i) for i in range(LANES)])
        own = self.b.icmp_signed("==", lane, self.splat(self.b.trunc(itself, _I32), _INTS))
        return self.b.select(own, ir.Constant(_FLOATS, [np.inf] * LANES), d)

    def push(self, nearest: Any, k: Any, distances: list[Any]) -> Any:
        carried = [cgutils.alloca_once_value(self.b, d) for d in distances]
        last = cgutils.alloca_once_value(self.b, distances[0])
        with cgutils.for_range(self.b, k) as loop:
            slot = self.b.gep(nearest, [loop.index])
            kept = self.load(slot)
            for place in carried:
                new = self.b.load(place)
                closer = self.b.fcmp_ordered("<", new, kept)
                self.b.store(self.b.select(closer, kept, new), place)
                kept = self.b.select(closer, new, kept)
            self.store(kept, slot)
            self.b.store(kept, last)
        return self.widest(self.b.load(last))

    def count(self, kinds: Any, arrays: Any, span: Any, distances: list[Any]) -> None:
        radius = self.vectors(kinds[0], arrays[0])
        total = self.vectors(kinds[1], arrays[1], vector=_INTS)
        with cgutils.for_range_slice(self.b, span[0], span[1], _I64(1), inc=True) as (k, _):
            limit, slot = self.load(self.b.gep(radius, [k])), self.b.gep(total, [k])
            count = self.load(slot, 4)
            for d in distances:
                inside = self.b.fcmp_ordered("<", d, limit)
                count = self.b.add(count, self.b.zext(inside, _INTS))
            self.store(count, slot, 4)


@intrinsic
def _push_columns(
    _typing: Any, visit: Any, i: Any, form: Any, floor: Any, nearest: Any, k: Any
) -> Any:
    def generate(context: Any, b: Any, signature: Any, args: Any) -> Any:
        c, kinds = _Code(context, b), signature.args
        floors = c.data(kinds[3], args[3])
        distances = [
            c.larger(d, c.splat(b.load(b.gep(floors, [b.add(args[1], _I64(u))]))))
            for u, d in enumerate(c.column_distances(kinds[0], args[0], args[1], args[2]))
        ]
        return c.push(c.vectors(kinds[4], args[4]), args[5], distances)

    return types.float64(visit, i, form, floor, nearest, k), generate


@intrinsic
def _count_columns(
    _typing: Any, visit: Any, i: Any, form: Any, radii: Any, counts: Any, first: Any, last: Any
) -> Any:
    def generate(context: Any, b: Any, signature: Any, args: Any) -> Any:
        c, kinds = _Code(context, b), signature.args
        distances = c.column_distances(kinds[0], args[0], args[1], args[2])
        c.count(kinds[3:5], args[3:5], args[5:7], distances)
        return context.get_dummy_value()

    return types.void(visit, i, form, radii, counts, first, last), generate


@intrinsic
def _push_point(_typing: Any, visit: Any, itself: Any, nearest: Any, k: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        c, kinds = _Code(context, builder), signature.args
        d = c.but_itself(c.larger(*c.point_distances(kinds[0], args[0])), args[1])
        return c.push(c.vectors(kinds[2], args[2]), args[3], [d])

    return types.float64(visit, itself, nearest, k), generate


@intrinsic
def _cover_point(_typing: Any, visit: Any, itself: Any, nearest: Any, sides: Any, k: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        c, kinds = _Code(context, builder), signature.args
        xy = c.point_distances(kinds[0], args[0])
        d = c.but_itself(c.larger(*xy), args[1])
        radius, side = c.vectors(kinds[2], args[2]), c.vectors(kinds[3], args[3])
        with cgutils.for_range(builder, args[4]) as loop:
            radii = c.load(builder.gep(radius, [loop.index]))
            inside = builder.fcmp_ordered("<=", d, radii)
            for axis, distance in enumerate(xy):
                at = builder.add(loop.index, builder.mul(args[4], args[4].type(axis)))
                slot = builder.gep(side, [at])
                kept = c.load(slot)
                c.store(builder.select(inside, c.larger(distance, kept), kept), slot)
        return context.get_dummy_value()

    return types.void(visit, itself, nearest, sides, k), generate


@intrinsic
def _reaches(_typing: Any, visit: Any, limits: Any, k: Any) -> Any:
    def generate(context: Any, b: Any, signature: Any, args: Any) -> Any:
        c, kinds = _Code(context, b), signature.args
        d = c.block_distances(kinds[0], args[0], to_box=True)
        slot = b.gep(c.vectors(kinds[1], args[1]), [b.sub(args[2], _I64(1))])
        closer = b.bitcast(b.fcmp_ordered("<", d, c.load(slot)), ir.IntType(LANES))
        return b.icmp_unsigned("!=", closer, ir.IntType(LANES)(0))

    return types.boolean(visit, limits, k), generate


@intrinsic
def _push_block(_typing: Any, visit: Any, itself: Any, nearest: Any, k: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        c, kinds = _Code(context, builder), signature.args
        d = c.but_itself(c.block_distances(kinds[0], args[0]), args[1])
        return c.push(c.vectors(kinds[2], args[2]), args[3], [d])

    return types.float64(visit, itself, nearest, k), generate


@intrinsic
def _count_block(_typing: Any, visit: Any, radii: Any, counts: Any, first: Any, last: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        c, kinds = _Code(context, builder), signature.args
        d = c.block_distances(kinds[0], args[0])
        c.count(kinds[1:3], args[1:3], args[3:5], [d])
        return context.get_dummy_value()

    return types.void(visit, radii, counts, first, last), generate


@intrinsic
def _count_ordered(_typing: Any, ordered: Any, ranks: Any, levels: Any, visit: Any) -> Any:
    def generate(context: Any, b: Any, signature: Any, args: Any) -> Any:
        c, kinds = _Code(context, b), signature.args
        radii, counts, (_, k), (_, squared) = c.fields(kinds[3], args[3])
        squared = c.flag(squared)
        array = context.make_array(kinds[0])(context, b, args[0])
        size = b.trunc(b.extract_value(array.shape, 0), _I32)
        last = c.splat(b.sub(size, _I32(1)), _INTS)
        zero = ir.Constant(_INTS, [_I32(0)] * LANES)
        rank = c.load(c.vectors(kinds[1], args[1], vector=_INTS), 4)
        radius = c.load(b.gep(c.vectors(*radii), [k]))
        own = c.gather(array.data, rank)
        up, down = (cgutils.alloca_once_value(b, zero) for _ in range(2))
        with cgutils.for_range(b, args[2]) as loop:
            level = b.sub(b.sub(args[2], _I64(1)), loop.index)
            step = c.splat(b.trunc(b.shl(_I64(1), level), _I32), _INTS)
            # Both sides in one round: neither waits for the other.
            for place, move in ((up, b.add), (down, b.sub)):
                steps = b.add(b.load(place), step)
                at = move(rank, steps)
                clipped = b.select(b.icmp_signed("<", at, zero), zero, at)
                clipped = b.select(b.icmp_signed(">", clipped, last), last, clipped)
                d = c.gap(c.gather(array.data, clipped), own)
                d = b.select(squared, b.fmul(d, d), d)
                exists = b.icmp_signed("==", at, clipped)
                inside = b.and_(exists, b.fcmp_ordered("<", d, radius))
                b.store(b.select(inside, steps, b.load(place)), place)
        slot = b.gep(c.vectors(*counts, vector=_INTS), [k])
        found = b.add(b.load(up), b.load(down))
        c.store(b.add(c.load(slot, 4), found), slot, 4)
        return context.get_dummy_value()

    return types.void(ordered, ranks, levels, visit), generate


@overload(push_columns, inline="always", strict=False)
def _overload_push_columns(visit: Any, i: Any, form: Any, floor: Any, nearest: Any, k: Any) -> Any:
    return lambda visit, i, form, floor, nearest, k: _push_columns(
        visit, i, form, floor, nearest, k
    )


@overload(count_columns, inline="always", strict=False)
def _overload_count_columns(
    visit: Any, i: Any, form: Any, radii: Any, counts: Any, first: Any, last: Any
) -> Any:
    return lambda visit, i, form, radii, counts, first, last: _count_columns(
        visit, i, form, radii, counts, first, last
    )


@overload(push_point, inline="always", strict=False)
def _overload_push_point(visit: Any, itself: Any, nearest: Any, k: Any) -> Any:
    return lambda visit, itself, nearest, k: _push_point(visit, itself, nearest, k)


@overload(cover_point, inline="always", strict=False)
def _overload_cover_point(visit: Any, itself: Any, nearest: Any, sides: Any, k: Any) -> Any:
    return lambda visit, itself, nearest, sides, k: _cover_point(visit, itself, nearest, sides, k)


@overload(count_ordered, inline="always", strict=False)
def _overload_count_ordered(ordered: Any, ranks: Any, levels: Any, visit: Any) -> Any:
    return lambda ordered, ranks, levels, visit: _count_ordered(ordered, ranks, levels, visit)


@overload(push_block, inline="always", strict=False)
def _overload_push_block(visit: Any, itself: Any, nearest: Any, k: Any) -> Any:
    return lambda visit, itself, nearest, k: _push_block(visit, itself, nearest, k)


@overload(count_block, inline="always", strict=False)
def _overload_count_block(visit: Any, radii: Any, counts: Any, first: Any, last: Any) -> Any:
    return lambda visit, radii, counts, first, last: _count_block(visit, radii, counts, first, last)


@overload(reaches, inline="always", strict=False)
def _overload_reaches(visit: Any, limits: Any, k: Any) -> Any:
    return lambda visit, limits, k: _reaches(visit, limits, k)
