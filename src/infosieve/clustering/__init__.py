"""Supervised clustering of features."""

from infosieve.clustering._feature_clustering import FeatureClustering, false_neighbors

__all__ = ["FeatureClustering", "false_neighbors"]
