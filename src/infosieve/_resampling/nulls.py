"""Null hypotheses: what permuted copies of a column keep, and which rows may exchange.

A null is one class. It makes the permutations of a test from the given columns; a search, a single
test and a choice of what could stand in ask it alike.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from scipy.spatial import cKDTree

from infosieve._core.categories import category_labels, codes_of
from infosieve._core.types import Columns, FloatArray, IntArray, Metric
from infosieve._engines.numba.columns import LIFT
from infosieve._resampling.layout import Layout, alike, memory
from infosieve._resampling.permutations import N_NEAR, Permutations, key_of, put_first
from infosieve._resampling.random_bits import Key, random_words
from infosieve._resampling.ranks import in_one_order, levels_of, ranks_of, scores_of
from infosieve._resampling.refined import Refined, refined
from infosieve._resampling.surrogates import SAMPLES_EACH, LocalFits, Series, fit_weights

# Rows for each coefficient of a local fit to a series: a twentieth of all, but at most a hundred.
_FIT_SHARE, _FIT_MOST = 20, 100
# Noise that tells equal samples apart, in standard deviations.
_JITTER = 1e-6
# Points whose neighbours one thread finds; of more, several do.
_FEW_POINTS = 5000
_PLAIN = Layout()


@dataclass(frozen=True, eq=False, kw_only=True)
class NullHypothesis(ABC):
    """Makes the permutations of tests; ``layout`` says which rows belong together."""

    seed: int
    metric: Metric
    layout: Layout = _PLAIN
    n_workers: int = 1
    # Given columns and their permutations, kept for the next purpose, which needs another key only.
    _last: list[tuple[FloatArray, Permutations]] = field(
        default_factory=list, init=False, repr=False, compare=False
    )

    @abstractmethod
    def permutations(self, key: Key, given: Columns) -> Permutations:
        """Which rows may exchange, and what moves with them, given some columns."""

    def refined(
        self, candidate: Columns, given: Columns, permutations: Permutations
    ) -> Refined | None:
        """Permutations whose copies keep more of what the given columns tell of a candidate.

        None: there are none, or none are needed.
        """
        return None

    def given(self, given: Columns, purpose: str) -> Permutations:
        """The permutations given some columns; each purpose has random numbers of its own."""
        key = key_of(self.seed, purpose, given)
        if not self._last or not np.array_equal(self._last[0][0], given.values):
            self._last[:] = [(given.values, self.permutations(key, given))]
        return replace(self._last[0][1], key=key)


class GlobalNull(NullHypothesis):
    """Independence of everything: any row may receive the value of any."""

    def permutations(self, key: Key, given: Columns) -> Permutations:
        return global_permutations(key, given.n_samples, self.layout)


class LocalNull(NullHypothesis):
    """No information conditional on the given columns: rows exchange with rows that are alike."""

    def permutations(self, key: Key, given: Columns) -> Permutations:
        if not given.n_columns:
            return global_permutations(key, given.n_samples, self.layout)
        given = given.upright()
        if self.layout.slots is not None:
            return group_permutations(key, given, self.metric, self.n_workers, self.layout)
        if self.layout.time is not None:
            return series_permutations(key, given, self.metric, self.n_workers, self.layout)
        return local_permutations(key, given, self.metric, self.n_workers)

    def refined(
        self, candidate: Columns, given: Columns, permutations: Permutations
    ) -> Refined | None:
        return refined(candidate, given, permutations, self.metric)


class ResidualNull(NullHypothesis):
    """No information conditional on the given columns: what they leave of a column exchanges.

    The statistic has taken out what the given columns tell, and how they spread the rest. Rows
    exchange with rows that are near all the same, in case that something was left.
    """

    def permutations(self, key: Key, given: Columns) -> Permutations:
        plain = replace(global_permutations(key, given.n_samples, self.layout), series=None)
        if self.layout.slots is not None:
            plain = replace(plain, by_place=None, signed=True)
        if not given.n_columns or self.layout.time is not None:
            return plain
        given = in_one_order(given.with_flags(LIFT))
        if self.layout.slots is not None:
            return replace(groups_alike(key, given, self.layout), signed=True)
        points, n = _embedded(given), given.n_samples
        threads = self.n_workers if n > _FEW_POINTS else 1
        near = cKDTree(points).query(points, min(N_NEAR, n), workers=threads)[1].reshape(n, -1)
        return replace(plain, near=np.ascontiguousarray(near, np.int32), local=True)


def _embedded(given: Columns) -> FloatArray:
    """Samples as points: normal scores, a dimension for each level of a category, some noise.

    Of many equal samples the noise decides which are near, so that all of them exchange.
    """
    rows: list[FloatArray] = []
    for j, categorical in enumerate(given.categorical.tolist()):
        if categorical:
            codes = levels_of(given.values[j])
            rows += [*(codes == np.arange(codes.max() + 1)[:, None]).astype(float)]
        else:
            rows.append(scores_of(ranks_of(given.take([j])))[0])
    words = random_words((0, "near", 0), 0, len(rows), given.n_samples)
    noise = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return np.ascontiguousarray((np.array(rows) + _JITTER * noise).T)


NULLS: dict[str, type[NullHypothesis]] = {
    "global": GlobalNull,
    "local": LocalNull,
    "residual": ResidualNull,
}


def global_permutations(key: Key, n_samples: int, layout: Layout = _PLAIN) -> Permutations:
    """Any row, or group, may receive the values of any: the null of independence of everything."""
    series = None if layout.time is None else Series.of(layout.time)
    order, edges = np.arange(n_samples, dtype=np.int32), np.array([0, n_samples])
    if layout.sizes is not None:
        order, edges = _strata(alike(layout.sizes))
    return Permutations(key, order, edges, by_place=layout.by_place, series=series)


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


def group_permutations(
    key: Key, given: Columns, metric: Metric, n_workers: int, layout: Layout
) -> Permutations:
    """Groups exchange all their rows with groups that are like them in the given columns.

    What is fitted to a row does not come from rows of its group.
    """
    assert layout.slots is not None
    assert layout.rows is not None
    n_slots, n = layout.slots
    whole = replace(groups_alike(key, given, layout), by_place=layout.by_place)
    if whole.near is None:
        return whole
    owner = np.tile(np.arange(n, dtype=np.int64), n_slots)
    return replace(whole, fits=fits_apart(given, metric, n_workers, owner, 0, layout.rows))


def groups_alike(key: Key, given: Columns, layout: Layout) -> Permutations:
    """Permutations of groups among those that are like them in the given columns.

    Among groups that have one combination of categories each, and nothing else is given, the same
    combination is like.
    """
    assert layout.slots is not None
    assert layout.sizes is not None
    n_slots, n = layout.slots
    labels = category_labels(given).reshape(n_slots, n)
    if given.categorical.all() and (labels == labels[0]).all():
        return Permutations(key, *_strata(alike(layout.sizes, labels[0])), local=True)
    means = _means_of_groups(given, n_slots)
    order, edges = _strata(alike(layout.sizes))
    near = np.empty((n, min(N_NEAR, int(np.diff(edges).min()))), np.int32)
    for first, last in pairwise(edges.tolist()):
        like = order[first:last]
        found = cKDTree(means[like]).query(means[like], near.shape[1])[1].reshape(like.size, -1)
        put_first(found)
        near[like] = like[found]
    return Permutations(key, order, edges, near, local=True)


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
        # All rows have as many neighbours as the row with the fewest; few are fitted by a mean.
        fewest = int(min(usable.min(initial=width), width - 1))
        if fewest == 0:
            continue
        some = np.column_stack([here, found[:, :fewest]])
        near[here, : fewest + 1] = some
        place = np.empty(n, np.int64)
        place[here] = np.arange(here.size)
        weights[here, : fewest + 1] = fit_weights(points, place[some])
    return LocalFits.of(near, weights)


def series_permutations(
    key: Key, given: Columns, metric: Metric, n_workers: int, layout: Layout
) -> Permutations:
    """Innovations of what local fits leave exchange, whatever the time.

    What is fitted to a row does not come from rows that are near it in time.
    """
    assert layout.time is not None
    n = given.n_samples
    at = np.empty(n, np.int64)
    at[layout.time] = np.arange(n)
    # Rows that are near in a persistent column are near in time, and so alike in the candidate.
    memories = [memory(row[layout.time]) for row in given.filled().values[~given.categorical]]
    reach = min(max([layout.window, *memories]), n // 10)
    # Fits to few rows are noisy, and noise would hide how persistent the residuals are.
    n_each = min(max(SAMPLES_EACH, n // _FIT_SHARE), _FIT_MOST)
    fits = fits_apart(given, metric, n_workers, at, reach, np.arange(n), n_each)
    return replace(global_permutations(key, n, layout), fits=fits, local=True)
