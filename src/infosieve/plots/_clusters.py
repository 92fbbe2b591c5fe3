"""A display of clusters."""

from typing import Any

import numpy as np

from infosieve.plots._shared import FAINT, ResultDisplay, axes, colors, short
from infosieve.report._clusters import tree_of
from infosieve.results import ClusterResult

# Inches that a leaf of a tree needs, and the most leaves that a new figure has.
_ROW, _LEAVES = 0.13, 150


class DendrogramDisplay(ResultDisplay[ClusterResult]):
    """The tree of a clustering, clusters in colours.

    Merges go from left to right, at 1 - similarity; each column has a row. Where there is no room
    for all (150 in a new figure), the last merges are drawn: a leaf such as ``name + 36`` stands
    for 37 columns.

    Parameters
    ----------
    result : ClusterResult
        ``FeatureClustering.result_``.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        What was drawn on.

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
        from matplotlib.collections import LineCollection

        m, k = len(self.result.features), len(self.result.clusters)
        most = _LEAVES
        if ax is not None:
            most = max(2, int(ax.get_position().height * ax.figure.get_figheight() / _ROW))
        drawn = tree_of(self.result, most)
        n = len(drawn.leaves)
        ax = axes(ax, (7.0, max(3.0, 0.9 + _ROW * n)))
        for cluster, color in ((None, FAINT), *enumerate(colors(k))):
            corners = [np.column_stack((x, y)) for y, x, of in drawn.links if of == cluster]
            if corners:
                ax.add_collection(LineCollection(corners, colors=color))
        top = max((max(height) for _, height, _ in drawn.links), default=0.0)
        ax.set(xlim=(0, 1.05 * top if top > 0 else 1.0), ylim=(10 * n, 0))
        names = drawn.labels(lambda names: [short(name, 24) for name in names])
        ax.set_yticks(5 + 10 * np.arange(n), names, fontsize=7, parse_math=False)
        ax.tick_params(axis="y", length=0)
        ax.set_xlabel("1 − similarity")  # noqa: RUF001
        ax.set_title(f"{k} clusters of {m} features")
        ax.spines["left"].set_visible(False)
        return ax
