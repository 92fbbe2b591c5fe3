"""How many columns predict best: a model along a ranking, by cross-validation.

The ranking and the model are made anew without the samples of each fold, which judge them.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import check_scoring
from sklearn.utils import _safe_indexing

from infosieve._core.dialect import bare, either, mention, parameter, setting
from infosieve._core.files import first_line
from infosieve._core.formats import counted
from infosieve._core.messages import brief, warn
from infosieve._core.model_text import (
    check_kind,
    described,
    made_of_word,
    name_of,
    name_of_score,
    seeded,
)
from infosieve._core.progress import Progress
from infosieve._core.rules import is_text
from infosieve._core.settings import SelectorSettings
from infosieve._core.types import Executor, FloatArray, IntArray
from infosieve._executors import WorkersLostError
from infosieve._input.problem import Problem
from infosieve._input.tables import Table, read_table
from infosieve._sources import ColumnSource, as_source
from infosieve.results import CVScores, Provenance
from infosieve.selection._checkpoint import LOST, CVCheckpoint, Fold, broken_off
from infosieve.selection._folds import Split, drawn_folds
from infosieve.selection._models import default_model, unjudged, with_preparation
from infosieve.selection._search import Search
from infosieve.selection._start import Selection, begin, engine_for
from infosieve.selection._strategies import strategy_of, tests_in_order, with_criterion

# Rankings that are tried where nobody names a criterion (docs/quality.md).
CRITERIA = ("cmi", "cmim")
# Of so many columns every number is tried; of more, each is about so many times the one before.
_EVERY, _GROWTH = 12, 1.4
# A class is rare below this share of what it would have if all had as many samples.
_RARE = 0.4
# The fewest columns are chosen whose error exceeds the smallest by so much (docs/quality.md).
TOLERANCE = 0.05
# Scores that agree to so many digits are the same.
_DIGITS = 9
# Samples that the default model learns from in a fold, and is judged on, at most.
_LEARNT, _JUDGED = 8_000, 2_000

# Scores of predicted numbers, beside those of errors and deviances: who asks for one does not mean
# classes.
_OF_NUMBERS = ("r2", "explained_variance", "d2_pinball_score", "d2_tweedie_score")

# Some columns, for all samples that are used.
Take: TypeAlias = Callable[[Sequence[int]], Any]


def sizes_up_to(most: int, least: int = 1) -> list[int]:
    """1, 2, 3, 4, 6, 8, 11, ..., up to the last, and the least; of few columns every number."""
    if most <= _EVERY:
        return [*range(1, most + 1)]
    sizes, size = {min(max(least, 1), most), most}, 1
    while size < most:
        sizes.add(size)
        size = max(size + 1, round(_GROWTH * size))
    return sorted(sizes)


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A model, and the samples that it learns from and is judged on.

    ``fresh`` is the model for some columns, unfitted, with what prepares them. ``every`` are all
    columns, None where they are not tried. ``thin``: of many samples, a random part must do.
    """

    model: Any
    fresh: Callable[[Sequence[int]], Any]
    classes: bool
    take: Take
    y: Any
    scorer: Any
    scoring: str
    optimum: float | None
    splits: list[Split]
    sizes: tuple[int, ...]
    every: tuple[int, ...] | None
    n_threads: int
    thin: bool
    seed: int

    def fold(
        self, criterion: str, number: int, order: Sequence[int], with_all: bool, progress: Progress
    ) -> Fold:
        """The scores of one fold, along the ranking that was made without it."""
        tried = [tuple(order[:k]) for k in self.sizes]
        whole = self.every if with_all else None
        tried += [] if whole is None else [whole]
        progress.begin(f"{criterion}, fold {number + 1} of {len(self.splits)}, models", len(tried))
        work = Parallel(self.n_threads, backend="threading", return_as="generator")
        scores = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of one fit among many
            for score in work(delayed(self._score)(columns, number) for columns in tried):
                scores.append(score)
                progress.advance(len(scores), len(tried))
        last = None if whole is None else scores.pop()
        return Fold(criterion=criterion, order=tuple(order), scores=tuple(scores), whole=last)

    def _score(self, columns: Sequence[int], number: int) -> float:
        learn, judge = self.splits[number]
        if self.thin:
            rng = np.random.default_rng([self.seed, number])
            learn, judge = _some(learn, _LEARNT, rng), _some(judge, _JUDGED, rng)
        if columns:
            values, model = self.take(columns), self.fresh(columns)
        else:
            values = np.zeros((len(self.y), 1))
            model = DummyClassifier() if self.classes else DummyRegressor()
        known, unseen = _safe_indexing(values, learn), _safe_indexing(values, judge)
        name = f"{name_of(described(model))} with {counted(len(columns), 'column')}"
        try:
            model.fit(known, self.y[learn])
            score = float(self.scorer(model, unseen, self.y[judge]))
        except Exception as error:
            raise ValueError(
                f"{name} cannot be fitted to {counted(len(learn), 'sample')} and judged by "
                f"{self.scoring} (fold {number + 1}): {brief(first_line(error), 300).rstrip('.')}. "
                f"{self._way_out}"
            ) from error
        if not np.isfinite(score):
            raise ValueError(
                f"The score of {name} is {score} (fold {number + 1}, "
                f"{counted(len(judge), 'sample')}); it must be a finite number. Use fewer folds "
                f"({bare('cv')}), or another {mention('scoring')}."
            )
        return score

    @property
    def _way_out(self) -> str:
        """What to do where a model fails."""
        if self.thin:
            return f"Use fewer folds ({bare('cv')})."
        return f"Pass another {mention('model')} or {mention('scoring')}" + either(
            "; a model is given columns of X as they are, so for text or gaps pass a pipeline that "
            "prepares them, or a word such as 'trees'.",
            ".",
        )


