"""A search that is about to begin: its candidates, K, measure and strategy."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from infosieve._core.dialect import bare
from infosieve._core.settings import (
    N_FOLDS,
    NEIGHBORS_TRIED,
    SelectorSettings,
    level_share,
    screen_size,
)
from infosieve._core.types import ColumnNumbers, ColumnSet, Engine
from infosieve._input.duplicates import find_duplicates
from infosieve._input.named import declared_columns
from infosieve._scoring.measure import Measure
from infosieve._study.study import Study
from infosieve.estimators._choice_of_k import choose, neighbors_tried
from infosieve.results import KChoice, Provenance
from infosieve.selection._search import Search, Strategy
from infosieve.significance._permutation_test import (
    MEASURED,
    cv_folds,
    warn_of_few_arrangements,
)

Selection: TypeAlias = Study[SelectorSettings]


@dataclass(frozen=True, kw_only=True)
class Start:
    """A search, and what was found out before it begins."""

    search: Search
    identifiers: frozenset[int]
    duplicates: dict[int, tuple[int, ...]]
    k_choice: KChoice | None


def begin(study: Selection, strategy: Strategy, provenance: Provenance, engine: Engine) -> Start:
    """A search of a study."""
    settings, problem, x = study.settings, study.problem, study.prepared.x
    identifiers = _identifiers(study, x)
    in_groups = problem.together.groups is not None
    by_order = problem.by_order if strategy.tested or (settings.test and in_groups) else frozenset()
    if len(identifiers | by_order | {*np.flatnonzero(x.constant).tolist()}) == x.n_columns:
        by_order = frozenset()  # there is nothing else: a test says that it is chance
    duplicates = find_duplicates(x)
    left_out = identifiers | by_order | {j for group in duplicates.values() for j in group}
    candidates = _candidates(x, left_out, len(identifiers | by_order), strategy.min_features)
    columns, layout = study.columns, study.layout
    measure, choice = _measure(study, provenance, engine)
    folds = cv_folds(settings.resample, provenance.seed, x.n_samples, layout)
    seeded = study.with_seed(provenance.seed)
    about: dict[str, Any] = {
        "candidates": candidates,
        "screen": screen_size(settings.screen, study.problem.n_samples),
        "corrected": settings.correction is not None,
    }
    statistic = measure if folds is None else replace(measure, folds=folds)
    ask = seeded.tests if strategy.tested or settings.test else seeded.of_measure
    question = ask(settings.null, statistic, **about)
    of_pairs = None if question.statistic.estimates else seeded.null(settings.null)
    search = Search(question=question, measure=measure, strategy=strategy, null_of_pairs=of_pairs)
    if strategy.tested or settings.test:
        level = settings.alpha * level_share(settings.lookahead, of_pairs=False)
        warn_of_few_arrangements(columns.target, layout, level, search.question.permutations)
    return Start(search=search, identifiers=identifiers, duplicates=duplicates, k_choice=choice)


def engine_for(study: Selection, strategy: Strategy) -> Engine:
    """Where a search is computed; a step of many columns and permutations may need a GPU."""
    scored = study.problem.x.n_columns
    if strategy.tested:
        kept = min(screen_size(study.settings.screen, study.problem.n_samples) or scored, scored)
        each = 1 if study.settings.correction is None else kept
        scored += strategy.rule.n_permutations * each
    return study.engine(scored, _range_of_k(study, study.problem.n_samples)[1])


def _range_of_k(study: Selection, n_samples: int) -> tuple[int, int]:
    """The range of K, of which one is still to be chosen with "auto"."""
    if study.settings.n_neighbors == "auto":
        return neighbors_tried(NEIGHBORS_TRIED, N_FOLDS, n_samples)
    return study.n_neighbors_among(n_samples)


def _measure(
    study: Selection, provenance: Provenance, engine: Engine
) -> tuple[Measure, KChoice | None]:
    """How candidates are measured, once K is chosen."""
    settings, layout, n = study.settings, study.layout, study.x.n_samples
    ks = _range_of_k(study, layout.n_together(n) if layout.dependent else n)
    criterion = MEASURED.get(settings.criterion, "gain")
    if settings.n_neighbors != "auto":
        return study.measure(criterion, engine, n_neighbors=ks), None
    first = study.measure("mi", engine, n_neighbors=ks, edges=None)
    names = study.problem.x.names
    choice = choose(study.scoring, names, first, N_FOLDS, provenance, layout)
    return study.measure(criterion, engine, n_neighbors=(choice.k,) * 2), choice


def _identifiers(study: Selection, x: ColumnSet) -> frozenset[int]:
    """Columns of text that name samples: as good as nobody has the same."""
    table = study.problem.x
    declared = declared_columns(study.settings.discrete_features, "X", table.names, table.named)
    many = np.flatnonzero(x.categorical & (2 * x.n_distinct > x.n_samples)).tolist()
    found = frozenset(j for j in many if not declared.get(j))
    # Whoever has nothing else is told so by a test.
    return frozenset() if len(found) == x.n_columns else found


def _candidates(
    x: ColumnSet, left_out: Collection[int], n_identifiers: int, least: int
) -> ColumnNumbers:
    """Columns that vary, one of each group of duplicates."""
    constant = x.constant
    found = [j for j in range(x.n_columns) if not constant[j] and j not in left_out]
    if not found:
        also = f" or identifiers ({n_identifiers})" if n_identifiers else ""
        raise ValueError(
            f"All {x.n_columns} columns of X are constant{also}: there is nothing to select. "
            "Check that these are the right columns and rows."
        )
    if len(found) < least:
        raise ValueError(
            f"{least} features are asked for, but only {len(found)} columns of X vary and "
            "differ from each other. Ask for fewer "
            f"({bare('min_features')}, {bare('n_features_to_select')})."
        )
    return ColumnNumbers(found)
