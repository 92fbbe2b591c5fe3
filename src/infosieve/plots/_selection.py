"""Displays of a selection."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from infosieve._core.types import FloatArray
from infosieve.plots._shared import (
    CHANCE,
    FAINT,
    FOUND,
    REFUSED,
    Display,
    axes,
    box_of_chance,
    short,
)
from infosieve.report import _data
from infosieve.results import SelectionResult


class PathDisplay(Display):
    """The gain of each step of a selection, and the gains of permuted columns.

    Parameters
    ----------
    result : SelectionResult
        ``MISelector.result_``.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        What was drawn on.

    See Also
    --------
    RelevanceDisplay : The marginal information of the columns.
    infosieve.SelectionResult : What is drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from infosieve import MISelector, plots
    >>> x = np.random.default_rng(0).normal(size=(40, 3))
    >>> result = MISelector(lookahead=1, random_state=0).fit(x, x[:, 1] ** 3).result_
    >>> plots.PathDisplay.from_result(result).plot().ax_.get_ylabel()
    'adds, given those before (nats)'
    """

    def __init__(self, result: SelectionResult) -> None:
        self.result = result

    @classmethod
    def from_result(cls, result: SelectionResult) -> Self:
        """Show a selection.

        Parameters
        ----------
        result : SelectionResult
            ``MISelector.result_``.

        Returns
        -------
        PathDisplay
            To be drawn with ``plot``.
        """
        return cls(result)

    def plot(self, ax: Any = None) -> Self:
        """Draw a dot for each step, and a grey box of permuted columns where it was tested.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        PathDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        points = _data.path(self.result)
        ax = axes(ax, (max(5.0, 1.0 + 0.9 * len(points)), 4.2))
        for x, point in enumerate(points):
            if len(point.null):
                box_of_chance(ax, x, point.null)
            color = FOUND if point.action != "stop" else REFUSED
            ax.plot(x, point.gain, "o", ms=8, color=color, zorder=3)
            ax.annotate(
                point.p_text, (x, point.gain), (0, 8), ha="center", fontsize="small",
                textcoords="offset points",
            )  # fmt: skip
        signs = {"add": "+ ", "remove": "− ", "stop": ""}  # noqa: RUF001
        names = [signs[p.action] + "\n".join(short(n, 18) for n in p.names) for p in points]
        ax.set_xticks(range(len(points)), names, rotation=30, ha="right", fontsize="small")
        ax.axhline(0, color="0.8", lw=0.8, zorder=0)
        ax.plot([], [], "o", color=FOUND, label="selected")
        ax.plot([], [], "o", color=REFUSED, label="did not pass")
        ax.plot([], [], color=CHANCE, lw=6, label="permuted columns (5 to 95 %)")
        ax.margins(y=0.15)
        ax.set_ylabel("adds, given those before (nats)")
        ax.legend(fontsize="small", frameon=False)
        return self._drawn(ax)


class RelevanceDisplay(Display):
    """Bars of the marginal information of columns; selected ones in colour.

    Parameters
    ----------
    names : list of str
        Names of the columns.
    relevance : ndarray
        Their information about the target in nats, largest first.
    selected : ndarray of bool
        Which of them were selected.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        What was drawn on.

    See Also
    --------
    PathDisplay : What columns add, given those before.
    infosieve.relevance : Computes the marginal information.

    Examples
    --------
    >>> from infosieve import plots
    >>> display = plots.RelevanceDisplay(["b", "a"], [0.4, 0.1], [True, False]).plot()
    >>> display.ax_.get_xlabel()
    'marginal information about the target (nats)'
    """

    def __init__(
        self, names: Sequence[str], relevance: FloatArray, selected: Sequence[bool]
    ) -> None:
        self.names, self.relevance, self.selected = list(names), relevance, selected

    @classmethod
    def from_result(cls, result: SelectionResult, *, max_features: int = 25) -> Self:
        """Show the columns with the largest marginal information.

        Parameters
        ----------
        result : SelectionResult
            ``MISelector.result_``.
        max_features : int, default=25
            How many columns, at most.

        Returns
        -------
        RelevanceDisplay
            To be drawn with ``plot``.
        """
        best = _data.relevance(result, max_features)
        return cls(best.names, best.nats, best.selected.tolist())

    def plot(self, ax: Any = None) -> Self:
        """Draw a bar for each column.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        RelevanceDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        ax = axes(ax, (7.0, 0.8 + 0.24 * len(self.names)))
        y = np.arange(len(self.names))[::-1]
        ax.barh(y, self.relevance, color=np.where(self.selected, FOUND, FAINT), height=0.7)
        ax.set_yticks(y, [short(name) for name in self.names], fontsize="small")
        ax.plot([], [], color=FOUND, lw=6, label="selected")
        ax.legend(fontsize="small", frameon=False, loc="lower right")
        ax.set_xlabel("marginal information about the target (nats)")
        ax.spines[["top", "right"]].set_visible(False)
        return self._drawn(ax)