def trial_of(study: Selection, X: object, search: Search, folds: list[Split] | None) -> Trial:
    """What the parameters of a selector ask for, and which samples are judged when.

    ``folds``: where the parameters do not just say how many.
    """
    settings, problem = study.settings, study.problem
    seed, least = search.question.null.seed, search.strategy.min_features
    most = min(search.strategy.max_features, len(search.candidates))
    classes = _has_classes(problem)
    own, categorical = settings.model is None, problem.x.categorical
    ready = own or isinstance(settings.model, str)  # for numbers with gaps, and codes
    model = default_model(classes) if own else clone(made_of_word(settings.model, classes))
    seeded(model, seed % 2**32)
    if not own:
        check_kind(model, problem.y.label(0), classes)

    def fresh(columns: Sequence[int]) -> Any:
        alone = clone(model)
        return with_preparation(alone, categorical[list(columns)]) if ready else alone

    scoring, scorer = _judge(settings.scoring, model, problem, classes)
    as_passed = not own or (classes and settings.scoring is not None)  # which may name a class
    return Trial(
        model=model,
        fresh=fresh,
        classes=classes,
        take=_as_measured(problem) if ready else _as_passed(problem, X),
        y=_targets(problem) if as_passed else _measured_targets(problem, classes),
        scorer=scorer,
        scoring=name_of_score(scoring),
        optimum=_optimum(scoring, scorer),
        splits=drawn_folds(settings.cv, problem, classes, seed) if folds is None else folds,
        sizes=(0, *sizes_up_to(most, least)),
        every=None if isinstance(X, (ColumnSource, np.memmap)) else tuple(search.candidates),
        n_threads=study.executor.here.n_workers,
        thin=own,
        seed=seed,
    )


