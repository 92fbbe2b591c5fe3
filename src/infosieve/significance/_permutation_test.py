"""Permutation tests of columns, given others."""

import math
from typing import Any, Literal

import numpy as np

from infosieve._core.categories import n_singletons
from infosieve._core.dialect import mention, parameter, setting
from infosieve._core.messages import warn
from infosieve._core.settings import (
    DEFAULT_NEIGHBORS,
    N_FOLDS,
    Correction,
    Null,
    Resample,
    StatisticName,
    TestSettings,
    screen_size,
)
from infosieve._core.types import (
    ColumnNumbers,
    Columns,
    Criterion,
    Device,
    IntArray,
    Method,
    Metric,
    Missing,
    Neighbors,
    Scale,
)
from infosieve._input.notices import warn_of_singletons
from infosieve._input.problem import Problem
from infosieve._input.tables import find_columns
from infosieve._resampling.layout import Layout
from infosieve._resampling.permutations import Permutations, random_folds
from infosieve._scoring.measure import Measure
from infosieve._scoring.question import Question
from infosieve._study.study import Study
from infosieve.results import PermutationTest
from infosieve.results._facts import view_text
from infosieve.results._tests import Followed
from infosieve.significance._refinements import refinements
from infosieve.significance._tested import Rule, tested

# The engines' names of the criteria; "gain": candidate and given columns form one block.
MEASURED: dict[str, Criterion] = {"mi": "mi", "cmi": "gain"}
# Without a level, candidates up to this p-value are tested with refined conditioning sets, too.
_WORTH = 0.2


