"""A selection and its steps."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from infosieve._core.documents import Count, Positive, PositiveNumber, Probability
from infosieve._core.provenance import Excerpt, Provenance
from infosieve._core.tails import Strength, strength
from infosieve._core.types import FloatArray
from infosieve.results._base import QUANTILE_NAMES, QUANTILES, Document, freeze, need
from infosieve.results._choice import KChoice
from infosieve.results._cv_scores import CVScores
from infosieve.results._facts import alone, certainty, view_text

Action = Literal["add", "remove", "refuse", "stop"]


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of a search.

    Attributes
    ----------
    action : {"add", "remove", "refuse", "stop"}
        "stop": the best remaining candidate did not pass. "refuse": it passed, but not beside the
        selected columns that it ``follows``; the search goes on without it.
    features : tuple of int
        The columns concerned: one, or the two of a pair.
    mi : float
        Information of the whole set about the target after the step (for "stop" and "refuse": of
        the set with the candidate), in nats.
    gain : float
        What the step adds: I(candidate; target | selected) under the criterion "cmi"; under
        "cmim" and "jmi", without a test, the least or the mean of I(candidate; target | s) over
        the selected columns s; else the difference of the sets. For a removal, the difference of
        the sets.
    n_candidates : int
        How many columns (or pairs) this one was the best of.
    n_screened : int or None
        How many of them a cheap score had left for an estimate; None: all had one.
    p_value : float or None
        Of the permutation test, where there was one.
    early_stopped : bool
        Whether the test was ended before the last permutation.
    level : float or None
        The significance level of the step.
    exceedances, n_permutations : int or None
        Permuted values that reached the observed one, and how many were drawn.
    null : tuple of float
        The permuted values, up to the one that decided.
    singletons : int
        Samples whose combination of categories, of the set and the target, no other has.
    gap_gain : float or None
        How much the gaps of an added column would add alone: whether a value is missing. None
        where it has none.
    follows : tuple of int
        One or two selected columns that predict the candidate better, along a curve, than all
        together, if the test beside these has the larger p-value: then it is the one here.
    weaker : int or None
        Of a pair, the column that adds less beside the other and the selected ones, if its test has
        a larger p-value than that of the pair: then it is the one here.
    statistic : float or None
        What was compared with the permuted values, in decimal digits, where the test asks in
        several ways at once: about 2 where a p-value would be 0.01. None: the gain.
    view : str or None
        How the column is informative, by the way of asking that sees most of it. "rises" and
        "falls" are those of the target; with two classes the column is "higher in" one of them, a
        column of two values has a target that is "higher for" one of these, and "more yes for no"
        is said of both. "differs": between more than two classes or categories. "line": of several
        targets. "gaps": whether the column is missing. "curve", "spread", "interaction", "any
        shape"; and "pair" of two columns that were tested together.
    beside : int or None
        With which selected column it interacts.
    sequential : bool
        Whether the test could end as soon as it had surely passed or failed: the p-value is exact
        then. Otherwise there was a fixed number of permutations.
    lower_limit : bool
        Whether the p-value is a lower limit, above the level: that of a fixed number of
        permutations, ended early because they could no longer pass.
    null_quantiles : tuple of float
        5, 50 and 95 % of the permuted values lie below; empty without a test.
    strength : Strength or None
        A p-value that goes on where the exact one ends, by a tail that is fitted to the permuted
        values, with limits of 90 % (``p_value``, ``low``, ``high``). It shows how strong a column
        is and decides nothing. None without a ``statistic``.
    significant : bool or None
        Whether the test was passed; None without a test.

    See Also
    --------
    SelectionResult : All steps of a search.
    PermutationTest : A test by itself.

    Examples
    --------
    >>> from infosieve import Step
    >>> step = Step(
    ...     action="add", features=(3,), mi=0.8, gain=0.8, n_candidates=10, p_value=0.005,
    ...     level=0.05, exceedances=0, n_permutations=199,
    ... )
    >>> step.significant
    True
    """

    action: Action
    features: tuple[int, ...]
    mi: float
    gain: float
    n_candidates: Count
    n_screened: Positive | None = None
    p_value: Probability | None = None
    early_stopped: bool = False
    level: Probability | None = None
    exceedances: Count | None = None
    n_permutations: Positive | None = None
    null: tuple[float, ...] = field(default=(), repr=False)
    singletons: Count = 0
    sequential: bool = False
    gap_gain: float | None = None
    follows: tuple[int, ...] = ()
    weaker: int | None = None
    statistic: float | None = None
    view: str | None = None
    beside: int | None = None

    @property
    def strength(self) -> Strength | None:
        if self.statistic is None or not self.null:
            return None
        return strength(self.statistic, self.null)

    @property
    def lower_limit(self) -> bool:
        return self.early_stopped and not self.sequential

    @property
    def null_quantiles(self) -> tuple[float, ...]:
        return tuple(float(q) for q in np.quantile(self.null, QUANTILES)) if self.null else ()

    @property
    def significant(self) -> bool | None:
        if self.p_value is None or self.level is None:
            return None
        return self.p_value <= self.level