def _has_classes(problem: Problem) -> bool:
    """Whether classes are predicted, or numbers; both, or classes of several kinds, are refused."""
    categorical = problem.y.categorical
    if categorical.any() and not categorical.all():
        raise ValueError(
            "y has classes and numbers: no model predicts both. With "
            f"{setting('stop', 'cv')}, pass one of them."
        )
    if categorical.sum() > 1:
        raise ValueError(
            f"y has {categorical.size} columns of classes. With {setting('stop', 'cv')}, pass one "
            "of them, or one column whose classes are their combinations."
        )
    return bool(categorical.all())


def _warn_of_rare_classes(y: Table) -> None:
    """Say that accuracy hardly sees a rare class."""
    counts = np.unique(y.values[0], return_counts=True)[1]
    if _RARE * y.n_samples > counts.min() * counts.size:
        also = " or 'roc_auc'" if counts.size == 2 else ""
        warn(
            f"{y.label(0)} has a class with {counts.min()} of {y.n_samples} samples, which "
            f"accuracy hardly sees. Pass {setting('scoring', 'balanced_accuracy')}{also} if it "
            f"matters; {setting('scoring', 'accuracy')} says that it does not.",
            about="rare class",
        )


def _judge(scoring: Any, model: Any, problem: Problem, classes: bool) -> tuple[Any, Any]:
    """What predictions are judged by, and the function that does; refused where it cannot."""
    if scoring is None:  # whatever the model's own score is
        scoring = "accuracy" if classes else "r2"
        if classes:
            _warn_of_rare_classes(problem.y)
    elif isinstance(scoring, str) and (why := unjudged(scoring, _targets(problem), classes)):
        target = problem.y.label(0) if problem.y.n_columns == 1 else "y"
        raise ValueError(
            f"{parameter('scoring')} {scoring!r} cannot judge predictions of {target}, which has "
            f"{'classes' if classes else 'numbers'}: {why.rstrip('.')}. Pass another one, or None."
        )
    return scoring, check_scoring(model, scoring=scoring)


def _some(rows: IntArray, most: int, rng: np.random.Generator) -> IntArray:
    """Rows, or a random part of them, in their order."""
    return rows if rows.size <= most else np.sort(rng.choice(rows, most, replace=False))


def classes_asked(settings: SelectorSettings) -> Any:
    """``discrete_target``, or what a model, or a score of numbers, says of the target."""
    known = settings.discrete_target
    if not is_text(known, "auto"):
        return known
    model = None if isinstance(settings.model, str) else settings.model
    if model is not None and is_classifier(model):
        return True
    if model is not None and not is_regressor(model):
        return known
    score = settings.scoring if isinstance(settings.scoring, str) else ""
    of_numbers = score in _OF_NUMBERS or "error" in score or "deviance" in score
    return () if model is not None or of_numbers else known  # by type: two are numbers


def refuse_numbers(settings: SelectorSettings, y: object) -> None:
    """A classifier says that the target has classes; numbers with fractions are none."""
    model = None if isinstance(settings.model, str) else settings.model
    if model is None or not is_classifier(model):
        return
    if not is_text(settings.asked["discrete_target"], "auto"):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is read again, with all columns
        table = read_table(y, "y", missing="auto")
    for j in np.flatnonzero(~table.categorical).tolist():
        if np.nansum(table.column(j) % 1):
            check_kind(model, table.label(j), classes=False)


def _as_measured(problem: Problem) -> Take:
    """Numbers, gaps as NaN, and codes of categories."""
    table = problem.x
    if hasattr(table, "values"):
        return lambda columns: table.values[list(columns)].T
    return lambda columns: table.read(np.asarray(columns)).values.T


def _as_passed(problem: Problem, X: object) -> Take:
    """Columns of X, untouched."""
    source, rows = as_source(X), problem.rows
    if source is None and not hasattr(X, "shape"):
        X = np.asarray(X)

    def take(columns: Sequence[int]) -> Any:
        some = list(columns)
        taken = _safe_indexing(X, some, axis=1) if source is None else source.read(np.array(some))
        return taken if np.array_equal(rows, np.arange(len(taken))) else _safe_indexing(taken, rows)

    return take


