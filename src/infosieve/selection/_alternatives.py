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
from collections.abc import Iterator, Sequence

import numpy as np

from infosieve._core.sequential import sequential_rule
from infosieve._core.types import ColumnNumbers, Columns, FloatArray, IntArray, Metric
from infosieve._input.problem import Prepared
from infosieve._resampling.followed import follow_any
from infosieve._resampling.layout import Layout
from infosieve._resampling.permutations import Permutations, key_of, permutations_of
from infosieve._scoring.jobs import Scoring
from infosieve._scoring.measure import Measure
from infosieve._scoring.screened import Screened, screen_of
from infosieve.results import Alternative
from infosieve.selection._rules import Rules
from infosieve.significance._again import Again, asked_again
from infosieve.significance._exceedances import until_decided

# So many columns are tried for each selected one, those that have most in common with it.
N_TRIED = 16
# A selected column adds little beside another if it is less than this share of what it adds
# beside so many permuted copies of that, on average.
LARGEST_SHARE, N_COPIES = 0.5, 3


def find_alternatives(
    scoring: Scoring,
    columns: Prepared,
    layout: Layout,
    measure: Measure,
    rules: Rules,
    selected: Sequence[int],
    candidates: ColumnNumbers,
) -> tuple[Alternative, ...]:
    """Of each selected column, in their order, those that could stand in, the best first."""
    found: list[Alternative] = []
    others = ColumnNumbers(j for j in candidates if j not in selected)
    for done, column in enumerate(selected):
        scoring.executor.progress.advance(done, len(selected))
        rest = [j for j in selected if j != column]
        given = columns.take_given(rest)
        metric, n_workers = measure.metric, scoring.executor.here.n_workers
        key = key_of(rules.seed, "stand-in", given)
        drawn = permutations_of(rules.null, key, given, metric, n_workers, layout)
        tried = _in_common(scoring, column, others, given, drawn, metric)
        found += _of_one(scoring, columns, measure, rules, column, rest, tried, drawn)
    return tuple(found)


def _in_common(
    scoring: Scoring,
    column: int,
    others: ColumnNumbers,
    given: Columns,
    drawn: Permutations,
    metric: Metric,
) -> ColumnNumbers:
    """The columns that have most in common with one, given the other selected ones."""
    if len(others) <= N_TRIED:
        return others
    screen = screen_of(N_TRIED, scoring.x.take([column]).filled(), given, drawn, metric)
    worth = Screened(scoring, screen, others, given).observed(keep=False)
    return ColumnNumbers(others[j] for j in worth)


def _of_one(
    scoring: Scoring,
    columns: Prepared,
    measure: Measure,
    rules: Rules,
    column: int,
    rest: list[int],
    tried: ColumnNumbers,
    drawn: Permutations,
) -> list[Alternative]:
    """Those of the columns tried that could stand in for one."""
    if not tried:
        return []
    here, given = scoring.executor.here, columns.take_given(rest)
    taken = scoring.x.take([column])
    alone = float(measure(taken, given, here)[0])
    remaining = np.array(
        [measure(taken, columns.take_given([*rest, other]), here)[0] for other in tried]
    )
    little = np.flatnonzero(np.maximum(remaining, 0.0) < LARGEST_SHARE * alone)
    if not little.size:
        return []
    in_place = scoring.scores(measure, tried, given).averaged
    blocks = scoring.permuted(
        measure, tried, given, drawn, rules.n_permutations, largest=True, may_end=True
    )
    p_values = _p_values(rules, in_place[little], blocks)
    places, p_values = little[p_values <= rules.alpha], p_values[p_values <= rules.alpha]
    without = np.array([_beside_copies(scoring, columns, measure, taken, given, drawn, tried[j])
                        for j in places])  # fmt: skip
    # The dear question comes last, and only of those that would be listed.
    redundant = np.maximum(remaining[places], 0.0) < LARGEST_SHARE * without
    places, p_values, without = places[redundant], p_values[redundant], without[redundant]
    if rest and rules.null == "local" and places.size:
        known = scoring.x.take(rest).filled()
        p_values = _beside_what_they_follow(
            scoring, measure, rules, tried, places, p_values, in_place, known, given, drawn
        )
    found = [
        Alternative(
            feature=column,
            stand_in=tried[place],
            information=alone,
            in_place=float(in_place[place]),
            p_value=float(p),
            without=float(other),
            remaining=float(remaining[place]),
        )
        for place, p, other in zip(places, p_values, without, strict=True)
        if p <= rules.alpha
    ]
    return sorted(found, key=lambda one: (-one.in_place, one.stand_in))


def _beside_copies(
    scoring: Scoring,
    columns: Prepared,
    measure: Measure,
    taken: Columns,
    given: Columns,
    drawn: Permutations,
    other: int,
) -> float:
    """What a column adds beside permuted copies of another, on average."""
    here = scoring.executor.here
    copies = drawn.surrogates(scoring.x.take([other]), here)(drawn.draw(0, N_COPIES))
    beside = [given.beside(columns.as_given(copies.take([c]))) for c in range(N_COPIES)]
    return float(np.mean([measure(taken, copy, here)[0] for copy in beside]))


def _beside_what_they_follow(
    scoring: Scoring,
    measure: Measure,
    rules: Rules,
    tried: ColumnNumbers,
    places: IntArray,
    p_values: FloatArray,
    in_place: FloatArray,
    known: Columns,
    given: Columns,
    drawn: Permutations,
) -> FloatArray:
    """The larger p-values of columns that selected ones predict: they are asked again.

    Those that follow the same columns are compared with the same permuted values.
    """
    larger = p_values.copy()
    follow = follow_any(scoring.x.take([tried[j] for j in places]), known, measure.metric)
    questions: dict[object, list[int]] = defaultdict(list)
    asked: dict[object, Again] = {}
    for at in np.flatnonzero(follow).tolist():
        column, n = tried[places[at]], rules.n_permutations
        again = asked_again(scoring, measure, column, tried, known, given, drawn, n, may_end=True)
        if again is not None:
            asked.setdefault(again.same, again)
            questions[again.same].append(at)
    for same, members in questions.items():
        found = _p_values(rules, in_place[places[members]], asked[same].values)
        larger[members] = np.maximum(larger[members], found)
    return larger


def _p_values(rules: Rules, observed: FloatArray, blocks: Iterator[FloatArray]) -> FloatArray:
    """Of several observed values against the same permuted ones."""
    n, level = rules.n_permutations, rules.alpha
    reached = until_decided(observed, blocks, n, level, rules.sequential) >= observed
    if not rules.sequential:
        return np.asarray((reached.sum(axis=0) + 1) / (n + 1))
    rule = sequential_rule(level, n)
    times, counts = rule.endings(reached)
    return rule.p_values(counts, times)
