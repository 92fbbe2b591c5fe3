"""Features joined pair by pair into clusters: what they are compared by, and who joins whom."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.stats import rankdata

from infosieve._core.progress import Progress
from infosieve._core.types import (
    BoolArray,
    Columns,
    Executor,
    FloatArray,
    IntArray,
    Runner,
    Scale,
    Which,
)
from infosieve._engines.numba import agglomerate as kernels
from infosieve._engines.numba.false_neighbors import count_false, strips_of
from infosieve._executors.threads import Threads
from infosieve._input.scaling import prepare

Linkage: TypeAlias = Literal["representative", "average", "complete"]
Correlation: TypeAlias = Literal["pearson", "spearman"]
Representative: TypeAlias = Literal["mean", "medoid", "pls"]

# Similarities that one task computes, at least: less is not worth the change of threads.
_TASK_CELLS = 1 << 19
# Pairs whose similarities are computed at once, at most, and those that are worth a job.
_PAIRS, _FEW_PAIRS = 1 << 22, 1 << 14


def target_strips(target: Columns) -> Any:
    """Strips of neighbouring targets, about a neighbourhood wide."""
    return strips_of(target.values[0], int(2 * np.sqrt(target.n_samples)) + 1)


def false_counts(x: Columns, target: Columns, strips: Any, executor: Executor) -> IntArray:
    """The C vectors of all columns, of shape (n_columns, n_samples)."""
    m = x.n_columns
    known = executor.share(target), executor.share(strips)
    pieces = executor.place(x).pieces(range(m), executor.batch_size("count", m, m, 16))
    jobs = ((m if isinstance(w, slice) else len(w), (*known, ref, w)) for ref, w in pieces)
    return np.concatenate(list(executor.map(_count, jobs, "count")))


def _count(runner: Runner, target: Columns, strips: Any, table: Columns, which: Which) -> IntArray:
    x = table.take(which)
    out = np.zeros((x.n_columns, x.n_samples), np.int64)
    order = x.order

    def some(columns: range) -> None:
        for j in columns:
            if not x.constant[j]:
                count_false(x.values[j], order[j], target.values, strips, out[j])

    runner.run([partial(some, part) for part in _ranges(x.n_columns)])
    return out


def _ranges(n: int, size: int = 16) -> list[range]:
    return [range(i, min(n, i + size)) for i in range(0, n, size)]


def centred(values: Any, runner: Runner) -> FloatArray:
    """Rows without their means, padded with zeros as the kernels want them."""
    m, n = values.shape
    rows = np.zeros((m, -(-n // kernels.WIDTH) * kernels.WIDTH))
    rows[:, :n] = values
    runner.run([partial(kernels.centre, rows[r.start : r.stop], n) for r in _ranges(m)])
    return rows


@dataclass(frozen=True)
class Comparison:
    """What features are compared by: their C vectors if there is a target, else themselves.

    A feature and its negative are alike: their C vectors are equal, and where features
    themselves are compared, the size of the correlation counts.
    """

    target: Columns | None
    correlation: Correlation
    scale: Scale

    @property
    def absolute(self) -> bool:
        return self.target is None

    @cached_property
    def _strips(self) -> Any:
        assert self.target is not None
        return target_strips(self.target)

    def profiles(self, x: Columns, executor: Executor) -> FloatArray:
        """The centred rows whose correlations are the similarities of the columns."""
        rows: Any = x.values
        if self.target is not None:
            rows = false_counts(x, self.target, self._strips, executor)
        if self.correlation == "spearman":
            rows = rankdata(rows, axis=1)
        profiles = centred(rows, executor.here)
        kernels.into_range(profiles)
        return profiles

    def profile(self, column: FloatArray) -> FloatArray:
        """The same for one representative, which is scaled first."""
        alone, number = Threads(1), np.zeros(1, bool)
        x = prepare(column[None], number, self.scale, 0, alone, with_order=True, separate=False)
        return np.asarray(self.profiles(x, alone)[0])


def covariances(rows: FloatArray, target: Columns) -> FloatArray:
    """Of each centred row with each target, or with belonging to each category of it."""
    n = target.n_samples
    columns: list[Any] = []
    for values, categorical in zip(target.values, target.categorical, strict=True):
        columns += [values == level for level in np.unique(values)] if categorical else [values]
    everyone = np.arange(len(rows))
    targets = centred(np.array(columns, np.float64), Threads(1))
    return np.array([kernels.dots(rows, everyone, t) / n for t in targets])


@dataclass(frozen=True)
class Features:
    """The features that are clustered.

    Attributes
    ----------
    rows : ndarray of shape (n_features, padded)
        The scaled columns, centred.
    profiles : ndarray of shape (n_features, padded)
        What they are compared by.
    slopes : ndarray of shape (n_targets, n_features)
        Their covariances with the target; of no rows without one.
    n_samples : int
    absolute : bool
        Whether the size of a correlation counts.
    """

    rows: FloatArray
    profiles: FloatArray
    slopes: FloatArray
    n_samples: int
    absolute: bool

    @property
    def n(self) -> int:
        return len(self.rows)

    @cached_property
    def squares(self) -> FloatArray:
        """The profiles' products with themselves: 0 where a profile is constant."""
        out = np.empty(self.n)
        kernels.squares(self.profiles, out)
        return out

    @cached_property
    def varying(self) -> BoolArray:
        """Whether each column varies."""
        return np.asarray((self.rows != 0).any(axis=1))

    def weights(self, members: IntArray, kind: Representative) -> FloatArray:
        """What each member, in rising order, contributes to the representative of a cluster."""
        if kind == "medoid":
            return np.asarray(members == self.medoid(members), np.float64)
        if kind == "pls":
            slopes = self._direction(members)
            total = np.abs(slopes).sum()
            if total > 0:
                return np.asarray(slopes / total)
        counting = self.varying[members] if self.varying[members].any() else members >= 0
        signs = self._signs(self.rows, members, members[counting][0])
        return np.asarray(signs * counting / counting.sum())

    def _direction(self, members: IntArray) -> FloatArray:
        """The first direction of partial least squares."""
        slopes = self.slopes[:, members]
        if len(slopes) == 1:
            return np.asarray(slopes[0])
        direction = np.linalg.svd(slopes, full_matrices=False)[2][0]
        return np.asarray(direction * np.sign(direction[np.argmax(np.abs(direction))]))

    def medoid(self, members: IntArray) -> int:
        """The member whose profile is most like the mean of all; of several, the first.

        A column whose profile is constant although it varies is right about the target everywhere:
        nothing is more typical.
        """
        perfect = members[self.varying[members] & (self.squares[members] == 0)]
        if perfect.size:
            return int(perfect[0])
        varying = members[self.squares[members] > 0]
        if varying.size == 0:
            return int(members[0])
        lengths = np.sqrt(self.squares[varying])
        if self.absolute:
            lengths *= self._signs(self.profiles, varying, varying[0])
        mean = kernels.combine(self.profiles, varying, 1 / lengths)
        return int(varying[np.argmax(kernels.dots(self.profiles, varying, mean) / lengths)])

    @staticmethod
    def _signs(rows: FloatArray, members: IntArray, first: int) -> FloatArray:
        """-1 for the members that fall where the first one rises, else 1."""
        return np.where(kernels.dots(rows, members, rows[first]) < 0, -1.0, 1.0)


