"""How well a model predicts with the first columns of a ranking."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from infosieve._core.model_text import name_of
from infosieve._core.types import FloatArray
from infosieve.results._base import need


@dataclass(frozen=True, kw_only=True)
class CVScores:
    """Scores of a model along a ranking, by cross-validation.

    Attributes
    ----------
    criterion : str
        What the ranking is by: of several that were tried, the one with the best score.
    others : dict
        For each other criterion that was tried, the mean score with each number of columns.
    sizes : tuple of int
        Numbers of columns, 0 first: no column, the mean or the most common class.
    scores : tuple of tuple of float
        For each fold, the score with each number of columns: the ranking, and the model, are made
        without the samples of the fold, which judge them. Larger is better.
    all_columns : tuple of float or None
        For each fold, the score of the model with all columns; None where these were not tried.
    order : tuple of int
        The ranking of all samples.
    fold_orders : tuple of tuple of int
        The ranking without each fold.
    n_chosen : int
        How many columns of ``order`` are selected.
    model : dict
        Name and parameters of the model.
    scoring : str
        What the scores are.
    mean, standard_error : ndarray of shape (n_sizes,)
        Over the folds; the standard error as if folds were independent, which they are not quite.
    best, best_score : int, float
        The number of columns with the largest mean, and that.
    without : float
        The mean without columns.
    model_name : str
        The last part of the name of the model; of a pipeline, that of its last step.

    See Also
    --------
    MISelector : With ``stop="cv"``, has one as ``result_.cv_scores``.
    infosieve.plots.CVScoresDisplay : Draws it.

    Examples
    --------
    >>> from infosieve import CVScores
    >>> scores = CVScores(
    ...     criterion="cmi",
    ...     sizes=(0, 1, 2), scores=((0.0, 0.5, 0.6), (0.0, 0.7, 0.6)), all_columns=(0.4, 0.5),
    ...     order=(3, 1), fold_orders=((3, 1), (3, 0)), n_chosen=1,
    ...     model={"name": "sklearn.svm._classes.SVR", "parameters": {"C": 1.0}}, scoring="r2",
    ... )
    >>> scores.mean, scores.best
    (array([0. , 0.6, 0.6]), 1)
    >>> scores.model_name, scores.without
    ('SVR', 0.0)
    """

    criterion: str
    sizes: tuple[int, ...]
    scores: tuple[tuple[float, ...], ...]
    all_columns: tuple[float, ...] | None
    order: tuple[int, ...]
    fold_orders: tuple[tuple[int, ...], ...]
    n_chosen: int
    model: Mapping[str, Any]
    scoring: str
    others: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def mean(self) -> FloatArray:
        return np.asarray(np.mean(self.scores, axis=0))

    @property
    def standard_error(self) -> FloatArray:
        spread = np.std(self.scores, axis=0, ddof=1)
        return np.asarray(spread / np.sqrt(len(self.scores)))

    @property
    def best(self) -> int:
        return self.sizes[1 + int(np.argmax(self.mean[1:] >= self.best_score - 1e-9))]

    @property
    def best_score(self) -> float:
        return float(self.mean[1:].max())

    @property
    def without(self) -> float:
        return float(self.mean[0])

    @property
    def model_name(self) -> str:
        return name_of(self.model)

    def _check(self) -> None:
        """Refuse scores that do not fit together."""
        size, n_folds = len(self.sizes), len(self.scores)
        need(self.n_chosen in self.sizes[1:], "'n_chosen' must be one of the sizes", self.n_chosen)
        need(n_folds > 1 and len(self.fold_orders) == n_folds, "there must be two folds or more")
        for scores in (*self.scores, *self.others.values()):
            need(len(scores) == size, f"there must be {size} scores of each fold", len(scores))
        whole = self.all_columns
        need(whole is None or len(whole) == n_folds, "'all_columns' must be a score a fold", whole)
        known = isinstance(self.model.get("name"), str)
        known = known and isinstance(self.model.get("parameters"), Mapping)
        need(known, "'model' must have a name and parameters", self.model)
