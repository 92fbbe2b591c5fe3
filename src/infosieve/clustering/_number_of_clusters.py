"""How many clusters: by number, by a threshold, or by cross-validation of a model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)
from threadpoolctl import threadpool_limits

from infosieve._core.dialect import bare, mention, parameter, setting
from infosieve._core.model_text import check_kind
from infosieve._core.rules import ParameterError, is_int
from infosieve._core.types import Executor, FloatArray, IntArray
from infosieve._input.scaling import Scaling
from infosieve._input.tables import Table
from infosieve.clustering._agglomeration import Agglomeration, Dendrogram
from infosieve.clustering._constraints import Constraints
from infosieve.clustering._pls import pls_errors

# How often samples are cut into folds. Five times, and the number depends little on how they are
# cut; with a model, or with more than _WIDE columns, that takes too long
# (docs/cluster-number.md).
_REPEATS, _FEW, _WIDE = 5, 2, 500
# The share of error that fewer clusters may add; and how often folds are drawn with replacement.
_MORE, _DRAWS = 0.05, 1000


def check_cross_validation(model: Any, cv: Any, y: Table, groups: IntArray | None) -> None:
    """Refuse a choice of the number that is bound to fail, before work begins."""
    n_groups = 0 if groups is None else int(groups.max()) + 1
    if is_int(cv) and groups is not None and cv > n_groups:
        raise ValueError(
            f"{parameter('cv')} asks for {cv} folds, but there are {n_groups} groups, which stay "
            "together. Use fewer folds."
        )
    if is_int(cv) and cv > y.n_samples:
        rule = f"at most the number of samples ({y.n_samples})"
        raise ParameterError("cv", rule, cv, "A number of clusters needs no folds.")
    if model is None and y.categorical.any():
        raise ValueError(
            f"{y.label(int(np.argmax(y.categorical)))} holds categories, and "
            f"{setting('n_clusters', 'auto')} judges numbers of clusters by regression. Pass a "
            f"classifier as {mention('model')}, or a number of clusters."
        )
    if hasattr(model, "fit") and (is_classifier(model) or is_regressor(model)):
        check_kind(model, y.label(0), bool(y.categorical.all()))


def above_threshold(dendrogram: Dendrogram, threshold: float) -> int:
    """The clusters that are there before the first merge of less similarity."""
    below = np.flatnonzero(dendrogram.similarities < threshold)
    merges = below[0] if below.size else len(dendrogram.similarities)
    return max(dendrogram.features.n - int(merges), dendrogram.n_components)


def check_number(n_clusters: Any, table: Table, copies: Sequence[IntArray] = ()) -> None:
    """Refuse more clusters than there are different columns; ``copies`` are not different."""
    most = table.n_columns - sum(group.size - 1 for group in copies)
    if not is_int(n_clusters) or n_clusters <= most:
        return
    asked = f"{parameter('n_clusters')} asks for {n_clusters} clusters, but"
    if n_clusters > table.n_columns:
        raise ValueError(f"{asked} X has {table.n_columns} columns.")
    first, copy = (repr(table.names[j]) for j in copies[0][:2])
    raise ValueError(
        f"{asked} only {most} of the {table.n_columns} columns of X differ: copies (equal, "
        f"shifted, scaled or negated, such as {first} and {copy}) stay together. Ask for at most "
        f"{most}."
    )


def check_connected(n_clusters: int, n_components: int) -> None:
    """Refuse fewer clusters than the connectivity permits."""
    if n_clusters < n_components:
        raise ValueError(
            f"{parameter('n_clusters')} asks for {n_clusters} clusters, but "
            f"{mention('connectivity')} has {n_components} connected components, and nothing joins "
            f"these. Ask for at least {n_components}, or connect more columns."
        )


@dataclass(frozen=True, kw_only=True)
class Folds:
    """How samples are cut into folds."""

    cv: Any  # an int, a splitter or pairs (train, test)
    seed: int  # shuffles the samples before they are cut
    groups: IntArray | None  # of each sample; those of a group are all in one fold
    in_order: bool  # whether folds are stretches of time

    def splits(self, X: FloatArray, target: Any, model: Any) -> Iterator[tuple[Any, Any]]:
        """(train, test) of all folds, cut several times where samples can be shuffled."""
        if not is_int(self.cv) or self.in_order:
            folds = KFold(self.cv) if is_int(self.cv) else self.cv
            yield from check_cv(folds).split(X, target, self.groups)
            return
        classes = model is not None and is_classifier(model)
        kind = StratifiedKFold if classes else KFold
        if self.groups is not None:
            kind = StratifiedGroupKFold if classes else GroupKFold
        n_units = len(X) if self.groups is None else int(self.groups.max()) + 1
        repeats = _REPEATS if model is None and X.shape[1] <= _WIDE else _FEW
        if self.cv == n_units:  # there is one way to cut
            repeats = 1
        for seed in np.random.SeedSequence(self.seed).generate_state(repeats).tolist():
            folds = kind(self.cv, shuffle=True, random_state=seed)
            yield from folds.split(X, target, self.groups)


@dataclass(frozen=True, kw_only=True)
class CrossValidation:
    """How well a model predicts unseen samples behind each number of clusters.

    Columns are joined anew without each fold. A ``model`` of None is partial least squares,
    with the number of components that has the least error in all folds.
    """

    agglomeration: Agglomeration
    model: Any
    numbers: IntArray

    def results(
        self, tables: list[Table], constraints: Constraints, folds: Folds, executor: Executor
    ) -> dict[str, Any]:
        """The scores of all numbers, as scikit-learn's ``cv_results_``."""
        x, y = tables
        target = y.original()
        if self.model is None:
            target = Scaling(y.values, "standard").apply(y.values.T)
        splits = list(folds.splits(x.values.T, target, self.model))
        shared = [executor.share(value) for value in (tables, constraints, target)]
        jobs = ((1, (self, *shared, train, test)) for train, test in splits)
        each = np.array(list(executor.map(_judge_fold, jobs)))  # splits, numbers, components
        if not np.isfinite(each).all():
            raise ValueError(
                "The scores of the model are not all numbers (R^2 is not defined for a "
                f"fold of one sample). Use fewer folds ({bare('cv')})."
            )
        components = each.mean(axis=0).argmax(axis=1)
        scores = np.take_along_axis(each, components[None, :, None], axis=2)[:, :, 0]
        return {
            "n_clusters": self.numbers,
            "mean_test_score": scores.mean(axis=0),
            "std_test_score": scores.std(axis=0),
            "standard_error": _errors_of_differences(scores, splits),
        } | {f"split{i}_test_score": row for i, row in enumerate(scores)}