def similarities(features: Features, asked: BoolArray, executor: Executor) -> FloatArray:
    """Of all pairs of features, as scipy's ``pdist`` orders them; NEVER where not ``asked``."""
    m = features.n
    total = m * (m - 1) // 2
    known = [executor.share(v) for v in (features.profiles, features.squares, asked)]

    def jobs() -> Iterator[tuple[int, tuple[Any, ...]]]:
        first, left = 0, total
        while left > 0:
            room = executor.batch_size("correlate", left, _PAIRS, _FEW_PAIRS)
            last, cells = first, 0
            while last < m and (cells == 0 or cells + m - 1 - last <= room):
                cells += m - 1 - last
                last += 1
            yield cells, (*known, features.absolute, first, last, cells)
            first, left = last, left - cells

    similar, at = np.empty(total), 0
    for part in executor.map(_correlate, jobs(), "correlate"):
        similar[at : at + part.size] = part
        at += part.size
    return similar


def _correlate(
    runner: Runner,
    profiles: FloatArray,
    squares: FloatArray,
    asked: BoolArray,
    absolute: bool,
    first: int,
    last: int,
    cells: int,
) -> FloatArray:
    """The rows from ``first`` to ``last`` and all later ones, which makes so many pairs."""
    m = len(profiles)
    out = np.full(cells, kernels.NEVER)
    start = first * m - first * (first + 1) // 2

    def some(rows: range) -> None:
        span = first + rows.start, first + rows.stop
        kernels.correlate(profiles, squares, span, absolute, asked, start, out)

    runner.run([partial(some, rows) for rows in _ranges(last - first, 32)])
    return out


@dataclass(frozen=True)
class Tree:
    """The merges, in their order; clusters numbered as in scipy and scikit-learn."""

    children: IntArray
    similarities: FloatArray
    n_parts: int
    """Parts of the connectivity graph: the last merges join these, which nothing connects."""

    @property
    def n_leaves(self) -> int:
        return len(self.children) + 1

    def clusters(self, n_clusters: int) -> list[IntArray]:
        """The features of each cluster, rising; clusters in the order of their first feature."""
        members = {j: [j] for j in range(self.n_leaves)}
        for step, (a, b) in enumerate(self.children[: self.n_leaves - n_clusters].tolist()):
            members[self.n_leaves + step] = members.pop(a) + members.pop(b)
        return [np.array(sorted(cluster)) for cluster in sorted(members.values(), key=min)]


