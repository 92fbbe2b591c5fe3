"""How many clusters: by number, by a threshold, or by cross-validation of an estimator."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)
from threadpoolctl import threadpool_limits

from infosieve._core.parameters import is_int
from infosieve._core.progress import Progress
from infosieve._core.types import BoolArray, Executor, FloatArray, IntArray
from infosieve._input.scaling import Scaling
from infosieve._input.tables import Table
from infosieve.clustering._agglomeration import Tree
from infosieve.clustering._growth import Growth
from infosieve.clustering._pls import PLSRegressionCV


def check_cross_validation(estimator: Any, cv: Any, y: Table, groups: IntArray | None) -> None:
    """Refuse what can be known to fail before work begins."""
    n_groups = 0 if groups is None else int(groups.max()) + 1
    if is_int(cv) and groups is not None and cv > n_groups:
        raise ValueError(
            f"The 'cv' parameter asks for {cv} folds, but there are {n_groups} groups, which stay "
            "together. Use fewer folds."
        )
    if is_int(cv) and not 2 <= cv <= y.n_samples:
        raise ValueError(
            "The 'cv' parameter must be at least 2, and at most the number of samples "
            f"({y.n_samples}). Got {cv!r} instead; a number of clusters needs no folds."
        )
    if estimator is None and y.categorical.any():
        raise ValueError(
            f"{y.label(int(np.argmax(y.categorical)))} holds categories, and "
            "n_clusters='auto' judges numbers of clusters by regression. Pass a classifier as "
            "'estimator', or a number of clusters."
        )


def above_threshold(tree: Tree, threshold: float) -> int:
    """The clusters that are there before the first merge of less similarity."""
    below = np.flatnonzero(tree.similarities < threshold)
    merges = below[0] if below.size else len(tree.similarities)
    return max(tree.n_leaves - int(merges), tree.n_components)


def as_asked(tree: Tree, n_clusters: int) -> int:
    """The number itself, if the connectivity permits so few."""
    if n_clusters < tree.n_components:
        raise ValueError(
            f"The 'n_clusters' parameter asks for {n_clusters} clusters, but 'connectivity' has "
            f"{tree.n_components} connected components, and nothing joins these. Ask for at "
            f"least {tree.n_components}, or connect more columns."
        )
    return int(n_clusters)


@dataclass(frozen=True, kw_only=True)
class CrossValidation:
    """The number of clusters behind which an estimator predicts unseen samples best.

    Attributes
    ----------
    growth : Growth
        How columns are joined, without each fold.
    estimator : scikit-learn regressor or classifier, or None
        What predicts; None is :class:`PLSRegressionCV`.
    cv : int, splitter or iterable of (train, test)
        The folds.
    seed : int
        Shuffles the samples before they are cut into folds.
    groups : ndarray or None
        The group of each sample, all in one fold.
    in_order : bool
        Whether folds are stretches of time.
    """

    growth: Growth
    estimator: Any
    cv: Any
    seed: int
    groups: IntArray | None = None
    in_order: bool = False

    def results(
        self,
        n_components: int,
        tables: list[Table],
        connected: BoolArray | None,
        executor: Executor,
        progress: Progress,
    ) -> dict[str, Any]:
        """The scores of all numbers that are tried, as scikit-learn's ``cv_results_``."""
        x, y = tables
        squared = self.estimator is None
        target, estimator = y.original(), self.estimator
        if squared:
            estimator = PLSRegressionCV(random_state=self.seed)
            target = Scaling(y.values, "standard").apply(y.values.T)
        splits = check_cv(self._folds(estimator)).split(x.values.T, target, self.groups)
        judge = _Judge(
            growth=self.growth,
            estimator=estimator,
            numbers=numbers_to_try(n_components, min(x.n_columns, x.n_samples)),
            squared=squared,
            progress=Progress(0) if executor.remote else progress,
        )
        shared_tables = executor.share(tables)
        shared_connected = executor.share(connected)
        shared_target = executor.share(target)
        jobs = (
            (1, (judge, shared_tables, shared_connected, shared_target, train, test))
            for train, test in splits
        )
        each = np.array(list(executor.map(_judged, jobs)))  # a row for each fold
        if not np.isfinite(each).all():
            raise ValueError(
                "The scores of the 'estimator' are not all numbers (R^2 is not defined for a fold "
                "of one sample). Use fewer folds (cv)."
            )
        return {
            "n_clusters": judge.numbers,
            "mean_test_score": each.mean(axis=0),
            "std_test_score": each.std(axis=0),
        } | {f"split{i}_test_score": row for i, row in enumerate(each)}

    def _folds(self, estimator: Any) -> Any:
        if not is_int(self.cv):
            return self.cv
        if self.in_order:
            return KFold(self.cv)
        kind = StratifiedKFold if is_classifier(estimator) else KFold
        if self.groups is not None:
            kind = StratifiedGroupKFold if is_classifier(estimator) else GroupKFold
        return kind(self.cv, shuffle=True, random_state=self.seed)


def best_number(results: dict[str, Any]) -> int:
    """The number of the best mean score; of several, the smallest."""
    return int(results["n_clusters"][np.argmax(results["mean_test_score"])])


def numbers_to_try(least: int, most: int) -> IntArray:
    """All up to 14, then by steps of about a seventh."""
    numbers = [least]
    while numbers[-1] < most:
        numbers.append(min(most, numbers[-1] + max(1, numbers[-1] // 7)))
    return np.array(numbers)


@dataclass(frozen=True, kw_only=True)
class _Judge:
    """What is asked of each fold.

    Attributes
    ----------
    growth : Growth
        How columns are joined.
    estimator : scikit-learn regressor or classifier
        What predicts.
    numbers : ndarray of int
        The numbers of clusters.
    squared : bool
        By R^2 over all folds, as one fold may be one sample; else by the estimator's own score.
    progress : Progress
        Who hears how far it is.
    """

    growth: Growth
    estimator: Any
    numbers: IntArray
    squared: bool
    progress: Progress

    def score(self, known: FloatArray, target: Any, new: FloatArray, truth: Any) -> float:
        """Fit to known samples, predict new ones."""
        with threadpool_limits(1, "blas"):  # whose sums depend on the number of its threads
            model = clone(self.estimator).fit(known, target)
            if self.squared:
                return float(1.0 - np.mean((model.predict(new) - truth) ** 2))
            return float(model.score(new, truth))


def _judged(
    executor: Any,
    judge: _Judge,
    tables: list[Table],
    connected: BoolArray | None,
    target: Any,
    train: IntArray,
    test: IntArray,
) -> list[float]:
    """How well the estimator predicts one fold behind each number of clusters."""
    progress, numbers = judge.progress, judge.numbers
    grown = judge.growth.grow([t.take_rows(train) for t in tables], connected, executor, progress)
    progress.begin("numbers of clusters of a fold", len(numbers))
    values = tables[0].values.T
    scores = []
    for done, number in enumerate(numbers, start=1):
        reduction = grown.cut(number)
        known, new = (reduction.transform(values[rows]) for rows in (train, test))
        scores.append(judge.score(known, target[train], new, target[test]))
        progress.advance(done, len(numbers))
    return scores
