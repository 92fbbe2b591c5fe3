"""Greedy search, forward and backward, one step at a time.

The loop knows columns, measures and a strategy; nothing of names or tables.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from infosieve._core.categories import n_singletons
from infosieve._core.types import GAP, ColumnNumbers, Columns, FloatArray, View
from infosieve._resampling.nulls import NullHypothesis
from infosieve._scoring.measure import Measure
from infosieve._scoring.question import Question
from infosieve._scoring.statistic import Statistic
from infosieve.results import Remaining, Step
from infosieve.significance._own import own_draws
from infosieve.significance._tested import Outcome, Rule, tested

# Is told the step, and how many permutations of how many are done: none when a test begins.
Tick: TypeAlias = Callable[[int, int, int], None]
# Permutations of each column that is left, at most; fewer, once so many have reached it.
_DRAWS, _ENOUGH = 999, 10


@dataclass(kw_only=True)
class Strategy(ABC):
    """Which candidate a search tries next, and when it ends.

    ``removal`` says whether an earlier column may be removed again after each addition, and by
    what: a test at ``alpha``, or the information of the set.
    """

    min_features: int
    max_features: int
    alpha: float
    rule: Rule
    removal: Literal["test", "mi"] | None = None

    # Whether what is selected has passed a test.
    tested = False

    @abstractmethod
    def next(self, search: "Search", remaining: ColumnNumbers) -> Step:
        """The next step: add the best of the remaining columns, or a pair; refuse it; or stop."""

    @abstractmethod
    def why(self, step: Step) -> str:
        """Why a search ends with a step."""

    def decided(self, search: "Search", step: Step, passed: bool) -> Step:
        """A step is one to the end, if it has not passed and no more columns are asked for."""
        if len(search.selected) < self.min_features:
            return replace(step, action="add")
        return step if passed or step.action == "refuse" else replace(step, action="stop")

    def may_pair(self, search: "Search", remaining: ColumnNumbers) -> bool:
        """Whether there is room for two more columns."""
        return min(self.max_features - len(search.selected), len(remaining)) >= 2


@dataclass(kw_only=True)
class Search:
    """A search among the candidates of a question, which is asked of each step.

    ``measure`` is the information that steps report, of candidates and, as ``joint``, of sets.
    ``ranking`` is what candidates, and pairs, are ranked by, and pairs tested: the same measure,
    unless it is said. Columns are tested by the statistic of the question. With ``null_of_pairs``
    they are ranked by it, too, and pairs are compared with copies of that null.
    """

    question: Question
    measure: Measure
    strategy: Strategy
    ranking: Statistic | None = None
    null_of_pairs: NullHypothesis | None = None
    tick: Tick | None = None
    stop_reason: str = "interrupted"

    def __post_init__(self) -> None:
        self.candidates, self.x = self.question.candidates, self.question.scoring.x
        self.joint = replace(self.measure, criterion="mi")
        self.ranked = self.measure if self.ranking is None else self.ranking
        self.selected: list[int] = []
        self.path: list[Step] = []
        self.first: FloatArray | None = None  # what each candidate tells alone
        self.mi = 0.0
        self.p_values: list[float] = []  # of the columns, and pairs, that have passed
        self._refused: dict[int, set[int]] = {}  # beside which selected columns

    def steps(self, known: Sequence[Step] = ()) -> Iterator[Step]:
        """Search to the end; ``selected`` is up to date whenever a step is out.

        ``known`` are the first steps, where an earlier search has found them.
        """
        visited = {frozenset[int]()}
        replayed = list(known)
        backward = self.strategy.removal is not None
        while True:
            remaining = ColumnNumbers(j for j in self.candidates if self._is_left(j))
            if self._is_over(remaining):
                return
            step = replayed.pop(0) if replayed else self._next(remaining)
            self._take(step)
            yield step
            if step.action == "stop":
                self.stop_reason = self.strategy.why(step)
                return
            if step.action == "refuse":
                continue
            earlier = [j for j in self.selected if j not in step.features]
            removal = None
            if replayed:
                removal = replayed.pop(0) if replayed[0].action == "remove" else None
            elif backward and earlier:
                removal = self._backward(earlier)
            if removal is not None:
                self._take(removal)
                yield removal
            if frozenset(self.selected) in visited:
                if len(self.selected) >= self.strategy.min_features:
                    self.stop_reason = "the search came back to a set it had seen"
                    return
                backward = False  # more features are wanted: from here on, only forward
            visited.add(frozenset(self.selected))

    def _is_over(self, remaining: ColumnNumbers) -> bool:
        """Whether nothing is left, or nothing is wanted."""
        most = self.strategy.max_features
        if not remaining:
            self.stop_reason = "no column is left"
            if len(self.selected) < len(self.candidates):
                self.stop_reason += " but those that follow selected ones"
        elif len(self.selected) >= most:
            self.stop_reason = f"the number of features asked for, {most}, is reached"
        else:
            return False
        return True

    def _next(self, remaining: ColumnNumbers) -> Step:
        return self.strategy.next(self, remaining)

    def _is_left(self, column: int) -> bool:
        """Neither selected, nor refused as long as what it follows is selected."""
        follows = self._refused.get(column)
        refused = follows is not None and follows <= set(self.selected)
        return column not in self.selected and not refused

    def _take(self, step: Step) -> None:
        self.path.append(step)
        if step.action == "add":
            self.selected += step.features
        elif step.action == "remove":
            self.selected = [j for j in self.selected if j not in step.features]
        elif step.action == "refuse":
            self._refused[step.features[0]] = set(step.follows)
        if step.action in ("add", "remove"):
            self.mi = step.mi
        if step.action == "add" and step.significant and step.p_value is not None:
            self.p_values.append(step.p_value)

    @property
    def progress(self) -> Callable[[int, int], None] | None:
        """Who is told of the permutations of this step."""
        return None if self.tick is None else partial(self.tick, len(self.path) + 1)

    def ask(self, candidates: ColumnNumbers) -> Question:
        """What do candidates tell, given the selected columns?"""
        return self.question.but(candidates=candidates, known=tuple(self.selected))

    def alone(self) -> FloatArray:
        """What each column tells alone, if it is a candidate."""
        if self.first is None:
            self.first = self.scores(self.candidates, self.x.take([]))
        values = np.full(self.x.n_columns, -np.inf)
        values[list(self.candidates)] = self.first
        return values

    def scores(self, columns: ColumnNumbers, given: Columns) -> FloatArray:
        """What columns add to some."""
        scoring = self.question.scoring
        scoring.now = f"step {len(self.path) + 1}"
        return scoring.scores(self.measure, columns, given)

    @property
    def ranks_by_test(self) -> bool:
        """Whether columns are ranked by what they are tested by, and pairs are not."""
        return self.null_of_pairs is not None and self.strategy.tested

    def of_pairs(self, question: Question) -> Question:
        """The same question about pairs."""
        return question.of_pairs(self.ranked, self.null_of_pairs)

    def rank(self, columns: ColumnNumbers, question: Question) -> FloatArray:
        """What columns are ranked by, given the selected ones."""
        if self.ranks_by_test:
            self.alone()
            return question.scores(columns)
        alone = None if self.selected else self.alone()[list(columns)]
        if self.ranked is not self.measure:
            same = question.statistic is self.ranked
            return (question if same else question.but(statistic=self.ranked)).scores(columns)
        return self.scores(columns, question.given) if alone is None else alone

    def step(
        self, column: int, score: float, question: Question, n_screened: int | None = None
    ) -> Step:
        """The step that adds a column, which was ranked by its score."""
        given, measure = question.given, self.measure
        if self.ranked is not measure or self.ranks_by_test:
            score = self._one(measure, column, given)
        mi = score
        if measure.criterion != "mi" and self.selected:
            mi = self._of_set(column, given)
        return Step(
            action="add",
            features=(column,),
            mi=mi,
            gain=score - (self.mi if measure.criterion == "mi" else 0.0),
            n_candidates=len(question.candidates),
            n_screened=n_screened,
            singletons=n_singletons(given, self.x.take([column]), measure.target),
            gap_gain=self._gain_of_gaps(column, given),
        )

    def pairs(
        self, question: Question, avoided: set[int], wanted: tuple[int, ...] | None = None
    ) -> Iterator[tuple[Step, float]]:
        """The steps that add pairs, and their scores, the best first; or that of the wanted pair.

        Pairs with columns that are ``avoided`` by then are passed over.
        """
        seen = question.observed()
        order = np.argsort(-seen.values, kind="stable")
        found = [(seen.which[i], float(seen.values[i])) for i in order]
        if wanted is not None:
            found = [(wanted, question.score(*wanted))]
        for pair, score in found:
            if avoided & {*pair}:
                continue
            beside = question.given.beside(self.question.columns.take_given(pair[:1]))
            step = Step(
                action="add",
                features=pair,
                mi=self._of_set(pair[1], beside),
                gain=score - (self.mi if self.measure.criterion == "mi" else 0.0),
                n_candidates=seen.n_candidates,
                n_screened=None if question.screened is None else len(order),
            )
            yield step, score

    def _one(self, statistic: Statistic, column: int, given: Columns) -> float:
        here = self.question.scoring.executor.here
        return float(statistic(self.x.take([column]), given, here)[0])

    def _gain_of_gaps(self, column: int, given: Columns) -> float | None:
        """What it tells that values of a column are missing, as a category of its own."""
        missing = self.x.take([column]).missing
        if missing is None:
            return None
        marks = Columns(np.where(missing, GAP, 0.0), np.ones(1, bool), np.full(1, 2))
        measure = replace(self.measure, criterion="gain") if given.n_columns else self.measure
        return float(measure(marks, given, self.question.scoring.executor.here)[0])

    def _of_set(self, column: int, given: Columns) -> float:
        """The information of a column together with the given ones."""
        if not given.n_columns:
            return self._one(self.joint, column, given)
        columns = given.beside(self.question.columns.take_given([column]))
        return self.joint.of_set(columns, self.question.scoring.executor.here)

    def _backward(self, earlier: list[int]) -> Step | None:
        """Remove the earlier column that is missed least, if the strategy says so."""
        take, strategy = self.question.columns.take_given, self.strategy
        rests = [[j for j in self.selected if j != c] for c in earlier]
        without = [self._of_set(r[-1], take(r[:-1])) for r in rests]
        if strategy.removal == "mi" or self.measure.criterion == "mi":
            least = int(np.argmax(without))
        else:
            both = zip(earlier, rests, strict=True)
            least = int(np.argmin([self._one(self.measure, c, take(r)) for c, r in both]))
        column, rest = earlier[least], rests[least]
        change = without[least] - self._of_set(column, take(rest))
        step = Step(
            action="remove",
            features=(column,),
            mi=without[least],
            gain=change,
            n_candidates=len(rests),
        )
        if strategy.removal == "mi":
            return step if change > 0 else None
        question = self.question.but(
            candidates=ColumnNumbers([column]), known=tuple(rest), screen=None
        )
        level, observed = strategy.alpha, question.score(column)
        outcome = tested(question, level, strategy.rule, observed, self.progress)
        step = with_outcome(step, outcome, level, question, observed)
        return None if step.significant else step


def with_outcome(
    step: Step, outcome: Outcome, level: float, question: Question, observed: float
) -> Step:
    """A step with its test: what was observed, and how often chance reached it."""
    return replace(
        step,
        p_value=outcome.p_value,
        early_stopped=outcome.early_stopped,
        level=level,
        exceedances=int(outcome.counts[0]),
        n_permutations=len(outcome.null),
        null=tuple(outcome.null[:, 0].tolist()),
        sequential=outcome.sequential,
        statistic=None if question.statistic.estimates else observed,
    )


def remaining(search: Search) -> Remaining | None:
    """What each column that is left would add, once tests have ended a search: a test each."""
    left = ColumnNumbers(j for j in search.candidates if j not in search.selected)
    if not left or not search.ranks_by_test:
        return None
    question = search.ask(left).but(purpose="remaining", corrected=False)
    observed, which = question.scores(left), np.array(left)
    p_values = own_draws(question, which, observed, _DRAWS, _ENOUGH, 2 * _ENOUGH).p_values(
        _DRAWS, _ENOUGH
    )
    order = np.lexsort((which, -observed, p_values))
    views = [view or View("") for view in question.nearest(left)]
    return Remaining(
        columns=tuple(which[order].tolist()),
        gains=search.scores(left, question.given)[order],
        p_values=p_values[order],
        views=tuple(views[i].name for i in order),
        beside=tuple(views[i].beside for i in order),
    )
