"""Categories among the columns: counts instead of neighbours, and what chance adds to counts."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from infosieve._core.categories import category_labels, codes_of
from infosieve._core.chunks import chunks
from infosieve._core.types import Batch, BoolArray, Engine, FloatArray, IntArray, Runner
from infosieve._engines.ksg import fraction_bits, psi_table
from infosieve._engines.numba.counts import contingency

# Candidates of one task, at least.
_TASK = 16


@dataclass(frozen=True)
class Scores:
    """Nats of a batch: (n_folds, n_candidates, n_K)."""

    nats: FloatArray

    @property
    def averaged(self) -> FloatArray:
        """One number a candidate: the mean over K, and over folds where there are some."""
        return np.asarray(self.nats.mean(axis=2).mean(axis=0))


def score(batch: Batch, engine: Engine, runner: Runner) -> Scores:
    """Score a batch that may have categories: (n_folds, n_candidates, n_K) nats."""
    blocks = (batch.candidates, batch.given, batch.target)
    if not any(block.categorical.any() for block in blocks):
        return Scores(engine.score(batch, runner))
    batch = batch.materialised()
    if batch.folds is None:
        return Scores(_score(batch, engine, runner)[None])
    remaining = batch.without_folds()
    return Scores(np.stack([_score(batch.rows(rows), engine, runner) for rows in remaining]))


def _score(batch: Batch, engine: Engine, runner: Runner) -> FloatArray:
    """Candidates of nothing but numbers together, the others one by one."""
    lo, hi = batch.n_neighbors
    m, n = batch.n_candidates, batch.target.n_samples
    scores = np.zeros((m, hi - lo + 1))
    categorical = batch.candidates.categorical.reshape(m, batch.width)
    numbers = np.flatnonzero(~categorical.any(axis=1))
    others = np.flatnonzero(categorical.any(axis=1))
    if numbers.size and n > 1:
        fold = batch.only(numbers)
        counts = _counts(fold, np.zeros((1, n), np.int64), runner)
        scores[numbers] = _beyond_chance(
            engine.score(fold, runner)[0], counts, fold, np.zeros(1, bool)
        )
    if others.size and n > 1:
        fold = batch.only(others)
        counts = _counts(fold, _own_labels(fold), runner)
        found = np.repeat(counts[:, :1], hi - lo + 1, axis=1)
        whole = np.asarray(categorical[others].all(axis=1))
        rest = batch.given.categorical.all() and batch.target.categorical.all()
        for j in np.flatnonzero(~(whole & rest)):
            found[j] = engine.score(fold.only(np.array([j])), runner)[0, 0]
        scores[others] = _beyond_chance(found, counts, fold, whole)
    return scores


def _counts(batch: Batch, x: IntArray, runner: Runner) -> FloatArray:
    """The information of the categories alone (:func:`.counts.contingency`), in nats a sample."""
    n, y = x.shape[1], category_labels(batch.target)
    strata = category_labels(batch.given)
    order, sizes = np.argsort(strata, kind="stable"), np.bincount(strata)
    edges = np.concatenate([[0], np.cumsum(sizes)])
    levels = int(x.max()) + 1, int(y.max()) + 1
    psi, bits = psi_table(n)[0], fraction_bits(n)

    def some(at: slice) -> IntArray:
        joined = not batch.conditional
        return contingency(x[at], y, (order, edges), levels, joined, psi, bits)  # type: ignore[no-any-return]

    size = max(_TASK, -(-len(x) // (4 * runner.n_workers)))
    tasks = [partial(some, at) for at in chunks(len(x), size)]
    sums = np.concatenate(runner.run(tasks))
    return np.asarray(np.ldexp(sums.astype(np.float64), -fraction_bits(n)) / n)


def _beyond_chance(
    found: FloatArray, counts: FloatArray, batch: Batch, whole: BoolArray
) -> FloatArray:
    """Estimates (n_candidates, n_K) without what chance adds to them.

    Chance adds e, the mean over permutations, where x and y are independent, and nothing where
    one determines the other and I = h; in between, e (1 - I / h) is assumed. Solved for I, that
    is (found - e) / u with u = 1 - e / h. Where most cells have one sample, u is close to 0 and
    little can be known: u / (u^2 + v / h^2) then takes the place of 1 / u, as in a ridge
    regression, v = e / N being the variance of ``found`` under permutations. Others were tried:
    docs/categories.md. ``whole`` says which candidates are nothing but categories.
    """
    _, e, h_x, h_y = counts.T
    if not batch.conditional and not batch.given.categorical.all():
        whole = np.zeros_like(whole)
    h = np.where(whole, h_x, np.inf)
    if batch.target.categorical.all():
        h = np.minimum(h, h_y)
    h = np.where(h > 0, h, np.inf)  # numbers on both sides have no bound; nothing has no chance
    u = 1 - e / h
    factor = u / (u * u + np.maximum(e, 0.0) / (batch.target.n_samples * h * h))
    return np.asarray((found - e[:, None]) * factor[:, None])


def _own_labels(batch: Batch) -> IntArray:
    """For each candidate, labels of the combinations of its categorical columns."""
    if batch.width == 1:
        return codes_of(batch.candidates.values)
    each = [batch.only(np.array([j])).candidates for j in range(batch.n_candidates)]
    return np.stack([category_labels(columns) for columns in each])
