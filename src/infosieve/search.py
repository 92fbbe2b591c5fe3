"""Greedy search, forward and backward, one step at a time.

The loops here know columns, measures and rules; nothing of names, tables or threads.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np

from infosieve._types import Columns, FloatArray, IntArray, Metric
from infosieve.estimate.mixed import Scores
from infosieve.resample import (
    Exceedances,
    Measure,
    Permutations,
    count_exceedances,
    global_permutations,
    local_permutations,
)
from infosieve.results import QUANTILES, Step
from infosieve.significance import Correction, Null

Stop: TypeAlias = Literal["fdr", "permutation", "max-mi"] | None
Tick: TypeAlias = Callable[[int, int, int], None]


# Pairs are looked for among this many columns, those that tell most alone ...
PAIRS_AMONG = 64
# ... and get this share of the level.
_PAIR_SHARE = 0.25


def share(lookahead: int, of_pairs: bool) -> float:
    """The part of the level that single columns, or pairs, are tested at."""
    if lookahead == 1:
        return 1.0
    return _PAIR_SHARE if of_pairs else 1 - _PAIR_SHARE


@dataclass(frozen=True)
class Rules:
    """How to search and when to stop: the parameters of the selector, checked."""

    backward: bool
    removal: Literal["test", "mi"]
    stop: Stop
    null: Null
    correction: Correction
    alpha: float
    n_permutations: int
    min_features: int
    max_features: int
    lookahead: int
    seed: int

    @property
    def tested(self) -> bool:
        return self.stop in ("permutation", "fdr")


@dataclass
class Search:
    """A search among some of the columns ``x``.

    ``measure`` ranks candidates (and pairs), ``tested`` is what the permutation test compares,
    and ``joint`` the information of a whole set. ``tick`` hears of progress: the step, and
    how many permutations of how many are done.
    """

    x: Columns
    candidates: Sequence[int]
    measure: Measure
    tested: Measure
    rules: Rules
    metric: Metric
    tick: Tick | None = None
    stopped: str = "interrupted"

    def __post_init__(self) -> None:
        self.joint = replace(self.measure, criterion="mi")
        self.selected: list[int] = []
        self.first: Scores | None = None  # of all candidates, each alone
        self._mi = 0.0
        self._spent: list[float] = []
        self._n_steps = 0

    def steps(self) -> Iterator[Step]:
        """Search to the end; ``selected`` is up to date whenever a step is out."""
        visited = {frozenset[int]()}
        rules = self.rules
        while True:
            remaining = [j for j in self.candidates if j not in self.selected]
            if not remaining:
                self.stopped = "no column is left"
                return
            if len(self.selected) >= rules.max_features:
                self.stopped = f"{rules.max_features} features are selected"
                return
            step = self._forward(remaining)
            room = rules.max_features - len(self.selected)
            if step.action == "stop" and rules.lookahead == 2 and room >= 2 and len(remaining) > 1:
                pair = self._forward_pair(remaining)
                step = pair if pair.action == "add" else step
            self._take(step)
            yield step
            if step.action == "stop":
                self.stopped = _why(step, rules)
                return
            if rules.backward and len(self.selected) > max(2, rules.min_features):
                removal = self._backward()
                if removal is not None:
                    self._take(removal)
                    yield removal
            if frozenset(self.selected) in visited:
                self.stopped = "the search came back to a set it had seen"
                return
            visited.add(frozenset(self.selected))

    def _take(self, step: Step) -> None:
        self._n_steps += 1
        if step.action == "add":
            self.selected += step.features
        elif step.action == "remove":
            self.selected = [j for j in self.selected if j not in step.features]
        if step.action != "stop":
            self._mi = step.mi

    def _forward(self, remaining: list[int]) -> Step:
        """Add the best single column, or stop with it."""
        given = self.x.take(self.selected)
        found = self._scored(remaining, given)
        scores = found.averaged
        best = int(np.argmax(scores))
        mi = float(scores[best])
        if self.measure.criterion != "mi" and self.selected:
            mi = float(self.joint(self.x.take([remaining[best]]), given)[0])
        gain = float(scores[best]) - (self._mi if self.measure.criterion == "mi" else 0.0)
        left_out = len(found.lonely.get(best, ()))
        step = Step("add", (remaining[best],), mi, gain, len(remaining), left_out=left_out)
        if not self.rules.tested:
            return self._decided(step, gain > 0 or self.rules.stop is None)
        tried = remaining if self.rules.correction == "max" else [remaining[best]]
        observed = float(scores[best])
        if self.tested is not self.measure:
            observed = float(self.tested(self.x.take([remaining[best]]), given)[0])
        values = self._permuted(self.x.take(tried), given, "add")
        return self._judged(step, observed, values, self._level())

    def _scored(self, remaining: list[int], given: Columns) -> Scores:
        everything = len(remaining) == self.x.n_columns
        scores = self.measure.scores(self.x if everything else self.x.take(remaining), given)
        if self.first is None:
            self.first = scores
        return scores

    def _forward_pair(self, remaining: list[int]) -> Step:
        """Add the best two columns together, or stop with them.

        A pair is the best of many: it is always compared with the best of the permuted ones.
        """
        given = self.x.take(self.selected)
        pool = self.x.take(remaining)
        scores, order = self._pair_scores(pool)
        pairs = list(combinations([remaining[j] for j in order], 2))
        best = int(np.argmax(scores))
        columns = self.x.take(list(pairs[best]))
        mi = float(self.joint(columns.take([1]), given.beside(columns.take([0])))[0])
        gain = float(scores[best]) - (self._mi if self.measure.criterion == "mi" else 0.0)
        step = Step("add", pairs[best], mi, gain, len(pairs))
        if not self.rules.tested:
            return self._decided(step, gain > 0)
        permutations = self._permutations("pair", given)

        def permuted() -> Iterator[FloatArray]:
            for number in range(self.rules.n_permutations):
                moved = pool.rows(permutations.draw(number, 1)[0])
                yield self._pair_scores(moved)[0][None]

        return self._judged(step, float(scores[best]), permuted(), self._level(of_pairs=True))

    def _pair_scores(self, pool: Columns) -> tuple[FloatArray, IntArray]:
        """What pairs of ``pool`` tell beyond the selected columns.

        By the chain rule: what the first adds, and what the second adds to that. Pairs are
        those of the columns that add most alone, which is the second result, in its order.
        """
        chosen = self.x.take(self.selected)
        alone = self.measure(pool, chosen)
        order = np.argsort(-alone, kind="stable")[:PAIRS_AMONG]
        pool, alone = pool.take(order), alone[order]
        if self.measure.criterion == "mi":
            alone = np.zeros_like(alone)  # the score of the second is that of the whole set
        each = []
        for first in range(pool.n_columns - 1):
            given = chosen.beside(pool.take([first]))
            each.append(alone[first] + self.measure(pool.take(slice(first + 1, None)), given))
        return np.concatenate(each), order

    def _backward(self) -> Step | None:
        """Remove the earlier column that is missed least, if the rule says so."""
        rests = [[j for j in self.selected if j != c] for c in self.selected[:-1]]
        without = [float(self.joint(self.x.take(r[-1:]), self.x.take(r[:-1]))[0]) for r in rests]
        if self.rules.removal == "mi" or self.measure.criterion == "mi":
            least = int(np.argmax(without))
        else:
            least = int(np.argmin([self._alone(c, r) for c, r in self._each(rests)]))
        column, rest = self.selected[least], rests[least]
        step = Step("remove", (column,), without[least], without[least] - self._mi, len(rests))
        if self.rules.removal == "mi":
            return step if step.gain > 0 else None
        given = self.x.take(rest)
        values = self._permuted(self.x.take([column]), given, "remove")
        observed = float(self.tested(self.x.take([column]), given)[0])
        test = self._counted(observed, values, self.rules.alpha)
        step = _with_test(step, test, self.rules.alpha)
        return None if step.significant else step

    def _each(self, rests: list[list[int]]) -> Iterator[tuple[int, list[int]]]:
        return zip(self.selected[:-1], rests, strict=True)

    def _alone(self, column: int, rest: list[int]) -> float:
        return float(self.measure(self.x.take([column]), self.x.take(rest))[0])

    def _permuted(self, columns: Columns, given: Columns, purpose: str) -> Iterator[FloatArray]:
        drawn = self._permutations(purpose, given)
        n = self.rules.n_permutations
        return self.tested.permuted(columns, given, drawn, n, may_end=True)

    def _permutations(self, purpose: str, given: Columns) -> Permutations:
        key = (self.rules.seed, purpose, self._n_steps)
        if self.rules.null == "local" and given.n_columns:
            return local_permutations(key, given, self.metric)
        return global_permutations(key, self.x.n_samples)

    def _level(self, of_pairs: bool = False) -> float:
        """What the next p-value may be.

        Each test at alpha; or, for the false discovery rate, what ForwardStop (G'Sell and
        others 2016) allows, a mean of -log(1 - p) over the steps of alpha, and at most twice
        alpha. Single columns and pairs share it.
        """
        rules = self.rules
        level = rules.alpha
        if rules.stop == "fdr":
            budget = (len(self._spent) + 1) * rules.alpha - sum(self._spent)
            level = min(-math.expm1(-max(budget, 0.0)), 2 * rules.alpha)
        return level * share(rules.lookahead, of_pairs)

    def _judged(
        self, step: Step, observed: float, values: Iterator[FloatArray], level: float
    ) -> Step:
        test = self._counted(observed, values, level)
        step = _with_test(step, test, level)
        step = self._decided(step, bool(step.significant))
        if step.action == "add":
            self._spent.append(-math.log1p(-min(test.p_value, 1 - 1e-9)))
        return step

    def _counted(self, observed: float, values: Iterator[FloatArray], level: float) -> Exceedances:
        n = self.rules.n_permutations
        return count_exceedances(observed, self._heard(values), n, level)

    def _heard(self, values: Iterator[FloatArray]) -> Iterator[FloatArray]:
        done = 0
        for block in values:
            done += len(block)
            if self.tick is not None:
                self.tick(self._n_steps + 1, done, self.rules.n_permutations)
            yield block

    def _decided(self, step: Step, passed: bool) -> Step:
        wanted = len(self.selected) < self.rules.min_features
        return step if passed or wanted else replace(step, action="stop")


def _with_test(step: Step, test: Exceedances, level: float) -> Step:
    quantiles = tuple(float(q) for q in np.quantile(test.null, QUANTILES))
    return replace(
        step,
        p_value=test.p_value,
        bound=test.bound,
        level=level,
        exceedances=test.count,
        n_permutations=len(test.null),
        null=quantiles,
    )


def _why(step: Step, rules: Rules) -> str:
    if rules.stop == "max-mi":
        return "no column raises the information of the set"
    return f"the best column left has p = {step.p_value:.3g}, above {step.level:.3g}"