def selected_by(steps: Sequence[Step]) -> list[int]:
    """The columns that are selected after some steps."""
    selected: list[int] = []
    for step in steps:
        if step.action == "add":
            selected += step.features
        elif step.action == "remove":
            selected = [j for j in selected if j not in step.features]
    return selected


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """A column that could stand in for a selected one, beside the other selected ones.

    Attributes
    ----------
    feature : int
        The selected column.
    stand_in : int
        The other one.
    information : float
        What the selected column adds to the other selected ones, in nats.
    in_place : float
        What the stand-in adds to them.
    p_value : float
        Of a test whether that is more than chance, corrected for all columns that were tried.
    without : float
        What the selected column adds beside permuted copies of the stand-in, on average: as many
        columns, but not what the stand-in tells.
    remaining : float
        What the selected column still adds beside the stand-in.
    share : float
        That, as a share of ``without``; 0 where it is negative.

    See Also
    --------
    MISelector : Its method ``alternatives`` makes a frame of them.

    Examples
    --------
    >>> from infosieve import Alternative
    >>> Alternative(
    ...     feature=3, stand_in=7, information=0.4, in_place=0.35, p_value=0.005,
    ...     without=0.4, remaining=0.1,
    ... ).share
    0.25
    """

    feature: int
    stand_in: int
    information: PositiveNumber
    in_place: float
    p_value: Probability
    without: PositiveNumber
    remaining: float

    @property
    def share(self) -> float:
        return max(self.remaining, 0.0) / self.without


@dataclass(frozen=True, eq=False, kw_only=True)
class Remaining:
    """What each column that is left would add to the selected ones; none of it decides anything.

    Attributes
    ----------
    columns : tuple of int
        The columns, the most certain first.
    gains : ndarray of shape (n_columns,)
        What each would add, in nats.
    p_values : ndarray of shape (n_columns,)
        Of a test of the column by itself, which does not allow for choosing the best of many.
    q_values : ndarray of shape (n_columns,)
        The smallest false discovery rate at which it would be found among them.
    views : tuple of str
        How each tells something, as ``view`` of a :class:`Step`.
    beside : tuple of int or None
        With which selected column it interacts.

    See Also
    --------
    SelectionResult : Has one, and a frame of it.

    Examples
    --------
    >>> from infosieve import Remaining
    >>> left = Remaining(
    ...     columns=(4, 2), gains=[0.02, 0.0], p_values=[0.01, 0.5], views=("rises", "curve"),
    ...     beside=(None, None),
    ... )
    >>> left.q_values.tolist()
    [0.02, 0.5]
    """

    columns: tuple[int, ...]
    gains: FloatArray
    p_values: FloatArray
    views: tuple[str, ...]
    beside: tuple[int | None, ...]

    def __post_init__(self) -> None:
        freeze(self, "gains", "p_values")

    @property
    def q_values(self) -> FloatArray:
        from scipy.stats import false_discovery_control

        return np.asarray(false_discovery_control(self.p_values))


