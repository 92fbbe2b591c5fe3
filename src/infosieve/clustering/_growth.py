"""From tables to a tree of clusters, and from the tree to so many of them."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from scipy.sparse import csc_array

from infosieve._core.progress import Progress
from infosieve._core.types import BoolArray, Executor, Scale
from infosieve._input.problem import prepare_tables
from infosieve._input.scaling import Scaling
from infosieve._input.tables import Table
from infosieve.clustering._agglomeration import Clusters, Linkage, Tree, grow
from infosieve.clustering._representatives import Reduction
from infosieve.clustering._similarity import (
    Comparison,
    Correlation,
    Features,
    Representative,
    centred,
    covariances,
)

Similarity: TypeAlias = Literal["supervised", "unsupervised"]


@dataclass(frozen=True, kw_only=True)
class Grown:
    """A tree of clusters, and the features that it grew from.

    Attributes
    ----------
    tree : Tree
        The merges.
    features : Features
        What was joined.
    representative : {"mean", "medoid", "pls"}
        What stands for a cluster.
    scaling : Scaling
        The columns' scale.
    """

    tree: Tree
    features: Features
    representative: Representative
    scaling: Scaling

    def cut(self, n_clusters: int) -> Reduction:
        """The tree with so many clusters."""
        clusters = self.tree.clusters(n_clusters)
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


@dataclass(frozen=True, kw_only=True)
class Growth:
    """How columns are joined: the parameters of :class:`FeatureClustering` that decide it."""

    similarity: Similarity
    correlation: Correlation
    linkage: Linkage
    representative: Representative
    scale: Scale

    def grow(
        self,
        tables: list[Table],
        connected: BoolArray | None,
        executor: Executor,
        progress: Progress,
    ) -> Grown:
        """Scale the columns, compare them, join all clusters.

        Parameters
        ----------
        tables : list of Table
            The columns, and the target where one is needed.
        connected : ndarray of bool or None
            See :func:`connected_pairs`.
        executor : Executor
            Who does it.
        progress : Progress
            Who hears how far it is.

        Returns
        -------
        Grown
            The tree down to one cluster.
        """
        x, *rest = prepare_tables(
            tables, self.scale, executor.here, with_order=True, separate=False
        )
        target = rest[0] if self.similarity == "supervised" else None
        comparison = Comparison(target, self.correlation, self.scale)
        rows = centred(x.values, executor.here)
        features = Features(
            rows=rows,
            profiles=comparison.profiles(x, executor),
            slopes=covariances(rows, rest[0]) if rest else np.empty((0, x.n_columns)),
            n_samples=x.n_samples,
            absolute=comparison.absolute,
        )
        clusters = Clusters(
            features=features,
            comparison=comparison,
            linkage=self.linkage,
            representative=self.representative,
            connected=connected,
            executor=executor,
        )
        return Grown(
            tree=grow(clusters, progress),
            features=features,
            representative=self.representative,
            scaling=Scaling(tables[0].values, self.scale),
        )
