"""Named features from sampled curves."""

from infosieve.curves._curve_features import CurveFeatures

__all__ = ["CurveFeatures"]
