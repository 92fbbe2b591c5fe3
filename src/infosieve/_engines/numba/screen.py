"""Cells instead of neighbours: a cheap score for every candidate, inside every permutation.

Columns are cut into a few cells of equal numbers of samples, and each cell is kept as a set of
samples: one bit each. How many samples two cells share is then an AND and a count of bits, 64
samples at a time, and all that a permutation changes are the sets of the target. Scores are sums
of k log k over counts, in fixed point, less what chance adds: integers, whoever adds them up.
"""

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload

from infosieve._engines.numba.jit import kernel
from infosieve._engines.numba.surrogates import order_of

# Cells of a column: for its own score, and for tables of three columns; of the target in these.
FINE, COARSE, COARSE_TARGET = 6, 3, 4
# Values closer than this part of a standard deviation are equal, where a column has equal values.
_TIED = 1e-9


def n_bits(word: Any) -> int:
    """How many bits of a word are set."""
    return int(word).bit_count()


@intrinsic
def _ctpop(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        count = builder.ctpop(args[0])
        return builder.zext(count, ir.IntType(64)) if count.type.width < 64 else count

    return types.int64(types.uint64), generate


@overload(n_bits, inline="always", strict=False)
def _overload_n_bits(word: Any) -> Any:
    return lambda word: _ctpop(word)


@njit(inline="always")
def _shared(a: Any, b: Any) -> Any:
    """How many samples two sets share."""
    count = 0
    for w in range(a.size):
        count += n_bits(a[w] & b[w])
    return count


def fixed_k_log_k(n_samples: int) -> tuple[Any, int]:
    """k log k for k up to ``n_samples`` in fixed point, and the bits behind the point."""
    bits = 58 - max(1, math.ceil(math.log2(n_samples * max(1.0, math.log(n_samples)))))
    bits = min(bits, 30)
    k = np.arange(n_samples + 1, dtype=np.float64)
    k[2:] *= np.log(k[2:])
    k[:2] = 0.0
    return np.rint(np.ldexp(k, bits)).astype(np.int64), bits


@njit(inline="always")
def _cell_of(values: Any, order: Any, first: Any, last: Any, n_cells: Any) -> Any:
    """The cell of equal values, ``first`` to ``last`` in order, by their middle.

    The cells of the negative column are the mirror image. So what lies between two cells, with as
    many values below as above, goes to where the nearest value is on one side only. In a column
    that is symmetric the first row says which side is below, as it does where ties are broken.
    """
    n, twice = order.size, first + last
    if twice > n:
        return n_cells - 1 - n_cells * (2 * n - twice) // (2 * n)
    cell = n_cells * twice // (2 * n)
    if twice < n or n_cells % 2:
        return cell
    low, high = values[order[first]], values[order[last - 1]]
    for step in range(1, first + 1):
        down, up = low - values[order[first - step]], values[order[last - 1 + step]] - high
        if down != up:
            return cell - (down < up)
    for value in values:
        if not low <= value <= high:
            return cell - (value < low)
    return cell


@kernel
def cell_codes(values: Any, tied: Any, n_cells: Any, codes: Any, scratch: Any) -> Any:
    """The cell of each sample, 0, 1, ...; equal values share one. Returns how many there may be.

    ``n_cells`` and ``codes`` (n_cells.size, n_samples) have several divisions of one column.
    """
    n = values.size
    order, more = scratch
    order_of(values, order, more)
    least = -1.0
    if tied:
        middle, square = 0.0, 0.0
        for i in range(n):
            middle += values[i] / n
        for i in range(n):
            square += (values[i] - middle) * ((values[i] - middle) / n)
        least = _TIED * np.sqrt(square)
    n_blocks = 1
    for r in range(1, n):
        n_blocks += values[order[r]] - values[order[r - 1]] > least
    first, block = 0, 0
    for r in range(1, n + 1):
        if r < n and not values[order[r]] - values[order[r - 1]] > least:
            continue
        for k in range(n_cells.size):
            cell = block
            if n_blocks > n_cells[k]:
                cell = _cell_of(values, order, first, r, n_cells[k])
            for at in range(first, r):
                codes[k, order[at]] = cell
        first = r
        block += 1
    return n_blocks


@njit(inline="always")
def _fill_sets(codes: Any, sets: Any, counts: Any) -> None:
    """Sets of samples by code, and their sizes."""
    for i in range(codes.size):
        sets[codes[i], i >> 6] |= np.uint64(1) << np.uint64(i & 63)
        counts[codes[i]] += 1


@njit(inline="always")
def _mark(values: Any) -> Any:
    """A number that tells columns apart that score the same; that of the negative is the same."""
    mark = np.uint64(0)
    bits = np.abs(values).view(np.uint64)
    for i in range(bits.size):
        x = bits[i] + np.uint64(i + 1) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mark += x ^ (x >> np.uint64(27))
    return mark


@kernel
def cut(values: Any, missing: Any, tied: Any, fine: Any, coarse: Any) -> None:
    """Fine and coarse cells of columns of numbers, all (n_columns, n_samples), are filled.

    Gaps are a fine cell, and in the middle of the coarse.
    """
    n_cells = np.array([FINE, COARSE])
    for j in range(values.shape[0]):
        fine[j], coarse[j] = FINE, COARSE // 2
        there = np.flatnonzero(~missing[j])
        n = there.size
        codes, order = np.empty((2, n), np.int32), np.empty(n, np.int32)
        if n > 0:
            cell_codes(
                values[j][there], tied[j], n_cells, codes, (order, np.empty((2, n + 1), np.int32))
            )
        for i in range(n):
            fine[j, there[i]], coarse[j, there[i]] = codes[0, i], codes[1, i]


@kernel
def encode(fine_codes: Any, coarse_codes: Any, columns: Any, places: Any, cells: Any) -> None:
    """Sets of columns by their codes, (n_columns, n_samples) each, at their places of ``cells``.

    ``cells`` is (starts, fine, sizes, coarse, coarse_sizes, marks), where sets are empty yet.
    """
    starts, fine, sizes, coarse, coarse_sizes, marks = cells
    for j in range(fine_codes.shape[0]):
        at = places[j]
        own = slice(starts[at], starts[at + 1])
        _fill_sets(fine_codes[j], fine[own], sizes[own])
        _fill_sets(coarse_codes[j], coarse[at], coarse_sizes[at])
        marks[at] = _mark(columns[j])


@kernel
def centre(values: Any, labels: Any, n_labels: Any) -> Any:
    """Columns less the mean of each stratum."""
    m, n = values.shape
    out = np.empty((m, n))
    sizes = np.zeros(n_labels, np.int64)
    for i in range(n):
        sizes[labels[i]] += 1
    for j in range(m):
        sums = np.zeros(n_labels)
        for i in range(n):
            sums[labels[i]] += values[j, i]
        for i in range(n):
            out[j, i] = values[j, i] - sums[labels[i]] / sizes[labels[i]]
    return out


@njit(inline="always")
def _move(codes: Any, permutation: Any, sets: Any) -> None:
    """Sets of the samples whose permuted partner has a code: all that a permutation changes."""
    sets[:] = np.uint64(0)
    for i in range(codes.size):
        j = permutation[i]
        sets[codes[i], j >> 6] |= np.uint64(1) << np.uint64(j & 63)


@njit(inline="always")
def _n_filled(sizes: Any) -> Any:
    filled = 0
    for size in sizes:
        filled += size > 0
    return filled


@njit(inline="always")
def _log_sum(sizes: Any, logs: Any) -> Any:
    total = np.int64(0)
    for size in sizes:
        total += logs[size]
    return total


@njit(inline="always")
def _table(x: Any, sizes_x: Any, y: Any, sizes_y: Any, logs: Any, left: Any) -> Any:
    """The sum of k log k over the cells of a table of two columns; the last ones by difference."""
    total = np.int64(0)
    last_y = sizes_y.size - 1
    left[: last_y + 1] = sizes_y
    for a in range(sizes_x.size - 1):
        rest = sizes_x[a]
        if rest == 0:
            continue
        for b in range(last_y):
            count = _shared(x[a], y[b])
            total += logs[count]
            rest -= count
            left[b] -= count
        total += logs[rest]
        left[last_y] -= rest
    for b in range(last_y + 1):
        total += logs[left[b]]
    return total


@kernel
def score_cells(
    cells: Any, columns: Any, target: Any, permutations: Any, logs: Any, unit: Any, out: Any
) -> None:
    """Scores (n_permutations, n_columns) of permuted columns: the information of fine cells.

    ``cells`` is (starts, fine, sizes), ``columns`` a range of columns, ``target`` (codes
    (n_targets, n_samples), number of codes of each). ``unit`` is a half, in fixed point.
    """
    starts, fine, sizes = cells
    codes, levels = target
    n = codes.shape[1]
    most = levels.max()
    sets, left = np.empty((most, fine.shape[1]), np.uint64), np.empty(most, np.int64)
    for t in range(codes.shape[0]):
        sizes_y = np.bincount(codes[t], minlength=levels[t])
        y_logs, filled_y = _log_sum(sizes_y, logs), _n_filled(sizes_y)
        for p in range(permutations.shape[0]):
            y = sets[: levels[t]]
            _move(codes[t], permutations[p], y)
            for j in range(columns[0], columns[1]):
                x, sizes_x = fine[starts[j] : starts[j + 1]], sizes[starts[j] : starts[j + 1]]
                score = _table(x, sizes_x, y, sizes_y, logs, left) + logs[n] - y_logs
                score -= _log_sum(sizes_x, logs)
                score -= unit * (_n_filled(sizes_x) - 1) * (filled_y - 1)
                out[p, j] += score


@kernel
def score_splits(
    cells: Any,
    columns: Any,
    target: Any,
    splits: Any,
    permutations: Any,
    logs: Any,
    unit: Any,
    out: Any,
) -> None:
    """The same of coarse cells inside the groups of a given column: the best of these columns.

    ``cells`` is (coarse, coarse_sizes), ``splits`` (codes (n_given, n_samples), numbers of codes).
    """
    coarse, coarse_sizes = cells
    codes_y, levels_y = target
    codes_s, levels_s = splits
    n_targets, n = codes_y.shape
    most = levels_y.max() * levels_s.max()
    joint, sets = np.empty(n, np.int64), np.empty((most, coarse.shape[2]), np.uint64)
    first, last = columns
    scores = np.empty(last - first, np.int64)
    for s in range(codes_s.shape[0]):
        n_s = levels_s[s]
        for p in range(permutations.shape[0]):
            scores[:] = 0
            for t in range(n_targets):
                n_y = levels_y[t]
                for i in range(n):
                    joint[i] = codes_s[s, i] * n_y + codes_y[t, i]
                sizes = np.bincount(joint, minlength=n_s * n_y)
                _move(joint, permutations[p], sets[: n_s * n_y])
                _add_splits(
                    (coarse, coarse_sizes), first, sets, sizes, (n_s, n_y), logs, unit, scores
                )
            for j in range(first, last):
                out[p, j] = scores[j - first] if s == 0 else max(out[p, j], scores[j - first])


@njit(inline="always")
def _add_splits(
    cells: Any, first: Any, sets: Any, sizes: Any, levels: Any, logs: Any, unit: Any, scores: Any
) -> None:
    """Add what coarse cells tell inside the groups, one target; ``sets`` are groups by target."""
    coarse, coarse_sizes = cells
    n_s, n_y = levels
    fixed, free = np.int64(0), 0
    for g in range(n_s):
        group = sizes[g * n_y : (g + 1) * n_y]
        fixed += logs[group.sum()] - _log_sum(group, logs)
        free += max(_n_filled(group) - 1, 0)
    for at in range(scores.size):
        x = coarse[first + at]
        score = fixed - unit * (_n_filled(coarse_sizes[first + at]) - 1) * free
        for g in range(n_s):
            n_0 = n_1 = n_2 = 0
            for b in range(g * n_y, (g + 1) * n_y):
                if sizes[b] == 0:
                    continue
                count_0, count_1 = _shared(x[0], sets[b]), _shared(x[1], sets[b])
                count_2 = sizes[b] - count_0 - count_1
                score += logs[count_0] + logs[count_1] + logs[count_2]
                n_0, n_1, n_2 = n_0 + count_0, n_1 + count_1, n_2 + count_2
            score -= logs[n_0] + logs[n_1] + logs[n_2]
        scores[at] += score


@njit(inline="always")
def _insert(score: Any, mark: Any, i: Any, j: Any, found: Any, marks: Any) -> None:
    """Keep the best: ``found`` (n_best, 3) has score and pair by falling score."""
    at = found.shape[0] - 1
    if score < found[at, 0] or (score == found[at, 0] and mark >= marks[at]):
        return
    while at > 0 and (
        score > found[at - 1, 0] or (score == found[at - 1, 0] and mark < marks[at - 1])
    ):
        found[at], marks[at] = found[at - 1], marks[at - 1]
        at -= 1
    found[at, 0], found[at, 1], found[at, 2], marks[at] = score, i, j, mark


@kernel
def best_pairs(
    cells: Any,
    pool: Any,
    some: Any,
    target: Any,
    permutation: Any,
    logs: Any,
    unit: Any,
    n_best: Any,
) -> Any:
    """The pairs of columns of ``pool`` that tell most jointly: (score, i, j), and their marks.

    ``cells`` is (coarse, coarse_sizes, marks); ``some`` is (first, step): only pairs whose first
    column is one of these are looked at, for tasks to share.
    """
    coarse, coarse_sizes, marks = cells
    codes, levels = target
    n_targets, n = codes.shape
    m, n_words, most = pool.size, coarse.shape[2], levels.max()
    y = np.empty((n_targets, most, n_words), np.uint64)
    sizes_y = np.zeros((n_targets, most), np.int64)
    with_x = np.empty((n_targets, most, 2, n_words), np.uint64)
    alone = np.empty((m, n_targets, most, COARSE), np.int64)
    fixed = np.zeros(n_targets, np.int64)
    filled_y = np.empty(n_targets, np.int64)
    for t in range(n_targets):
        _move(codes[t], permutation, y[t])
        sizes_y[t, : levels[t]] = np.bincount(codes[t], minlength=levels[t])
        fixed[t] = logs[n] - _log_sum(sizes_y[t], logs)
        filled_y[t] = _n_filled(sizes_y[t])
        for j in range(m):
            for b in range(levels[t]):
                left = sizes_y[t, b]
                for a in range(COARSE - 1):
                    alone[j, t, b, a] = _shared(coarse[pool[j], a], y[t, b])
                    left -= alone[j, t, b, a]
                alone[j, t, b, COARSE - 1] = left
    found = np.full((n_best, 3), np.int64(-(2**62)))
    found_marks = np.full(n_best, np.uint64(0))
    both, rest = np.empty(9, np.int64), np.empty(9, np.int64)
    for i in range(some[0], m - 1, some[1]):
        xi, size_i = coarse[pool[i]], coarse_sizes[pool[i]]
        for t in range(n_targets):
            for b in range(levels[t] - 1):
                for a in range(2):
                    for w in range(n_words):
                        with_x[t, b, a, w] = xi[a, w] & y[t, b, w]
        for j in range(i + 1, m):
            xj, size_j = coarse[pool[j]], coarse_sizes[pool[j]]
            _complete(
                _shared(xi[0], xj[0]),
                _shared(xi[0], xj[1]),
                _shared(xi[1], xj[0]),
                _shared(xi[1], xj[1]),
                size_i,
                size_j,
                both,
            )
            score = -n_targets * _log_sum(both, logs)
            filled = _n_filled(both) - 1
            for t in range(n_targets):
                rest[:] = both
                score += fixed[t] - unit * filled * (filled_y[t] - 1)
                for b in range(levels[t] - 1):
                    score += _add_cells(
                        (
                            _shared(with_x[t, b, 0], xj[0]),
                            _shared(with_x[t, b, 0], xj[1]),
                            _shared(with_x[t, b, 1], xj[0]),
                            _shared(with_x[t, b, 1], xj[1]),
                        ),
                        alone[i, t, b],
                        alone[j, t, b],
                        logs,
                        rest,
                    )
                score += _log_sum(rest, logs)
            mark = marks[pool[i]] + marks[pool[j]]
            _insert(score, mark, pool[i], pool[j], found, found_marks)
    return found, found_marks


@njit(inline="always")
def _complete(n00: Any, n01: Any, n10: Any, n11: Any, size_i: Any, size_j: Any, out: Any) -> None:
    """Nine cells of a table from four of them and the margins."""
    out[0], out[1], out[2] = n00, n01, size_i[0] - n00 - n01
    out[3], out[4], out[5] = n10, n11, size_i[1] - n10 - n11
    out[6], out[7] = size_j[0] - n00 - n10, size_j[1] - n01 - n11
    out[8] = size_i[2] - out[6] - out[7]


@njit(inline="always")
def _add_cells(four: Any, size_i: Any, size_j: Any, logs: Any, rest: Any) -> Any:
    """The sum of k log k over nine cells, which are taken away from ``rest``."""
    n00, n01, n10, n11 = four
    n02, n12 = size_i[0] - n00 - n01, size_i[1] - n10 - n11
    n20, n21 = size_j[0] - n00 - n10, size_j[1] - n01 - n11
    n22 = size_i[2] - n20 - n21
    rest[0] -= n00
    rest[1] -= n01
    rest[2] -= n02
    rest[3] -= n10
    rest[4] -= n11
    rest[5] -= n12
    rest[6] -= n20
    rest[7] -= n21
    rest[8] -= n22
    total = logs[n00] + logs[n01] + logs[n02] + logs[n10] + logs[n11] + logs[n12]
    return total + logs[n20] + logs[n21] + logs[n22]
