"""Folds and permutations of the rows.

Random numbers come from a counter-based generator whose key is made of the seed, a purpose and
the given columns. Permutation number p of a test is the same in whatever batch, thread or worker
it is drawn, wherever the tested column stands, and whoever asks: a search or a single test.
"""

import hashlib
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from infosieve._core.categories import category_labels, codes_of
from infosieve._core.parameters import check_seed
from infosieve._core.types import (
    Columns,
    ColumnSet,
    Engine,
    FloatArray,
    IntArray,
    Metric,
    Runner,
    WritableArrays,
)
from infosieve._engines.numba.columns import LIFT
from infosieve._engines.numba.shuffle import shuffle, shuffle_near
from infosieve._resampling.layout import Layout, alike, memory
from infosieve._resampling.random_bits import Key, random_order, random_words
from infosieve._resampling.surrogates import (
    SAMPLES_EACH,
    LocalFits,
    Series,
    Surrogates,
    fit_weights,
)

# A local permutation exchanges samples with one of their nearest, so many with the sample itself,
# twice.
N_NEAR = 6
# Of a series, each coefficient of a local fit has one row in so many, but not more than these.
_FIT_SHARE, _FIT_MOST = 20, 100
# Neighbours of up to so many points are found by one thread.
_FEW_POINTS = 5000


def seed_of(random_state: Any) -> int:
    """One integer from what scikit-learn's users call a random state."""
    checked = check_seed(random_state)
    if checked is None:
        return int(np.random.SeedSequence().generate_state(1)[0])  # short enough to be typed
    if isinstance(checked, np.random.Generator):
        return int(checked.integers(2**31))
    if isinstance(checked, np.random.RandomState):
        return int(checked.randint(2**31))
    return int(checked)


def key_of(seed: int, purpose: str, given: Columns) -> Key:
    """What the random numbers of a test are made of: not of order, names or signs of columns."""
    if given.n_columns == 0:
        return seed, purpose, 0
    rows = given.upright().values.astype("<f8")
    digests = [hashlib.blake2b(row.tobytes(), digest_size=8).digest() for row in rows]
    together = hashlib.blake2b(b"".join(sorted(digests)), digest_size=8).digest()
    return seed, purpose, int.from_bytes(together, "little")


@dataclass(frozen=True)
class Permutations(WritableArrays):
    """The row permutations of one test: row i receives the value of row ``draw(...)[p, i]``.

    Inside strata, or, with ``near``, among the neighbours of each row; then it is not the value
    that moves, but the residual of a local linear fit (``fits``). ``local``: rows exchange only
    with rows that are like them in the given columns. With ``by_place`` it is groups that exchange
    all their rows, each for that at its place, see :class:`.layout.Layout`; ``order``, ``edges``
    and ``near`` are those of groups then. Of a ``series`` it is innovations that move.
    """

    key: Key
    order: IntArray
    edges: IntArray
    near: IntArray | None = None
    fits: LocalFits | None = None
    local: bool = False
    by_place: IntArray | None = None
    series: Series | None = None

    @property
    def n_samples(self) -> int:
        return self.order.size if self.by_place is None else self.by_place.size

    def draw(self, first: int, count: int) -> IntArray:
        n = self.order.size
        if self.by_place is None:
            width = n if self.near is None else 2 * n
            return self._exchanged(random_words(self.key, first, count, width))
        groups = self._exchanged(random_words(self.key, first, count, 2 * n))
        place = np.argsort(self.by_place, axis=0)
        rows = self.by_place[place, groups[:, None, :]] * n + groups[:, None, :]
        return np.ascontiguousarray(rows.reshape(count, -1), np.int32)

    def _exchanged(self, words: Any) -> IntArray:
        n = self.order.size
        if self.near is None:
            return np.asarray(shuffle(np.ascontiguousarray(words[:, :n]), self.order, self.edges))
        return np.asarray(shuffle_near(np.ascontiguousarray(words), self.near))

    def moves_rows(self, columns: ColumnSet) -> bool:
        """Whether what the given columns leave of surrogates is that of the columns, permuted.

        Not where categories and gaps of a series move in a circle while innovations are permuted.
        """
        return self.series is None or not bool(columns.labelled.any())

    @property
    def plain(self) -> bool:
        """Whether surrogates are nothing but permuted columns."""
        return self.fits is None and self.series is None

    def surrogates(
        self, columns: Columns, runner: Runner, engine: Engine | None = None
    ) -> Surrogates:
        """What makes surrogates of the columns from drawn permutations."""
        return Surrogates(columns, self.fits, runner, engine, self.series)


