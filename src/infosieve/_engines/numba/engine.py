"""The CPU engine: chooses the search structure, cuts the work into tasks, adds the sums."""

import math
from functools import partial
from typing import Any

import numpy as np

from infosieve._core.chunks import chunks
from infosieve._core.types import Batch, FloatArray, IntArray, Runner
from infosieve._engines.ksg import CountingEngine, bivariate, nats, psi_table
from infosieve._engines.numba.lanes import LANES, aligned
from infosieve._engines.numba.plane import planes
from infosieve._engines.numba.rows import rows
from infosieve._engines.numba.tree import build, scan

# Beyond this many samples, shared neighbour lists (N^2) lose to trees (N log N).
MAX_ROWS = 20_000
# The same where nothing is given, and all points are on all lists.
FEW_ROWS = 700
# Candidates of one task stay in the cache: bytes.
TASK_BYTES = 4 << 20


class NumbaEngine(CountingEngine):
    """Scores batches on the CPU. See :class:`infosieve._core.types.Engine`."""

    name = "cpu"
    at_once = 16 * LANES
    surrogate_bytes = 1 << 26
    piece_bytes = 1 << 24

    def without_folds(self, batch: Batch, runner: Runner) -> FloatArray:
        """The score without each fold."""
        together = _without_folds(batch, runner) if bivariate(batch) else None
        return super().without_folds(batch, runner) if together is None else together

    def sums(self, batch: Batch, runner: Runner) -> IntArray:
        """Sums of psi terms in fixed point, by whatever structure is fastest."""
        batch = batch.materialised()
        if bivariate(batch):
            return _by_strips(batch, runner)
        if batch.method == "ksg1" and _sharing_pays(batch):
            return _by_rows(batch, runner)
        sums = np.empty((batch.n_candidates, _n_k(batch)), np.int64)
        for j, out in enumerate(sums):
            out[:] = _by_tree(batch, j, runner)
        return sums


def _n_k(batch: Batch) -> int:
    return batch.n_neighbors[1] - batch.n_neighbors[0] + 1


def _without_folds(batch: Batch, runner: Runner) -> FloatArray | None:
    """One search for all folds and all K: :mod:`.leave_out`, a task for each column.

    None where that does not do (Kraskov's second form, points that coincide, more neighbours
    than there are) or does not pay (few folds).
    """
    assert batch.folds is not None
    n_folds = int(batch.folds.max()) + 1
    sizes = batch.target.n_samples - np.bincount(batch.folds, minlength=n_folds)
    if n_folds < 8 or batch.method == "ksg2" or batch.n_neighbors[1] >= sizes.min():
        return None
    from infosieve._engines.numba.leave_out import leave_out

    psi = np.zeros((n_folds, sizes.max() + 1), np.int64)
    for row, size in zip(psi, sizes, strict=True):
        row[: size + 1] = psi_table(int(size))[0]
    x, y = batch.candidates, batch.target
    orders, order_y = x.order, y.order[0]

    def column(j: int) -> IntArray:
        return leave_out(  # type: ignore[no-any-return]
            x.values[j], y.values[0], orders[j], order_y, batch.folds, batch.n_neighbors, psi
        )

    each = runner.run([partial(column, j) for j in range(batch.n_candidates)])
    if not all(sums.size for sums in each):
        return None
    sums = np.ascontiguousarray(np.stack(each, axis=1))
    return np.stack([nats(sums[s], int(sizes[s]), False) for s in range(n_folds)])


def _sharing_pays(batch: Batch) -> bool:
    """Whether there are enough candidates for lists of neighbours that all of them share.

    Rough costs in microseconds a sample, fitted to measured ones: making the lists, and each
    candidate's walk along them (idle lanes walk too), against a tree for each candidate, which
    costs more the more dimensions it has, up to that of meeting all points.
    """
    n, m = batch.target.n_samples, batch.n_candidates
    d = batch.given.n_columns + batch.target.n_columns + batch.width
    joint, alone = _list_lengths(n, batch)
    lists = 1 + 0.0035 * n + 0.005 * min(n, joint + alone)
    walk = (0.1 + 0.0003 * alone) * (1.0 if batch.conditional else 0.45)
    tree = (2.2 if batch.conditional else 1.0) / (1.8 / 1.5 ** (d - 2) + 1 / (0.4 + 0.0005 * d * n))
    most = MAX_ROWS if batch.given.n_columns else FEW_ROWS
    return n <= most and m * tree > lists + math.ceil(m / LANES) * LANES * walk


def _by_strips(batch: Batch, runner: Runner) -> IntArray:
    """One column against one: :mod:`.plane`, a task for a few columns."""
    n, m = batch.target.n_samples, batch.n_candidates
    psi = psi_table(n)
    x, y = batch.candidates, batch.target
    orders, order = x.order, y.order[0]
    # Sweep along the column with fewer ties: strips of equal values cannot be skipped.
    swapped = x.n_distinct < y.n_distinct[0]
    tied = np.minimum(x.n_distinct, y.n_distinct[0])
    widths = np.zeros(m, np.int64) + _strip_width(n, batch.n_neighbors[1], tied)
    out = np.empty((m, _n_k(batch)), np.int64)

    def some(at: slice) -> None:
        planes(
            x.values[at],
            y.values[0],
            orders[at],
            order,
            swapped[at],
            widths[at],
            batch.n_neighbors,
            batch.method == "ksg2",
            psi,
            out[at],
        )

    size = max(1, min(math.ceil(m / (4 * runner.n_workers)), math.ceil(100_000 / n)))
    runner.run([partial(some, chunk) for chunk in chunks(m, size)])
    return out


