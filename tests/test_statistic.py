"""A statistic is one class, and so is a null: tests and searches take others as they are."""

import numpy as np
import pandas as pd
import pytest
from rank_correlation import RankCorrelation
from scipy.stats import spearmanr

from infosieve._core.settings import Settings
from infosieve._core.types import ColumnNumbers
from infosieve._engines.numba.engine import NumbaEngine
from infosieve._executors.threads import Threads
from infosieve._input.problem import open_problem
from infosieve._resampling.layout import laid_out
from infosieve._resampling.nulls import GlobalNull, LocalNull, NullHypothesis
from infosieve._resampling.permutations import Permutations
from infosieve._scoring.jobs import Scoring
from infosieve._scoring.measure import Measure
from infosieve._scoring.question import Question
from infosieve.selection._search import Search
from infosieve.selection._strategies import ByRank, ByTests, InOrder
from infosieve.significance import _tested
from infosieve.significance._refinements import refinements
from infosieve.significance._tested import Rule

ONE = Threads(1)
RULE = Rule(199, sequential=True)


class Shifts(Permutations):
    def draw(self, first, count):
        rows = np.arange(self.n_samples, dtype=np.int32)
        return np.array([np.roll(rows, 1 + p) for p in range(first, first + count)])


class ShiftNull(NullHypothesis):
    """All rows receive the value of as many rows later."""

    def permutations(self, key, given):
        n = given.n_samples
        return Shifts(key, np.arange(n, dtype=np.int32), np.array([0, n]))


def table(n=150, m=9):
    """A line, a weaker one, and a noisy copy of the first; y as numbers."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, m))).add_prefix("x")
    X["copy"] = X["x0"] + 0.3 * rng.normal(size=n)
    return X, np.exp(X["x0"] + 0.5 * X["x3"] + 0.5 * rng.normal(size=n))


def question(null=LocalNull, statistic=RankCorrelation, **changes):
    X, y = table()
    problem = open_problem(X, y, Settings())
    columns, layout = laid_out(problem.prepare("standard", ONE, with_order=True), None)
    asked = Question(
        scoring=Scoring(columns.x, ONE),
        columns=columns,
        statistic=statistic(columns.target),
        null=null(seed=0, metric="euclidean", layout=layout),
        candidates=ColumnNumbers(range(columns.x.n_columns)),
    )
    return asked.but(**changes)


def measure_of(asked):
    return Measure(
        target=asked.columns.target,
        criterion="gain",
        method="ksg1",
        metric="euclidean",
        n_neighbors=(3, 15),
        engine=NumbaEngine(),
    )


@pytest.mark.parametrize("null", [GlobalNull, LocalNull, ShiftNull])
@pytest.mark.parametrize("known", [(), (0,), (0, 5)])
@pytest.mark.parametrize("corrected", [True, False])
def test_observed_and_permuted_columns_go_through_the_same_steps(null, known, corrected):
    candidates = ColumnNumbers(j for j in range(10) if j not in known)
    asked = question(null, candidates=candidates, known=known, corrected=corrected)
    x, statistic = asked.scoring.x, asked.statistic
    seen = asked.observed()
    assert seen.which == [(j,) for j in candidates]
    given = x.take(list(known))
    np.testing.assert_allclose(seen.values, statistic(x.take(list(candidates)), given, ONE))
    found = np.concatenate(list(asked.permuted(7, 7)))
    copies = asked.permutations.surrogates(x.take(list(candidates)), ONE)
    drawn = asked.permutations.draw(0, 7)
    by_hand = np.array([statistic(copies(order[None]), given, ONE) for order in drawn])
    by_hand = by_hand.max(axis=1, keepdims=True) if corrected else by_hand
    np.testing.assert_allclose(found, by_hand)


@pytest.mark.parametrize("screen", [None, 4])
def test_another_statistic_is_tested(screen):
    asked = question(screen=screen)
    seen = asked.observed()
    outcome = _tested.tested(asked, 0.05, RULE, seen.values, None)
    found = dict(zip([j for (j,) in seen.which], outcome.p_values, strict=True))
    assert found[0] < 0.05
    assert found[9] < 0.05
    beside = asked.but(candidates=ColumnNumbers([1, 2, 3, 9]), known=(0,))
    seen = beside.observed()
    outcome = _tested.tested(beside, 0.05, RULE, seen.values, None)
    assert (outcome.p_values <= 0.05).tolist() == [False, False, True, False]
    assert not list(refinements(beside, (3,), seen.values[2]))  # one column is given: a line does


@pytest.mark.parametrize("screen", [None, 4])
def test_another_statistic_searches(screen):
    asked = question(screen=screen)
    common = {"min_features": 0, "max_features": 10, "alpha": 0.05, "rule": RULE}
    both = {"question": asked, "measure": measure_of(asked), "ranking": asked.statistic}
    search = Search(strategy=ByTests(fdr=True, lookahead=1, **common), **both)
    actions = [(step.action, step.features) for step in search.steps()]
    assert actions[:2] == [("add", (0,)), ("add", (3,))]
    assert actions[-1][0] == "stop"
    first = search.path[0]
    assert first.mi == first.gain == measure_of(asked)(asked.scoring.x.take([0]), asked.given, ONE)
    assert first.null[0] < 0.5 < asked.score(0)  # the test went by correlations
    common |= {"max_features": 3}
    ranked = Search(strategy=ByRank(**common), **both)
    assert [step.features for step in ranked.steps()][:2] == [(0,), (3,)]
    order = tuple(step.features for step in ranked.path)
    common |= {"min_features": 3}
    again = Search(strategy=InOrder(order=order, fdr=True, lookahead=1, **common), **both)
    assert [step.significant for step in again.steps()][:2] == [True, True]


def test_another_statistic_is_asked_about_pairs():
    """As of the best line through the ranks of both columns, given others or not."""
    asked = question(known=(5,))
    x, statistic = asked.scoring.x, asked.statistic
    alone, pair = (statistic(x.take([0, 3]), x.take([]), ONE, width=width) for width in (1, 2))
    one, other, both = spearmanr([*x.values[[0, 3]], asked.columns.target.values[0]], axis=1)[0][
        [0, 1, 0], [2, 2, 1]
    ]
    np.testing.assert_allclose(alone, np.abs([one, other]))
    squared = (one**2 + other**2 - 2 * one * other * both) / (1 - both**2)
    np.testing.assert_allclose(pair, [np.sqrt(squared)])
    assert asked.score(0, 3) > max(asked.score(0), asked.score(3))
    pairs = asked.but(candidates=ColumnNumbers([0, 1, 2, 3]), pairs=True)
    seen = pairs.observed()
    assert seen.which[int(np.argmax(seen.values))] == (0, 3)
    assert _tested.tested(pairs, 0.05, RULE, seen.values.max(), None).p_value <= 0.05
