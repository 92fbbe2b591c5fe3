"""From tables to clusters that join pair by pair, and to a given number of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.sparse import csc_array

from infosieve._core.settings import Correlation, Linkage, Representative, Similarity
from infosieve._core.types import BoolArray, Columns, Executor, FloatArray, IntArray, Scale
from infosieve._engines.numba import agglomerate as kernels
from infosieve._input.problem import prepare_tables
from infosieve._input.scaling import Scaling
from infosieve._input.tables import Table
from infosieve.clustering._constraints import Constraints
from infosieve.clustering._representatives import Reduction
from infosieve.clustering._similarity import Comparison, Features, similarities

# Similarities that one task computes, at least: less is not worth the change of threads.
_TASK_CELLS = 1 << 19


@dataclass(frozen=True, kw_only=True)
class ScaledTables:
    """Columns, and a target where one is needed, scaled; and the scale of the columns."""

    x: Columns
    target: Columns | None
    scaling: Scaling


@dataclass(frozen=True, kw_only=True)
class Agglomeration:
    """How columns are joined: the parameters of :class:`FeatureClustering` that decide it."""

    similarity: Similarity
    correlation: Correlation
    linkage: Linkage
    representative: Representative
    scale: Scale

    def prepare(self, tables: Sequence[Table], executor: Executor) -> ScaledTables:
        """Scale the columns, and the target where one is needed."""
        x, *rest = prepare_tables(
            tables, self.scale, executor.here, with_order=True, separate=False
        )
        scaling = Scaling(tables[0].values, self.scale)
        return ScaledTables(x=x, target=rest[0] if rest else None, scaling=scaling)

    def join(
        self, tables: ScaledTables, constraints: Constraints, executor: Executor
    ) -> "Dendrogram":
        """Join copies, then the two most similar clusters, again and again, until one is left."""
        comparison = Comparison(
            tables.target if self.similarity == "supervised" else None, self.correlation, self.scale
        )
        features = Features.of(tables.x, tables.target, comparison, executor)
        clusters = Clusters(features, self, constraints.connected, executor)
        progress, m = executor.progress, features.n
        progress.begin("joining columns", m - 1)
        names = list(range(m))
        children, similar = [], []
        n_components = 1
        copied = [(int(group[0]), int(j)) for group in constraints.copies for j in group[1:]]
        for step in range(m - 1):
            copy = step < len(copied)
            i, j, similarity = (*copied[step], 1.0) if copy else clusters.closest()
            if similarity == kernels.NEVER:  # nothing connects any two: the least similarity
                similarity = -1.0
                n_components += 1
            children.append(sorted((names[i], names[j])))
            similar.append(similarity)
            names[i] = m + step
            clusters.join(i, j, copy=copy)
            progress.advance(step + 1, m - 1)
        return Dendrogram(
            children=np.array(children, np.int64).reshape(-1, 2),
            similarities=np.array(similar, np.float64),
            n_components=n_components,
            n_copies=len(copied),
            features=features,
            representative=self.representative,
            scaling=tables.scaling,
        )


@dataclass(frozen=True, kw_only=True)
class Dendrogram:
    """The merges down to one cluster, in their order, and the features that were joined."""

    children: IntArray  # the two of each merge, numbered as in scipy and scikit-learn
    similarities: FloatArray  # of each merge
    n_components: int  # of the connectivity graph: the last merges join these
    n_copies: int  # features that are copies of an earlier one: the first merges join these
    features: Features
    representative: Representative
    scaling: Scaling

    @property
    def n_distinct(self) -> int:
        """The most clusters there can be: copies stay together."""
        return self.features.n - self.n_copies

    def clusters(self, n_clusters: int) -> list[IntArray]:
        """The features of each cluster, rising; clusters in the order of their first feature."""
        n_leaves = self.features.n
        members = {j: [j] for j in range(n_leaves)}
        for step, (a, b) in enumerate(self.children[: n_leaves - n_clusters].tolist()):
            members[n_leaves + step] = members.pop(a) + members.pop(b)
        return [np.array(sorted(cluster)) for cluster in sorted(members.values(), key=min)]

    def cut(self, n_clusters: int) -> Reduction:
        """The columns reduced to a number of clusters."""
        clusters = self.clusters(n_clusters)
        medoids = np.array([self.features.medoid(members) for members in clusters])
        weights = None
        if self.representative != "medoid":
            each = [self.features.weights(members, self.representative) for members in clusters]
            edges = np.cumsum([0] + [members.size for members in clusters])
            weights = csc_array(
                (np.concatenate(each), np.concatenate(clusters), edges),
                shape=(self.features.n, n_clusters),
            )
        return Reduction(clusters=clusters, medoids=medoids, weights=weights, scaling=self.scaling)


class Clusters:
    """Clusters while they are joined: each has the number of its first feature.

    Of several pairs that are equally similar, that one joins whose earlier cluster comes first,
    then the one whose later cluster does. Only clusters with neighbours among their features join
    (``connected``, see :class:`Constraints`).
    """

    def __init__(
        self,
        features: Features,
        how: Agglomeration,
        connected: BoolArray | None,
        executor: Executor,
    ) -> None:
        m = features.n
        self.features, self.how, self.runner = features, how, executor.here
        self.allowed = np.empty(0, bool) if connected is None else connected.copy()
        self.profiles, self.squares = features.profiles.copy(), features.squares.copy()
        self.members = {j: np.array([j]) for j in range(m)}
        self.sizes = np.ones(m, np.int64)
        wanted = self.allowed if how.linkage == "representative" else self.allowed[:0]
        self.similar = similarities(features, wanted, executor)
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
        if self.how.linkage == "representative":
            if not copy:
                self._represent(i)
            self._compare(i, others, fresh)
        else:
            kernels.link(self.similar, self.sizes, i, j, self.how.linkage == "complete", fresh)
        self.sizes[i] += self.sizes[j]
        self.sizes[j] = 0
        kernels.renew(self.similar, self.allowed, self.sizes, i, j, fresh, self.partner, self.best)

    def _represent(self, i: int) -> None:
        """Find the profile of cluster i's representative."""
        features, members, kind = self.features, self.members[i], self.how.representative
        if kind == "medoid":
            self.profiles[i] = features.profiles[features.medoid(members)]
        else:
            column = kernels.combine(features.rows, members, features.weights(members, kind))
            self.profiles[i] = features.comparison.profile(column[: features.n_samples])
        kernels.squares(self.profiles[i : i + 1], self.squares[i : i + 1])

    def _compare(self, i: int, others: IntArray, fresh: FloatArray) -> None:
        """The similarities of cluster i to the others."""
        absolute = self.features.comparison.absolute

        def some(part: IntArray) -> None:
            kernels.correlate_one(self.profiles, self.squares, i, part, absolute, fresh)

        worthwhile = others.size * self.profiles.shape[1] // _TASK_CELLS
        n_tasks = max(1, min(self.runner.n_workers, worthwhile))
        self.runner.run([partial(some, part) for part in np.array_split(others, n_tasks)])
