"""Displays of curves."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from infosieve._input.tables import read_table
from infosieve.plots._shared import Display, axes, colors, legend
from infosieve.report._clusters import cluster_parts
from infosieve.report._columns import feature_parts
from infosieve.report._selection import percentiles
from infosieve.results import ClusterResult

if TYPE_CHECKING:
    import pandas as pd


class CurvesDisplay(Display):
    """Curves, with clusters of their points, or with the parts that features come from.

    The middle half and nine tenths of the curves are grey, a few of them are drawn one by one, and
    the parts are shaded.

    Parameters
    ----------
    curves : ndarray of shape (n_curves, n_points)
        The curves, a row each.
    axis : ndarray of shape (n_points,)
        Where the points lie.
    parts : list of (start, end, color, label)
        What is shaded.
    xlabel : str, default=""
        What the axis is called.

    See Also
    --------
    DendrogramDisplay : Clusters of any columns.
    infosieve.CurveFeatures : Features of curves.

    Examples
    --------
    >>> import numpy as np
    >>> from infosieve import CurveFeatures, plots
    >>> curves = np.random.default_rng(0).normal(size=(10, 8)).cumsum(axis=1)
    >>> about = CurveFeatures().fit(curves).describe()
    >>> display = plots.CurvesDisplay.from_features(curves, about[:3], xlabel="point")
    >>> len(display.parts), display.plot().ax_.get_xlabel()
    (3, 'point')
    """

    def __init__(self, curves: Any, axis: Any, parts: list[Any], xlabel: str = "") -> None:
        self.curves, self.axis = np.asarray(curves, float), np.asarray(axis, float)
        self.parts, self.xlabel = parts, xlabel

    @classmethod
    def from_clusters(
        cls, X: Any, result: ClusterResult, *, axis: Any = None, xlabel: str = ""
    ) -> Self:
        """Show clusters of neighbouring points, over the curves.

        Parameters
        ----------
        X : array-like of shape (n_curves, n_points)
            The curves, a row each.
        result : ClusterResult
            ``FeatureClustering.result_``, of the same columns.
        axis : array-like or None, default=None
            Where the points lie; None numbers them.
        xlabel : str, default=""
            What the axis is called.

        Returns
        -------
        CurvesDisplay
            To be drawn with ``plot``.
        """
        curves, at = _read(X, axis)
        shades = colors(len(result.clusters))
        parts, seen = list[Any](), set[int]()
        for start, end, label in cluster_parts(result, at):
            words = None if label in seen else f"{label}: {int((result.labels == label).sum())}"
            seen.add(label)
            parts.append((start, end, shades[label], words))
        return cls(curves, at, parts, xlabel)

    @classmethod
    def from_features(
        cls, X: Any, features: "pd.DataFrame", *, axis: Any = None, xlabel: str = ""
    ) -> Self:
        """Show where features come from, over the curves.

        Parameters
        ----------
        X : array-like of shape (n_curves, n_points)
            The curves, a row each.
        features : DataFrame
            Some rows of ``CurveFeatures.describe()``.
        axis, xlabel
            As in :meth:`from_clusters`.

        Returns
        -------
        CurvesDisplay
            To be drawn with ``plot``.
        """
        curves, at = _read(X, axis)
        found = zip(feature_parts(features, at), colors(len(features)), strict=True)
        parts = [(start, end, color, name) for (start, end, name), color in found]
        return cls(curves, at, parts, xlabel)

    def _draw(self, ax: Any) -> Any:
        ax = axes(ax, (8.0, 4.2))
        low, first, _, third, high = percentiles(self.curves)
        for below, above, shade in ((low, high, 0.08), (first, third, 0.14)):
            ax.fill_between(self.axis, below, above, color="black", alpha=shade, lw=0, zorder=2)
        some = np.linspace(0, len(self.curves) - 1, min(12, len(self.curves))).astype(int)
        ax.plot(self.axis, self.curves[some].T, color="black", lw=0.4, alpha=0.5, zorder=3)
        for start, end, color, label in self.parts:
            ax.axvspan(start, end, color=color, alpha=0.45, lw=0, zorder=1, label=label)
        ax.set(xlabel=self.xlabel, xlim=(self.axis.min(), self.axis.max()))
        if 0 < len(self.parts) <= 20:
            legend(ax, beside=True)
        return ax


def _read(X: Any, axis: Any) -> tuple[Any, Any]:
    """The curves, a row each, and where their points lie."""
    curves = read_table(X, "X", False, least=1, offsets={}).values.T
    at = np.arange(curves.shape[1], dtype=float) if axis is None else np.asarray(axis, float)
    return curves, at
