"""What follows from a record, and is asked by more than one package."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from infosieve.results._relevance_test import RelevanceTest
    from infosieve.results._selection import SelectionResult, Step

# Draws for one column alone end when so many of them have reached it.
ENOUGH = 20


def uncorrected(step: "Step", correction: object) -> bool:
    """Whether the p-value of a step is that of its column, although it was the best of many.

    Pairs are always compared with the best pair, and what is removed is not the best of any.
    """
    chosen = step.action != "remove" and len(step.features) == 1 and step.n_candidates > 1
    return chosen and correction is None and step.p_value is not None


def alone(result: "SelectionResult", step: "Step") -> bool:
    """The same of a step of a selection."""
    return uncorrected(step, result.provenance.parameters.get("correction", "max"))


def certainty(result: "SelectionResult") -> dict[int, bool | None]:
    """For each selected column, whether it passed its test; None without a test.

    Where cross-validation chose, tests end with the first that is not passed.
    """
    added = [step for step in result.steps if step.action == "add"]
    passed = {j: step.significant for step in added for j in step.features}
    return {j: passed.get(j) for j in result.selected}


def few_groups(result: "RelevanceTest") -> int:
    """How many groups there are, if too few for one column to be relevant by itself; else 0."""
    groups, n_tested = result.provenance.parameters.get("groups"), int(result.tested.sum())
    if not isinstance(groups, int) or n_tested == 0:
        return 0
    enough = math.log(n_tested / result.alpha) - 1e-9
    return groups if arrangements(groups, bool(result.views)) < enough else 0


def arrangements(n_groups: int, combined: bool) -> float:
    """The logarithm of how many permutations of groups there are; of the default, with signs.

    Opposite signs of all groups tell the same of rows within groups.
    """
    return math.lgamma(n_groups + 1) + (n_groups - 1) * math.log(2.0) * combined


def view_text(view: str | None, beside: int | None, features: Sequence[Any]) -> str:
    """How a column tells something: "interaction with age"."""
    return (view or "") + ("" if beside is None else f" with {features[beside]}")
