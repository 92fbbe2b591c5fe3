"""From columns to the representatives of their clusters, and back."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array

from infosieve._core.types import FloatArray, IntArray
from infosieve._input.scaling import Scaling
from infosieve.clustering._agglomeration import Features, Representative, Tree


@dataclass(frozen=True)
class Reduction:
    """Clusters of columns, and the weights of columns in the representatives.

    Attributes
    ----------
    clusters : list of ndarray
        The columns of each cluster, rising.
    medoids : ndarray of int, of shape (n_clusters,)
        The most typical column of each.
    weights : sparse array of shape (n_features, n_clusters), or None
        None where the medoids stand for their clusters, unscaled.
    scaling : Scaling
        The columns' scale in the data of ``fit``.
    """

    clusters: list[IntArray]
    medoids: IntArray
    weights: csc_array | None
    scaling: Scaling

    def transform(self, values: FloatArray) -> FloatArray:
        """The representatives, for samples in rows."""
        if self.weights is None:
            return values[:, self.medoids]
        return np.ascontiguousarray((self.weights.T @ self.scaling.apply(values).T).T)


@dataclass(frozen=True)
class Grown:
    """A tree, and the features that it grew from."""

    tree: Tree
    features: Features
    representative: Representative
    scaling: Scaling

    def cut(self, n_clusters: int) -> Reduction:
        """The tree with so many clusters."""
        clusters = self.tree.clusters(n_clusters)
        medoids = np.array([self.features.medoid(members) for members in clusters])
        if self.representative == "medoid":
            return Reduction(clusters, medoids, None, self.scaling)
        each = [self.features.weights(members, self.representative) for members in clusters]
        edges = np.cumsum([0] + [members.size for members in clusters])
        weights = csc_array(
            (np.concatenate(each), np.concatenate(clusters), edges),
            shape=(self.features.n, n_clusters),
        )
        return Reduction(clusters, medoids, weights, self.scaling)


class BackToColumns:
    """Columns from the representatives of their clusters, by least squares."""

    def __init__(self, values: FloatArray, representatives: FloatArray, labels: IntArray) -> None:
        scale = Scaling(values.T, "standard")  # keeps sums in range
        x = scale.apply(values)
        r = Scaling(representatives.T, "standard")
        self.labels = labels
        self.slopes = (x * r.apply(representatives)[:, labels]).mean(axis=0)
        self._x, self._r = scale, r

    def predict(self, representatives: FloatArray) -> FloatArray:
        """The columns, for samples in rows."""
        return self._x.undo(self._r.apply(representatives)[:, self.labels] * self.slopes)
