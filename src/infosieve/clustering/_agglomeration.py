"""Clusters that join pair by pair: who joins whom."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from infosieve._core.progress import Progress
from infosieve._core.types import BoolArray, Executor, FloatArray, IntArray
from infosieve._engines.numba import agglomerate as kernels
from infosieve.clustering._similarity import Comparison, Features, Representative, similarities

Linkage: TypeAlias = Literal["representative", "average", "complete"]

# Similarities that one task computes, at least: less is not worth the change of threads.
_TASK_CELLS = 1 << 19


@dataclass(frozen=True)
class Tree:
    """The merges, in their order.

    Attributes
    ----------
    children : ndarray of int, of shape (n_leaves - 1, 2)
        What was joined; clusters are numbered as in scipy and scikit-learn.
    similarities : ndarray of shape (n_leaves - 1,)
        How similar the two were.
    n_components : int
        Connected components of the connectivity graph. The last merges join these.
    n_copies : int, default=0
        Features that are copies of an earlier one. The first merges join these.
    """

    children: IntArray
    similarities: FloatArray
    n_components: int
    n_copies: int = 0

    @property
    def n_leaves(self) -> int:
        """The number of features."""
        return len(self.children) + 1

    @property
    def n_distinct(self) -> int:
        """The most clusters there can be: copies stay together."""
        return self.n_leaves - self.n_copies

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
        What is joined.
    comparison : Comparison
        How representatives are compared.
    linkage : {"representative", "average", "complete"}
        What the similarity of two clusters is.
    representative : {"mean", "medoid", "pls"}
        What stands for a cluster.
    connected : ndarray of bool or None
        For each pair of features (as scipy's ``pdist`` orders them), whether they are neighbours;
        only clusters with neighbours among their features join.
    executor : Executor
        Who computes the similarities of all pairs.
    """

    def __init__(
        self,
        *,
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

    def join(self, i: int, j: int, *, copy: bool = False) -> None:
        """Cluster j joins the earlier cluster i; a copy leaves its representative as it is."""
        self.members[i] = np.sort(np.concatenate([self.members[i], self.members.pop(j)]))
        others = kernels.unite(self.allowed, self.sizes, i, j)
        fresh = np.full(self.features.n, kernels.NEVER)
        if self.linkage == "representative":
            if not copy:
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


def grow(clusters: Clusters, copies: Sequence[IntArray], progress: Progress) -> Tree:
    """Join copies, then the two most similar clusters, again and again, until there is one."""
    m = clusters.features.n
    progress.begin("joining columns", m - 1)
    names = list(range(m))
    children, similarities = [], []
    n_components = 1
    copied = [(int(group[0]), int(j)) for group in copies for j in group[1:]]
    for step in range(m - 1):
        copy = step < len(copied)
        i, j, similarity = (*copied[step], 1.0) if copy else clusters.closest()
        if similarity == kernels.NEVER:  # nothing connects any two: the least similarity
            similarity = -1.0
            n_components += 1
        children.append(sorted((names[i], names[j])))
        similarities.append(similarity)
        names[i] = m + step
        clusters.join(i, j, copy=copy)
        progress.advance(step + 1, m - 1)
    table = np.array(children, np.int64).reshape(-1, 2)
    return Tree(table, np.array(similarities, np.float64), n_components, len(copied))
