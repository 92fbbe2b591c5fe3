"""Tests that another seed may decide otherwise, by the permutations that were drawn."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from infosieve._core.rules import is_text
from infosieve._core.sequential import SequentialRule, exceedances_allowed, sequential_rule
from infosieve._core.settings import permutations_asked
from infosieve._core.types import FloatArray
from infosieve.report._tests import parameter
from infosieve.results import SelectionResult, Step

# From this probability on, it is said that another seed may decide otherwise.
_LIKELY = 0.25
# Longer tests are not gone through permutation by permutation.
_MOST = 100_000
# Nothing is known of a column before its test: Jeffreys' prior, as many half exceedances as others.
_BEFORE = 0.5


@dataclass(frozen=True, kw_only=True)
class NearLevel:
    """Columns so near their level that the permutations decide.

    ``tests`` has the names of each test, one or two; ``share`` is the largest probability that
    another seed decides otherwise; ``sequential``: more permutations would depend less on it.
    """

    tests: list[tuple[Any, ...]]
    share: float
    sequential: bool


def near_level(result: SelectionResult) -> NearLevel | None:
    """The columns near their level, if there are."""
    doubtful = [(step, probability_of_other(result, step)) for step in result.steps]
    found = [(step, p) for step, p in doubtful if p is not None and p >= _LIKELY]
    if not found:
        return None
    return NearLevel(
        tests=[tuple(result.features[j] for j in step.features) for step, _ in found],
        share=max(p for _, p in found),
        sequential=is_text(parameter(result.provenance, "n_permutations", "auto"), "auto"),
    )


def probability_of_other(result: SelectionResult, step: Step) -> float | None:
    """The probability that another test of the same column ends otherwise; None: not known."""
    known = result.provenance.parameters
    count, drawn, level = step.exceedances, step.n_permutations, step.level
    if step.action == "remove" or count is None or drawn is None or level is None:
        return None
    if step.significant is None:
        return None
    try:
        asked = known.get("n_permutations", "auto")
        total = permutations_asked(asked, known.get("alpha"))
        before = (count + _BEFORE, drawn - count + _BEFORE)
        if is_text(asked, "auto") and step.sequential:
            if total > _MOST:
                return None
            passing = probability_to_pass(sequential_rule(level, total), *before)
        else:
            from scipy.stats import betabinom

            passing = float(betabinom.cdf(exceedances_allowed(level, total), total, *before))
    except (ArithmeticError, TypeError, ValueError):  # a record that somebody wrote
        return None
    return 1 - passing if step.significant else passing


def probability_to_pass(rule: SequentialRule, exceeding: float, others: float) -> float:
    """The probability to pass, if so many permuted values were larger before, and so many not.

    What comes next is Polya's urn again, which begins with those.
    """
    counts = np.arange(int(rule.reject.max()) + 1)
    chances: FloatArray = (counts == 0).astype(np.float64)
    passed = 0.0
    for t in range(1, rule.n_permutations + 1):
        up = chances * (exceeding + counts) / (exceeding + others + t - 1)
        chances = chances - up
        chances[1:] += up[:-1]
        accepted = counts <= rule.accept[t]
        passed += float(chances[accepted].sum())
        chances[accepted | (counts >= rule.reject[t])] = 0.0
    return passed
