"""How a search goes on: by tests, by a ranking alone, or in an order that is given."""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from infosieve._core.dialect import mention, parameter
from infosieve._core.formats import p_text
from infosieve._core.settings import SelectorSettings, level_share
from infosieve._core.types import ColumnNumbers, FloatArray, IntArray
from infosieve._input.problem import AnyTable
from infosieve._scoring.question import Question, best_first
from infosieve.results import Step
from infosieve.selection._models import MOST
from infosieve.selection._one_by_one import CRITERIA, OneByOne, PairwiseCriterion
from infosieve.selection._search import Search, Strategy, with_outcome
from infosieve.significance._refinements import refinements
from infosieve.significance._tested import Rule, forward_stop_level, tested

# Where columns are counted by cross-validation, pairs are looked for while fewer are selected.
_PAIRS_BESIDE = 4
# There, candidates that are estimated in most steps; and where they are compared one by one.
_POOL, _POOL_ONE_BY_ONE = 256, 1024
# All candidates are compared with each of the first selected columns, up to this many.
_ALL_BESIDE = 4
# How much more than the best two single columns a pair has to add, where nothing is tested.
_PAIR_FACTOR = 2.0


@dataclass(kw_only=True)
class ByTests(Strategy):
    """The best column is added if it passes a permutation test; if it does not, a pair that does.

    ``fdr``: the levels of steps are those of ForwardStop; otherwise all are ``alpha``.
    """

    fdr: bool
    lookahead: int

    tested = True

    def next(self, search: Search, remaining: ColumnNumbers) -> Step:
        question = search.ask(remaining)
        columns = question.estimated()
        scores = search.rank(columns, question)
        best = best_first(search.x, columns, scores)[0]
        step = self._judged(search, question, columns, columns[best], float(scores[best]))
        failed = step.action == "stop" or (step.action == "add" and not step.significant)
        if not failed or self.lookahead == 1 or not self.may_pair(search, remaining):
            return step
        pair = self._best_pair(search, search.of_pairs(question))
        return step if pair.action == "stop" else pair

    def why(self, step: Step) -> str:
        p = p_text(step.p_value, step.lower_limit)
        return f"the best column left has {p}, above {step.level:.3g}"

    def level(self, search: Search, of_pairs: bool) -> float:
        """The significance level of the next step; single columns and pairs share it."""
        level = forward_stop_level(search.p_values, self.alpha) if self.fdr else self.alpha
        return level * level_share(self.lookahead, of_pairs)

    def _judged(
        self,
        search: Search,
        question: Question,
        estimated: ColumnNumbers,
        column: int,
        score: float,
    ) -> Step:
        """The step that adds one of the columns that were estimated, or stops with it."""
        n_screened = None if question.screened is None else len(estimated)
        step = search.step(column, score, question, n_screened)
        level = self.level(search, of_pairs=False)
        ranked = search.ranks_by_test or question.statistic is search.ranked
        observed = score if ranked else question.score(column)
        alone = ColumnNumbers([column])
        asked = question if question.corrected else question.but(candidates=alone, screen=None)
        outcome = tested(asked, level, self.rule, observed, search.progress)
        step = with_outcome(step, outcome, level, asked, observed)
        if (view := question.nearest(alone)[0]) is not None:
            step = replace(step, view=view.name, beside=view.beside)
        if step.significant:
            among = question.but(candidates=estimated if question.corrected else alone)
            step = self._refined(search, among, step, observed, level)
            step = step if step.significant else replace(step, action="refuse")
        return self.decided(search, step, bool(step.significant))

    def _best_pair(self, search: Search, question: Question) -> Step:
        """The step that adds two columns together, or stops with them.

        The best pair is taken of which each column adds something beside the other. Where one does
        not, the pair is the other column in company, so pairs with that are passed over.
        """
        first, avoided = None, set[int]()
        for step, score in search.pairs(question, avoided):
            step, passed = self._tested_pair(search, question, step, score)
            if step.significant:
                return step
            first = first or replace(step, action="stop")
            if not passed:
                break
            avoided |= {*step.features} - {step.weaker}
        assert first is not None
        return first

    def _tested_pair(
        self, search: Search, question: Question, step: Step, score: float
    ) -> tuple[Step, bool]:
        """A pair with its test, and whether it passed before each of its columns was tested."""
        level = self.level(search, of_pairs=True)
        outcome = tested(question, level, self.rule, score, search.progress)
        step = with_outcome(step, outcome, level, question, score)
        step = replace(step, view="pair" if search.ranks_by_test else None)
        if not step.significant:
            return step, False
        asked = search.question
        of_columns = question.but(statistic=asked.statistic, null=asked.null)
        return self._refined(search, of_columns, step, score, level), True

    def _refined(
        self, search: Search, question: Question, step: Step, observed: float, level: float
    ) -> Step:
        """What has passed has to pass refined tests as well; the largest p-value counts."""
        pair = len(step.features) == 2
        for further in refinements(question, step.features, observed):
            outcome = tested(further.question, level, self.rule, further.observed, search.progress)
            if outcome.p_value > (step.p_value or 0.0):
                follows = tuple(j for j in further.refined if j in search.selected)
                step = replace(step, follows=follows, weaker=further.column if pair else None)
                step = with_outcome(step, outcome, level, further.question, further.observed)
            if not step.significant:
                break
        return step


