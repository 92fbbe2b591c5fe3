"""Displays of how well a model predicts."""

from typing import Any

from infosieve.plots._shared import ResultDisplay, axes, draw, legend
from infosieve.report._figures import prediction
from infosieve.report._prediction import Prediction
from infosieve.results import SelectionResult


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

    def _draw(self, ax: Any) -> Any:
        ax, drawn = axes(ax, (7.0, 4.8)), Prediction(self.result)
        draw(ax, prediction(drawn))
        ax.set_title(drawn.scores.model_name)
        legend(ax, beside=True)
        return ax
