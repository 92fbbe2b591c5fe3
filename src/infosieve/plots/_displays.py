"""Pictures of results, in the manner of scikit-learn's Display classes, on matplotlib.

Each has a ``from_...`` constructor, a ``plot(ax=None)`` that draws and returns itself, and then
``ax_`` and ``figure_``.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from infosieve._core.types import FloatArray
from infosieve._input.tables import find_columns, read_table
from infosieve.report import _data
from infosieve.report._data import GROUPS
from infosieve.results import ClusterResult, KChoice, SelectionResult

if TYPE_CHECKING:
    import pandas as pd

# One hue for what was found, grey for chance, a second hue for what was left out.
FOUND, CHANCE, REFUSED = "#1f6feb", "#8b949e", "#d9480f"


def _axes(ax: Any, size: tuple[float, float] = (7.0, 4.2)) -> Any:
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def _short(name: Any, length: int = 28) -> str:
    text = str(name)
    return text if len(text) <= length else text[: length - 1] + "…"


class _Display:
    ax_: Any
    figure_: Any

    def _drawn(self, ax: Any) -> Self:
        self.ax_, self.figure_ = ax, ax.figure
        return self


class KChoiceDisplay(_Display):
    """How well each K tells features from chance: t against K, a line for each feature.

    Parameters
    ----------
    choice : KChoice
    features : list of int
        Which features to draw.
    """

    def __init__(self, choice: KChoice, features: Sequence[int]) -> None:
        self.choice, self.features = choice, list(features)

    @classmethod
    def from_choice(cls, choice: KChoice, *, max_features: int = 8) -> Self:
        """The features whose t is largest, at most so many.

        Parameters
        ----------
        choice : KChoice
        max_features : int, default=8

        Returns
        -------
        KChoiceDisplay
        """
        return cls(choice, _data.best_features(choice, max_features))

    def plot(self, ax: Any = None) -> Self:
        """Draw."""
        ax = _axes(ax)
        choice = self.choice
        for number, line in enumerate(_data.t_lines(choice, self.features)):
            color = FOUND if line.chose else str(0.45 + 0.4 * number / max(1, len(self.features)))
            style = {"color": color, "lw": 2 if line.chose else 1, "zorder": 3 if line.chose else 2}
            ax.plot(choice.ks, line.t, label=_short(line.name), **style)
        ax.axvline(choice.k, color=FOUND, ls="--", lw=1)
        ax.annotate(f"K = {choice.k}", (choice.k, ax.get_ylim()[1]), (4, -12), color=FOUND,
                    textcoords="offset points")  # fmt: skip
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set(xlabel="K (neighbours)", ylabel="t: standard deviations above chance")
        ax.legend(fontsize="small", frameon=False)
        return self._drawn(ax)


class InformationDisplay(_Display):
    """Boxes of one feature's information over the splits for each K, and with the target permuted.

    Parameters
    ----------
    choice : KChoice
    feature : int
        Which feature.
    """

    def __init__(self, choice: KChoice, feature: int) -> None:
        self.choice, self.feature = choice, feature

    @classmethod
    def from_choice(cls, choice: KChoice, feature: Any = None) -> Self:
        """Of one feature, by name; None is the one that chose K.

        Parameters
        ----------
        choice : KChoice
        feature : object, default=None

        Returns
        -------
        InformationDisplay
        """
        wanted = choice.feature if feature is None else feature
        if wanted not in choice.features:
            raise ValueError(
                f"The 'feature' parameter must be one of {list(choice.features[:5])}, ... Got "
                f"{feature!r} instead."
            )
        return cls(choice, choice.features.index(wanted))

    def plot(self, ax: Any = None) -> Self:
        """Draw."""
        ax = _axes(ax)
        choice, j = self.choice, self.feature
        for values, shift, color, label in (
            (choice.mi[j], -0.18, FOUND, "target as it is"),
            (choice.mi_permuted[j], 0.18, CHANCE, "target permuted"),
        ):
            box = ax.boxplot(
                list(values), positions=choice.ks + shift, widths=0.3, patch_artist=True,
                manage_ticks=False, flierprops={"ms": 2, "markeredgecolor": color},
                medianprops={"color": "white"},
            )  # fmt: skip
            for patch in box["boxes"]:
                patch.set(facecolor=color, edgecolor=color)
            ax.plot([], [], color=color, lw=6, label=label)
        ax.set_xticks(choice.ks)
        name = _short(choice.features[j])
        ax.set(
            xlabel="K (neighbours)", ylabel="information (nats)", title=f"{name}, over the splits"
        )
        ax.legend(fontsize="small", frameon=False)
        return self._drawn(ax)


class PathDisplay(_Display):
    """Step by step: what each column adds, and what permuted columns would.

    Parameters
    ----------
    result : SelectionResult
    """

    def __init__(self, result: SelectionResult) -> None:
        self.result = result

    @classmethod
    def from_result(cls, result: SelectionResult) -> Self:
        """Of a selection.

        Parameters
        ----------
        result : SelectionResult
            ``MISelector.result_``.

        Returns
        -------
        PathDisplay
        """
        return cls(result)

    def plot(self, ax: Any = None) -> Self:
        """Draw."""
        points = _data.path(self.result)
        ax = _axes(ax, (max(5.0, 1.0 + 0.9 * len(points)), 4.2))
        for x, point in enumerate(points):
            if len(point.null):
                _box(ax, x, point.null)
            color = FOUND if point.action != "stop" else REFUSED
            ax.plot(x, point.gain, "o", ms=8, color=color, zorder=3)
            if point.p_text:
                ax.annotate(point.p_text, (x, point.gain), (0, 8), ha="center", fontsize="small",
                            textcoords="offset points")  # fmt: skip
        signs = {"add": "+ ", "remove": "− ", "stop": ""}  # noqa: RUF001
        names = [signs[p.action] + "\n".join(_short(n, 18) for n in p.names) for p in points]
        ax.set_xticks(range(len(points)), names, rotation=30, ha="right", fontsize="small")
        ax.axhline(0, color="0.8", lw=0.8, zorder=0)
        ax.plot([], [], "o", color=FOUND, label="selected")
        ax.plot([], [], "o", color=REFUSED, label="did not pass")
        ax.plot([], [], color=CHANCE, lw=6, label="permuted (5 to 95 %)")
        ax.margins(y=0.15)
        ax.set_ylabel("what it adds (nats)")
        ax.legend(fontsize="small", frameon=False)
        return self._drawn(ax)


def _box(ax: Any, x: float, null: FloatArray) -> None:
    """A grey box of permuted values, whiskers from 5 to 95 %."""
    box = ax.boxplot([null], positions=[x], widths=0.5, patch_artist=True, whis=(5, 95),
                     showfliers=False, manage_ticks=False,
                     medianprops={"color": "white"})  # fmt: skip
    for part in (*box["boxes"], *box["whiskers"], *box["caps"]):
        part.set(color=CHANCE)


class RelevanceDisplay(_Display):
    """Bars of what each column tells alone; selected ones in colour.

    Parameters
    ----------
    names : list of str
    relevance : ndarray
        Nats, largest first.
    selected : ndarray of bool
    """

    def __init__(self, names: Sequence[str], relevance: FloatArray, selected: Any) -> None:
        self.names, self.relevance, self.selected = list(names), relevance, selected

    @classmethod
    def from_result(cls, result: SelectionResult, *, max_features: int = 25) -> Self:
        """The columns that tell most, at most so many.

        Parameters
        ----------
        result : SelectionResult
        max_features : int, default=25

        Returns
        -------
        RelevanceDisplay
        """
        best = _data.relevance(result, max_features)
        return cls(best.names, best.nats, best.selected)

    def plot(self, ax: Any = None) -> Self:
        """Draw."""
        ax = _axes(ax, (7.0, 0.8 + 0.24 * len(self.names)))
        y = np.arange(len(self.names))[::-1]
        ax.barh(y, self.relevance, color=np.where(self.selected, FOUND, "#c9d1d9"), height=0.7)
        ax.set_yticks(y, [_short(name) for name in self.names], fontsize="small")
        ax.plot([], [], color=FOUND, lw=6, label="selected")
        ax.legend(fontsize="small", frameon=False, loc="lower right")
        ax.set_xlabel("information about the target, alone (nats)")
        ax.spines[["top", "right"]].set_visible(False)
        return self._drawn(ax)


class DendrogramDisplay(_Display):
    """The tree of a clustering, clusters in colours.

    Parameters
    ----------
    result : ClusterResult
    """

    def __init__(self, result: ClusterResult) -> None:
        self.result = result

    @classmethod
    def from_result(cls, result: ClusterResult) -> Self:
        """Of a clustering.

        Parameters
        ----------
        result : ClusterResult
            ``FeatureClustering.result_``.

        Returns
        -------
        DendrogramDisplay
        """
        return cls(result)

    def plot(self, ax: Any = None) -> Self:
        """Draw."""
        from matplotlib.collections import LineCollection

        result, drawn = self.result, _data.tree(self.result)
        m = len(result.features)
        ax = _axes(ax, (min(14.0, max(6.0, 0.14 * m)), 4.2))
        colors = _colors(len(result.clusters))
        for cluster in (None, *range(len(result.clusters))):
            corners = [np.column_stack((x, y)) for x, y, of in drawn.links if of == cluster]
            color = "#c9d1d9" if cluster is None else colors[cluster]
            if corners:
                ax.add_collection(LineCollection(corners, colors=color))
        top = max(y[1] for _, y, _ in drawn.links) if drawn.links else 1.0
        ax.set(xlim=(0, 10 * m), ylim=(0, 1.05 * top if top > 0 else 1.0))
        names = [_short(name, 16) for name in drawn.leaves] if m <= 80 else []
        at = 5 + 10 * np.arange(len(names))
        ax.set_xticks(at, names, rotation=90 if m > 10 else 0, fontsize=7)
        ax.tick_params(axis="x", length=0)
        ax.set_ylabel("1 − similarity")  # noqa: RUF001
        ax.set_title(f"{len(result.clusters)} clusters of {m} features")
        ax.spines[["top", "right", "bottom"]].set_visible(False)
        return self._drawn(ax)


class CurvesDisplay(_Display):
    """Curves, with clusters of their columns, or with the parts that features come from.

    Parameters
    ----------
    curves : ndarray of shape (n_curves, n_points)
    axis : ndarray of shape (n_points,)
    parts : list of (start, end, color, label)
        What is shaded.
    xlabel : str
    """

    def __init__(self, curves: Any, axis: Any, parts: list[Any], xlabel: str = "") -> None:
        self.curves, self.axis = np.asarray(curves, float), np.asarray(axis, float)
        self.parts, self.xlabel = parts, xlabel

    @classmethod
    def from_clusters(
        cls, X: Any, result: ClusterResult, *, axis: Any = None, xlabel: str = ""
    ) -> Self:
        """Clusters of neighbouring columns, over the curves.

        Parameters
        ----------
        X : array-like of shape (n_curves, n_points)
        result : ClusterResult
            ``FeatureClustering.result_``, of the same columns.
        axis : array-like or None, default=None
            Where the columns lie.
        xlabel : str, default=""

        Returns
        -------
        CurvesDisplay
        """
        curves = read_table(X, "X", False, least=1, offsets={}).values.T
        at = np.arange(curves.shape[1], dtype=float) if axis is None else np.asarray(axis, float)
        colors = _colors(len(result.clusters))
        parts, seen = [], set()
        for start, end, label in _data.cluster_parts(result, at):
            words = None if label in seen else f"{label}: {int((result.labels == label).sum())}"
            seen.add(label)
            parts.append((start, end, colors[label], words))
        return cls(curves, at, parts, xlabel)

    @classmethod
    def from_features(
        cls, X: Any, features: "pd.DataFrame", *, axis: Any = None, xlabel: str = ""
    ) -> Self:
        """Where features come from, over the curves.

        Parameters
        ----------
        X : array-like of shape (n_curves, n_points)
        features : DataFrame
            Some rows of ``CurveFeatures.describe()``.
        axis : array-like or None, default=None
            Where the columns lie.
        xlabel : str, default=""

        Returns
        -------
        CurvesDisplay
        """
        curves = read_table(X, "X", False, least=1, offsets={}).values.T
        at = np.arange(curves.shape[1], dtype=float) if axis is None else np.asarray(axis, float)
        found = zip(_data.feature_parts(features, at), _colors(len(features)), strict=True)
        parts = [(start, end, color, name) for (start, end, name), color in found]
        return cls(curves, at, parts, xlabel)

    def plot(self, ax: Any = None) -> Self:
        """Draw the curves' middle half and nine tenths, a few of them, and the parts."""
        ax = _axes(ax, (8.0, 4.2))
        low, first, _, third, high = _data.bands(self.curves)
        for below, above, shade in ((low, high, 0.08), (first, third, 0.14)):
            ax.fill_between(self.axis, below, above, color="black", alpha=shade, lw=0, zorder=2)
        some = np.linspace(0, len(self.curves) - 1, min(12, len(self.curves))).astype(int)
        ax.plot(self.axis, self.curves[some].T, color="black", lw=0.4, alpha=0.5, zorder=3)
        for start, end, color, label in self.parts:
            ax.axvspan(start, end, color=color, alpha=0.45, lw=0, zorder=1, label=label)
        ax.set(xlabel=self.xlabel, xlim=(self.axis.min(), self.axis.max()))
        if 0 < len(self.parts) <= 20:
            ax.legend(fontsize="small", frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
        return self._drawn(ax)


class FalseNeighborsDisplay(_Display):
    """The chapter's picture: who a feature takes for the nearest of a sample, and who is.

    Parameters
    ----------
    x, y : ndarray of shape (n_samples,)
        The scaled feature and target.
    sample : int
    """

    def __init__(self, x: FloatArray, y: FloatArray, sample: int, names: tuple[str, str]) -> None:
        self.x, self.y, self.sample, self.names = x, y, sample, names

    @classmethod
    def from_data(cls, X: Any, y: Any, feature: Any, *, sample: int | None = None) -> Self:
        """Of one feature; None is the sample with most false neighbours.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            A target of numbers.
        feature : column of X
            Its number or name.
        sample : int or None, default=None

        Returns
        -------
        FalseNeighborsDisplay
        """
        from infosieve.clustering._feature_clustering import false_neighbors

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
        """Draw."""
        ax = _axes(ax, (5.6, 5.0))
        gaps = np.abs(self.x - self.x[self.sample])
        squares = gaps**2 + (self.y - self.y[self.sample]) ** 2
        squares[self.sample] = np.inf
        neighbor = int(np.argmin(squares))
        wrong = np.flatnonzero((gaps < gaps[neighbor]) & (np.arange(self.x.size) != self.sample))
        ax.axvspan(self.x[self.sample] - gaps[neighbor], self.x[self.sample] + gaps[neighbor],
                   color=REFUSED, alpha=0.12, lw=0)  # fmt: skip
        ax.plot(self.x, self.y, "o", ms=3, color="#c9d1d9")
        ax.plot(
            self.x[wrong],
            self.y[wrong],
            "o",
            ms=5,
            color=REFUSED,
            label=f"{wrong.size} false neighbours",
        )
        ax.plot(
            self.x[neighbor],
            self.y[neighbor],
            "s",
            ms=8,
            color=FOUND,
            label="its nearest neighbour",
        )
        ax.plot(self.x[self.sample], self.y[self.sample], "k*", ms=12, label="a sample")
        ax.set(xlabel=f"{self.names[0]} (scaled)", ylabel=f"{self.names[1]} (scaled)")
        ax.legend(fontsize="small", frameon=False)
        return self._drawn(ax)


def _colors(n: int) -> list[str]:
    """So many colours that neighbours can be told apart."""
    return [GROUPS[i % len(GROUPS)] for i in range(n)]