def permutation_test(
    X: Any,
    y: Any,
    candidates: Any,
    *,
    given: Any = (),
    pairs: bool = False,
    criterion: Literal["cmi", "mi"] = "cmi",
    statistic: StatisticName = "auto",
    null: Null = "local",
    correction: Correction = "max",
    resample: Resample = None,
    alpha: float | None = None,
    n_permutations: int | Literal["auto"] = "auto",
    screen: int | Literal["auto"] | None = None,
    max_samples: int | float | Literal["auto"] | None = "auto",
    n_neighbors: Neighbors = DEFAULT_NEIGHBORS,
    method: Method = "ksg1",
    metric: Metric = "euclidean",
    scale: Scale = "standard",
    discrete_features: Any = "auto",
    discrete_target: Any = "auto",
    missing: Missing = "auto",
    groups: Any = None,
    series: bool | int = False,
    n_jobs: int | None = None,
    executor: Any = None,
    device: Device = "cpu",
    random_state: Any = None,
) -> PermutationTest:
    """Test whether columns are informative about the target, conditional on others.

    A candidate is compared with permuted columns: p = (b + 1) / (n_permutations + 1), where b
    of them score at least as much. If one or two given columns predict it better, along a curve,
    than all together, it is tested again, with permuted columns that follow these, and the larger
    p-value counts (with p above 0.2, or ``alpha``, it is not). Of a pair, each column is tested
    given the other one as well, and the largest p-value counts.

    Asked about the columns that were left in a step of :class:`MISelector`, given those selected
    before, with the ``alpha`` of the step and ``screen="auto"``, the test is that of the step,
    number by number.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The table.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        The target.
    candidates : column or list of columns
        What to test: names, or numbers.
    given : column or list of columns, default=()
        What to condition on: names, or numbers.
    pairs : bool, default=False
        Test pairs of the candidates, for columns that are only jointly informative, always
        against the best permuted pair: pairs of the 64 candidates with the largest information or,
        with ``screen``, the best pairs of up to 1,024 candidates.
    criterion : {"cmi", "mi"}, default="cmi"
        What is measured: I(candidate; target | given), candidate and given columns forming one
        block with one norm, or the information of given columns and candidate together.
    statistic : {"auto", "combined", "ksg"}, default="auto"
        What is compared with permuted columns, as in :class:`MISelector`: several ways of asking at
        once, or the estimate of information.
    null : {"local", "global"}, default="local"
        What is permuted. "local": a local linear fit on the given columns predicts the candidate;
        the residuals are permuted among samples that are near in the given columns [1]_ [2]_.
        "global": the values, among all samples; a noisy copy of a given column then passes.
    correction : {"max"} or None, default="max"
        "max": each candidate against the best of all permuted candidates, which allows for
        choosing the best of them [3]_. None: each against its own permutations; the smallest of
        several such p-values is too small for the best of many.
    resample : {"cv"} or None, default=None
        "cv": the mean of the estimates without each of 20 random folds.
    alpha : float or None, default=None
        The significance level, if the test may end early, as in :class:`MISelector`: when each
        candidate has surely passed or failed; with a number for ``n_permutations``, when no
        candidate can reach p <= ``alpha`` any more [4]_. None: all permutations.
    n_permutations : int or "auto", default="auto"
        "auto": up to 199 permutations, and more for ``alpha`` below 0.005. With an ``alpha`` the
        p-value of a candidate is the exact probability to pass as early, or to fail as late, by
        chance. A number: so many, and the p-value above.
    screen : int, "auto" or None, default=None
        How many candidates are estimated, and reported: the best by a table of counts, as in
        :class:`MISelector`. Permuted candidates are screened like the observed ones, in each
        permutation anew, so the test stays valid. None, or ``correction=None``: all.
    max_samples : int, float, "auto" or None, default="auto"
        Samples of one estimate, as in :func:`mutual_information`: more are split at random into
        parts, whose estimates are averaged. None: all samples in one estimate.
    n_neighbors : int or pair of ints, default=(3, 15)
        The smoothing parameter K, or a range of K whose estimates are averaged.
    method, metric, scale, discrete_features, discrete_target
        As in :func:`mutual_information`.
    missing
        As in :func:`mutual_information`: "auto" takes a gap of a candidate as a value of its own,
        and fills those of the given columns, with columns beside that say where they are. Gaps move
        with their values.
    groups : array-like of shape (n_samples,), optional
        Which rows belong together, as in :func:`mutual_information`. Groups exchange their means,
        given columns with groups that are alike in them, and what rows have beside these has one
        random sign for each group. Where estimates or pairs are compared, whole groups exchange.
    series : bool or int, default=False
        Rows are in order of time, as in :func:`mutual_information`. Surrogates are as persistent as
        their columns: what an autoregression does not predict of them is permuted.
    n_jobs, executor, device
        As in :class:`MISelector`; no result depends on them.
    random_state : int, RandomState, Generator or None, default=None
        Draws the permutations.

    Returns
    -------
    PermutationTest
        Observed and permuted values, exceedances, p-values.

    See Also
    --------
    MISelector : A search that is stopped by this test.
    mutual_information : The observed value.

    References
    ----------
    .. [1] J. Runge (2018). Conditional independence testing based on a nearest-neighbor estimator
       of conditional mutual information. PMLR 84, 938-947.
    .. [2] D. Freedman and D. Lane (1983). A nonstochastic interpretation of reported significance
       levels. https://doi.org/10.1080/07350015.1983.10509354
    .. [3] P. H. Westfall and S. S. Young (1993). Resampling-based multiple testing. Wiley.
    .. [4] J. Besag and P. Clifford (1991). Sequential Monte Carlo p-values.
       https://doi.org/10.1093/biomet/78.2.301

    Examples
    --------
    A noisy copy of a column is not informative given that column, but only the local null says so.

    >>> import numpy as np
    >>> from infosieve import permutation_test
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=200)
    >>> X = np.c_[x, x + 0.2 * rng.normal(size=200)]
    >>> y = np.sin(2 * x) + 0.3 * rng.normal(size=200)
    >>> how = {"given": 0, "criterion": "mi", "random_state": 0}
    >>> permutation_test(X, y, 1, null="global", **how).p_value
    0.005
    >>> permutation_test(X, y, 1, **how).p_value > 0.05
    True
    """
    settings = TestSettings.of(locals())
    ordered = isinstance(given, (tuple, list)) and not given
    with Study.open(settings, X, y, groups=groups, ordered=ordered) as study:
        problem = study.problem
        wanted, known = _columns(problem.x, candidates, given)
        chosen = ColumnNumbers(wanted)
        settings.check_conditional(len(known))
        columns, layout = study.columns, study.layout
        x, target = columns.x, columns.target
        _refuse_constant(problem, chosen, x.constant)
        if pairs and len(chosen) < 2:
            raise ValueError(
                f"{parameter('candidates')} must have two columns for {setting('pairs', True)}."
            )
        condition = columns.take_given([j for j in known if not x.constant[j]])
        warn_of_singletons(
            max(n_singletons(x.take([j]), condition, target) for j in chosen), x.n_samples
        )
        measure = study.measure(
            MEASURED[criterion],
            study.engine(len(chosen) * (settings.most_permutations + 1)),
            folds=cv_folds(resample, study.seed, x.n_samples, layout),
        )
        about: dict[str, Any] = {
            "candidates": chosen,
            "known": tuple(j for j in known if not x.constant[j]),
            "screen": screen_size(screen, problem.n_samples) if correction == "max" else None,
            "corrected": correction == "max",
        }
        question = study.question(null, statistic=measure, pairs=pairs, **about)
        of_columns = study.tests(null, measure, **about)
        question = question if pairs else of_columns
        level = 0.05 if alpha is None else alpha
        warn_of_few_arrangements(columns.target, layout, level, question.permutations)
        rule = Rule(settings.most_permutations, settings.sequential)
        names = problem.x.names
        return PermutationTest(
            **_answered(question, of_columns, measure, wanted, alpha, rule, names),
            given=tuple(names[j] for j in known),
            correction=correction,
            alpha=alpha,
            n_permutations_asked=rule.n_permutations,
            sequential=rule.sequential,
            n_parts=layout.n_parts,
            n_samples_used=layout.n_used(problem.n_samples),
            device=measure.engine.name,
            provenance=study.provenance(permutation_test, device=measure.engine.name),
        )


