"""Facts about clusters: who is in each, the tree, and how their number was chosen."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from infosieve._core.types import FloatArray
from infosieve.report._tests import parameter
from infosieve.results import ClusterResult

# So many columns of a cluster are named at once; the others are folded away.
_NAMED = 8
# Leaves of a tree that a page has room for.
LEAVES = 150
# Columns that are less similar are not redundant; about a target, the similarity of columns that
# follow each other is far below 1.
_ALIKE = {"supervised": 0.15, "unsupervised": 0.5}


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """A cluster: its number, its columns and the most typical of them."""

    label: int
    columns: tuple[Any, ...]
    typical: Any

    @property
    def n_named(self) -> int:
        """How many columns have room; one more needs no more than "1 more" does."""
        return len(self.columns) if len(self.columns) <= _NAMED + 1 else _NAMED


@dataclass(frozen=True)
class ClusterFacts:
    """Facts about a clustering."""

    result: ClusterResult

    @cached_property
    def clusters(self) -> list[Cluster]:
        """The clusters, the largest first."""
        result = self.result
        clusters = [
            Cluster(label=label, columns=columns, typical=result.features[result.medoids[label]])
            for label, columns in enumerate(result.members)
        ]
        return sorted(clusters, key=lambda cluster: -len(cluster.columns))

    @property
    def several(self) -> list[Cluster]:
        """Those of several columns."""
        return [cluster for cluster in self.clusters if len(cluster.columns) > 1]

    def asked(self, name: str, default: Any = None) -> Any:
        """A parameter of the clustering."""
        return parameter(self.result.provenance, name, default)

    @property
    def threshold(self) -> float | None:
        """The similarity that all columns of a cluster have at least, where one was asked for."""
        threshold = self.asked("similarity_threshold")
        if not isinstance(threshold, (int, float)) or not -1 <= threshold <= 1:
            return None
        return threshold

    @property
    def categories(self) -> list[Any]:
        """Columns of the file that are categories, and were left out."""
        left_out = self.asked("categories")
        return left_out if isinstance(left_out, list) else []

    @property
    def copies(self) -> list[tuple[Any, Any]]:
        """Columns, and what each is a copy of."""
        result = self.result
        return [
            (result.features[j], result.features[i])
            for i, others in result.duplicates.items()
            for j in others
        ]

    @cached_property
    def loose(self) -> list[tuple[tuple[Any, ...], float]]:
        """Clusters whose columns have little in common, the loosest first, and where they join."""
        result, least = self.result, dict[int, float]()
        merges = zip(result.node_clusters[len(result.features) :], result.similarities, strict=True)
        for cluster, similarity in merges:
            if cluster is not None:
                least[cluster] = min(least.get(cluster, 1.0), float(similarity))
        enough = _ALIKE.get(str(self.asked("similarity")), 0.0)
        weak = [cluster for cluster in sorted(least) if least[cluster] < enough]
        weak.sort(key=lambda cluster: least[cluster])
        return [(result.members[cluster], least[cluster]) for cluster in weak]

    @property
    def outside_range(self) -> bool:
        """Whether the number that was taken is not among those that are as good as the best."""
        low, high = self.result.n_clusters_range or (0, 0)
        return not low <= len(self.result.clusters) <= high

    @property
    def more_error(self) -> float | None:
        """How much more error, 1 - score, the number has than the best one, in percent."""
        if self.result.cv_results is None:
            return None
        scores = [float(score) for score in self.result.cv_results["mean_test_score"]]
        tried = list(self.result.cv_results["n_clusters"])
        own, best = scores[tried.index(len(self.result.clusters))], max(scores)
        return 100 * (best - own) / (1 - best) if best < 1 else None


@dataclass(frozen=True, kw_only=True)
class Tree:
    """A dendrogram: its links, and its leaves in their order, at 5, 15, 25, ...

    A link is the corners of a merge, along the leaves and across them, and its cluster; None where
    it joins clusters. A leaf is a column, or the first of several that are not drawn one by one,
    and how many there are.
    """

    links: list[tuple[list[float], list[float], int | None]]
    leaves: list[tuple[str, int]]

    def labels(self, short: Callable[[list[str]], list[str]]) -> list[str]:
        """Names of the leaves, shortened, and how many columns they stand for."""
        names = short([name for name, _ in self.leaves])
        more = [f" + {n - 1:,}" if n > 1 else "" for _, n in self.leaves]
        return [name + rest for name, rest in zip(names, more, strict=True)]


def tree_of(result: ClusterResult, most: int) -> Tree:
    """The merges of a clustering, ready to be drawn: the last ones, with so many leaves."""
    from scipy.cluster.hierarchy import dendrogram

    m, nodes, merges = len(result.features), result.node_clusters, result.linkage_matrix
    if m == 1:
        return Tree(links=[], leaves=[(str(result.features[0]), 1)])
    drawn: Any = dendrogram(
        merges,
        no_plot=True,
        truncate_mode="lastp",
        p=most,
        link_color_func=lambda node: "" if nodes[node] is None else str(nodes[node]),
    )
    corners = zip(drawn["icoord"], drawn["dcoord"], drawn["color_list"], strict=True)
    first = list(range(m))  # column of each node
    for a, b in result.children.tolist():
        first.append(min(first[a], first[b]))
    sizes = [1] * m + merges[:, 3].astype(int).tolist()
    return Tree(
        links=[(x, y, int(cluster) if cluster else None) for x, y, cluster in corners],
        leaves=[(str(result.features[first[node]]), sizes[node]) for node in drawn["leaves"]],
    )


def cluster_parts(result: ClusterResult, axis: FloatArray) -> list[tuple[float, float, int]]:
    """The parts of an axis that clusters of its columns cover: start, end, cluster."""
    half = np.abs(np.gradient(axis)) / 2 if axis.size > 1 else np.ones(1)
    parts = []
    for label in range(len(result.clusters)):
        members = np.flatnonzero(result.labels == label)
        for run in np.split(members, np.flatnonzero(np.diff(members) > 1) + 1):
            low, high = sorted((axis[run[0]], axis[run[-1]]))
            parts.append((float(low - half[run[0]]), float(high + half[run[-1]]), label))
    return parts
