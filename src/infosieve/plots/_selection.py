"""Displays of a selection."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from infosieve._core.types import FloatArray
from infosieve.plots._shared import FOUND, Display, ResultDisplay, axes, draw, legend
from infosieve.report._figures import bars, path
from infosieve.report._selection import SelectionFacts
from infosieve.results import SelectionResult


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
        draw(ax, path(facts))
        if tested:
            legend(ax, ncols=3, loc="lower left", bbox_to_anchor=(0, 1))
        for y, point in enumerate(tested):
            text = f"{point.step.gain:+.3f} nats, {point.p_text}"
            ax.annotate(text, (1, y), (4, 0), xycoords=("axes fraction", "data"), va="center",
                        fontsize="small", textcoords="offset points")  # fmt: skip
        return ax


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
        title = "marginal information about the target (nats)"
        shades = ["found" if chosen else "faint" for chosen in self.selected]
        draw(ax, bars(self.names, np.asarray(self.relevance).tolist(), title, self.names, shades))
        ax.plot([], [], color=FOUND, lw=6, label="selected")
        legend(ax, loc="lower right")
        return ax
