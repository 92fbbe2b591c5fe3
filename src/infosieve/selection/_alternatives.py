"""What could stand in for a selected column: Lagani and others (2017) call it equivalent.

A column c stands in for a selected column s, beside the other selected ones, if

- c is informative there: it passes a permutation test, corrected for the columns that are tried,
- s adds little once c is there: less than a share of what it adds beside permuted copies of c.

That a test of s beside c does not pass would be no evidence, so it is not asked for. Beside
copies, because estimates of more columns are lower whatever these tell. For s to add less beside c,
the two must have something in common; so the columns that are tried are those that have most in
common with s, found without a look at the target.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from infosieve._core.types import ColumnNumbers, Columns, FloatArray, IntArray
from infosieve._resampling.refined import predicted_by_any
from infosieve._scoring.question import Question
from infosieve._scoring.screened import Screened
from infosieve._scoring.screening import screen_of
from infosieve.results import Alternative
from infosieve.significance._refinements import Refinement, along_a_curve
from infosieve.significance._tested import Rule, tested

# Columns that are tried for each selected one: those that have most in common with it.
N_TRIED = 16
# A selected column adds little beside another if it adds less than this share of what it adds, on
# average, beside permuted copies of the other; and how many copies that are.
LARGEST_SHARE, N_COPIES = 0.5, 3


def find_alternatives(
    question: Question, tests: Question, selected: Sequence[int], alpha: float, rule: Rule
) -> tuple[Alternative, ...]:
    """Of each selected column, in their order, those that could stand in, the best first.

    The candidates of the question are all columns. It says how much they tell, and ``tests``, which
    may be the same, whether that is certain, at the level ``alpha``.
    """
    found: list[Alternative] = []
    others = ColumnNumbers(j for j in question.candidates if j not in selected)
    for done, column in enumerate(selected):
        question.scoring.executor.progress.advance(done, len(selected))
        rest = tuple(j for j in selected if j != column)
        beside = question.but(candidates=others, known=rest, purpose="stand-in")
        tried = _in_common(beside, column)
        if tried:
            about = {"candidates": tried, "known": rest, "purpose": "stand-in"}
            asked = question.but(**about), tests.but(**about)
            found += _of_one(*asked, column, alpha, rule)
    return tuple(found)


def _in_common(question: Question, column: int) -> ColumnNumbers:
    """The candidates that have most in common with a column, given the other selected ones."""
    others, given, scoring = question.candidates, question.given, question.scoring
    if len(others) <= N_TRIED:
        return others
    target, metric = scoring.x.take([column]).filled(), question.null.metric
    screen = screen_of(N_TRIED, target, given, question.permutations, metric)
    worth = Screened(scoring, screen, others, given).observed()
    return ColumnNumbers(others[j] for j in worth)


def _of_one(
    question: Question, tests: Question, column: int, alpha: float, rule: Rule
) -> list[Alternative]:
    """Those candidates that could stand in for a column, given the other selected ones."""
    tried, statistic = question.candidates, question.statistic
    here, taken = question.scoring.executor.here, question.scoring.x.take([column])
    alone = question.score(column)
    beside = (question.columns.take_given([*question.known, other]) for other in tried)
    remaining = np.array([statistic(taken, given, here)[0] for given in beside])
    little = np.flatnonzero(np.maximum(remaining, 0.0) < LARGEST_SHARE * alone)
    if not little.size:
        return []
    in_place = question.scores(tried)
    p_values = np.ones(len(tried))
    observed = in_place if tests.statistic is statistic else tests.scores(tried)
    p_values[little] = tested(tests, alpha, rule, observed[little], None).p_values
    places = np.flatnonzero(p_values <= alpha)
    without = np.zeros(len(tried))
    without[places] = [_beside_copies(question, taken, tried[j]) for j in places]
    redundant = np.maximum(remaining[places], 0.0) < LARGEST_SHARE * without[places]
    # What takes longest comes last, and is asked only of those that would be listed.
    places = places[redundant]
    if question.known and places.size:
        p_values[places] = _refined(tests, places, p_values, observed, alpha, rule)
    found = [
        Alternative(
            feature=column,
            stand_in=tried[place],
            information=alone,
            in_place=float(in_place[place]),
            p_value=float(p_values[place]),
            without=float(without[place]),
            remaining=float(remaining[place]),
        )
        for place in places
        if p_values[place] <= alpha
    ]
    return sorted(found, key=lambda one: (-one.in_place, one.stand_in))


def _beside_copies(question: Question, taken: Columns, other: int) -> float:
    """What a column adds beside permuted copies of another, on average."""
    here, drawn = question.scoring.executor.here, question.permutations
    surrogates = drawn.surrogates(question.scoring.x.take([other]), here)
    copies = surrogates(drawn.draw(0, N_COPIES))
    each = (question.columns.as_given(copies.take([c])) for c in range(N_COPIES))
    beside = (question.given.beside(copy) for copy in each)
    return float(np.mean([question.statistic(taken, given, here)[0] for given in beside]))


def _refined(
    question: Question,
    places: IntArray,
    p_values: FloatArray,
    observed: FloatArray,
    alpha: float,
    rule: Rule,
) -> FloatArray:
    """The larger p-values of candidates that selected columns predict: they are tested again.

    Those that the same columns predict are compared with the same permuted values.
    """
    x, larger = question.scoring.x, p_values[places]
    known, metric = x.take(list(question.known)).filled(), question.null.metric
    predicted = predicted_by_any(x.take([question.candidates[j] for j in places]), known, metric)
    members: dict[object, list[int]] = defaultdict(list)
    asked: dict[object, Refinement] = {}
    for at in np.flatnonzero(predicted).tolist():
        column, seen = question.candidates[places[at]], float(observed[places[at]])
        further = along_a_curve(question, column, seen, "stand-in")
        if further is not None:
            asked.setdefault(further.copies, further)
            members[further.copies].append(at)
    for same, some in members.items():
        outcome = tested(asked[same].question, alpha, rule, observed[places[some]], None)
        larger[some] = np.maximum(larger[some], outcome.p_values)
    return larger
