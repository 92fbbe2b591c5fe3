"""From tables to a tree of clusters, and from the tree to so many of them."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from scipy.sparse import csc_array

from infosieve._core.progress import Progress
from infosieve._core.types import BoolArray, Columns, Executor, Scale
from infosieve._input.duplicates import find_duplicates
from infosieve._input.problem import prepare_tables
from infosieve._input.scaling import Scaling
from infosieve._input.tables import Table
from infosieve.clustering._agglomeration import Clusters, Linkage, Tree, grow
from infosieve.clustering._connectivity import Bonds, connected_copies
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
class Ground:
    """Scaled columns, before anything is joined.

    Attributes
    ----------
    x : Columns
        What is joined.
    target : Columns or None
        The target, where one is needed.
    scaling : Scaling
        The columns' scale.
    """

    x: Columns
    target: Columns | None
    scaling: Scaling

    def bonds(self, connected: BoolArray | None) -> Bonds:
        """Which of the columns are copies, and which may join."""
        copies = connected_copies(find_duplicates(self.x), connected, self.x.n_columns)
        return Bonds(connected, copies)


@dataclass(frozen=True, kw_only=True)
class Growth:
    """How columns are joined: the parameters of :class:`FeatureClustering` that decide it."""

    similarity: Similarity
    correlation: Correlation
    linkage: Linkage
    representative: Representative
    scale: Scale

    def prepare(self, tables: list[Table], executor: Executor) -> Ground:
        """Scale the columns, and the target where one is needed."""
        x, *rest = prepare_tables(
            tables, self.scale, executor.here, with_order=True, separate=False
        )
        scaling = Scaling(tables[0].values, self.scale)
        return Ground(x=x, target=rest[0] if rest else None, scaling=scaling)

    def grow(self, ground: Ground, bonds: Bonds, executor: Executor, progress: Progress) -> Grown:
        """Compare the columns, join all clusters.

        Parameters
        ----------
        ground : Ground
            The columns.
        bonds : Bonds
            Which of them may join, and which join first.
        executor : Executor
            Who does it.
        progress : Progress
            Who hears how far it is.

        Returns
        -------
        Grown
            The tree down to one cluster.
        """
        x, target = ground.x, ground.target
        comparison = Comparison(
            target if self.similarity == "supervised" else None, self.correlation, self.scale
        )
        rows = centred(x.values, executor.here)
        features = Features(
            rows=rows,
            profiles=comparison.profiles(x, executor),
            slopes=np.empty((0, x.n_columns)) if target is None else covariances(rows, target),
            n_samples=x.n_samples,
            absolute=comparison.absolute,
        )
        clusters = Clusters(
            features=features,
            comparison=comparison,
            linkage=self.linkage,
            representative=self.representative,
            connected=bonds.connected,
            executor=executor,
        )
        return Grown(
            tree=grow(clusters, bonds.copies, progress),
            features=features,
            representative=self.representative,
            scaling=ground.scaling,
        )
