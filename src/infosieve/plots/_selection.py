"""Displays of a selection."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from infosieve._core.types import FloatArray
from infosieve.plots._shared import (
    CHANCE,
    FAINT,
    FOLLOWS,
    FOUND,
    REFUSED,
    Display,
    ResultDisplay,
    axes,
    legend,
    short,
)
from infosieve.report._selection import SelectionFacts, StepFacts, chance_ticks, percentiles
from infosieve.results import SelectionResult

# What a column adds, by the criterion that holds it against one selected column at a time, if any.
_ADDS = {
    "cmim": "adds to one of those before, at least (nats)",
    "jmi": "adds to one of those before, on average (nats)",
    "": "adds, given those before (nats)",
}


class PathDisplay(ResultDisplay[SelectionResult]):
    """The gain of each step of a selection, beside the gains of permuted columns.

    Each step has the scale of its own chance, so that small steps can be seen beside large ones: 0
    is the middle of what permuted columns add, 95 % of them end at 1, and distances beyond are
    compressed. A dot is a step, a grey box its permuted columns. Without a test, gains are bars in
    nats.

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
    CVScoresDisplay : How well a model predicts with them.
    infosieve.SelectionResult : What is drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from infosieve import MISelector, plots
    >>> x = np.random.default_rng(0).normal(size=(40, 3))
    >>> result = MISelector(lookahead=1, random_state=0).fit(x, x[:, 1] ** 2).result_
    >>> plots.PathDisplay.from_result(result).plot().ax_.get_xlabel()
    'above chance, in widths of the chance band'
    """

    def _draw(self, ax: Any) -> Any:
        facts = SelectionFacts(result=self.result)
        tested = facts.beside_chance
        points = tested or facts.steps
        ax = axes(ax, (7.0, 1.4 + 0.36 * len(points)))
        if tested:
            _draw_beside_chance(ax, points)
        else:
            _draw_gains(ax, points, _ADDS[facts.one_by_one])
        names = [f"{p.number}. {' and '.join(short(n, 18) for n in p.names)}" for p in points]
        ax.set_yticks(range(len(points)), names, fontsize="small")
        ax.set_ylim(len(points) - 0.4, -0.6)
        return ax


def _draw_beside_chance(ax: Any, points: Sequence[StepFacts]) -> None:
    places = [float(p.above_chance(p.compared)) for p in points]
    ticks = chance_ticks(max(places))
    for y, (place, point) in enumerate(zip(places, points, strict=True)):
        low, first, middle, third, high = point.above_chance(percentiles(point.null))
        ax.barh(y, third - first, left=first, height=0.5, color=CHANCE)
        ax.plot([low, high], [y, y], color=CHANCE, lw=1.5)
        ax.plot([middle, middle], [y - 0.25, y + 0.25], color="white", lw=1.5)
        color = {"add": FOUND, "stop": REFUSED}.get(point.action, FOLLOWS)
        ax.plot(place, y, "o", ms=8, color=color, zorder=3, **_fill(not point.doubtful))
        text = f"{point.gain:+.3f} nats, {point.p_text}"
        ax.annotate(text, (1, y), (4, 0), xycoords=("axes fraction", "data"), va="center",
                    fontsize="small", textcoords="offset points")  # fmt: skip
    ax.axvline(1, color=CHANCE, lw=0.8, ls="--", zorder=0)
    ax.plot([], [], "o", color=FOUND, label="selected")
    if any(point.doubtful for point in points):
        label = "selected, but did not pass"
        ax.plot([], [], "o", color=FOUND, label=label, **_fill(False))
    if any(point.action == "refuse" for point in points):
        ax.plot([], [], "o", color=FOLLOWS, label="follows a selected column")
    if any(point.action == "stop" for point in points):
        ax.plot([], [], "o", color=REFUSED, label="did not pass")
    ax.plot([], [], color=CHANCE, lw=6, label="permuted columns (5 to 95 %)")
    ax.set_xscale("asinh", linear_width=1.0)
    ax.set_xlim(min(-2.0, *places) * 1.1, max(*places, ticks[-1]) * 1.25)
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    ax.set_xlabel("above chance, in widths of the chance band")
    legend(ax, ncols=3, loc="lower left", bbox_to_anchor=(0, 1))


def _draw_gains(ax: Any, points: Sequence[StepFacts], title: str) -> None:
    colors = [FAINT if point.action == "remove" else FOUND for point in points]
    ax.barh(range(len(points)), [point.gain for point in points], height=0.7, color=colors)
    ax.axvline(0, color="0.8", lw=0.8, zorder=0)
    ax.set_xlabel(title)


def _fill(filled: bool) -> dict[str, Any]:
    """Filled for what is certain, open for what is not."""
    return {} if filled else {"markerfacecolor": "white", "markeredgewidth": 1.6}


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
        order = np.argsort(-result.relevance, kind="stable")[:max_features]
        names = [str(result.features[j]) for j in order]
        return cls(names, result.relevance[order], np.isin(order, result.selected).tolist())

    def _draw(self, ax: Any) -> Any:
        ax = axes(ax, (7.0, 0.8 + 0.24 * len(self.names)))
        y = np.arange(len(self.names))[::-1]
        ax.barh(y, self.relevance, color=np.where(self.selected, FOUND, FAINT), height=0.7)
        ax.set_yticks(y, [short(name) for name in self.names], fontsize="small")
        ax.plot([], [], color=FOUND, lw=6, label="selected")
        legend(ax, loc="lower right")
        ax.set_xlabel("marginal information about the target (nats)")
        return ax