@dataclass(kw_only=True)
class InOrder(ByTests):
    """Columns, and pairs, that are chosen already: tested in order, up to the first that fails."""

    order: tuple[tuple[int, ...], ...]

    def next(self, search: Search, remaining: ColumnNumbers) -> Step:
        wanted, question = self.order[len(search.path)], search.ask(remaining)
        failed = any(step.significant is False for step in search.path)
        if len(wanted) == 2:
            question = search.of_pairs(question)
            ((step, score),) = search.pairs(question, set(), wanted)
            return step if failed else self._tested_pair(search, question, step, score)[0]
        # What the others add does not matter any more once one has failed.
        columns = ColumnNumbers(wanted if failed else (*question.estimated(), *wanted))
        score = float(search.rank(columns, question)[columns.index(wanted[0])])
        if not failed:
            return self._judged(search, question, columns, wanted[0], score)
        return search.step(wanted[0], score, question, 1 if len(remaining) > 1 else None)


@dataclass(kw_only=True)
class ByRank(Strategy):
    """The best column is added without a test.

    ``rising``: as long as the information of the set rises, with pairs where no column makes it
    rise and ``lookahead`` is 2. ``pairs_beside``: as long as fewer columns are selected, pairs are
    looked for that add far more than the best single columns. ``pairwise``: candidates are held
    against single selected columns. ``pool``: of more candidates, so many are estimated in most
    steps; None: all, always.
    """

    rising: bool = False
    lookahead: int = 1
    pairs_beside: float = 0
    pairwise: PairwiseCriterion | None = None
    pool: int | None = None
    _pooled: set[int] | None = field(default=None, init=False)
    _scores: FloatArray | None = field(default=None, init=False)
    _one_by_one: OneByOne | None = field(default=None, init=False)

    def next(self, search: Search, remaining: ColumnNumbers) -> Step:
        question = search.ask(remaining)
        step = self._best(search, question)
        if not self.may_pair(search, remaining):
            return step
        if step.action == "stop" and self.lookahead == 2:
            pair = self._best_pair(search, question)
            return pair if pair.mi > search.mi else step
        if len(search.selected) < self.pairs_beside:
            pair = self._best_pair(search, question)
            if pair.gain > _PAIR_FACTOR * max(self._gain_of_two(search, step, remaining), 0.0):
                return pair
        return step

    def why(self, step: Step) -> str:
        return "no column raises the information of the set"

    def _best(self, search: Search, question: Question) -> Step:
        remaining = question.candidates
        pool = self._worth_estimating(search, remaining)
        if self.pairwise is not None:
            column, score = self._best_beside_each(search, self.pairwise, pool)
        else:
            scores = search.rank(pool, question)
            self._last(search)[list(pool)] = scores
            best = self._ordered(search, pool, scores)[0]
            column, score = pool[best], float(scores[best])
        n_screened = len(pool) if len(pool) < len(remaining) else None
        step = search.step(column, score, question, n_screened)
        return self.decided(search, step, step.mi > search.mi or not self.rising)

    def _best_pair(self, search: Search, question: Question) -> Step:
        step, _ = next(search.pairs(search.of_pairs(question), set()))
        return step

    def _gain_of_two(self, search: Search, step: Step, remaining: ColumnNumbers) -> float:
        """What the column of a step and the best one after it add."""
        rest = ColumnNumbers(j for j in remaining if j not in step.features)
        given = search.question.columns.take_given([*search.selected, *step.features])
        best = float(search.scores(rest, given).max())
        return best - search.mi if search.measure.criterion == "mi" else step.gain + best

    def _best_beside_each(
        self, search: Search, criterion: PairwiseCriterion, pool: ColumnNumbers
    ) -> tuple[int, float]:
        """The best candidate and its value, by what each adds to single selected columns."""
        if self._one_by_one is None:
            self._one_by_one = CRITERIA[criterion](search.alone())

        def added(columns: ColumnNumbers, selected: int) -> FloatArray:
            return search.scores(columns, search.question.columns.take_given([selected]))

        ordered = partial(best_first, search.x)
        found = self._one_by_one.best(pool, search.selected, added, ordered)
        self._scores = self._one_by_one.values
        return found

    def _worth_estimating(self, search: Search, remaining: ColumnNumbers) -> ColumnNumbers:
        """Of many columns that are only ranked, those that are worth an estimate.

        By what they add to all selected columns: all are, each time the number of these has
        doubled, and in between those that were best then. By what they add to single columns, which
        hardly changes: all are while fewer than four are selected, then those that were best.
        """
        n = len(search.selected)
        everyone = n & (n - 1) == 0 if self.pairwise is None else n < _ALL_BESIDE
        if self.pool is None or len(remaining) <= self.pool or everyone:
            self._pooled = None
            return remaining
        if self._pooled is None:
            last = self._last(search)[list(remaining)]
            order = self._ordered(search, remaining, last, self.pool)
            self._pooled = {remaining[j] for j in order[: self.pool]}
        left = ColumnNumbers(j for j in remaining if j in self._pooled)
        self._pooled = self._pooled if left else None
        return left or remaining

    def _last(self, search: Search) -> FloatArray:
        """What columns were ranked by when they were last, of all columns of the table."""
        if self._scores is None:
            self._scores = np.full(search.x.n_columns, -np.inf)
        return self._scores

    def _ordered(
        self, search: Search, columns: ColumnNumbers, scores: FloatArray, n_best: int = 1
    ) -> IntArray:
        """Places of columns, the best first.

        In many dimensions estimates vanish for all of them: then what each tells alone decides.
        """
        alone = search.alone()[list(columns)]
        return best_first(search.x, columns, scores, alone, n_best=n_best)