def global_permutations(key: Key, n_samples: int, layout: Layout | None = None) -> Permutations:
    """Any row, or group, may receive the values of any: the null of independence of everything."""
    series = None if layout is None or layout.time is None else Series.of(layout.time)
    order, edges = np.arange(n_samples, dtype=np.int32), np.array([0, n_samples])
    if layout is not None and layout.sizes is not None:
        order, edges = _strata(alike(layout.sizes))
    by_place = None if layout is None else layout.by_place
    return Permutations(key, order, edges, by_place=by_place, series=series)


def _strata(labels: IntArray) -> tuple[IntArray, IntArray]:
    """Numbers by their label, and where each label begins and the last ends."""
    order = np.argsort(labels, kind="stable").astype(np.int32)
    return order, np.concatenate([[0], np.cumsum(np.bincount(labels))])


def local_permutations(
    key: Key, given: Columns, metric: Metric, n_workers: int = 1
) -> Permutations:
    """Rows exchange with near rows: the null of no information conditional on the given columns.

    Near are the nearest :data:`N_NEAR` in the given columns; under categories, those of the
    same categories, and all of them where there is nothing but categories. What the given columns
    predict of a value stays where it is (:mod:`.surrogates`). The default test is close to Runge
    (2018, https://proceedings.mlr.press/v84/runge18a.html), who permutes values.
    """
    order, edges = _strata(category_labels(given))
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
        put_first(found)
        again = np.arange(width) % k  # a small stratum: its rows several times
        near[rows] = rows[found[:, again]]
        weights[rows, :k] = fit_weights(points, found)
    few = np.ascontiguousarray(near[:, :N_NEAR])
    return Permutations(key, order, edges, few, LocalFits.of(near, weights), local=True)


def put_first(found: IntArray, rows: IntArray | None = None) -> None:
    """Each row among its nearest, also where too many are at distance zero: it changes places."""
    own = np.arange(len(found)) if rows is None else rows
    for i in np.flatnonzero((found[:, :N_NEAR] != own[:, None]).all(axis=1)):
        found[i, found[i] == own[i]] = found[i, 0]
        found[i, 0] = own[i]


def group_permutations(
    key: Key, given: Columns, metric: Metric, n_workers: int, layout: Layout
) -> Permutations:
    """Groups exchange all their rows with groups that are like them in the given columns.

    What is fitted to a row does not come from rows of its group. Among groups that have one
    combination of categories each, and nothing else is given, the same combination is like.
    """
    assert layout.slots is not None
    assert layout.rows is not None
    assert layout.sizes is not None
    n_slots, n = layout.slots
    labels = category_labels(given).reshape(n_slots, n)
    if given.categorical.all() and (labels == labels[0]).all():
        strata = _strata(alike(layout.sizes, labels[0]))
        return Permutations(key, *strata, local=True, by_place=layout.by_place)
    owner = np.tile(np.arange(n, dtype=np.int64), n_slots)
    fits = fits_apart(given, metric, n_workers, owner, 0, layout.rows)
    means = _means_of_groups(given, n_slots)
    order, edges = _strata(alike(layout.sizes))
    near = np.empty((n, min(N_NEAR, int(np.diff(edges).min()))), np.int32)
    for first, last in pairwise(edges.tolist()):
        like = order[first:last]
        found = cKDTree(means[like]).query(means[like], near.shape[1])[1].reshape(like.size, -1)
        put_first(found)
        near[like] = like[found]
    return Permutations(key, order, edges, near, fits, local=True, by_place=layout.by_place)


def _means_of_groups(given: Columns, n_slots: int) -> FloatArray:
    """The mean of each group (n_groups, n_columns); of categories, how often each level is."""
    each = []
    for values, categorical in zip(given.filled().values, given.categorical, strict=True):
        codes = codes_of(values)
        rows = [codes == c for c in range(codes.max() + 1)] if categorical else [values / LIFT]
        each += [np.asarray(row, float).reshape(n_slots, -1).mean(axis=0) for row in rows]
    return np.stack(each, axis=1)