def _targets(problem: Problem) -> Any:
    """What was passed as y, of the samples that are used."""
    y = problem.y
    columns = [y.column(j) for j in range(y.n_columns)]
    if y.categorical.all() and any(column.dtype.kind == "f" for column in columns):
        # What is no whole number is no class; the larger number is the second class.
        columns = [np.unique(column, return_inverse=True)[1] for column in columns]
    return columns[0] if len(columns) == 1 else np.column_stack(columns)


def _measured_targets(problem: Problem, classes: bool) -> Any:
    """Numbers, or codes of classes."""
    y = problem.y.values.T.astype(int if classes else float)
    return y[:, 0] if y.shape[1] == 1 else y


def by_criterion(folds: Sequence[Fold]) -> dict[str, list[Fold]]:
    """The folds of each criterion that was tried; the one with the best score first."""
    found: dict[str, list[Fold]] = {}
    for fold in folds:
        found.setdefault(fold.criterion, []).append(fold)
    best = {criterion: _mean(some)[1:].max() for criterion, some in found.items()}
    return dict(sorted(found.items(), key=lambda item: -round(best[item[0]], _DIGITS)))


def _mean(folds: Sequence[Fold]) -> FloatArray:
    return np.asarray(np.mean([fold.scores for fold in folds], axis=0))


def n_chosen(sizes: Sequence[int], folds: Sequence[Fold], optimum: float | None, least: int) -> int:
    """The fewest columns, one at least, that predict nearly as well as any number does."""
    allowed = [i for i, k in enumerate(sizes) if k >= max(least, 1)]
    without, mean = _mean(folds)[0], _mean(folds)[allowed]
    best = mean.max()
    slack = 0.0 if optimum is None else TOLERANCE * max(optimum - best, 0.0)
    slack = min(slack, max(best - without, 0.0) / 2)  # half of what columns gain, at most
    return sizes[allowed[int(np.argmax(mean >= best - slack - 10.0**-_DIGITS))]]


def _optimum(scoring: Any, scorer: Any) -> float | None:
    """The score of perfect predictions: 0 of errors, which are negative; else 1.

    None, where nobody knows it: of what users bring.
    """
    if not isinstance(scoring, str):
        return None
    return 0.0 if getattr(scorer, "_sign", 1) < 0 else 1.0


def scores_of(trial: Trial, folds: Sequence[Fold], order: Sequence[int], n: int) -> CVScores:
    """The record of a cross-validation that chose n columns of a ranking."""
    whole = tuple(fold.whole for fold in folds if fold.whole is not None)
    tried = by_criterion(folds)
    criterion, chosen = next(iter(tried.items()))
    return CVScores(
        criterion=criterion,
        sizes=trial.sizes,
        scores=tuple(fold.scores for fold in chosen),
        all_columns=whole or None,
        order=tuple(order),
        fold_orders=tuple(fold.order for fold in chosen),
        n_chosen=n,
        model=described(trial.model),
        scoring=trial.scoring,
        others={name: tuple(_mean(tried[name]).tolist()) for name in list(tried)[1:]},
    )


def cross_validated(
    trial: Trial, study: Selection, provenance: Provenance, kept: CVCheckpoint | None
) -> list[Fold]:
    """Rankings without each fold, and what models say of them; those that are kept are not made."""
    settings, executor = study.settings, study.executor
    criteria = CRITERIA if settings.criterion == "auto" else (settings.criterion,)
    folds = [] if kept is None else list(kept.folds)
    if folds:
        verb = "is" if len(folds) == 1 else "are"
        executor.progress.say(f"{counted(len(folds), 'fold')} {verb} in the checkpoint")
    todo = [(criterion, number) for criterion in criteria for number in range(len(trial.splits))]
    try:
        for criterion, number in todo[len(folds) :]:
            ranking = replace(
                settings, criterion=criterion, max_features=trial.sizes[-1], min_features=0
            )
            order = _ranked(study, ranking, trial.splits[number][0], provenance)
            with_all = criterion == criteria[0]
            folds.append(trial.fold(criterion, number, order, with_all, executor.progress))
            if kept is not None:
                kept.keep(folds)
            _tell(trial, criterion, [f for f in folds if f.criterion == criterion], executor)
    except (KeyboardInterrupt, WorkersLostError) as error:
        if kept is not None:  # if it came before the last was written
            kept.keep(folds)
        text = f"{len(folds)} of {len(todo)} folds were finished{LOST if kept is None else ''}"
        raise broken_off(error, "fit", text, settings.checkpoint) from error
    return folds


