"""Clusters of columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from infosieve._core.types import FloatArray, IntArray
from infosieve.results._base import Document, Provenance, keep, plain_record


@dataclass(frozen=True, eq=False, kw_only=True)
class ClusterResult(Document):
    """Which columns were joined.

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
        The merges, as in :class:`FeatureClustering`.
    cv_results : dict or None
        What the number of clusters was chosen from.
    provenance : Provenance
        Data, parameters, seed and versions.
    """

    _schema: ClassVar[str] = "clusters"

    features: tuple[Any, ...]
    clusters: tuple[str, ...]
    labels: IntArray
    medoids: IntArray
    children: IntArray
    similarities: FloatArray
    cv_results: Mapping[str, Any] | None
    provenance: Provenance

    def __post_init__(self) -> None:
        arrays = ("labels", "medoids", "children", "similarities")
        keep(self, **{name: getattr(self, name) for name in arrays})

    def __repr__(self) -> str:
        return f"ClusterResult({len(self.clusters)} clusters of {len(self.features)} features)"

    @property
    def linkage_matrix(self) -> FloatArray:
        """The tree as scipy's ``dendrogram`` draws it, at heights 1 - similarity."""
        sizes = [1] * len(self.features)
        for a, b in self.children.tolist():
            sizes.append(sizes[a] + sizes[b])
        table: list[Any] = [self.children, 1.0 - self.similarities, sizes[len(self.features) :]]
        return np.column_stack(table).astype(np.float64)

    @property
    def node_clusters(self) -> list[int | None]:
        """The cluster of each column, then of each merge; None where it joins clusters."""
        nodes: list[int | None] = self.labels.tolist()
        for a, b in self.children.tolist():
            nodes.append(nodes[a] if nodes[a] == nodes[b] else None)
        return nodes

    def to_frame(self) -> pd.DataFrame:
        """A row for each column: its cluster's number and name, and whether it is the medoid."""
        numbers = np.arange(len(self.features))
        return pd.DataFrame(
            {
                "feature": list(self.features),
                "cluster": self.labels,
                "name": [self.clusters[label] for label in self.labels],
                "medoid": np.isin(numbers, self.medoids),
            }
        )

    def _content(self) -> dict[str, Any]:
        return super()._content() | {"provenance": plain_record(self.provenance)}

    @classmethod
    def _restored(cls, content: dict[str, Any]) -> Self:
        content |= {name: tuple(content[name]) for name in ("features", "clusters")}
        content["children"] = np.array(content["children"], np.int64).reshape(-1, 2)
        content["similarities"] = np.array(content["similarities"], np.float64)
        results = content["cv_results"]
        if results is not None:
            content["cv_results"] = {key: np.array(value) for key, value in results.items()}
        return cls(**content | {"provenance": Provenance(**content["provenance"])})
