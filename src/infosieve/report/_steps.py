"""The steps of a selection as they are told and drawn."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from infosieve._core.formats import p_text
from infosieve._core.types import FloatArray
from infosieve.results import SelectionResult, Step

# Widths of a band beyond which nobody asks how many.
FAR = 1000.0


def percentiles(values: FloatArray) -> FloatArray:
    """What boxes and bands are drawn from: 5, 25, 50, 75 and 95 % lie below."""
    return np.percentile(values, (5, 25, 50, 75, 95), axis=0)


@dataclass(frozen=True, kw_only=True)
class StepFacts:
    """One step of a selection, numbered from 1.

    ``names`` are its columns, one or the two of a pair; ``follows`` are selected columns that a
    refused one follows; ``null`` are gains of permuted columns.
    """

    number: int
    names: list[Any]
    null: FloatArray
    step: Step
    follows: list[Any]

    @property
    def action(self) -> str:
        return self.step.action

    @property
    def gain(self) -> float:
        return self.step.gain

    @property
    def p_text(self) -> str:
        return p_text(self.step.p_value, self.step.lower_limit)

    @property
    def doubtful(self) -> bool:
        """Whether it was added although its test was not passed."""
        return self.action == "add" and self.step.significant is False

    @property
    def chance(self) -> float | None:
        """What 95 % of the permuted values stay below; None without a test."""
        return self.step.null_quantiles[2] if self.step.null else None

    def above_chance(self, values: npt.ArrayLike) -> FloatArray:
        """Gains in widths of the chance band: 0 its middle, 1 where 95 % of permuted ones end.

        Steps of 0.3 and 0.01 nats fit on such a scale together, each beside its own chance.
        """
        _, _, middle, _, high = percentiles(self.null)
        difference = np.asarray(values, np.float64) - middle
        with np.errstate(divide="ignore", invalid="ignore"):
            widths = difference / (high - middle)
        widths = np.where(difference == 0, 0.0, widths)  # also where all permuted ones are equal
        return np.clip(widths, -FAR, FAR)


def steps_of(result: SelectionResult) -> list[StepFacts]:
    """The steps of a selection.

    The criterion "mi" compares whole sets: the information of the set before the step is
    subtracted from its permuted values, as it is from the gain.
    """
    whole = result.criterion == "mi"
    known, steps = 0.0, []
    for number, step in enumerate(result.steps, start=1):
        steps.append(
            StepFacts(
                number=number,
                names=[result.features[j] for j in step.features],
                null=np.array(step.null, np.float64) - (known if whole else 0.0),
                step=step,
                follows=[result.features[j] for j in step.follows],
            )
        )
        known = step.mi if step.action in ("add", "remove") else known
    return steps


def beside_chance(result: SelectionResult) -> list[StepFacts]:
    """The steps that add a column, or do not, and were tested; none without a test.

    What a removal changes is not what its test compares, so it has no place on that scale.
    """
    return [step for step in steps_of(result) if step.action != "remove" and len(step.null)]


def chance_ticks(largest: float) -> list[float]:
    """Round numbers of widths, up to the largest that is shown; they are drawn as arcsinh."""
    ticks = [0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0]
    return [tick for tick in ticks if tick <= max(largest, 2.0)]
