"""Supervised clustering of features."""

from infosieve.clustering._false_neighbors import false_neighbors
from infosieve.clustering._feature_clustering import FeatureClustering

__all__ = ["FeatureClustering", "false_neighbors"]
