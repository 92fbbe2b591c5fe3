"""Which columns are informative about the target at all: a test of each, with a rate over all.

Under normal scores the null distribution of a column depends on the samples, K, the target and the
pattern of its ties: on how often its smallest value is there, the next, and so on. Columns of one
pattern share one distribution, of draws that have a permutation each. All columns without ties have
one pattern, and so have those with some, whose equal values take ranks in random order (spread
scores, :func:`infosieve._input.scaling.prepare`). Other columns are compared with permutations of
their own, as many as it takes (Besag and Clifford 1991, https://doi.org/10.1093/biomet/78.2.301).
"""

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from infosieve._core.categories import codes_of, n_singletons
from infosieve._core.chunks import chunks
from infosieve._core.dialect import setting
from infosieve._core.messages import warn
from infosieve._core.rules import check_x
from infosieve._core.settings import TEST_NEIGHBORS, RelevanceSettings, StatisticName
from infosieve._core.tails import strengths
from infosieve._core.types import (
    BoolArray,
    ColumnNumbers,
    Columns,
    ColumnSet,
    Device,
    FloatArray,
    IntArray,
    Method,
    Metric,
    Missing,
    Neighbors,
    Runner,
    Scale,
)
from infosieve._engines.numba.columns import LIFT
from infosieve._input.notices import (
    warn_of_identifiers,
    warn_of_singletons,
)
from infosieve._input.problem import Problem
from infosieve._input.scaling import TIE_NOISE, prepare
from infosieve._resampling.nulls import global_permutations
from infosieve._scoring.jobs import Scoring
from infosieve._scoring.question import Question
from infosieve._study.study import Study
from infosieve.results import RelevanceTest
from infosieve.results._facts import ENOUGH, few_groups
from infosieve.significance._own import own_draws
from infosieve.significance._permutation_test import warn_of_few_arrangements

# Draws of a shared null distribution: at least; at most, of all columns together or of each.
_LEAST, _MOST, _MOST_EACH = 1999, 10**6, 100
# Draws of a column's own distribution, at least; and of all such columns together, if that is more.
_LEAST_ALONE, _ALONE_TOGETHER = 999, 10**6
# Columns that share a distribution, at least: fewer take less time with draws of their own.
_SHARED_BY = 20
# Draws of shared distributions that tell what chance does.
_FIRST_SHARED = 1999
# Numbers that are searched for ties at once.
_LOOKED_AT = 1 << 21

# How often each value of a column is there, in order of the values (of categories, of these
# frequencies): this decides the null distribution. First, whether it is a category.
Pattern: TypeAlias = tuple[bool, tuple[int, ...]]
_NO_TIES: Pattern = (False, ())
# Normal scores that are further apart than this are not tied.
_STEP = 10 * TIE_NOISE * LIFT


