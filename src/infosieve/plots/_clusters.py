"""Displays of clusters, and of the false neighbours that they are made from."""

from typing import Any, Self

import numpy as np

from infosieve._core.types import FloatArray
from infosieve._input.tables import find_columns, read_table
from infosieve.clustering import false_neighbors
from infosieve.plots._shared import FAINT, FOUND, REFUSED, Display, axes, colors, short
from infosieve.report._clusters import tree_of
from infosieve.results import ClusterResult

# Inches that a leaf of a tree needs, and the most leaves that a new figure has.
_ROW, _LEAVES = 0.13, 150


class DendrogramDisplay(Display):
    """The tree of a clustering, clusters in colours.

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

    def __init__(self, result: ClusterResult) -> None:
        self.result = result

    @classmethod
    def from_result(cls, result: ClusterResult) -> Self:
        """Show a clustering.

        Parameters
        ----------
        result : ClusterResult
            ``FeatureClustering.result_``.

        Returns
        -------
        DendrogramDisplay
            To be drawn with ``plot``.
        """
        return cls(result)

    def plot(self, ax: Any = None) -> Self:
        """Draw the merges from left to right, at 1 - similarity; a row for each column.

        Where there is no room for all (150 in a new figure), the last merges are drawn: a leaf
        such as ``name + 36`` stands for 37 columns.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        DendrogramDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
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
        ax.spines[["top", "right", "left"]].set_visible(False)
        return self._drawn(ax)


class FalseNeighborsDisplay(Display):
    """The false neighbours of one sample, as Verleysen, Rossi and François (2009) draw them.

    A false neighbour is nearer to the sample in the feature than the sample's nearest neighbour
    in feature and target together.

    Parameters
    ----------
    x, y : ndarray of shape (n_samples,)
        The feature and the target, scaled.
    sample : int
        Which sample.
    names : pair of str, default=("feature", "target")
        What the axes are called.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        What was drawn on.

    See Also
    --------
    infosieve.false_neighbors : Counts them for all samples and features.
    DendrogramDisplay : The clusters that are made from the counts.

    References
    ----------
    .. [1] M. Verleysen, F. Rossi and D. François (2009). Advances in feature selection with mutual
       information. https://doi.org/10.1007/978-3-642-01805-3_4

    Examples
    --------
    >>> import numpy as np
    >>> from infosieve import plots
    >>> x = np.random.default_rng(0).normal(size=(30, 2))
    >>> display = plots.FalseNeighborsDisplay.from_data(x, x[:, 0] ** 2, 1, sample=3).plot()
    >>> display.ax_.get_xlabel()
    'column 1 (scaled)'
    """

    def __init__(
        self,
        x: FloatArray,
        y: FloatArray,
        sample: int,
        names: tuple[str, str] = ("feature", "target"),
    ) -> None:
        self.x, self.y, self.sample, self.names = x, y, sample, names

    @classmethod
    def from_data(cls, X: Any, y: Any, feature: Any, *, sample: int | None = None) -> Self:
        """Show one feature and one sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The table.
        y : array-like of shape (n_samples,)
            A target of numbers.
        feature : column of X
            Its number or name.
        sample : int or None, default=None
            Which sample; None is the one with most false neighbours.

        Returns
        -------
        FalseNeighborsDisplay
            To be drawn with ``plot``.
        """
        table, target = read_table(X, "X", False), read_table(y, "y", False)
        j = find_columns(feature, table, "feature")[0]
        if sample is None:
            counts = np.asarray(false_neighbors(table.values[j][:, None], target.values.T))
            sample = int(np.argmax(counts[:, 0]))
        scaled = [(v - v.mean()) / v.std() for v in (table.values[j], target.values[0])]
        x_name = str(table.names[j]) if table.named else f"column {j}"
        y_name = str(target.names[0]) if target.named else "target"
        return cls(scaled[0], scaled[1], sample, (x_name, y_name))

    def plot(self, ax: Any = None) -> Self:
        """Draw all samples, the one in question, its nearest neighbour and the false ones.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        FalseNeighborsDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        ax = axes(ax, (5.6, 5.0))
        x, y, sample = self.x, self.y, self.sample
        gaps = np.abs(x - x[sample])
        squares = gaps**2 + (y - y[sample]) ** 2
        squares[sample] = np.inf
        nearest = int(np.argmin(squares))
        false = np.flatnonzero((gaps < gaps[nearest]) & (np.arange(x.size) != sample))
        reach = gaps[nearest]
        ax.axvspan(x[sample] - reach, x[sample] + reach, color=REFUSED, alpha=0.12, lw=0)
        ax.plot(x, y, "o", ms=3, color=FAINT)
        label = f"{false.size} false neighbours"
        ax.plot(x[false], y[false], "o", ms=5, color=REFUSED, label=label)
        label = "its nearest neighbour"
        ax.plot(x[nearest], y[nearest], "s", ms=8, color=FOUND, label=label)
        ax.plot(x[sample], y[sample], "k*", ms=12, label="a sample")
        ax.set(xlabel=f"{self.names[0]} (scaled)", ylabel=f"{self.names[1]} (scaled)")
        ax.legend(fontsize="small", frameon=False)
        return self._drawn(ax)