def strategy_of(settings: SelectorSettings, table: AnyTable) -> Strategy:
    """What a selector is asked for, of a table."""
    least, most = _bounds(settings, table.n_columns)
    common: dict[str, Any] = {
        "min_features": least,
        "max_features": most,
        "alpha": float(settings.alpha),
        "rule": Rule(settings.most_permutations, settings.sequential),
        "removal": settings.removal if settings.search == "forward-backward" else None,
    }
    stop, by_cv = settings.stop_rule, settings.by_model
    if stop in ("fdr", "permutation"):
        return ByTests(fdr=stop == "fdr", lookahead=settings.lookahead, **common)
    by_number = settings.stop == "auto" and settings.n_features_to_select is not None
    beside = _PAIRS_BESIDE if by_cv else np.inf
    ranked = ByRank(
        rising=stop == "max-mi",
        lookahead=settings.lookahead,
        pairs_beside=beside if (by_cv or by_number) and settings.lookahead == 2 else 0,
        pool=_POOL if by_cv else None,
        **common,
    )
    return with_criterion(ranked, settings.criterion)


def with_criterion(strategy: Strategy, criterion: Any) -> Strategy:
    """A ranking whose criterion was open, now that it is known."""
    if criterion not in CRITERIA or not isinstance(strategy, ByRank):
        return strategy
    pool = None if strategy.pool is None else _POOL_ONE_BY_ONE
    return replace(strategy, pairwise=criterion, lookahead=1, pairs_beside=0, pool=pool)


def tests_in_order(
    strategy: Strategy, order: tuple[tuple[int, ...], ...], lookahead: int
) -> Strategy:
    """The tests of the default, along columns that are chosen already."""
    n = sum(map(len, order))
    return InOrder(
        order=order,
        fdr=True,
        lookahead=lookahead,
        min_features=n,
        max_features=n,
        alpha=strategy.alpha,
        rule=strategy.rule,
        removal=strategy.removal,
    )


def _bounds(settings: SelectorSettings, m: int) -> tuple[int, int]:
    """How many columns there may be, at least and at most."""
    most = m if settings.max_features is None else min(settings.max_features, m)
    if settings.stop == "cv" and settings.max_features is None:
        most = min(m, max(MOST, settings.min_features))
    least = settings.min_features
    if settings.n_features_to_select is not None:
        least = most = settings.n_features_to_select
    for name in ("n_features_to_select", "min_features"):
        value = getattr(settings, name)
        if value is not None and value > m:
            raise ValueError(f"{parameter(name)} asks for {value} features, but X has {m} columns.")
    if least > most:
        raise ValueError(
            f"{parameter('min_features')} ({least}) must not exceed "
            f"{mention('max_features')} ({most})."
        )
    return least, most
