"""Categories among the columns: counts instead of neighbours, and what chance adds to counts."""

from dataclasses import replace
from functools import partial

import numpy as np

from infosieve._core.categories import category_labels, codes_of
from infosieve._core.chunks import chunks
from infosieve._core.types import Batch, BoolArray, Engine, FloatArray, IntArray, Runner
from infosieve._engines.ksg import fraction_bits, psi_table
from infosieve._engines.numba.counts import contingency

# Candidates that one task counts, at least.
_TASK = 16


def averaged(nats: FloatArray) -> FloatArray:
    """One number a candidate: the mean over K, and over folds where there are some."""
    return np.asarray(nats.mean(axis=2).mean(axis=0))


def score(batch: Batch, engine: Engine, runner: Runner) -> FloatArray:
    """Score a batch that may have categories: (n_folds, n_candidates, n_K) nats."""
    blocks = (batch.candidates, batch.given, batch.target)
    if not any(block.labelled.any() for block in blocks):
        return engine.score(batch, runner)
    if batch.folds is None:
        return _score(batch, engine, runner)[None]
    batch = batch.materialised()
    remaining = batch.without_folds()
    return np.stack([_score(batch.rows(rows), engine, runner) for rows in remaining])


def _score(batch: Batch, engine: Engine, runner: Runner) -> FloatArray:
    """Candidates of nothing but numbers together, then those with categories."""
    lo, hi = batch.n_neighbors
    m, n = batch.candidates.n_columns // batch.width, batch.target.n_samples
    n_times = 1 if batch.permutations is None else len(batch.permutations)
    scores = np.zeros((n_times, m, hi - lo + 1))
    labelled = batch.candidates.labelled.reshape(m, batch.width).any(axis=1)
    numbers, others = np.flatnonzero(~labelled), np.flatnonzero(labelled)
    if numbers.size and n > 1:
        part = batch.only(numbers)
        counts = _counts(replace(part, permutations=None), np.zeros((1, n), np.int64), runner)
        found = engine.score(part, runner)[0]
        few = _beyond_chance(found, counts, part, np.zeros(1, bool))
        scores[:, numbers] = few.reshape(-1, numbers.size, hi - lo + 1)
    if others.size and n > 1:
        part = batch.only(others)
        few = _with_categories(part, engine, runner)
        scores[:, others] = few.reshape(-1, others.size, few.shape[1])
    return scores.reshape(-1, hi - lo + 1)