@dataclass(frozen=True, eq=False, kw_only=True)
class SelectionResult(Document):
    """The selected columns, and the steps that led to them.

    Attributes
    ----------
    selected : tuple of int
        The selected columns, in the order of their selection.
    features : tuple
        Names of all columns, or their numbers.
    steps : tuple of Step
        The path of the search.
    relevance : ndarray of shape (n_features,)
        Marginal information of each column about the target, in nats.
    n_neighbors : tuple of int
        The range of K.
    n_parts : int
        Estimates are means over so many random parts of the samples; 1: of all at once.
    n_samples_used : int
        How many samples these parts have together.
    duplicates : dict
        For a column, its copies: columns equal to it but for shift, scale or sign.
    constant : tuple of int
        Columns with one value.
    identifiers : tuple of int
        Columns of text with more levels than half of the samples, which were left out.
    missing : dict
        For each column with gaps, how many it has.
    stop_reason : str
        Why the search ended.
    remaining : Remaining or None
        What each column that is left would add to the selected ones, where tests ended the search.
    alternatives : tuple of Alternative or None
        For each selected column, those that could stand in for it; None: nobody has asked.
    cv_scores : CVScores or None
        Scores of a model along the ranking, where these chose the number of columns.
    k_choice : KChoice or None
        What K was chosen from.
    excerpt : Excerpt
        Some values of the selected columns and the target.
    provenance : Provenance
        Data, parameters, seed and versions.
    criterion : str
        What the columns were ranked by: that of the parameters or, where it was left open, the one
        that was used.
    corrected : bool
        Whether p-values of single columns are those of the best of all candidates. False after
        ``correction=None``: they are those of a column alone, and the best of many passes more
        often than they say.
    notes : tuple of str
        What was estimated of how many candidates and samples, and what p-values are not: a
        sentence each, as terminals and reports have them.

    See Also
    --------
    MISelector : Has one as ``result_``.
    infosieve.plots.PathDisplay : Draws the steps.
    infosieve.plots.RelevanceDisplay : Draws the marginal information.
    infosieve.plots.CVScoresDisplay : Draws the scores of a model.

    Examples
    --------
    >>> import numpy as np
    >>> from infosieve import MISelector, SelectionResult
    >>> x = np.random.default_rng(1).normal(size=(40, 3))
    >>> result = MISelector(lookahead=1, random_state=0).fit(x, x[:, 1] ** 2).result_
    >>> result
    SelectionResult(1 of 3 features: [1])
    >>> result.to_frame()[["action", "significant"]]
      action  significant
    0    add         True
    1   stop        False
    >>> SelectionResult.from_json(result.to_json()).selected
    (1,)
    """

    _schema: ClassVar[str] = "selection"
    _shapes: ClassVar = {"relevance": ("features",)}

    selected: tuple[int, ...]
    features: tuple[Any, ...]
    steps: tuple[Step, ...]
    relevance: FloatArray
    n_neighbors: tuple[Positive, Positive]
    n_parts: Positive
    n_samples_used: Positive
    duplicates: Mapping[int, tuple[int, ...]]
    constant: tuple[int, ...]
    stop_reason: str
    k_choice: KChoice | None
    excerpt: Excerpt
    provenance: Provenance
    identifiers: tuple[int, ...] = ()
    missing: Mapping[int, Positive] = field(default_factory=dict)
    remaining: Remaining | None = None
    alternatives: tuple[Alternative, ...] | None = None
    cv_scores: CVScores | None = None

    def __post_init__(self) -> None:
        freeze(self, "relevance")

    def __repr__(self) -> str:
        names = [self.features[j] for j in self.selected]
        note = "" if self.corrected else ", p-values uncorrected"
        return f"SelectionResult({len(names)} of {len(self.features)} features: {names}{note})"

    @property
    def criterion(self) -> str:
        if self.cv_scores is not None:
            return self.cv_scores.criterion
        asked = str(self.provenance.parameters.get("criterion", "auto"))
        return "cmi" if asked == "auto" else asked

    @property
    def corrected(self) -> bool:
        return not any(alone(self, step) for step in self.steps)

    def to_frame(self) -> pd.DataFrame:
        """The path: a row for each step (two for a pair).

        Returns
        -------
        DataFrame
            The fields of the steps, with names of the columns and quantiles of the permuted
            values; ``statistic``, ``strength`` and ``view`` where tests ask in several ways.
        """
        rows = [
            {
                "step": number,
                "action": step.action,
                "feature": self.features[j],
                "mi": step.mi,
                "gain": step.gain,
                "p_value": step.p_value,
                "early_stopped": step.early_stopped,
                "level": step.level,
                "significant": step.significant,
                "exceedances": step.exceedances,
                "permutations": step.n_permutations,
                **dict(zip(QUANTILE_NAMES, step.null_quantiles or [None] * 3, strict=True)),
                "candidates": step.n_candidates,
                "screened": step.n_screened,
                "singletons": step.singletons,
                "follows": " and ".join(str(self.features[i]) for i in step.follows),
                "weaker": "" if step.weaker is None else str(self.features[step.weaker]),
                **self._evidence(step),
            }
            for number, step in enumerate(self.steps, start=1)
            for j in step.features
        ]
        types = dict.fromkeys(["exceedances", "permutations", "screened"], "Int64")
        types |= dict.fromkeys(["p_value", "level", *QUANTILE_NAMES], "float64")
        types["significant"] = "boolean"
        names = ["step", "action", "feature", "mi", "gain", "p_value", "early_stopped", "level"]
        names += ["significant", "exceedances", "permutations", *QUANTILE_NAMES]
        names += ["candidates", "screened", "singletons", "follows", "weaker"]
        if any(step.view for step in self.steps):
            names += ["statistic", "strength", "view"]
            types |= dict.fromkeys(["statistic", "strength"], "float64")
        return pd.DataFrame(rows, columns=names).astype(types)

    def _evidence(self, step: Step) -> dict[str, Any]:
        return {
            "statistic": step.statistic,
            "strength": None if step.strength is None else step.strength.p_value,
            "view": view_text(step.view, step.beside, self.features),
        }

    def remaining_frame(self) -> pd.DataFrame:
        """What each column that is left would add to the selected ones, the most certain first.

        Returns
        -------
        DataFrame
            Columns ``feature``, ``gain`` (nats), ``p_value`` (of the column by itself, which does
            not allow for choosing the best), ``q_value`` and ``view``; no row, if tests did not end
            the search.
        """
        left = self.remaining
        names = ["feature", "gain", "p_value", "q_value", "view"]
        if left is None:
            return pd.DataFrame(columns=names)
        views = zip(left.views, left.beside, strict=True)
        parts = [
            [self.features[j] for j in left.columns], left.gains, left.p_values, left.q_values,
            [view_text(view, j, self.features) for view, j in views],
        ]  # fmt: skip
        return pd.DataFrame(dict(zip(names, parts, strict=True)))

    def _columns(self) -> Iterable[int]:
        yield from chain(self.selected, self.constant, self.identifiers, self.missing)
        yield from self.excerpt.features
        for step in self.steps:
            yield from chain(step.features, step.follows, {step.weaker, step.beside} - {None})
        for first, others in self.duplicates.items():
            yield from (first, *others)
        for other in self.alternatives or ():
            yield from (other.feature, other.stand_in)
        if self.cv_scores is not None:
            yield from chain(self.cv_scores.order, *self.cv_scores.fold_orders)
        if self.remaining is not None:
            yield from chain(self.remaining.columns, {*self.remaining.beside} - {None})

    def _check(self) -> None:
        super()._check()
        same = [*self.selected] == (found := selected_by(self.steps))
        need(same, f"'selected' must be what the steps select, {found}", self.selected)
        for part in (self.cv_scores, self.k_choice):
            if part is not None:
                part._check()
        for step in self.steps:
            test = (step.p_value, step.level, step.exceedances, step.n_permutations)
            need((None in test) == (test == (None,) * 4), "a step has a part of a test")
            count, drawn = step.exceedances or 0, step.n_permutations or 0
            need(count <= drawn, "a step has more exceedances than permutations", count)
        if (left := self.remaining) is not None:
            parts = left.gains, left.p_values, left.views, left.beside
            sizes = {len(part) for part in parts}
            need(sizes == {len(left.columns)}, "'remaining' has unequal parts")
        shown = self.excerpt.features
        need({*shown} == {*self.selected}, "the excerpt must be of the selected columns")