def _strip_width(n: int, k: int, n_distinct: IntArray) -> IntArray:
    """Points in a strip: about a neighbourhood's width, less where b has few values."""
    width = np.minimum(min(1.7 * math.sqrt(k * n), n), 4 * k * n_distinct)
    return np.maximum(LANES, np.ceil(width / LANES).astype(np.int64) * LANES)


def _by_rows(batch: Batch, runner: Runner) -> IntArray:
    """Many candidates that share the rest: :mod:`.rows`, a task for some points of some."""
    n, m = batch.target.n_samples, batch.n_candidates
    squared, joined = batch.metric == "euclidean", batch.criterion != "cmi"
    form = (squared, squared and joined, batch.conditional, batch.width)
    psi = psi_table(n)
    wants = _list_lengths(n, batch)
    pieces = chunks(m, max(16 * LANES, TASK_BYTES // (8 * n)))
    spans = chunks(n, n if runner.n_workers == 1 else -(-n // (3 * runner.n_workers)))

    def task(blocks: FloatArray, at: slice) -> IntArray:
        given, target, span = batch.given.values, batch.target.values, (at.start, at.stop)
        return rows(blocks, given, target, span, batch.n_neighbors, form, wants, psi)  # type: ignore[no-any-return]

    sums = []
    for chunk in pieces:
        columns = slice(chunk.start * batch.width, chunk.stop * batch.width)
        blocks = _in_lanes(batch.candidates.values[columns], batch.width, runner)
        parts = runner.run([partial(task, blocks, span) for span in spans])
        sums.append(np.sum(parts, axis=0)[:, : chunk.stop - chunk.start])
    return np.concatenate(sums, axis=1).T


def _list_lengths(n: int, batch: Batch) -> tuple[int, int]:
    """How many neighbours to list: a few times those that independent columns would need."""
    k, s = batch.n_neighbors[1], batch.given.n_columns
    joint = 14 * k * (n / k) ** (1 / (s + batch.target.n_columns + 1))
    alone = 8 * n * (k / n) ** (s / (s + 2))
    return int(joint) + 16, int(alone) + 16


def _in_lanes(columns: FloatArray, width: int, runner: Runner) -> FloatArray:
    """Candidates by blocks of LANES, sample by sample: (n_blocks, n_samples * width * LANES)."""
    m, n = len(columns) // width, columns.shape[1]
    candidates = columns.reshape(m, width, n)
    blocks: FloatArray = aligned(math.ceil(m / LANES) * n * width * LANES, np.float64)
    blocks = blocks.reshape(-1, n, width, LANES)

    def fill(block: int) -> None:
        some = candidates[block * LANES : (block + 1) * LANES]
        blocks[block, ..., : len(some)] = some.transpose(2, 1, 0)
        blocks[block, ..., len(some) :] = some[-1].T[..., None]  # idle lanes do as the last does

    runner.run([partial(fill, block) for block in range(len(blocks))])
    return blocks.reshape(len(blocks), n * width * LANES)


def _by_tree(batch: Batch, candidate: int, runner: Runner) -> IntArray:
    """A candidate on its own: :mod:`.tree`, a task for some points."""
    own = slice(candidate * batch.width, (candidate + 1) * batch.width)
    x, s, y = batch.candidates.values[own], batch.given.values, batch.target.values
    n = y.shape[1]
    columns = np.concatenate([s, x, y])
    n_s, n_x, n_y = len(s), len(x), len(y)
    in_s, in_x, in_y = np.split(np.arange(len(columns)), [n_s, n_s + n_x])
    together = [0, n_s, n_s + n_x] if batch.criterion == "cmi" else [0, n_s + n_x]
    edges = np.array([*together, n_s + n_x + n_y])
    spaces = [(np.r_[in_s, in_x], np.array(together), -1)]
    if batch.conditional:
        spaces += [
            (np.r_[in_s, in_y], np.array([0, n_s, n_s + n_y]), -1),
            (in_s, np.array([0, n_s]), 1),
        ]
    else:
        spaces += [(in_y, np.array([0, n_y]), -1)]
    joint, order = build(columns, LANES)
    margins = tuple(_margin(columns[at], at, within, sign, order) for at, within, sign in spaces)
    form = (batch.metric == "euclidean", batch.method == "ksg2")
    n_leaves = (len(joint[1]) + 1) // 2

    def task(at: slice) -> IntArray:
        leaves = at.start, at.stop
        return scan(joint, edges, margins, leaves, batch.n_neighbors, form, psi_table(n))  # type: ignore[no-any-return]

    spans = chunks(n_leaves, -(-n_leaves // (4 * runner.n_workers)))
    return np.asarray(np.sum(runner.run([partial(task, at) for at in spans]), axis=0))


def _margin(columns: FloatArray, at: IntArray, edges: IntArray, sign: int, order: IntArray) -> Any:
    """A space in which :func:`.tree.scan` counts: a tree or, for one column, its sorted values."""
    if len(columns) > 1:
        nothing = np.empty(0), np.empty(0, np.int32)
        return build(columns, LANES)[0], edges, at, sign, *nothing
    by_value = np.argsort(columns[0])
    ranks = np.empty(len(by_value), np.int32)
    ranks[by_value] = np.arange(len(by_value))
    stub = build(columns[:, :1], LANES)[0]
    return stub, edges, at, sign, columns[0][by_value], ranks[order]
