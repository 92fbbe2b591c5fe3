"""Greedy search, forward and backward, one step at a time.

The loops here know columns, measures and rules; nothing of names or tables.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from infosieve._core.categories import n_singletons
from infosieve._core.formats import p_text
from infosieve._core.sequential import sequential_rule
from infosieve._core.types import GAP, ColumnNumbers, Columns, FloatArray, IntArray, Metric
from infosieve._input.problem import Prepared
from infosieve._resampling.layout import Layout
from infosieve._resampling.permutations import Permutations, key_of, permutations_of
from infosieve._scoring.jobs import Scoring
from infosieve._scoring.measure import Measure
from infosieve._scoring.mixed import Scores
from infosieve._scoring.screened import Screened, block_sizes, screen_of
from infosieve.results import Step
from infosieve.selection._one_by_one import Least, Mean, OneByOne
from infosieve.selection._rules import Rules
from infosieve.significance._again import Asking
from infosieve.significance._exceedances import Exceedances, count_exceedances
from infosieve.significance._levels import forward_stop_level, level_share

Tick: TypeAlias = Callable[[int, int, int], None]

# By what they add to single columns, all candidates are estimated beside fewer selected ones.
_ALL_BESIDE = 4
# Without a test, a pair is taken that adds so many times what the best two single columns add.
_PAIR_FACTOR = 2.0


@dataclass(kw_only=True)
class Search:
    """A search among some of the columns that ``scoring`` scores.

    ``measure`` ranks candidates (and pairs), ``compared`` is what the permutation test goes by,
    and ``joint`` the information of a whole set. ``tick`` hears of progress: the step, and
    how many permutations of how many are done; none where a test begins.
    """

    scoring: Scoring
    candidates: ColumnNumbers
    measure: Measure
    compared: Measure
    rules: Rules
    columns: Prepared
    layout: Layout
    metric: Metric
    tick: Tick | None = None
    stop_reason: str = "interrupted"

    def __post_init__(self) -> None:
        self.joint = replace(self.measure, criterion="mi")
        self.x = self.scoring.x
        self.selected: list[int] = []
        self.path: list[Step] = []
        self.first: Scores | None = None  # of all candidates, each alone
        self._mi = 0.0
        self._p_values: list[float] = []
        self._refused: dict[int, set[int]] = {}  # which selected columns they follow
        self._one_by_one: Least | Mean | None = None
        self._pool: set[int] | None = None
        self._last_scores = np.full(self.x.n_columns, -np.inf)
        self._last: tuple[FloatArray, Permutations] | None = None
        self._last_screened: Screened | None = None

    def steps(self, known: Sequence[Step] = ()) -> Iterator[Step]:
        """Search to the end; ``selected`` is up to date whenever a step is out.

        ``known`` are the first steps, where an earlier search has found them.
        """
        visited = {frozenset[int]()}
        replayed = list(known)
        rules = self.rules
        backward = rules.backward
        while True:
            remaining = ColumnNumbers(j for j in self.candidates if self._is_left(j))
            if not remaining:
                self.stop_reason = "no column is left"
                if len(self.selected) < len(self.candidates):
                    self.stop_reason += " but those that follow selected ones"
                return
            if len(self.selected) >= rules.max_features:
                self.stop_reason = (
                    f"the number of features asked for, {rules.max_features}, is reached"
                )
                return
            step = replayed.pop(0) if replayed else self._next(remaining)
            self._take(step)
            yield step
            if step.action == "stop":
                self.stop_reason = _why(step, rules)
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
                if len(self.selected) >= rules.min_features:
                    self.stop_reason = "the search came back to a set it had seen"
                    return
                backward = False  # more features are wanted: from here on, only forward
            visited.add(frozenset(self.selected))

    def _next(self, remaining: ColumnNumbers) -> Step:
        """Add a column or, where none passes, a pair; or stop."""
        rules = self.rules
        if rules.order is not None:
            wanted = rules.order[len(self.path)]
            return self._forward_pair(remaining) if len(wanted) == 2 else self._forward(remaining)
        step = self._forward(remaining)
        if (
            step.action == "refuse"
            or min(rules.max_features - len(self.selected), len(remaining)) < 2
        ):
            return step
        failed = step.action == "stop" or step.significant is False
        if failed and rules.lookahead == 2:
            pair = self._forward_pair(remaining)
            return step if pair.action == "stop" else pair
        if rules.pairs_by_gain and len(self.selected) < rules.pairs_beside:
            pair = self._forward_pair(remaining)
            one_by_one = self._gain_of_two(step, remaining)
            if pair.gain > _PAIR_FACTOR * max(one_by_one, 0.0):
                return replace(pair, action="add")
        return step

    def _gain_of_two(self, step: Step, remaining: ColumnNumbers) -> float:
        """What the column of a step and the best one after it add."""
        rest = ColumnNumbers(j for j in remaining if j not in step.features)
        given = self.columns.take_given([*self.selected, *step.features])
        best = float(self.scoring.scores(self.measure, rest, given).averaged.max())
        return best - self._mi if self.measure.criterion == "mi" else step.gain + best

    def _is_left(self, column: int) -> bool:
        """Neither selected, nor refused as long as what it follows is selected."""
        follows = self._refused.get(column)
        refused = follows is not None and follows <= set(self.selected)
        return column not in self.selected and not refused

    def score_alone(self) -> FloatArray:
        """The marginal information of each candidate, also where no step has asked."""
        if self.first is None:
            self.first = self._scored(self.candidates, self.x.take([]))
        return self.first.averaged

    def _take(self, step: Step) -> None:
        self.path.append(step)
        if step.action == "add":
            self.selected += step.features
        elif step.action == "remove":
            self.selected = [j for j in self.selected if j not in step.features]
        elif step.action == "refuse":
            self._refused[step.features[0]] = set(step.follows)
        if step.action in ("add", "remove"):
            self._mi = step.mi
        if step.action == "add" and step.significant and step.p_value is not None:
            self._p_values.append(step.p_value)

    def _held_one_by_one(self, kind: OneByOne, remaining: ColumnNumbers) -> tuple[int, float]:
        """The best candidate and its value, by what each adds to single selected columns."""
        self.scoring.now = f"step {len(self.path) + 1}"
        if self._one_by_one is None:
            alone = np.full(self.x.n_columns, -np.inf)
            alone[self.candidates] = self.score_alone()
            self._one_by_one = Least(alone) if kind == "cmim" else Mean(alone)
        found = self._one_by_one.best(remaining, self.selected, self._added_to)
        self._last_scores = self._one_by_one.values
        return found

    def _added_to(self, columns: ColumnNumbers, selected: int) -> FloatArray:
        given = self.columns.take_given([selected])
        return self.scoring.scores(self.measure, columns, given).averaged

    def _pooled(self, remaining: ColumnNumbers) -> ColumnNumbers:
        """Those that are worth an estimate, of many columns that are only ranked.

        By what they add to all selected columns: all are, each time the number of these has
        doubled, and in between those that were best then. By what they add to single columns, which
        hardly changes: all are while fewer than four are selected, then those that were best.
        """
        n, rules = len(self.selected), self.rules
        everyone = n & (n - 1) == 0 if rules.one_by_one is None else n < _ALL_BESIDE
        if rules.pool is None or len(remaining) <= rules.pool or everyone:
            self._pool = None
            return remaining
        if self._pool is None:
            order = self._ordered(remaining, self._last_scores[remaining])
            self._pool = {remaining[j] for j in order[: rules.pool]}
        left = ColumnNumbers(j for j in remaining if j in self._pool)
        self._pool = self._pool if left else None
        return left or remaining

    def _forward(self, remaining: ColumnNumbers) -> Step:
        """Add the best single column, or stop with it."""
        given, n_candidates = self.columns.take_given(self.selected), len(remaining)
        order = self.rules.order
        if order is not None and self._has_failed:  # what the others add is no matter any more
            remaining = ColumnNumbers(order[len(self.path)])
        screened = self._screened(remaining, given)
        remaining = self._pooled(remaining)
        n_pooled = len(remaining)
        if self.rules.one_by_one is not None:
            column, value = self._held_one_by_one(self.rules.one_by_one, remaining)
            remaining, scores = ColumnNumbers([column]), np.array([value])
        elif screened is None:
            scores = self._scored(remaining, given).averaged
            self._last_scores[remaining] = scores
        else:
            known = None if self.selected else self._scored(remaining, given).averaged
            worth = screened.observed(keep=self.rules.correction is not None)
            worth = self._with_wanted(worth, remaining)
            remaining = ColumnNumbers(remaining[j] for j in worth)
            scores = self._scored(remaining, given).averaged if known is None else known[worth]
        best = self._wanted_or_best(remaining, scores)
        mi = float(scores[best])
        if self.measure.criterion != "mi" and self.selected:
            mi = self._of_set(remaining[best], given)
        gain = float(scores[best]) - (self._mi if self.measure.criterion == "mi" else 0.0)
        single = n_singletons(given, self.x.take([remaining[best]]), self.measure.target)
        n_screened = None if screened is None else len(remaining)
        if n_pooled < n_candidates:
            n_screened = n_pooled
        step = Step(
            action="add",
            features=(remaining[best],),
            mi=mi,
            gain=gain,
            n_candidates=n_candidates,
            n_screened=n_screened,
            singletons=single,
            gap_gain=self._gain_of_gaps(remaining[best], given),
        )
        if not self.rules.tested or self._has_failed:
            return self._decided(step, mi > self._mi or self.rules.stop is None)
        observed = float(scores[best])
        if self.compared is not self.measure:
            observed = self._one(self.compared, remaining[best], given)
        level = self._level()
        if self.rules.correction is None:
            values = self._permuted(ColumnNumbers(remaining[best : best + 1]), given)
        elif screened is None:
            values = self._permuted(remaining, given)
        else:
            drawn = self._permutations("test", given)
            values = screened.largest(self.compared, drawn, self._sizes(level))
        step = _with_test(step, self._counted(observed, values, level), level)
        if step.significant:
            step = self._asked_next(step, remaining, observed, level)
            step = step if step.significant else replace(step, action="refuse")
        return self._decided(step, bool(step.significant))

    def _asked_next(self, step: Step, among: ColumnNumbers, observed: float, level: float) -> Step:
        """What has passed has to pass the next questions as well: see :class:`.Asking`.

        The largest p-value is that of the step.
        """
        rules, pair = self.rules, len(step.features) == 2
        asking = Asking(
            scoring=self.scoring,
            measure=self.compared,
            columns=self.columns,
            layout=self.layout,
            known=self.selected,
            among=among if pair or rules.correction == "max" else ColumnNumbers(()),
            screen=rules.screen,
            null=rules.null,
            seed=rules.seed,
            n_permutations=rules.n_permutations,
            first_decision=self._first_decision(level),
            may_end=True,
        )
        drawn = self._permutations("test", self.columns.take_given(self.selected))
        for asked in asking.next(step.features, observed, drawn):
            test = self._counted(asked.observed, asked.values, level)
            if test.p_value > (step.p_value or 0.0):
                follows = tuple(j for j in asked.follows if j in self.selected)
                step = replace(step, follows=follows, weaker=asked.column if pair else None)
                step = _with_test(step, test, level)
            if not step.significant:
                break
        return step

    @property
    def _has_failed(self) -> bool:
        """Whether columns in a given order have been tested up to one that did not pass."""
        failed = any(step.significant is False for step in self.path)
        return failed and self.rules.order is not None

    def _with_wanted(self, worth: IntArray, remaining: ColumnNumbers) -> IntArray:
        """Places among the remaining columns, and that of the column that has to be tested."""
        if self.rules.order is None:
            return worth
        (wanted,) = self.rules.order[len(self.path)]
        return np.union1d(worth, [remaining.index(wanted)])

    def _wanted_or_best(self, columns: ColumnNumbers, scores: FloatArray) -> int:
        if self.rules.order is not None:
            (wanted,) = self.rules.order[len(self.path)]
            return columns.index(wanted)
        if self.rules.tested or len(columns) == 1:
            return int(np.argmax(scores))
        return int(self._ordered(columns, scores)[0])

    def _ordered(self, columns: ColumnNumbers, scores: FloatArray) -> IntArray:
        """Places of columns, the best first.

        In many dimensions estimates vanish for all of them: then what each tells alone decides.
        """
        alone = np.full(self.x.n_columns, -np.inf)
        alone[self.candidates] = self.score_alone()
        return np.lexsort((-alone[list(columns)], -scores))

    def _with_wanted_pair(
        self, scores: FloatArray, pairs: list[tuple[int, int]], given: Columns
    ) -> tuple[FloatArray, list[tuple[int, int]]]:
        """Pairs and their scores, the best first; where the order is given, that pair alone."""
        if self.rules.order is None:
            order = np.argsort(-scores, kind="stable")
            return scores[order], [pairs[i] for i in order]
        one, other = self.rules.order[len(self.path)]
        if (one, other) in pairs:
            at = pairs.index((one, other))
            return scores[at : at + 1], [(one, other)]
        taken, here = self.x.take([one, other]), self.scoring.executor.here
        return self.measure(taken, given, here, width=2), [(one, other)]

    def _scored(self, remaining: ColumnNumbers, given: Columns) -> Scores:
        self.scoring.now = f"step {len(self.path) + 1}"
        scores = self.scoring.scores(self.measure, remaining, given)
        if self.first is None:
            self.first = scores
        return scores

    def _one(self, measure: Measure, column: int, given: Columns) -> float:
        """Of one column: not worth a journey."""
        return float(measure(self.x.take([column]), given, self.scoring.executor.here)[0])

    def _gain_of_gaps(self, column: int, given: Columns) -> float | None:
        """What it tells that values of a column are missing, as a category of its own."""
        taken = self.x.take([column])
        missing = taken.missing
        if missing is None:
            return None
        flags = np.ones(1, bool), np.full(1, 2)
        marks = Columns(np.where(missing, GAP, 0.0), *flags)
        measure = replace(self.measure, criterion="gain") if given.n_columns else self.measure
        return float(measure(marks, given, self.scoring.executor.here)[0])

    def _of_set(self, column: int, given: Columns) -> float:
        """The information of a column together with the given ones."""
        here = self.scoring.executor.here
        if not given.n_columns:
            return self._one(self.joint, column, given)
        return self.joint.of_set(given.beside(self.columns.take_given([column])), here)

    def _forward_pair(self, remaining: ColumnNumbers) -> Step:
        """Add two columns together, or stop with them.

        The best pair is taken of which each column adds something beside the other. Where one does
        not, the pair is the other column in company, so pairs with that are passed over.
        """
        given = self.columns.take_given(self.selected)
        screened = self._screened(remaining, given, pairs=True)
        if screened is None:
            found = self.scoring.pairs(self.measure, remaining, given)
        else:
            found = screened.pairs(self.measure)
        n_pairs = len(found[1])
        scores, pairs = self._with_wanted_pair(*found, given)
        level, first, alone = self._level(of_pairs=True), None, set[int]()
        for score, pair in zip(scores.tolist(), pairs, strict=True):
            if alone & {*pair}:
                continue
            step = Step(
                action="add",
                features=pair,
                mi=self._of_set(pair[1], given.beside(self.columns.take_given(pair[:1]))),
                gain=score - (self._mi if self.measure.criterion == "mi" else 0.0),
                n_candidates=n_pairs if screened is None else screened.n_pairs,
                n_screened=None if screened is None else n_pairs,
            )
            if self._has_failed:
                return step
            if not self.rules.tested:
                return step if step.mi > self._mi else replace(step, action="stop")
            values = self._permuted_pairs(screened, remaining, given, level)
            step = _with_test(step, self._counted(score, values, level), level)
            passed = bool(step.significant)
            step = self._asked_next(step, remaining, score, level) if passed else step
            if step.significant or self.rules.order is not None:
                return step
            first = first or replace(step, action="stop")
            if not passed:
                break
            alone |= {*pair} - {step.weaker}
        assert first is not None
        return first

    def _permuted_pairs(
        self, screened: Screened | None, remaining: ColumnNumbers, given: Columns, level: float
    ) -> Iterator[FloatArray]:
        """What the best pair of each permutation scores."""
        drawn = self._permutations("pair", given)
        if screened is not None:
            return screened.largest_pairs(self.measure, drawn, self._sizes(level))
        n = self.rules.n_permutations
        return self.scoring.permuted_pairs(self.measure, remaining, given, drawn, n)

    def _backward(self, earlier: list[int]) -> Step | None:
        """Remove the earlier column that is missed least, if the rule says so."""
        rests = [[j for j in self.selected if j != c] for c in earlier]
        without = [self._of_set(r[-1], self.columns.take_given(r[:-1])) for r in rests]
        if self.rules.removal == "mi" or self.measure.criterion == "mi":
            least = int(np.argmax(without))
        else:
            added = [
                self._one(self.measure, c, self.columns.take_given(r))
                for c, r in zip(earlier, rests, strict=True)
            ]
            least = int(np.argmin(added))
        column, given = earlier[least], self.columns.take_given(rests[least])
        change = without[least] - self._of_set(column, given)
        step = Step(
            action="remove",
            features=(column,),
            mi=without[least],
            gain=change,
            n_candidates=len(rests),
        )
        if self.rules.removal == "mi":
            return step if change > 0 else None
        observed = self._one(self.compared, column, given)
        test = self._counted(
            observed, self._permuted(ColumnNumbers([column]), given), self.rules.alpha
        )
        step = _with_test(step, test, self.rules.alpha)
        return None if step.significant else step

    def _permuted(self, columns: ColumnNumbers, given: Columns) -> Iterator[FloatArray]:
        drawn, n = self._permutations("test", given), self.rules.n_permutations
        return self.scoring.permuted(
            self.compared, columns, given, drawn, n, largest=True, may_end=True
        )

    def _permutations(self, purpose: str, given: Columns) -> Permutations:
        key = key_of(self.rules.seed, purpose, given)
        last = self._last
        if last is None or not np.array_equal(last[0], given.values):  # pairs need no new fits
            n_workers = self.scoring.executor.here.n_workers
            null, layout = self.rules.null, self.layout
            drawn = permutations_of(null, key, given, self.metric, n_workers, layout)
            last = self._last = given.values, drawn
        return replace(last[1], key=key)

    def _screened(
        self, remaining: ColumnNumbers, given: Columns, pairs: bool = False
    ) -> Screened | None:
        """The candidates screened, where that is asked for and there are more than are kept."""
        rules = self.rules
        if rules.screen is None or not (pairs or rules.tested):
            return None
        n_best = rules.screen // 2 if pairs else rules.screen
        if not pairs and len(remaining) <= n_best:
            return None
        last = self._last_screened
        if last is not None and last.columns == remaining:  # pairs after single columns
            return last.keeping(n_best)
        drawn = self._permutations("test", given)
        screen = screen_of(n_best, self.measure.target, given, drawn, self.metric)
        self._last_screened = Screened(self.scoring, screen, remaining, given)
        return self._last_screened

    def _sizes(self, level: float) -> Iterator[int]:
        """How many permutations to try at once, until a test may be decided."""
        n, n_workers = self.rules.n_permutations, self.scoring.executor.here.n_workers
        return block_sizes(n, self._first_decision(level), n_workers)

    def _first_decision(self, level: float) -> int:
        """With how many permutations a test may pass."""
        n = self.rules.n_permutations
        return sequential_rule(level, n).first_acceptance if self.rules.sequential else n

    def _level(self, of_pairs: bool = False) -> float:
        """The significance level of the next step; single columns and pairs share it."""
        rules = self.rules
        level = rules.alpha
        if rules.stop == "fdr":
            level = forward_stop_level(self._p_values, rules.alpha)
        return level * level_share(rules.lookahead, of_pairs)

    def _counted(self, observed: float, values: Iterator[FloatArray], level: float) -> Exceedances:
        n, sequential = self.rules.n_permutations, self.rules.sequential
        return count_exceedances(observed, self._heard(values), n, level, sequential)

    def _heard(self, values: Iterator[FloatArray]) -> Iterator[FloatArray]:
        done, step, total = 0, len(self.path) + 1, self.rules.n_permutations
        if self.tick is not None:
            self.tick(step, 0, total)
        for block in values:
            done += len(block)
            if self.tick is not None:
                self.tick(step, done, total)
            yield block

    def _decided(self, step: Step, passed: bool) -> Step:
        if len(self.selected) < self.rules.min_features:
            return replace(step, action="add")
        return step if passed or step.action == "refuse" else replace(step, action="stop")


def _with_test(step: Step, test: Exceedances, level: float) -> Step:
    return replace(
        step,
        p_value=test.p_value,
        early_stopped=test.early_stopped,
        level=level,
        exceedances=test.count,
        n_permutations=len(test.null),
        null=tuple(test.null.tolist()),
        sequential=test.sequential,
    )


def _why(step: Step, rules: Rules) -> str:
    if rules.stop == "max-mi":
        return "no column raises the information of the set"
    p = p_text(step.p_value, step.lower_limit)
    return f"the best column left has {p}, above {step.level:.3g}"