def alternatives_frame(result: SelectionResult) -> pd.DataFrame:
    """What could stand in for selected columns, by name."""
    names = ["feature", "stand_in", "information", "in_place", "p_value"]
    names += ["without", "remaining", "share"]
    rows = [
        {name: getattr(other, name) for name in names}
        | {name: result.features[getattr(other, name)] for name in ("feature", "stand_in")}
        for other in result.alternatives or ()
    ]
    types = dict.fromkeys(names[2:], "float64")
    return pd.DataFrame(rows, columns=names).astype(types)


def cv_scores_frame(result: SelectionResult, scores: CVScores) -> pd.DataFrame:
    """Scores of a model, a row for each number of columns; columns by name."""
    passed = certainty(result)
    added = [scores.order[a:b] for a, b in pairwise((0, *scores.sizes))]
    known = [[passed.get(j) for j in some] for some in added]
    certain = [all(some) if some and None not in some else None for some in known]
    columns = {
        "n_features": scores.sizes,
        "added": [tuple(result.features[j] for j in some) for some in added],
        "mean": scores.mean,
        "standard_error": scores.standard_error,
        **{f"score_{i}": fold for i, fold in enumerate(scores.scores, start=1)},
        "chosen": [size == scores.n_chosen for size in scores.sizes],
        "certain": certain,
    }
    return pd.DataFrame(columns).astype({"certain": "boolean"})