def relevance_test(
    X: Any,
    y: Any,
    *,
    alpha: float = 0.05,
    n_permutations: int | Literal["auto"] = "auto",
    statistic: StatisticName = "auto",
    n_neighbors: Neighbors = TEST_NEIGHBORS,
    method: Method = "ksg1",
    metric: Metric = "euclidean",
    scale: Scale = "normal-scores",
    discrete_features: Any = "auto",
    discrete_target: Any = "auto",
    missing: Missing = "auto",
    groups: Any = None,
    series: bool | int = False,
    n_jobs: int | None = None,
    executor: Any = None,
    device: Device = "cpu",
    random_state: Any = None,
    verbose: int = 0,
) -> RelevanceTest:
    """Test each column for information about the target, by itself.

    All that is informative is called relevant, redundant or not; :class:`MISelector` selects few
    columns that are enough together. p-values come from permutations. A column is relevant where
    its q-value is at most ``alpha``: of the columns that are called so, that share is expected to
    be without information, at most [1]_.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The columns; each is tested on its own.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        The target.
    alpha : float, default=0.05
        The false discovery rate.
    n_permutations : int or "auto", default="auto"
        Draws of a null distribution. "auto": 1,999 or, where more are needed for one column of
        many to be relevant, ``n_features / alpha``, of the distribution that most columns share.
        Columns that share theirs with few, or none, have fewer, 999 or more: the result says which
        p-values that leaves out of reach.
    statistic : {"auto", "combined", "ksg"}, default="auto"
        What is compared with permuted columns, as in :class:`MISelector`: several ways of asking at
        once, or the estimate of information. "auto": "combined", but "ksg" with the method "ksg2".
    n_neighbors : int or pair of ints, default=(3, 25)
        The smoothing parameter K, or a range of K whose estimates are averaged.
    method, metric
        As in :func:`mutual_information`.
    scale : {"normal-scores", "standard"} or None, default="normal-scores"
        As in :func:`mutual_information`. Under normal scores columns without ties share one null
        distribution. So do columns with ties in which no value has more than a fifth of the
        samples: their equal values are put in random order (the same in every run). Columns with
        more ties, and categories, share one with those of the same counts, if there are twenty.
        Under other scales each column has its own, of fewer draws.
    discrete_features, discrete_target, missing
        As in :func:`mutual_information`. A gap is a value of its own, and moves with the values;
        columns with gaps have null distributions of their own.
    groups, series
        As in :func:`permutation_test`: permutations are of groups, surrogates are as persistent as
        their columns. All null distributions are the columns' own.
    n_jobs, executor, device
        As in :class:`MISelector`; no result depends on them.
    random_state : int, RandomState, Generator or None, default=None
        Draws the permutations.
    verbose : int, default=0
        1: show how far it is, on standard error.

    Returns
    -------
    RelevanceTest
        Statistics, p-values, q-values and which columns are relevant.

    See Also
    --------
    relevance : How informative each column is, without a test.
    permutation_test : Columns tested conditional on others.
    MISelector : Few columns that are enough together.

    Notes
    -----
    The ``statistic`` of a column is its information as it is best tested, which is not what
    :func:`relevance` measures: normal scores let columns share a null distribution, and larger K
    see weak effects earlier. Compare values of one of the two only.

    Constant columns are not tested, and do not count among the many. Copies of a column count each.
    The rate is that of Benjamini and Hochberg, which holds for columns that are independent or
    positively dependent; docs/relevant.md has it for correlated ones.

    References
    ----------
    .. [1] Y. Benjamini and Y. Hochberg (1995). Controlling the false discovery rate.
       https://doi.org/10.1111/j.2517-6161.1995.tb02031.x

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from infosieve import relevance_test
    >>> rng = np.random.default_rng(1)
    >>> X = pd.DataFrame(rng.normal(size=(300, 4)), columns=["heat", "noise", "light", "wind"])
    >>> X["heat again"] = X["heat"] + 0.1 * rng.normal(size=300)
    >>> y = np.sin(2 * X["heat"]) + X["light"] * rng.normal(size=300)
    >>> test = relevance_test(X, y, random_state=0)
    >>> [name for name, relevant in zip(X, test.relevant) if relevant]
    ['heat', 'light', 'heat again']
    """
    settings = RelevanceSettings.of(locals())
    check_x(X)
    ordered = device != "cuda"
    with Study.open(settings, X, y, groups=groups, ordered=ordered) as study:
        problem, columns = study.problem, study.columns
        n, m, layout = problem.n_samples, problem.x.n_columns, study.layout
        engine = study.engine(m + _Draws.of(n_permutations, alpha, m).most)
        measure = study.measure("mi", engine)
        warn_of_identifiers(problem, columns.x)
        warn_of_singletons(n_singletons(columns.target), n)
        tested = np.flatnonzero(~columns.x.constant)
        alike, alone = _by_pattern(problem, columns.x, tested) if settings.shares else ({}, tested)
        about: dict[str, Any] = {"candidates": ColumnNumbers(tested), "purpose": "relevance"}
        estimates = study.of_measure("global", measure, **about)
        question = study.tests("global", measure, **about)
        question.scoring.now = "information"
        level = alpha / max(1, tested.size)  # of one column, where no other is relevant
        warn_of_few_arrangements(columns.target, layout, level, question.permutations)
        draws = _Draws.of(n_permutations, alpha, tested.size)
        found = _compared(question, estimates, alike, alone, draws)
        views = question.nearest(question.candidates)
    named = ["" for _ in range(m)]
    for j, view in zip(tested.tolist(), views, strict=True):
        named[j] = "" if view is None else view.name
    result = RelevanceTest(
        features=tuple(problem.x.names),
        alpha=float(alpha),
        **found.__dict__ | {"strength": found.strength if settings.combined else ()},
        views=tuple(named) if settings.combined else (),
        n_parts=layout.n_parts,
        n_samples_used=layout.n_used(n),
        device=engine.name,
        provenance=study.provenance(relevance_test, device=engine.name),
    )
    _warn_of_coarse(problem, result, alpha)
    return result


