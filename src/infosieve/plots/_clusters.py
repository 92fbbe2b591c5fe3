"""A display of clusters."""

from typing import Any

from infosieve.plots._shared import ResultDisplay, axes, draw
from infosieve.report._clusters import LEAVES, ClusterFacts
from infosieve.report._figures import tree
from infosieve.results import ClusterResult

# Inches that a leaf of a tree needs.
_ROW = 0.13


class DendrogramDisplay(ResultDisplay[ClusterResult]):
    """The tree of a clustering, clusters in colours.

    Merges go from left to right, at 1 - similarity; each column has a row. Where there is no room
    for all (150 in a new figure), the last merges are drawn: a leaf such as ``name + 36`` stands
    for 37 columns.

    Parameters
    ----------
    result : ClusterResult
        ``FeatureClustering.result_``.

    See Also
    --------
    CurvesDisplay : Clusters of neighbouring columns, over curves.
    infosieve.FeatureClustering : Joins columns.

    Examples
    --------
    >>> import numpy as np
    >>> from infosieve import FeatureClustering, plots
    >>> x = np.random.default_rng(0).normal(size=(40, 4))
    >>> result = FeatureClustering(2).fit(x, x.sum(axis=1)).result_
    >>> plots.DendrogramDisplay.from_result(result).plot().ax_.get_title()
    '2 clusters of 4 features'
    """

    def _draw(self, ax: Any) -> Any:
        m, k, most = len(self.result.features), len(self.result.clusters), LEAVES
        if ax is not None:
            most = max(2, int(ax.get_position().height * ax.figure.get_figheight() / _ROW))
        figure = tree(ClusterFacts(self.result), most)
        ax = axes(ax, (7.0, max(3.0, 0.9 + _ROW * len(figure["layout"]["yaxis"]["tickvals"]))))
        draw(ax, figure)
        ax.tick_params(axis="y", length=0, labelsize=7)
        ax.set_title(f"{k} clusters of {m} features")
        ax.spines["left"].set_visible(False)
        return ax
