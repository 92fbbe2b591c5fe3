"""Displays of how well a model predicts."""

from typing import Any

from infosieve.plots._shared import (
    CHANCE,
    FAINT,
    FOLLOWS,
    FOUND,
    REFUSED,
    ResultDisplay,
    axes,
    legend,
    short,
)
from infosieve.report._prediction import Prediction
from infosieve.results import SelectionResult

# Inches that an upright name needs along an axis, and a letter of a level one.
_NAME, _LETTER = 0.125, 0.085


class CVScoresDisplay(ResultDisplay[SelectionResult]):
    """The scores of a model against the number of columns, by cross-validation.

    Means over the folds with standard errors, thin lines of the folds, and grey lines of the means
    along rankings by other criteria that were tried; the score without columns and, where it is
    known, that of all columns; the number that was chosen. Squares below
    are the selected columns. With ``test=True`` filled ones are certain, having passed their tests,
    and open ones are only useful. The names along the axis are those of the ranking of all samples;
    each fold has a ranking of its own.

    Parameters
    ----------
    result : SelectionResult
        ``MISelector.result_``, after ``stop="cv"``.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        What was drawn on.

    See Also
    --------
    PathDisplay : What columns add, given those before.
    infosieve.CVScores : What is drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from infosieve import MISelector, plots
    >>> x = np.random.default_rng(0).normal(size=(60, 4))
    >>> result = MISelector(stop="cv", random_state=0).fit(x, x[:, 1] + x[:, 2] ** 2).result_
    >>> plots.CVScoresDisplay.from_result(result).plot().ax_.get_ylabel()
    'r2'
    """

    def __init__(self, result: SelectionResult) -> None:
        if result.cv_scores is None:
            raise ValueError(
                "The 'result' parameter must be a selection with scores of a model, as "
                "MISelector(stop='cv').fit(X, y).result_ is; this one has none (cv_scores is "
                "None)."
            )
        super().__init__(result)

    def _draw(self, ax: Any) -> Any:
        drawn = Prediction(self.result)
        scores = drawn.scores
        ax = axes(ax, (7.0, 4.8))
        at, (low, high, below) = drawn.place(scores.sizes), drawn.heights
        for number, fold in enumerate(scores.scores):
            label = "folds" if number == 0 else None
            ax.plot(at, fold, color=FAINT, lw=0.8, zorder=1, label=label)
        label = f"no column: {drawn.text(scores.without)}"
        ax.axhline(scores.without, color=CHANCE, ls=":", lw=1.3, label=label)
        if drawn.every is not None:
            label = f"all {drawn.n_features:,} columns: {drawn.text(drawn.every)}"
            ax.axhline(drawn.every, color=FOLLOWS, ls="--", lw=1.3, label=label)
        label = f"chosen: {scores.n_chosen:,}"
        ax.axvline(drawn.place(scores.n_chosen), color=REFUSED, lw=1.3, label=label)
        for criterion, means in scores.others.items():
            ax.plot(at, means, color=CHANCE, lw=1.3, zorder=2, label=f"{criterion}: mean")
        ax.errorbar(
            at, scores.mean, scores.standard_error, fmt="o-", ms=5, color=FOUND, elinewidth=1,
            capsize=2, zorder=3, label=drawn.mean_label,
        )  # fmt: skip
        for kind, filled, numbers in drawn.marked():
            face = FOUND if filled else "white"
            ax.plot(
                drawn.place(numbers), [below] * len(numbers), "s", ms=5, color=FOUND,
                markerfacecolor=face, label=kind, zorder=4,
            )  # fmt: skip
        _name_columns(ax, drawn)
        ax.set(ylim=(low, high), title=scores.model_name)
        ax.set_ylabel(scores.scoring, parse_math=False)
        legend(ax, beside=True)
        return ax


def _name_columns(ax: Any, drawn: Prediction) -> None:
    """Names along the axis where they fit, else numbers."""
    width = ax.get_position().width * ax.figure.get_figwidth() * 0.8  # beside a legend
    room = width / (drawn.last + 1)
    if room < _NAME or drawn.last > len(drawn.names):
        ticks = drawn.ticks()
        ax.set_xticks(drawn.place(ticks), [f"{k:,}" for k in ticks])
    else:
        names = [short(drawn.label(k), 22) for k in range(drawn.last + 1)]
        upright = max(map(len, names)) * _LETTER > room
        ax.set_xticks(
            range(drawn.last + 1), names, fontsize=7, rotation=90 if upright else 0,
            parse_math=False,
        )  # fmt: skip
    ax.set_xlabel("number of columns")
