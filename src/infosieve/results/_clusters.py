"""Clusters of columns."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from infosieve._core.provenance import Provenance
from infosieve._core.types import FloatArray, IntArray
from infosieve.results._base import Document, freeze, need


@dataclass(frozen=True, eq=False, kw_only=True)
class ClusterResult(Document):
    """Clusters of columns, and the merges that led to them.

    Attributes
    ----------
    features : tuple
        Names of the columns, or their numbers.
    clusters : tuple of str
        Names of the clusters.
    labels : ndarray of int, of shape (n_features,)
        The cluster of each column.
    medoids : ndarray of int, of shape (n_clusters,)
        The most typical column of each cluster.
    children, similarities : ndarray
        The merges and the similarity at each, as in :class:`FeatureClustering`.
    duplicates : dict
        For the first of each group of copies that joined first, the others.
    cv_results : dict or None
        What the number of clusters was chosen from.
    provenance : Provenance
        Data, parameters, seed and versions.
    members : list of tuple
        The columns of each cluster.
    n_clusters_range : pair of int, or None
        The smallest and the largest number of clusters whose score is within one standard error of
        the best, where the number was chosen by scores.
    decided : bool or None
        False where, of these numbers and the one that was taken, the largest exceeds the smallest
        by more than a quarter, and by more than one: other samples may lead to another number.
    notes : tuple of str
        What a reader should know of the result, a sentence each.
    linkage_matrix : ndarray of shape (n_features - 1, 4)
        The tree as scipy's ``dendrogram`` takes it, at heights 1 - similarity.
    node_clusters : list
        The cluster of each column, then of each merge; None where a merge joins clusters.

    See Also
    --------
    FeatureClustering : Has one as ``result_``.
    infosieve.plots.DendrogramDisplay : Draws the tree.
    infosieve.plots.CurvesDisplay : Draws clusters of neighbouring columns over curves.

    Examples
    --------
    >>> import numpy as np
    >>> from infosieve import FeatureClustering
    >>> x = np.random.default_rng(0).normal(size=(40, 2))
    >>> result = FeatureClustering(2).fit(np.c_[x, x + 0.1], x.sum(axis=1)).result_
    >>> result
    ClusterResult(2 clusters of 4 features)
    >>> result.labels.tolist()
    [0, 1, 0, 1]
    """

    _schema: ClassVar[str] = "clusters"
    _shapes: ClassVar = {"labels": ("features",), "medoids": ("clusters",)}

    features: tuple[Any, ...]
    clusters: tuple[str, ...]
    labels: IntArray
    medoids: IntArray
    children: IntArray
    similarities: FloatArray
    duplicates: Mapping[int, tuple[int, ...]]
    cv_results: Mapping[str, NDArray[Any]] | None
    provenance: Provenance

    def __post_init__(self) -> None:
        # A single column has no merges, which JSON holds as no rows.
        object.__setattr__(self, "children", np.reshape(self.children, (-1, 2)))
        freeze(self, "labels", "medoids", "children", "similarities")

    def __repr__(self) -> str:
        return f"ClusterResult({len(self.clusters)} clusters of {len(self.features)} features)"

    @property
    def linkage_matrix(self) -> FloatArray:
        sizes = [1] * len(self.features)
        for a, b in self.children.tolist():
            sizes.append(sizes[a] + sizes[b])
        table: list[Any] = [self.children, 1.0 - self.similarities, sizes[len(self.features) :]]
        return np.column_stack(table).astype(np.float64)

    @property
    def node_clusters(self) -> list[int | None]:
        nodes: list[int | None] = self.labels.tolist()
        for a, b in self.children.tolist():
            nodes.append(nodes[a] if nodes[a] == nodes[b] else None)
        return nodes

    @property
    def members(self) -> list[tuple[Any, ...]]:
        columns: list[list[Any]] = [[] for _ in self.clusters]
        for feature, label in zip(self.features, self.labels.tolist(), strict=True):
            columns[label].append(feature)
        return [tuple(some) for some in columns]

    @property
    def n_clusters_range(self) -> tuple[int, int] | None:
        if self.cv_results is None:
            return None
        score, error = (self.cv_results[name] for name in ("mean_test_score", "standard_error"))
        within = self.cv_results["n_clusters"][np.max(score) - score <= error]
        return int(within.min()), int(within.max())

    @property
    def decided(self) -> bool | None:
        if self.n_clusters_range is None:
            return None
        about_as_good = (*self.n_clusters_range, len(self.clusters))
        least = min(about_as_good)
        return max(about_as_good) <= max(least + 1, 1.25 * least)

    def to_frame(self) -> pd.DataFrame:
        """A row for each column: its cluster, and whether it is the medoid or a copy.

        Returns
        -------
        DataFrame
            Columns ``feature``, ``cluster`` (its number), ``name`` (of the cluster), ``size`` (how
            many columns that has), ``medoid`` (whether it is this one) and ``copy_of`` (the first
            column that it equals, or None).
        """
        numbers = np.arange(len(self.features))
        first = {j: self.features[i] for i, others in self.duplicates.items() for j in others}
        return pd.DataFrame(
            {
                "feature": list(self.features),
                "cluster": self.labels,
                "name": [self.clusters[label] for label in self.labels],
                "size": np.bincount(self.labels)[self.labels],
                "medoid": np.isin(numbers, self.medoids),
                "copy_of": pd.Series([first.get(j) for j in numbers.tolist()], dtype=object),
            }
        )

    def _columns(self) -> Iterable[int]:
        yield from self.medoids.tolist()
        for first, others in self.duplicates.items():
            yield from (first, *others)

    def _check(self) -> None:
        super()._check()
        n, k = len(self.features), len(self.clusters)
        need({*self.labels.tolist()} == {*range(k)}, f"'labels' must be the numbers below {k}")
        merged = sorted(self.children.ravel().tolist())
        tree = merged == [*range(2 * n - 2)] and self.similarities.shape == (n - 1,)
        earlier = self.children < n + np.arange(len(self.children))[:, None]
        need(tree and earlier.all(), f"'children' must be a tree of {n} columns")
        if self.cv_results is not None:
            size = {np.shape(values) for values in self.cv_results.values()}
            needed = {"n_clusters", "mean_test_score", "std_test_score", "standard_error"}
            scores = needed <= {*self.cv_results} and len(size) == 1
            scores = scores and k in self.cv_results["n_clusters"]
            need(scores, "'cv_results' must be scores of numbers of clusters")