class Clusters:
    """Clusters that are joined: each stands at the place of its first feature.

    Of several pairs that are equally similar, that one joins whose earlier cluster comes first,
    then the one whose later cluster does.

    Parameters
    ----------
    features : Features
    comparison : Comparison
        How representatives are compared.
    linkage : {"representative", "average", "complete"}
    representative : {"mean", "medoid", "pls"}
    connected : ndarray of bool or None
        For each pair of features (as scipy's ``pdist`` orders them), whether they are neighbours;
        only clusters with neighbours among their features join.
    executor : Executor
    """

    def __init__(
        self,
        features: Features,
        comparison: Comparison,
        linkage: Linkage,
        representative: Representative,
        connected: BoolArray | None,
        executor: Executor,
    ) -> None:
        m = features.n
        self.features, self.comparison = features, comparison
        self.linkage, self.representative, self.runner = linkage, representative, executor.here
        self.allowed = np.empty(0, bool) if connected is None else connected.copy()
        self.profiles, self.squares = features.profiles.copy(), features.squares.copy()
        self.members = {j: np.array([j]) for j in range(m)}
        self.sizes = np.ones(m, np.int64)
        asked = self.allowed if linkage == "representative" else self.allowed[:0]
        self.similar = similarities(features, asked, executor)
        self.partner, self.best = np.empty(m, np.int64), np.empty(m)
        kernels.find_partners(self.similar, self.allowed, self.sizes, self.partner, self.best)

    def closest(self) -> tuple[int, int, float]:
        """The two that join next, and how similar they are: NEVER if nothing connects any two."""
        i = int(np.argmax(self.best))
        if self.best[i] == kernels.NEVER:
            i, j = np.flatnonzero(self.sizes)[:2].tolist()
            return i, j, kernels.NEVER
        return i, int(self.partner[i]), float(self.best[i])

    def join(self, i: int, j: int) -> None:
        """Cluster j joins the earlier cluster i."""
        self.members[i] = np.sort(np.concatenate([self.members[i], self.members.pop(j)]))
        others = kernels.unite(self.allowed, self.sizes, i, j)
        fresh = np.full(self.features.n, kernels.NEVER)
        if self.linkage == "representative":
            self._represent(i)
            self._compare(i, others, fresh)
        else:
            kernels.link(self.similar, self.sizes, i, j, self.linkage == "complete", fresh)
        self.sizes[i] += self.sizes[j]
        self.sizes[j] = 0
        kernels.renew(self.similar, self.allowed, self.sizes, i, j, fresh, self.partner, self.best)

    def _represent(self, i: int) -> None:
        """Find the profile of cluster i's representative."""
        features, members = self.features, self.members[i]
        if self.representative == "medoid":
            self.profiles[i] = features.profiles[features.medoid(members)]
        else:
            weights = features.weights(members, self.representative)
            column = kernels.combine(features.rows, members, weights)
            self.profiles[i] = self.comparison.profile(column[: features.n_samples])
        kernels.squares(self.profiles[i : i + 1], self.squares[i : i + 1])

    def _compare(self, i: int, others: IntArray, fresh: FloatArray) -> None:
        """The similarities of cluster i to the others."""
        absolute = self.comparison.absolute

        def some(part: IntArray) -> None:
            kernels.correlate_one(self.profiles, self.squares, i, part, absolute, fresh)

        worthwhile = others.size * self.profiles.shape[1] // _TASK_CELLS
        n_tasks = max(1, min(self.runner.n_workers, worthwhile))
        self.runner.run([partial(some, part) for part in np.array_split(others, n_tasks)])


def grow(clusters: Clusters, progress: Progress) -> Tree:
    """Join the two most similar clusters, again and again, until there is one."""
    m = clusters.features.n
    progress.begin("joining columns", m - 1)
    names = list(range(m))
    children, similarities = [], []
    n_parts = 1
    for step in range(m - 1):
        i, j, similarity = clusters.closest()
        if similarity == kernels.NEVER:  # nothing connects what is left: as unlike as can be
            similarity = -1.0
            n_parts += 1
        children.append(sorted((names[i], names[j])))
        similarities.append(similarity)
        names[i] = m + step
        clusters.join(i, j)
        progress.advance(step + 1, m - 1)
    table = np.array(children, np.int64).reshape(-1, 2)
    return Tree(table, np.array(similarities, np.float64), n_parts)
