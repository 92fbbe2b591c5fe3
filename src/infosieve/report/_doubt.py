"""Tests that another seed may decide otherwise, by the permutations that were drawn."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from infosieve._core.parameters import is_sequential, n_permutations_of
from infosieve._core.sequential import SequentialRule, exceedances_allowed, sequential_rule
from infosieve._core.types import FloatArray
from infosieve.report._parts import listed, names
from infosieve.report._words import setting

# From this probability on, it is said that another seed may decide otherwise.
_LIKELY = 0.25
# So many permutations depend less on the seed than a test that ends early.
_SURE = 1999
# Longer tests are not gone through permutation by permutation.
_MOST = 100_000
# Nothing is known of a column before its test: Jeffreys' prior, as many half exceedances as others.
_BEFORE = 0.5


def near_level(result: Any) -> Iterator[str]:
    """Which columns are so near their level that permutations decide: a sentence, if there are."""
    doubtful = [(step, _otherwise(result, step)) for step in result.steps]
    found = [(step, p) for step, p in doubtful if p is not None and p >= _LIKELY]
    if found:
        columns = [" and ".join(names(result, step.features)) for step, _ in found]
        pair = "The pair " if len(found) == 1 and len(found[0][0].features) > 1 else ""
        verb = "is near its level" if len(found) == 1 else "are near their levels"
        share = max(p for _, p in found)
        most = "" if len(found) == 1 else ", at most"
        yield (
            f"{pair}{listed(columns)} {verb}: another seed, with other permutations of the same "
            f"samples, would decide otherwise in about {10 * share:.0f} of 10 cases{most}."
            f"{_surer(result.provenance)}"
        )


def _surer(known: Any) -> str:
    """What would depend less on the seed."""
    if not is_sequential(known.parameters.get("n_permutations", "auto")):
        return ""
    way = setting(known, "n_permutations", _SURE)
    return f" {way} depends less on the seed, and takes ten times as long or more."


def _otherwise(result: Any, step: Any) -> float | None:
    """The probability that another test of the same column ends otherwise; None: not known."""
    known = result.provenance.parameters
    count, drawn, level = step.exceedances, step.n_permutations, step.level
    if step.action == "remove" or None in (count, drawn, level, step.significant):
        return None
    try:
        asked = known.get("n_permutations", "auto")
        total = n_permutations_of(asked, known.get("alpha"))
        before = (count + _BEFORE, drawn - count + _BEFORE)
        if is_sequential(asked) and step.sequential:
            if total > _MOST:
                return None
            passing = _passes(sequential_rule(level, total), *before)
        else:
            from scipy.stats import betabinom

            passing = float(betabinom.cdf(exceedances_allowed(level, total), total, *before))
    except (TypeError, ValueError, OverflowError):  # a record that somebody wrote
        return None
    return 1 - passing if step.significant else passing


def _passes(rule: SequentialRule, exceeding: float, others: float) -> float:
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
