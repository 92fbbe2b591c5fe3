"""A selection and its steps."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd

from infosieve._core.types import FloatArray
from infosieve.results._base import (
    QUANTILE_NAMES,
    QUANTILES,
    Document,
    Excerpt,
    Provenance,
    keep,
    notes_of,
    plain_record,
)
from infosieve.results._choice import KChoice
from infosieve.results._cv_scores import CVScores, plain_scores, restored_scores
from infosieve.results._facts import alone, certainty

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
    sequential : bool
        Whether the test could end as soon as it had surely passed or failed: the p-value is exact
        then. Otherwise there was a fixed number of permutations.
    lower_limit : bool
        Whether the p-value is a lower limit, above the level: that of a fixed number of
        permutations, ended early because they could no longer pass.
    null_quantiles : tuple of float
        5, 50 and 95 % of the permuted values lie below; empty without a test.
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
    n_candidates: int
    n_screened: int | None = None
    p_value: float | None = None
    early_stopped: bool = False
    level: float | None = None
    exceedances: int | None = None
    n_permutations: int | None = None
    null: tuple[float, ...] = field(default=(), repr=False)
    singletons: int = 0
    sequential: bool = False
    gap_gain: float | None = None
    follows: tuple[int, ...] = ()
    weaker: int | None = None

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
    MISelector : Has a frame of them as ``alternatives_``.

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
    information: float
    in_place: float
    p_value: float
    without: float
    remaining: float

    @property
    def share(self) -> float:
        return max(self.remaining, 0.0) / self.without


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
    >>> x = np.random.default_rng(0).normal(size=(40, 3))
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

    selected: tuple[int, ...]
    features: tuple[Any, ...]
    steps: tuple[Step, ...]
    relevance: FloatArray
    n_neighbors: tuple[int, int]
    n_parts: int
    n_samples_used: int
    duplicates: Mapping[int, tuple[int, ...]]
    constant: tuple[int, ...]
    stop_reason: str
    k_choice: KChoice | None
    excerpt: Excerpt
    provenance: Provenance
    identifiers: tuple[int, ...] = ()
    missing: Mapping[int, int] = field(default_factory=dict)
    alternatives: tuple[Alternative, ...] | None = None
    cv_scores: CVScores | None = None

    def _content(self) -> dict[str, Any]:
        return super()._content() | {
            "steps": [plain_step(step) for step in self.steps],
            "k_choice": None if self.k_choice is None else self.k_choice._content(),
            "excerpt": plain_record(self.excerpt),
            "provenance": plain_record(self.provenance),
            "alternatives": None
            if self.alternatives is None
            else [plain_record(other) for other in self.alternatives],
            "cv_scores": None if self.cv_scores is None else plain_scores(self.cv_scores),
        }

    @classmethod
    def _restored(cls, content: dict[str, Any]) -> Self:
        if content["alternatives"] is not None:
            others = [Alternative(**other) for other in content["alternatives"]]
            content["alternatives"] = tuple(others)
        if content["cv_scores"] is not None:
            content["cv_scores"] = restored_scores(content["cv_scores"])
        for name in ("selected", "features", "n_neighbors", "constant", "identifiers"):
            content[name] = tuple(content[name])
        choice = content["k_choice"]
        content["k_choice"] = None if choice is None else KChoice._restored(choice)
        content["steps"] = tuple(restored_step(step) for step in content["steps"])
        content["excerpt"] = Excerpt(**content["excerpt"])
        return cls(**content | {"provenance": Provenance(**content["provenance"])})

    def __post_init__(self) -> None:
        keep(self, relevance=self.relevance)

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

    @property
    def notes(self) -> tuple[str, ...]:
        return notes_of(self)

    def to_frame(self) -> pd.DataFrame:
        """The path: a row for each step (two for a pair).

        Returns
        -------
        DataFrame
            The fields of the steps, with names of the columns and quantiles of the permuted
            values.
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
            }
            for number, step in enumerate(self.steps, start=1)
            for j in step.features
        ]
        types = {"exceedances": "Int64", "permutations": "Int64", "significant": "boolean"}
        types["screened"] = "Int64"
        types |= dict.fromkeys(["p_value", "level", *QUANTILE_NAMES], "float64")
        names = ["step", "action", "feature", "mi", "gain", "p_value", "early_stopped", "level"]
        names += ["significant", "exceedances", "permutations", *QUANTILE_NAMES]
        names += ["candidates", "screened", "singletons", "follows", "weaker"]
        return pd.DataFrame(rows, columns=names).astype(types)


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
    rows: list[dict[str, Any]] = []
    before = 0
    for place, size in enumerate(scores.sizes):
        added = scores.order[before:size]
        known = [passed.get(j) for j in added]
        rows.append(
            {
                "n_features": size,
                "added": tuple(result.features[j] for j in added),
                "mean": scores.mean[place],
                "standard_error": scores.standard_error[place],
                **{f"score_{i}": fold[place] for i, fold in enumerate(scores.scores, start=1)},
                "chosen": size == scores.n_chosen,
                "certain": all(known) if known and None not in known else None,
            }
        )
        before = size
    return pd.DataFrame(rows).astype({"certain": "boolean"})


_TUPLES = ("features", "null", "follows")


def plain_step(step: Step) -> dict[str, Any]:
    """A step's fields, as JSON holds them."""
    return plain_record(step) | {name: list(getattr(step, name)) for name in _TUPLES}


def restored_step(content: Mapping[str, Any]) -> Step:
    """The step of :func:`plain_step`."""
    tuples = {name: tuple(content[name]) for name in _TUPLES}
    return Step(**{**content, **tuples})