def _tell(trial: Trial, criterion: str, folds: Sequence[Fold], executor: Executor) -> None:
    mean = _mean(folds)
    best = 1 + int(np.argmax(mean[1:]))
    executor.progress.say(
        f"{criterion}, fold {len(folds)} of {len(trial.splits)}: {trial.scoring} "
        f"{mean[best]:.3f} with {counted(trial.sizes[best], 'column')}, so far"
    )


def _ranked(
    study: Selection, settings: SelectorSettings, rows: IntArray, provenance: Provenance
) -> list[int]:
    """The ranking of some of the samples; what they warn of, all of them do."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        part = replace(study.of_rows(rows), settings=settings)
        strategy = strategy_of(settings, part.problem.x)
        search = begin(part, strategy, provenance, engine_for(part, strategy)).search
        for _ in search.steps():
            pass
    return list(search.selected)


def cut(search: Search, trial: Trial, folds: Sequence[Fold], path: Any) -> CVScores:
    """Rank all samples by the criterion that predicts best, and keep as many columns as do.

    One more where a pair would be torn.
    """
    criterion, chosen = next(iter(by_criterion(folds).items()))
    search.strategy = with_criterion(search.strategy, criterion)
    try:
        for _ in search.steps():
            pass
    except (KeyboardInterrupt, WorkersLostError) as error:
        text = f"{len(folds)} of {len(folds)} folds were finished{LOST if path is None else ''}"
        raise broken_off(error, "fit", text, path) from error
    n = n_chosen(trial.sizes, chosen, trial.optimum, search.strategy.min_features)
    scores = scores_of(trial, folds, search.selected, n)
    path, selected = [], list[int]()
    for step in search.path:
        if len(selected) >= n:
            break
        path.append(step)
        selected += step.features
    search.path, search.selected, search.stop_reason = path, selected, _why_cut(scores)
    if scores.best_score <= scores.without:
        warn(
            f"{scores.model_name} predicts no better with columns than without: {scores.scoring} "
            f"is {scores.best_score:.3g} at best, and {scores.without:.3g} without any. There may "
            f"be nothing to predict from, or another {mention('model')} or {mention('scoring')} "
            f"may see it; {either('MISelector()', '--stop auto')} tests whether columns are "
            "informative.",
            about="nothing predicts",
        )
    return scores


def _why_cut(scores: CVScores) -> str:
    """Why a search ended, in words."""
    mean, n, best = scores.mean, scores.n_chosen, scores.best
    chosen = (
        f"{scores.scoring} of {scores.model_name} is {mean[scores.sizes.index(n)]:.3f} with "
        f"{counted(n, 'column')}, the mean of {len(scores.scores)} folds"
    )
    if scores.best_score <= scores.without:
        return f"{chosen}, and {scores.without:.3f} without any"
    if n == best:
        return f"{chosen}; no other number that was tried has more"
    if n < best:
        return f"{chosen}; {best} have {scores.best_score:.3f}, which is hardly better"
    return f"{chosen}; {best} have {scores.best_score:.3f}, but at least {n} are asked for"


def with_tests(search: Search, lookahead: int) -> Search:
    """A search that tests the columns of another, in their order, as the default would."""
    order = tuple(step.features for step in search.path)
    again = replace(search, strategy=tests_in_order(search.strategy, order, lookahead))
    again.first = search.first
    return again
