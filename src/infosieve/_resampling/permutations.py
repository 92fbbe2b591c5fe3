"""Folds and permutations of the rows.

Random numbers come from a counter-based generator whose key is made of the seed, a purpose and
the given columns. Permutation number p of a test is the same in whatever batch, thread or worker
it is drawn, wherever the tested column stands, and whoever asks: a search or a single test.
"""

import hashlib
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from infosieve._core.categories import category_labels
from infosieve._core.parameters import check_seed
from infosieve._core.types import (
    Columns,
    Engine,
    IntArray,
    Metric,
    Runner,
    WritableArrays,
)
from infosieve._engines.numba.shuffle import shuffle, shuffle_near
from infosieve._resampling.surrogates import SAMPLES_EACH, LocalFits, Surrogates, fit_weights

# A local permutation exchanges samples with one of their nearest, so many with the sample itself,
# twice.
N_NEAR = 6
# Neighbours of up to so many points are found by one thread.
_FEW_POINTS = 5000


def seed_of(random_state: Any) -> int:
    """One integer from what scikit-learn's users call a random state."""
    checked = check_seed(random_state)
    if checked is None:
        return int(np.random.SeedSequence().entropy)  # type: ignore[arg-type]
    if isinstance(checked, np.random.Generator):
        return int(checked.integers(2**31))
    if isinstance(checked, np.random.RandomState):
        return int(checked.randint(2**31))
    return int(checked)


def key_of(seed: int, purpose: str, given: Columns) -> tuple[int, str, int]:
    """What the random numbers of a test are made of; neither order nor names of columns matter."""
    if given.n_columns == 0:
        return seed, purpose, 0
    digests = [
        hashlib.blake2b(row.astype("<f8").tobytes(), digest_size=8).digest() for row in given.values
    ]
    together = hashlib.blake2b(b"".join(sorted(digests)), digest_size=8).digest()
    return seed, purpose, int.from_bytes(together, "little")


def _words(key: tuple[int, str, int], first: int, count: int, width: int) -> Any:
    """Random 64-bit words number ``first`` to ``first + count``, each a row of ``width``."""
    digest = hashlib.blake2b(repr(key).encode(), digest_size=16).digest()
    generator = np.random.Philox(key=int.from_bytes(digest, "little"))
    blocks = -(-width // 4)  # the generator's counter moves by four words
    generator.advance(first * blocks)
    return generator.random_raw(count * blocks * 4).reshape(count, blocks * 4)[:, :width]


@dataclass(frozen=True)
class Permutations(WritableArrays):
    """The row permutations of one test: row i receives the value of row ``draw(...)[p, i]``.

    Inside strata, or, with ``near``, among the neighbours of each row; then it is not the value
    that moves, but the residual of a local linear fit (``fits``). ``local``: rows exchange only
    with rows that are like them in the given columns.
    """

    key: tuple[int, str, int]
    order: IntArray
    edges: IntArray
    near: IntArray | None = None
    fits: LocalFits | None = None
    local: bool = False

    def draw(self, first: int, count: int) -> IntArray:
        n = self.order.size
        if self.near is None:
            return np.asarray(shuffle(_words(self.key, first, count, n), self.order, self.edges))
        return np.asarray(shuffle_near(_words(self.key, first, count, 2 * n), self.near))

    def surrogates(
        self, columns: Columns, runner: Runner, engine: Engine | None = None
    ) -> Surrogates:
        """What makes surrogates of the columns from drawn permutations."""
        return Surrogates(columns, self.fits, runner, engine)


def global_permutations(key: tuple[int, str, int], n_samples: int) -> Permutations:
    """Any row may receive any value: the null of independence of everything."""
    return Permutations(key, np.arange(n_samples, dtype=np.int32), np.array([0, n_samples]))


def local_permutations(
    key: tuple[int, str, int], given: Columns, metric: Metric, n_workers: int = 1
) -> Permutations:
    """Rows exchange with near rows: the null of no information conditional on the given columns.

    Near are the nearest :data:`N_NEAR` in the given columns; under categories, those of the
    same categories, and all of them where there is nothing but categories. What the given columns
    predict of a value stays where it is (:mod:`.surrogates`). The default test is close to Runge
    (2018, https://proceedings.mlr.press/v84/runge18a.html), who permutes values.
    """
    labels = category_labels(given)
    order = np.argsort(labels, kind="stable").astype(np.int32)
    edges = np.concatenate([[0], np.cumsum(np.bincount(labels))])
    numbers = given.values[~given.categorical].T
    if numbers.shape[1] == 0:
        return Permutations(key, order, edges, local=True)
    n = order.size
    width = min(n, max(N_NEAR, SAMPLES_EACH * (numbers.shape[1] + 1)))
    near, weights = np.empty((n, width), np.int32), np.zeros((n, width))
    for first, last in pairwise(edges.tolist()):
        rows = order[first:last]
        points, k = numbers[rows], min(width, rows.size)
        norm = 2 if metric == "euclidean" else np.inf
        # scipy's threads do not survive Ctrl-C, and few points are found before it comes.
        threads = n_workers if rows.size > _FEW_POINTS else 1
        found = cKDTree(points).query(points, k, p=norm, workers=threads)[1]
        found = found.reshape(rows.size, k)
        absent = (found[:, :N_NEAR] != np.arange(rows.size)[:, None]).all(axis=1)
        found[absent, 0] = np.flatnonzero(absent)  # too many are at distance zero
        again = np.arange(width) % k  # a small stratum: its rows several times
        near[rows] = rows[found[:, again]]
        weights[rows, :k] = fit_weights(points, found)
    few = np.ascontiguousarray(near[:, :N_NEAR])
    return Permutations(key, order, edges, few, LocalFits.of(near, weights), local=True)


def permutations_of(
    null: str, key: tuple[int, str, int], given: Columns, metric: Metric, n_workers: int
) -> Permutations:
    """Those of the "local" null where there are given columns, otherwise those of all rows."""
    if null == "local" and given.n_columns:
        return local_permutations(key, given, metric, n_workers)
    return global_permutations(key, given.n_samples)


def random_folds(key: tuple[int, str, int], n_samples: int, n_parts: int) -> IntArray:
    """A fold for each sample, at random; sizes differ by one at most."""
    return np.asarray(global_permutations(key, n_samples).draw(0, 1)[0] % n_parts)