def _judge_fold(
    executor: Any,
    validation: CrossValidation,
    tables: list[Table],
    constraints: Constraints,
    target: Any,
    train: IntArray,
    test: IntArray,
) -> list[FloatArray]:
    """The scores of one fold with each number of clusters, and of components."""
    how, progress = validation.agglomeration, executor.progress
    dendrogram = how.join(
        how.prepare([t.take_rows(train) for t in tables], executor), constraints, executor
    )
    numbers, values, scores = validation.numbers, tables[0].values.T, []
    progress.begin("numbers of clusters of a fold", len(numbers))
    with threadpool_limits(1, "blas"):  # whose sums depend on the number of its threads
        for done, number in enumerate(numbers, start=1):
            reduction = dendrogram.cut(number)
            known, new = (reduction.transform(values[rows]) for rows in (train, test))
            if validation.model is None:  # R^2 over all folds, as one fold may be one sample
                scores.append(1.0 - pls_errors(known, target[train], new, target[test]))
            else:
                model = clone(validation.model).fit(known, target[train])
                scores.append(np.array([float(model.score(new, target[test]))]))
            progress.advance(done, len(numbers))
    return scores


def _errors_of_differences(scores: FloatArray, splits: list[Any]) -> FloatArray:
    """The standard error of how far each number's mean score lies below the best one.

    Training sets overlap, so scores of folds are not independent: their variance counts as
    Nadeau and Bengio (2003) say, by the sizes of test and training sets.
    """
    differences = scores[:, [np.argmax(scores.mean(axis=0))]] - scores
    if len(scores) == 1:  # one fold has no variance: all numbers count as equally good
        return np.asarray(np.full(scores.shape[1], differences.max()))
    ratio = np.mean([len(test) / len(train) for train, test in splits])
    return np.asarray(differences.std(axis=0, ddof=1) * np.sqrt(1 / len(scores) + ratio))


def steady_number(results: dict[str, Any]) -> int:
    """A number that depends little on how samples were cut into folds.

    Curves of scores are flat at their top, so their best is now here, now there. Folds are drawn
    with replacement, again and again; from each draw comes the smallest number whose error,
    1 - score, is at most a twentieth more than the least; the number that was tried which is
    closest to the geometric mean of all these is taken.
    """
    numbers = results["n_clusters"]
    scores = [row for name, row in results.items() if name.startswith("split")]
    words = np.random.Philox(key=0).random_raw(_DRAWS * len(scores))
    draws = (words % np.uint64(len(scores))).astype(np.int64).reshape(_DRAWS, len(scores))
    means = np.zeros((_DRAWS, len(numbers)))
    for i, row in enumerate(scores):  # in their order: the same bits everywhere
        means += (draws == i).mean(axis=1)[:, None] * row
    best = means.max(axis=1, keepdims=True)
    near = means >= best - _MORE * np.maximum(1.0 - best, 0.0)
    middle = np.log(numbers[near.argmax(axis=1)]).mean()
    return int(numbers[np.argmin(np.abs(np.log(numbers) - middle))])


def numbers_to_try(least: int, most: int) -> IntArray:
    """All up to 14, then by steps of about a seventh."""
    numbers = [least]
    while numbers[-1] < most:
        numbers.append(min(most, numbers[-1] + max(1, numbers[-1] // 7)))
    return np.array(numbers)