@dataclass(frozen=True)
class _Draws:
    """How many draws null distributions have: at the most, and whether a number was asked for."""

    most: int
    asked: bool
    n_tested: int

    @classmethod
    def of(cls, n_permutations: Any, alpha: float, n_tested: int) -> "_Draws":
        """With "auto", enough for one column of all to be relevant by itself."""
        if not isinstance(n_permutations, str):
            return cls(int(n_permutations), True, n_tested)
        wanted = min(math.ceil(n_tested / alpha), max(_MOST, _MOST_EACH * n_tested))
        return cls(max(_LEAST, wanted), False, n_tested)

    def shared(self, pattern: Pattern, n_columns: int) -> int:
        """Of a distribution that so many columns share: all, or their part where they are few."""
        if self.asked or pattern == _NO_TIES:
            return self.most
        return min(self.most, max(_LEAST, math.ceil(self.most * n_columns / self.n_tested)))

    def alone(self, n_columns: int) -> int:
        """Of each of so many columns that have their own."""
        if self.asked:
            return self.most
        return min(self.most, max(_LEAST_ALONE, _ALONE_TOGETHER // max(1, n_columns)))


@dataclass(frozen=True)
class _Found:
    """What a record has of each column; filled column by column."""

    information: FloatArray
    statistic: FloatArray
    chance: FloatArray
    strength: FloatArray
    exceedances: IntArray
    n_draws: IntArray
    n_draws_asked: IntArray
    shared: BoolArray

    @classmethod
    def untested(cls, m: int) -> "_Found":
        return cls(
            information=np.zeros(m),
            statistic=np.zeros(m),
            chance=np.zeros(m),
            strength=np.ones(m),
            exceedances=np.zeros(m, np.int64),
            n_draws=np.zeros(m, np.int64),
            n_draws_asked=np.zeros(m, np.int64),
            shared=np.zeros(m, bool),
        )


def _by_pattern(
    problem: Problem, x: ColumnSet, tested: IntArray
) -> tuple[dict[Pattern, IntArray], IntArray]:
    """Columns that share a null distribution, by their pattern, and those that have their own."""
    gaps = np.zeros(x.n_columns, bool)
    if problem.x.n_missing is not None and problem.missing in ("auto", "value"):
        gaps = ~x.categorical & (problem.x.n_missing > 0)
    whole = tested[~gaps[tested]]
    different = ~x.categorical[whole] & (x.n_distinct[whole] == x.n_samples)
    others: dict[Pattern, list[int]] = defaultdict(list)
    tied = whole[~different]
    for some in chunks(tied.size, _LOOKED_AT // x.n_samples):
        taken = x.take(tied[some], with_order=False)
        for j, pattern in zip(tied[some].tolist(), _patterns(taken), strict=True):
            others[pattern].append(j)
    alike = {_NO_TIES: whole[different]} if different.any() else {}
    alike |= {p: np.array(some) for p, some in others.items() if len(some) >= _SHARED_BY}
    return alike, np.setdiff1d(tested, np.concatenate([*alike.values(), np.zeros(0, int)]))


def _patterns(columns: Columns) -> Iterable[Pattern]:
    """How often values repeat in each column; a column and its negative have one pattern."""
    for row, categorical in zip(columns.values, columns.categorical, strict=True):
        if categorical:
            yield True, tuple(sorted(np.unique(codes_of(row), return_counts=True)[1].tolist()))
        else:
            steps = np.diff(np.sort(row)) > _STEP  # between values, not inside ties
            counts = np.diff(np.flatnonzero(np.r_[True, steps, True])).tolist()
            yield False, tuple(min(counts, counts[::-1]))


def _column_of(pattern: Pattern, n_samples: int, runner: Runner) -> Columns:
    """A column of a pattern, prepared as all are."""
    categorical, counts = pattern
    values = np.arange(n_samples) if pattern == _NO_TIES else np.repeat(range(len(counts)), counts)
    return prepare(
        values.astype(np.float64)[None], np.array([categorical]), "normal-scores", 0, runner, True
    )


def _compared(
    question: Question,
    estimates: Question,
    alike: dict[Pattern, IntArray],
    alone: IntArray,
    draws: _Draws,
) -> _Found:
    """All columns that vary: some with those of their pattern, others alone.

    ``estimates`` is what their information is measured by; it may be what is tested.
    """
    found = _Found.untested(question.scoring.x.n_columns)
    columns = question.candidates
    if columns:
        measured = estimates.scores(columns)
        found.information[columns] = measured
        found.statistic[columns] = (
            measured if estimates.statistic is question.statistic else question.scores(columns)
        )
    for pattern, members in alike.items():
        _share(question, found, members, pattern, draws.shared(pattern, members.size))
    most = draws.alone(alone.size)
    own = own_draws(question, alone, found.statistic[alone], most, ENOUGH)
    found.exceedances[alone], found.n_draws[alone] = own.exceedances, own.n_draws
    found.n_draws_asked[alone] = most
    found.chance[alone], found.strength[alone] = own.chance, own.strength
    return found


def _share(
    question: Question, found: _Found, columns: IntArray, pattern: Pattern, n_draws: int
) -> None:
    """Columns of one pattern, with one distribution: each draw has its own permutation."""
    pool, n = question.scoring.executor, question.scoring.x.n_samples
    digest = hashlib.blake2b(repr(pattern).encode(), digest_size=8).digest()
    key = question.null.seed, "relevance", int.from_bytes(digest, "little")
    null, done = np.empty(n_draws), 0
    pool.progress.begin(f"{columns.size} columns, draws", n_draws)
    one, drawn = Scoring(_column_of(pattern, n, pool.here), pool), global_permutations(key, n)
    for block in one.permuted(
        question.prepared, ColumnNumbers([0]), question.given, drawn, n_draws
    ):
        null[done : done + len(block)] = block[:, 0]
        done += len(block)
        pool.progress.advance(done, n_draws)
    found.chance[columns] = np.quantile(null[:_FIRST_SHARED], 0.95)
    if not question.statistic.estimates:
        found.strength[columns] = strengths(found.statistic[columns], null[:, None])[0]
    below = np.searchsorted(np.sort(null), found.statistic[columns])
    found.exceedances[columns] = n_draws - below
    found.n_draws[columns] = found.n_draws_asked[columns] = n_draws
    found.shared[columns] = True


def _warn_of_coarse(problem: Problem, result: RelevanceTest, alpha: float) -> None:
    """Name a column that no draw reached, and that is not relevant all the same."""
    missed = np.flatnonzero(result.tested & (result.exceedances == 0) & ~result.relevant)
    if missed.size == 0:
        return
    j, n_tested = int(missed[0]), int(result.tested.sum())
    others = ""
    if missed.size > 1:
        n = missed.size - 1
        others = " Nor was 1 other column." if n == 1 else f" Nor were {n:,} other columns."
    enough = f"{setting('n_permutations', math.ceil(n_tested / alpha))} would be enough."
    if few_groups(result):
        enough = "More groups are needed."
    warn(
        f"{problem.x.label(j)} was reached by none of its {result.n_draws[j]:,} permutations: "
        f"p = {result.p_values[j]:.2g}, the smallest there can be, is too large among "
        f"{n_tested:,} columns for a false discovery rate of {alpha:g}.{others} {enough}"
    )