def _answered(
    question: Question,
    of_columns: Question,
    measure: Measure,
    wanted: list[int],
    alpha: float | None,
    rule: Rule,
    names: list[Any],
) -> dict[str, Any]:
    """What a record has of the candidates, by name, in the order in which they were asked for.

    ``of_columns`` is what the columns of a pair are asked, ``measure`` their information.
    """
    seen = question.observed()
    outcome = tested(question, alpha, rule, seen.values, None)
    order = np.arange(len(seen.which))
    if not question.pairs and question.screened is None:
        order = np.array([question.candidates.index(j) for j in wanted])
    which = [seen.which[i] for i in order]
    observed, p_values = seen.values[order], outcome.p_values[order]
    among = question.but(statistic=of_columns.statistic, null=of_columns.null)
    if not question.pairs:
        best = [j for (j,) in which] if question.corrected else []
        among = question.but(candidates=ColumnNumbers(best))
    followed = {}
    for place in np.flatnonzero(p_values <= (_WORTH if alpha is None else alpha)).tolist():
        asked = [
            (further, tested(further.question, alpha, rule, further.observed, None))
            for further in refinements(among, which[place], float(observed[place]))
        ]
        if asked:
            further, last = max(asked, key=lambda one: one[1].p_value)
            followed[place] = Followed(
                columns=tuple(names[j] for j in further.refined),
                null=last.null[:, 0],
                observed=further.observed if question.pairs else None,
                weaker=names[further.column] if question.pairs else None,
            )
    of_pairs = [tuple(names[j] for j in each) for each in which]
    told: dict[str, Any] = {}
    if not question.statistic.estimates:
        columns = ColumnNumbers(j for (j,) in which)
        places = [columns.index(j) for (j,) in which]
        information = question.but(statistic=measure).scores(columns)
        views = [view and view_text(*view, names) for view in question.nearest(columns)]
        told = {
            "information": information[places],
            "views": tuple(views[place] or "" for place in places),
        }
    return told | {
        "candidates": tuple(of_pairs if question.pairs else [name for (name,) in of_pairs]),
        "observed": observed,
        "null": outcome.null if question.corrected else outcome.null[:, order],
        "early_stopped": outcome.early_stopped,
        "n_candidates": seen.n_candidates,
        "followed": followed,
    }


def cv_folds(resample: Resample, seed: int, n_samples: int, layout: Layout) -> IntArray | None:
    """The folds of the variant with cross-validated distributions."""
    if resample is None:
        return None
    n = layout.n_together(n_samples) if layout.dependent else n_samples
    return random_folds((seed, "parts", 0), n_samples, min(N_FOLDS, n), layout)


def warn_of_few_arrangements(
    target: Columns, layout: Layout, level: float, permutations: Permutations
) -> None:
    """Say that nothing can be significant, where groups have too few arrangements for the level.

    Those of groups that exchange in strata, times the signs of those in which the target varies.
    """
    if layout.slots is None:
        return
    n_slots, n_groups = layout.slots
    values = target.values.reshape(-1, n_slots, n_groups)
    sizes = np.diff(permutations.edges).tolist()
    repeats = [1]
    if len(sizes) == 1 and (values == values[:, :1]).all():  # of the same target: not told apart
        repeats = np.unique(values[:, 0], axis=1, return_counts=True)[1].tolist()
    logs = sum(math.lgamma(size + 1) for size in sizes) - sum(math.lgamma(r + 1) for r in repeats)
    if permutations.signed:
        n_varied = int((values != values[:, :1]).any(axis=(0, 1)).sum())
        logs += max(n_varied - 1, 0) * math.log(2.0)
    if logs < -math.log(level) - 1e-9:
        warn(
            f"{n_groups} groups can be arranged in {math.exp(logs):.0f} different ways only: no "
            f"p-value is below {math.exp(-logs):.2g}, so nothing can be significant at "
            f"{level:.3g}. More groups are needed.",
            about="few arrangements",
        )


def _columns(table: Any, candidates: Any, given: Any) -> tuple[list[int], list[int]]:
    """The numbers of the candidates and of the given columns."""
    tested = find_columns(candidates, table, "candidates")
    known = find_columns(given, table, "given")
    if not tested:
        raise ValueError(f"{parameter('candidates')} is empty: name at least one column of X.")
    for j in tested:
        if j in known:
            raise ValueError(
                f"{table.label(j)} is both in {mention('candidates')} and in "
                f"{mention('given')}. Given itself, a column has no information: take it out of "
                "one of them."
            )
    return tested, known


def _refuse_constant(problem: Problem, tested: ColumnNumbers, constant: Any) -> None:
    what = "has constant changes" if problem.by_changes else "is constant"
    for j in tested:
        if constant[j]:
            raise ValueError(
                f"{problem.x.label(j)} {what}: permuted, it is itself. Leave it out of "
                f"{mention('candidates')}."
            )
        if j in problem.by_order:
            raise ValueError(
                f"{problem.x.label(j)} cannot be tested: {problem.why_by_order}, so that no "
                f"surrogate tells what chance would do. Leave it out of {mention('candidates')}."
            )