def fits_apart(
    given: Columns,
    metric: Metric,
    n_workers: int,
    at: IntArray,
    reach: int,
    rows: IntArray,
    n_each: int = SAMPLES_EACH,
) -> LocalFits:
    """Local linear fits to near rows of others: rows belong together up to ``reach`` apart.

    ``at`` is where a row is: its group, or its time. ``rows`` are samples, which count once,
    however often they are there. ``n_each`` are the samples for each coefficient.
    """
    labels = category_labels(given)
    numbers = given.values[~given.categorical].T
    n, d = numbers.shape
    once = np.zeros(n, bool)
    once[np.unique(rows, return_index=True)[1]] = True
    width = max(N_NEAR, n_each * (d + 1))
    near, weights = np.tile(np.arange(n, dtype=np.int32)[:, None], (1, width)), np.zeros((n, width))
    weights[:, 0] = 1.0
    for label in range(labels.max(initial=0) + 1):
        here = np.flatnonzero(labels == label)
        others = here[once[here]]
        largest = (2 * reach + 1) * int(np.bincount(at[others]).max(initial=0))
        k = min(others.size, width + largest)
        points = numbers[here] if d else np.zeros((here.size, 1))
        tree = cKDTree(numbers[others] if d else np.zeros((others.size, 1)))
        norm = 2 if metric == "euclidean" else np.inf
        threads = n_workers if here.size > _FEW_POINTS else 1
        found = others[tree.query(points, k, p=norm, workers=threads)[1].reshape(here.size, k)]
        mine = np.abs(at[found] - at[here][:, None]) <= reach
        order = np.argsort(mine, axis=1, kind="stable")  # those of others first, by distance
        found = np.take_along_axis(found, order, axis=1)[:, : width - 1]
        usable = (~mine).sum(axis=1)
        # Each row with itself and as many others as there are for all; few are fitted by a mean.
        fewest = int(min(usable.min(initial=width), width - 1))
        if fewest == 0:
            continue
        some = np.column_stack([here, found[:, :fewest]])
        near[here, : fewest + 1] = some
        place = np.empty(n, np.int64)
        place[here] = np.arange(here.size)
        weights[here, : fewest + 1] = fit_weights(points, place[some])
    return LocalFits.of(near, weights)


def permutations_of(
    null: str,
    key: Key,
    given: Columns,
    metric: Metric,
    n_workers: int,
    layout: Layout | None = None,
) -> Permutations:
    """Those of the "local" null where there are given columns, otherwise those of all rows."""
    if null != "local" or not given.n_columns:
        return global_permutations(key, given.n_samples, layout)
    given = given.upright()
    if layout is not None and layout.slots is not None:
        return group_permutations(key, given, metric, n_workers, layout)
    if layout is None or layout.time is None:
        return local_permutations(key, given, metric, n_workers)
    n = given.n_samples
    at = np.empty(n, np.int64)
    at[layout.time] = np.arange(n)
    # What is near in persistent columns is near in time, where the candidate is alike as well.
    memories = [memory(row[layout.time]) for row in given.filled().values[~given.categorical]]
    reach = min(max([layout.window, *memories]), n // 10)
    # Fits to few rows are noisy, and noise hides how persistent it is what they leave.
    n_each = min(max(SAMPLES_EACH, n // _FIT_SHARE), _FIT_MOST)
    fits = fits_apart(given, metric, n_workers, at, reach, np.arange(n), n_each)
    return replace(global_permutations(key, n, layout), fits=fits, local=True)


def random_folds(key: Key, n_samples: int, n_parts: int, layout: Layout | None = None) -> IntArray:
    """A fold for each sample, at random; sizes differ by one at most.

    A group has one fold; those of a series are stretches of time.
    """
    if layout is not None and layout.slots is not None:
        n_slots, n = layout.slots
        return np.tile(random_folds(key, n, n_parts), n_slots)
    if layout is not None and layout.time is not None:
        folds = np.empty(n_samples, np.int64)
        folds[layout.time] = np.arange(n_samples) * n_parts // n_samples
        return folds
    return np.asarray(random_order(key, n_samples) % n_parts)
