"""Facts about prediction: how well a model predicts with the first columns of a ranking."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from infosieve._core.rules import is_int
from infosieve._core.types import FloatArray
from infosieve.report._tests import is_series
from infosieve.results import CVScores, SelectionResult
from infosieve.results._facts import certainty

# Such a part of a gain is most of it.
MOST_OF = 0.9
# Scores whose error is what they lack of 1.
_UP_TO_ONE = ("r2", "accuracy")
# Up to so many columns of a ranking have room of the same width.
_SAME_WIDTH = 30


@dataclass(frozen=True)
class Prediction:
    """Scores of a model against the number of columns, as they are told and drawn."""

    result: SelectionResult

    @cached_property
    def scores(self) -> CVScores:
        if self.result.cv_scores is None:
            raise ValueError(
                "This selection has no scores of a model (cv_scores is None): only a "
                "cross-validated stop makes them."
            )
        return self.result.cv_scores

    @property
    def n_folds(self) -> int:
        return len(self.scores.scores)

    @property
    def every(self) -> float | None:
        """The mean with all columns; None where these were not tried."""
        every = self.scores.all_columns
        return None if every is None else float(np.mean(every))

    @cached_property
    def certain(self) -> list[bool] | None:
        """Whether each selected column passed a test; None: nobody asked."""
        passed = list(certainty(self.result).values())
        return [bool(c) for c in passed] if any(c is not None for c in passed) else None

    @property
    def n_features(self) -> int:
        """How many columns there are, without those that were left out."""
        return n_candidates(self.result)

    @property
    def _chosen(self) -> int:
        return self.scores.sizes.index(self.scores.n_chosen)

    @property
    def score(self) -> float:
        """The mean with the chosen number of columns."""
        return float(self.scores.mean[self._chosen])

    @property
    def uncertain(self) -> str:
        """What columns are that a model has chosen, and no test has found: not always useful."""
        return "not certain" if self.no_better else "only useful"

    @property
    def last(self) -> int:
        """The largest number of columns."""
        return self.scores.sizes[-1]

    def text(self, score: float) -> str:
        """A score in as many digits as all have."""
        text = f"{score:.3f}" if 0.1 <= np.abs(self.scores.mean).max() < 1000 else f"{score:.3g}"
        return text.removeprefix("-") if float(text) == 0 else text

    @property
    def names(self) -> list[Any]:
        """The columns in the order of the ranking."""
        return [self.result.features[j] for j in self.scores.order]

    def label(self, number: int) -> str:
        """ "3. X2", the column that comes third; "none" comes before the first."""
        return f"{number}. {self.names[number - 1]}" if number else "none"

    @property
    def mean_label(self) -> str:
        """What the line of the means is called."""
        return f"{self.scores.criterion}: mean of {self.n_folds}, standard error"

    def place(self, number: npt.ArrayLike) -> FloatArray:
        """Where a number of columns lies on its axis; many share the room of a few."""
        at = np.asarray(number, np.float64)
        return at if self.last <= _SAME_WIDTH else np.arcsinh(at)

    def ticks(self) -> list[int]:
        """Numbers that an axis has, where it has no names."""
        if self.last <= _SAME_WIDTH:
            return list(range(0, self.last + 1, 5))
        round_ones = [f * 10**power for power in range(7) for f in (1, 2, 5)]
        return [0, *(n for n in round_ones if n <= self.last)]

    @property
    def heights(self) -> tuple[float, float, float]:
        """The ends of an axis of scores, and where columns are marked, below all of them."""
        mean, error, others = self.scores.mean, self.scores.standard_error, self.scores.others
        every = self.scores.without if self.every is None else self.every
        folds = np.ravel(self.scores.scores)
        shown = np.concatenate((folds, mean - error, mean + error, *others.values(), [every]))
        low, high = float(shown.min()), float(shown.max())
        span = (high - low) or max(abs(high), 1.0)
        return low - 0.14 * span, high + 0.05 * span, low - 0.07 * span

    def marked(self) -> list[tuple[str, bool, list[int]]]:
        """Selected columns of a kind: its name, whether marks are filled, and their numbers."""
        numbers = range(1, len(self.result.selected) + 1)
        if self.certain is None:
            return [("selected", True, list(numbers))]
        kinds = [
            (name, kind, [i for i in numbers if self.certain[i - 1] is kind])
            for name, kind in (("certain", True), (self.uncertain, False))
        ]
        return [kind for kind in kinds if kind[2]]

    # --- what a reader should know of it

    def parameter(self, name: str) -> Any:
        return self.result.provenance.parameters.get(name)

    @property
    def chosen_error(self) -> float:
        return float(self.scores.standard_error[self._chosen])

    @property
    def no_better(self) -> bool:
        """Whether the model predicts no better with columns than without."""
        return self.scores.best_score <= self.scores.without

    @property
    def default_model(self) -> bool:
        """Whether nobody named a model."""
        return self.result.provenance.parameters.get("model", ...) is None

    @property
    def fewer_error(self) -> float | None:
        """How much smaller the error of the best number is, in percent; None: it has no error."""
        top = 0.0 if self.scores.scoring.startswith("neg_") else 1.0
        if top == 1.0 and self.scores.scoring not in _UP_TO_ONE:
            return None
        if not self.score < self.scores.best_score < top:
            return None
        return 100 * (self.scores.best_score - self.score) / (top - self.score)

    @property
    def n_better_folds(self) -> int | None:
        """In how many folds the chosen columns are better than all; None: these were not tried."""
        if self.scores.all_columns is None:
            return None
        folds = zip(self.scores.scores, self.scores.all_columns, strict=True)
        return sum(own[self._chosen] > every for own, every in folds)

    @property
    def enough(self) -> tuple[int, float] | None:
        """A smaller number of columns with most of the gain, and its score, if there is one."""
        means = dict(zip(self.scores.sizes, self.scores.mean.tolist(), strict=True))
        gain = means[self.scores.n_chosen] - self.scores.without
        some = [
            n for n in self.scores.sizes if n and means[n] - self.scores.without >= MOST_OF * gain
        ]
        if gain > 0 and min(some) < self.scores.n_chosen:
            return min(some), means[min(some)]
        return None

    @property
    def broken_off(self) -> bool:
        """Whether tests of the chosen columns were asked for, and are not there."""
        steps = self.result.steps
        return self.parameter("test") is True and all(step.p_value is None for step in steps)

    def selected_columns(self, certain: bool) -> list[Any]:
        """The selected columns that passed a test, or those that did not."""
        passed = zip(self.result.selected, self.certain or (), strict=True)
        return [self.result.features[j] for j, kind in passed if kind is certain]

    @property
    def folds_of(self) -> str:
        """What folds are made of: whole "groups", a "series", or nothing that is known."""
        if not is_int(self.parameter("cv")):
            return ""
        if is_int(self.parameter("groups")):
            return "groups"
        return "series" if is_series(self.result.provenance) else ""

    @property
    def rows(self) -> list[tuple[int, float, float]]:
        """Numbers of columns, the mean of their scores and its standard error; also of all."""
        means, errors = self.scores.mean.tolist(), self.scores.standard_error.tolist()
        known = [*zip(self.scores.sizes, means, errors, strict=True)]
        every = self.scores.all_columns
        if every is not None and self.last < self.n_features:
            error = float(np.std(every, ddof=1) / np.sqrt(len(every)))
            known.append((self.n_features, float(np.mean(every)), error))
        return known

    @property
    def largest_gain(self) -> float:
        """How much more than without columns the best of them has."""
        return max(mean for _, mean, _ in self.rows) - self.scores.without


def n_candidates(result: SelectionResult) -> int:
    """How many columns were looked at: copies, constants and identifiers were left out."""
    copies = {k for others in result.duplicates.values() for k in others}
    out = copies | {*result.constant, *result.identifiers, *untested(result)}
    return len(result.features) - len(out)


def untested(result: SelectionResult) -> list[int]:
    """Columns that no test could tell from chance, and that tests left out therefore."""
    known = set(result.provenance.by_order)
    looked = any(step.p_value is not None for step in result.steps) and result.cv_scores is None
    some = [j for j, name in enumerate(result.features) if looked and str(name) in known]
    return [] if {j for step in result.steps for j in step.features} & {*some} else some
