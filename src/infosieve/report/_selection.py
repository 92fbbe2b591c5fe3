"""Facts about a selection: what was selected and how sure, then the questions that come next."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from infosieve._core.formats import p_text
from infosieve._core.settings import stop_asked
from infosieve._core.types import FloatArray
from infosieve.report._clusters import ClusterFacts
from infosieve.report._near_level import NearLevel, near_level
from infosieve.report._prediction import Prediction, n_candidates, untested
from infosieve.report._stability import StabilityFacts
from infosieve.report._tests import Estimate, Screened, is_series
from infosieve.results import (
    Alternative,
    ClusterResult,
    RelevanceTest,
    SelectionResult,
    Stability,
    Step,
)
from infosieve.results._facts import alone, certainty, view_text

# A column that tells so much of numbers, or such a share of what there is to know of classes, may
# be the target in other words.
_NEARLY_ALL, _SHARE = 1.5, 0.9
# Of classes with fewer samples each, it is not known how much there is to know.
_SEEN = 10
# From such a share of samples on that share their categories with nobody, little can be seen.
_ALONE = 0.25
# Such a share of gaps hides how alike columns are.
_GAPS = 0.1
# Of more columns it is not asked which are redundant.
CLUSTERED = 2000
# Widths of a band beyond which nobody asks how many.
FAR = 1000.0


def percentiles(values: FloatArray) -> FloatArray:
    """What boxes and bands are drawn from: 5, 25, 50, 75 and 95 % lie below."""
    return np.percentile(values, (5, 25, 50, 75, 95), axis=0)


@dataclass(frozen=True)
class StepFacts:
    """One step of a selection, numbered from 1.

    ``names`` are its columns, one or the two of a pair; ``follows`` are selected columns that a
    refused one follows; ``null`` are values of permuted columns; ``view`` says how it tells
    something ("rises", "interaction with age"), or is empty.
    """

    number: int
    names: list[Any]
    null: FloatArray
    step: Step
    follows: list[Any]
    view: str = ""

    @property
    def compared(self) -> float:
        """What is compared with the permuted values: the evidence, in digits, or the gain."""
        return self.step.gain if self.step.statistic is None else self.step.statistic

    @property
    def p_text(self) -> str:
        return p_text(self.step.p_value, self.step.lower_limit)

    @property
    def doubtful(self) -> bool:
        """Whether it was added although its test was not passed."""
        return self.step.action == "add" and self.step.significant is False

    @property
    def chance(self) -> float | None:
        """What 95 % of the permuted values stay below; None without a test."""
        return self.step.null_quantiles[2] if self.step.null else None

    def above_chance(self, values: npt.ArrayLike) -> FloatArray:
        """Values in widths of the chance band: 0 its middle, 1 where 95 % of permuted ones end.

        Steps of any size fit on such a scale together, each beside its own chance.
        """
        _, _, middle, _, high = percentiles(self.null)
        difference = np.asarray(values, np.float64) - middle
        with np.errstate(divide="ignore", invalid="ignore"):
            widths = difference / (high - middle)
        widths = np.where(difference == 0, 0.0, widths)  # also where all permuted ones are equal
        return np.clip(widths, -FAR, FAR)


def chance_ticks(largest: float) -> list[float]:
    """Round numbers of widths, up to the largest that is shown; they are drawn as arcsinh."""
    ticks = [0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0]
    return [tick for tick in ticks if tick <= max(largest, 2.0)]


@dataclass(frozen=True, kw_only=True)
class Levels:
    """Why levels of tests are not alpha.

    ``rise``: by the ForwardStop rule, "after" small p-values or "later"; ``pairs``: a part of each
    level is set aside for pairs.
    """

    rise: str
    pairs: bool


@dataclass(frozen=True, kw_only=True)
class StandIn:
    """A column that could stand in for a selected one; ``same_cluster`` is None where unknown."""

    name: Any
    other: Alternative
    same_cluster: bool | None = None

    @property
    def worth(self) -> float:
        """What it adds, in parts of what the selected column adds."""
        return self.other.in_place / self.other.information


@dataclass(frozen=True, kw_only=True)
class SelectionFacts:
    """Facts about a selection, and about what else was asked of its columns."""

    result: SelectionResult
    clusters: ClusterResult | None = None
    relevance: RelevanceTest | None = None
    stability: Stability | None = None

    def names(self, columns: Sequence[int]) -> list[Any]:
        return [self.result.features[j] for j in columns]

    # --- what was selected

    @property
    def selected(self) -> list[Any]:
        return self.names(self.result.selected)

    @property
    def n_candidates(self) -> int:
        return n_candidates(self.result)

    @cached_property
    def steps(self) -> list[StepFacts]:
        """The steps of the selection.

        The criterion "mi" compares whole sets: the information of the set before the step is
        subtracted from its permuted values, as it is from the gain.
        """
        known, steps = 0.0, []
        for number, step in enumerate(self.result.steps, start=1):
            null = np.array(step.null, np.float64) - known
            names, follows = self.names(step.features), self.names(step.follows)
            view = view_text(step.view, step.beside, self.result.features)
            steps.append(StepFacts(number, names, null, step, follows, view))
            if self.result.criterion == "mi" and step.action in ("add", "remove"):
                known = step.mi
        return steps

    @property
    def beside_chance(self) -> list[StepFacts]:
        """The steps that add a column, or do not, and were tested; none without a test.

        What a removal changes is not what its test compares, so it has no place on that scale.
        """
        return [step for step in self.steps if step.step.action != "remove" and len(step.null)]

    @property
    def combined(self) -> bool:
        """Whether tests asked in several ways at once."""
        return any(step.view for step in self.steps)

    @cached_property
    def remaining(self) -> list[tuple[Any, float, float, float, str]]:
        """Of each column that is left its name, gain, p, q and view, the most certain first."""
        frame = self.result.remaining_frame()
        return list(frame.itertuples(index=False, name=None))

    def steps_with(self, action: str) -> list[StepFacts]:
        """The steps of one kind."""
        return [step for step in self.steps if step.step.action == action]

    @property
    def one_by_one(self) -> str:
        """The criterion by which columns are held against one selected column at a time, or ""."""
        ranked = not self.any_tested and self.result.criterion in ("cmim", "jmi")
        return self.result.criterion if ranked else ""

    # --- how sure that is

    @property
    def any_tested(self) -> bool:
        return any(step.p_value is not None for step in self.result.steps)

    @property
    def tested(self) -> bool:
        """Whether all steps have a test; where cross-validation chose, whether the first has."""
        steps = self.result.steps
        steps = steps if self.result.cv_scores is None else steps[:1]
        return all(step.p_value is not None for step in steps)

    @property
    def passed(self) -> list[Step]:
        return [s for s in self.result.steps if s.action == "add" and s.significant]

    @property
    def n_kept(self) -> int:
        """How many columns are selected although they did not pass."""
        added = [s for s in self.result.steps if s.action == "add" and not s.significant]
        return sum(len(step.features) for step in added) if self.tested else 0

    @property
    def alpha(self) -> float | None:
        """The alpha of the selection, where its parameters have one."""
        alpha = self.result.provenance.parameters.get("alpha")
        return alpha if isinstance(alpha, float) and 0 < alpha < 1 else None

    @property
    def forward_stop(self) -> bool:
        """Whether levels follow the ForwardStop rule; after cross-validation, by default."""
        known = self.result.provenance.parameters
        return stop_asked(known.get("stop"), known.get("n_features_to_select")) in ("fdr", "cv")

    @property
    def levels(self) -> Levels | None:
        """Why levels are not alpha; None where all are, or nothing is known of it."""
        alpha = self.alpha
        levels = [
            s.level for s in self.result.steps if s.level is not None and s.action != "remove"
        ]
        if alpha is None or all(abs(level - alpha) <= 1e-9 for level in levels):
            return None
        rise = ("after" if max(levels) > alpha else "later") if self.forward_stop else ""
        pairs = self.result.provenance.parameters.get("lookahead") == 2
        return Levels(rise=rise, pairs=pairs) if rise or pairs else None

    @property
    def last_level(self) -> float | None:
        """The level of the test that ended the search, if it is not alpha."""
        last = self.result.steps[-1] if self.result.steps else None
        if last is None or last.action != "stop" or self.levels is None:
            return None
        return last.level

    @cached_property
    def near_level(self) -> NearLevel | None:
        return near_level(self.result)

    @property
    def n_uncorrected(self) -> int:
        """How many candidates there were where p-values are those of columns alone, at most."""
        steps = [step for step in self.result.steps if alone(self.result, step)]
        return max((step.n_candidates for step in steps), default=0)

    # --- what a reader should know of it

    @property
    def nearly_all(self) -> list[tuple[Any, float]]:
        """Columns that alone tell nearly all, and what they tell: they may be known too late."""
        targets = [*self.result.excerpt.target.values()]
        first = self.result.steps[0] if self.result.steps else None
        if first is None or first.action != "add" or len(first.features) != 1 or len(targets) != 1:
            return []
        (values,) = targets
        limit = _NEARLY_ALL
        if any(isinstance(value, str) for value in values):
            counts = Counter(values).values()
            if len(counts) < 2 or min(counts) < _SEEN:
                return []
            shares = [count / len(values) for count in counts]
            limit = -_SHARE * sum(share * math.log(share) for share in shares)
        if first.mi <= limit:
            return []
        found = {first.features[0]: first.mi}
        known = enumerate(self.result.relevance.tolist())
        found |= {j: mi for j, mi in known if mi > limit and j not in found}
        return [(self.result.features[j], mi) for j, mi in found.items()]

    @property
    def singletons(self) -> int:
        """Samples without their like where the search ended, if they are many; else 0."""
        last = self.result.steps[-1] if self.result.steps else None
        if last is None or last.action != "stop":
            return 0
        enough = last.singletons >= _ALONE * self.result.provenance.n_samples
        return last.singletons if enough else 0

    @cached_property
    def prediction(self) -> Prediction | None:
        return None if self.result.cv_scores is None else Prediction(self.result)

    @property
    def estimate(self) -> Estimate:
        screened = tuple(self._screened())
        pairs = any(len(one.step.features) == 2 for one in self.beside_chance)
        return Estimate(
            record=self.result,
            permuted=self.any_tested,
            combined=self.combined,
            pairs=pairs,
            screened=screened,
        )

    def _screened(self) -> Iterator[Screened]:
        for size in (1, 2):
            steps = [s for s in self.result.steps if len(s.features) == size]
            kept = {id(s): s.n_screened for s in steps if s.n_screened is not None}
            steps = [s for s in steps if id(s) in kept]
            ranked = [s for s in steps if size == 1 and s.p_value is None]
            if ranked and self.result.cv_scores is not None:
                n, most = max(s.n_candidates for s in ranked), max(kept[id(s)] for s in ranked)
                yield Screened(n=n, n_estimated=most, ranked=True)
                steps = [s for s in steps if s not in ranked]
            if steps:
                widest = max(steps, key=lambda step: step.n_candidates)
                permuted = widest.p_value is not None and not alone(self.result, widest)
                yield Screened(
                    n=widest.n_candidates, n_estimated=kept[id(widest)], pairs=size == 2,
                    permuted=permuted,
                )  # fmt: skip

    # --- what was left out

    @property
    def most_missing(self) -> tuple[Any, float] | None:
        """The column with most gaps, and their share."""
        missing = self.result.missing
        if not missing:
            return None
        most = max(missing, key=lambda j: missing[j])
        return self.result.features[most], missing[most] / self.result.provenance.n_samples

    @property
    def copies(self) -> list[tuple[Any, list[Any]]]:
        """Columns, and the copies of each that were left out."""
        pairs = self.result.duplicates.items()
        return [(self.result.features[j], self.names(others)) for j, others in pairs]

    @property
    def untested(self) -> list[Any]:
        return self.names(untested(self.result))

    @property
    def refused(self) -> list[tuple[Any, list[Any]]]:
        """Columns that were refused and are not selected, and those that they follow."""
        found = {
            step.features[0]: step.follows
            for step in self.result.steps
            if step.action == "refuse" and step.features[0] not in self.result.selected
        }
        return [(self.result.features[j], self.names(others)) for j, others in found.items()]

    # --- what could stand in

    @cached_property
    def stand_ins(self) -> list[tuple[Any, list[StandIn]]]:
        """For each selected column that has some, its stand-ins, the best first."""
        found = []
        for j in self.result.selected:
            others = [other for other in self.result.alternatives or () if other.feature == j]
            if others:
                others.sort(key=lambda other: -other.in_place)
                found.append((self.result.features[j], [self._stand_in(o) for o in others]))
        return found

    def _stand_in(self, other: Alternative) -> StandIn:
        name, label = self.result.features[other.stand_in], dict[Any, int]()
        if self.clusters is not None:
            pairs = zip(self.clusters.features, self.clusters.labels.tolist(), strict=True)
            label = dict(pairs)
        mine, its = (label.get(self.result.features[j]) for j in (other.feature, other.stand_in))
        same = None if mine is None or its is None else mine == its
        return StandIn(name=name, other=other, same_cluster=same)

    @property
    def same_cluster(self) -> list[bool]:
        """Of the stand-ins that are in a cluster, whether it is that of the selected column."""
        some = [other.same_cluster for _, others in self.stand_ins for other in others]
        return [same for same in some if same is not None]

    @property
    def copies_of_selected(self) -> list[tuple[Any, list[Any]]]:
        """Selected columns and stand-ins that have exact copies, and these."""
        others = (other.stand_in for other in self.result.alternatives or ())
        columns = dict.fromkeys((*self.result.selected, *others))
        pairs = [(j, self.result.duplicates.get(j, ())) for j in columns]
        return [(self.result.features[j], self.names(some)) for j, some in pairs if some]

    # --- which columns are redundant

    @property
    def redundant(self) -> ClusterFacts | None:
        return None if self.clusters is None else ClusterFacts(self.clusters)

    @property
    def never_clustered(self) -> bool:
        """Whether clusters are of other columns than these: too few, too many, or no numbers."""
        asked = self.result.provenance.options.get("full") is True
        return self.clusters is None and (asked or not 1 < len(self.result.features) <= CLUSTERED)

    @property
    def gaps_hide_likeness(self) -> bool:
        """Whether gaps count as medians in clusters, and are so many that it matters."""
        if self.clusters is None or self.clusters.provenance.parameters.get("missing") == "drop":
            return False
        most = _GAPS * self.result.provenance.n_samples
        return any(n > most for n in self.result.missing.values())

    # --- what else is informative

    @cached_property
    def other_relevant(self) -> list[int]:
        """Columns that are informative, but not selected, the most informative first."""
        if self.relevance is None:
            return []
        statistic = self.relevance.statistic
        found = np.flatnonzero(self.relevance.relevant).tolist()
        others = [j for j in found if j not in self.result.selected]
        return sorted(others, key=lambda j: -float(statistic[j]))

    @property
    def irrelevant_alone(self) -> list[int]:
        """Selected columns that are not certain to be informative by themselves."""
        if self.relevance is None:
            return []
        relevant = self.relevance.relevant
        return [j for j in self.result.selected if not relevant[j]]

    def all_certain(self, columns: Sequence[int]) -> bool:
        passed = certainty(self.result)
        return all(passed[j] for j in columns)

    def copy_of(self, column: int) -> Any:
        """The column that one is a copy of; None where it is none."""
        pairs = self.result.duplicates.items()
        first = [j for j, copies in pairs if column in copies]
        return self.result.features[first[0]] if first else None

    # --- would it happen again

    @property
    def series(self) -> bool:
        """Whether rows are in order of time: a series has no halves."""
        return is_series(self.result.provenance)

    @property
    def stability_facts(self) -> StabilityFacts | None:
        return None if self.stability is None else StabilityFacts(self.stability)
