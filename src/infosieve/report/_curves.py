"""Curves beside a result: which parts of them it is about."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from infosieve._core.types import FloatArray
from infosieve.report._clusters import cluster_parts
from infosieve.report._figures import Figure, curves
from infosieve.results import ClusterResult, SelectionResult

if TYPE_CHECKING:
    import pandas as pd


def on_curves(result: object, source: Any, values: npt.ArrayLike) -> Figure:
    """The curves, and where what was found comes from.

    ``source`` is a fitted CurveFeatures, or for clusters an axis.
    """
    if isinstance(result, ClusterResult):
        axis = np.asarray(source, float)
        covered = cluster_parts(result, axis)
        parts = [(start, end, result.clusters[label], label) for start, end, label in covered]
        return curves(_read_curves(values, axis), axis, parts, "")
    if not isinstance(result, SelectionResult):
        raise ValueError("'curves' can be shown beside a selection or clusters only.")
    about = source.describe().set_index("feature", drop=False)
    chosen = about.loc[[str(result.features[j]) for j in result.selected]]
    parts = [(*part, i) for i, part in enumerate(feature_parts(chosen, source.axis_))]
    shown = _read_curves(values, source.axis_)
    return curves(shown, source.axis_, parts, str(source.unit or ""))


def _read_curves(values: npt.ArrayLike, axis: FloatArray) -> FloatArray:
    """Curves as numbers, a row each, whatever table they come in."""
    rows: FloatArray = np.asarray(values, np.float64)
    if rows.ndim != 2 or rows.shape[1] != len(axis) or not np.isfinite(rows).all():
        raise ValueError(
            f"'curves' must be rows of {len(axis)} finite numbers, one for each point of the "
            f"axis. Got a table of shape {rows.shape}."
        )
    return rows


def feature_parts(features: "pd.DataFrame", axis: FloatArray) -> list[tuple[float, float, str]]:
    """The parts of an axis that features come from: start, end, name; a point gets some width."""
    width = np.abs(np.diff(axis)).mean() if axis.size > 1 else 1.0
    parts = []
    for name, a, b in features[["feature", "from", "to"]].itertuples(index=False):
        slack = width / 2 if a == b else 0.0
        parts.append((float(min(a, b) - slack), float(max(a, b) + slack), str(name)))
    return parts