def _with_categories(batch: Batch, engine: Engine, runner: Runner) -> FloatArray:
    """Candidates each of which has categories: (n_candidates, n_K), or (..., 1) for any K."""
    lo, hi = batch.n_neighbors
    counts = _counts(batch, _own_labels(batch), runner)
    whole = batch.candidates.categorical.reshape(-1, batch.width).all(axis=1)
    searched = np.arange(whole.size)
    if batch.given.categorical.all() and batch.target.categorical.all():
        searched = np.flatnonzero(~whole)
    found = counts[:, :1]
    if searched.size:
        each = np.repeat(found, hi - lo + 1, axis=1).reshape(-1, whole.size, hi - lo + 1)
        some = engine.score(batch.only(searched), runner)[0]
        each[:, searched] = some.reshape(-1, searched.size, hi - lo + 1)
        found = each.reshape(-1, hi - lo + 1)
    return _beyond_chance(found, counts, batch, np.tile(whole, len(counts) // whole.size))


def _counts(batch: Batch, x: IntArray, runner: Runner) -> FloatArray:
    """The information of the categories alone (:func:`.counts.contingency`), in nats a sample.

    Of the columns ``x`` of labels, permuted if the batch says so: (n_candidates, 4).
    """
    n, y = x.shape[1], category_labels(batch.target)
    if y.max(initial=0) == 0:  # nothing but numbers: chance adds nothing
        return np.zeros(
            (len(x) * (1 if batch.permutations is None else len(batch.permutations)), 4)
        )
    strata = category_labels(batch.given)
    order, sizes = np.argsort(strata, kind="stable"), np.bincount(strata)
    edges = np.concatenate([[0], np.cumsum(sizes)])
    rows = order[None] if batch.permutations is None else batch.permutations.take(order, axis=1)
    psi, bits = psi_table(n)[0], fraction_bits(n)
    y, rows = y[order], rows.astype(np.int32)

    def some(columns: slice, times: slice) -> IntArray:
        strata = rows[times], edges
        return contingency(x[columns], y, strata, not batch.conditional, psi, bits)  # type: ignore[no-any-return]

    # A task has all copies of a column, which have the same margins, if there are enough columns.
    n_tasks = 1 if runner.n_workers == 1 else 4 * runner.n_workers
    n_tasks = max(1, min(n_tasks, len(x) * len(rows) // _TASK))
    columns = chunks(len(x), -(-len(x) // n_tasks))
    times = chunks(len(rows), -(-len(rows) * len(columns) // n_tasks))
    parts = runner.run([partial(some, which, at) for which in columns for at in times])
    by_columns = [
        np.concatenate(parts[i : i + len(times)]) for i in range(0, len(parts), len(times))
    ]
    sums = np.concatenate(by_columns, axis=1).reshape(-1, 4)
    return np.asarray(np.ldexp(sums.astype(np.float64), -bits) / n)


def _beyond_chance(
    found: FloatArray, counts: FloatArray, batch: Batch, whole: BoolArray
) -> FloatArray:
    """Estimates (n_candidates, n_K) without what chance adds to them.

    Chance adds e, the mean over permutations, where x and y are independent, and nothing where
    one determines the other and I = h. In between, e (1 - (I / h)^p) is assumed; with many samples
    a cell the bias hardly depends on I, with few it falls in proportion: p = 1 + u^2 / (4 r),
    r = e / h, u = 1 - r. Where most cells have one sample, u is close to 0, and solving for I would
    multiply noise by 1 / u: as in a ridge regression, a share v / (u^2 h^2 + v) is left as it is,
    v = e / N being the variance of ``found`` under permutations. Others were tried:
    docs/categories.md. ``whole`` says which candidates are nothing but categories.
    """
    _, e, h_x, h_y = counts.T
    if not batch.conditional and not batch.given.categorical.all():
        whole = np.zeros_like(whole)
    h = np.where(whole, h_x, np.inf)
    if batch.target.categorical.all():
        h = np.minimum(h, h_y)
    beyond: FloatArray = found - e[:, None]
    bounded = (h > 0) & np.isfinite(h) & (e > 0)  # otherwise chance adds a constant, or nothing
    if not bounded.any():
        return np.asarray(beyond)
    limit = np.where(bounded, h, 1.0)[:, None]
    r = np.where(bounded[:, None], e[:, None] / limit, 0.5)
    u = 1 - r
    size = np.abs(beyond) / limit
    share = u * u / (u * u + r / (limit * batch.target.n_samples))
    solved = share * _without_bias(size, r) + (1 - share) * size
    return np.asarray(np.where(bounded[:, None], np.sign(beyond) * limit * solved, beyond))


def _without_bias(size: FloatArray, r: FloatArray) -> FloatArray:
    """The i with i - r i^p = size, by bisection; both are parts of the largest information."""
    u = np.maximum(1 - r, 0.0)
    p = 1 + u * u / (4 * r)
    low, high = np.zeros_like(size), np.ones_like(size)
    for _ in range(60):
        middle = (low + high) / 2
        below = middle - r * middle**p < size
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.where(size < u, (low + high) / 2, 1 + size - u)


def _own_labels(batch: Batch) -> IntArray:
    """For each candidate, not permuted, labels of the combinations of its categories."""
    if batch.width == 1:
        return codes_of(batch.candidates.values)
    m = batch.candidates.n_columns // batch.width
    each = [batch.only(np.array([j])).candidates for j in range(m)]
    return np.stack([category_labels(columns) for columns in each])
