"""Permutation tests."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from infosieve._core.documents import Count, Positive, Probability
from infosieve._core.provenance import Provenance
from infosieve._core.sequential import SequentialRule, sequential_rule
from infosieve._core.tails import Strength, strength
from infosieve._core.types import FloatArray, IntArray
from infosieve.results._base import QUANTILE_NAMES, QUANTILES, Document, freeze, need


@dataclass(frozen=True, eq=False, kw_only=True)
class Followed:
    """A second test of a candidate, or of one column of a pair given the other one.

    Attributes
    ----------
    columns : tuple
        The given columns, one or two, that the tested one follows along a curve; none, if it is a
        column of a pair that follows none.
    null : ndarray of shape (n_permutations,)
        The values of permuted columns, which follow them as the tested one does.
    observed : float or None
        What is compared with them; None: what was observed of the candidate.
    weaker : name or None
        Of a pair, the column that was tested.
    """

    columns: tuple[Any, ...]
    null: FloatArray
    observed: float | None = None
    weaker: Any = None

    def __post_init__(self) -> None:
        freeze(self, "null")


@dataclass(frozen=True, eq=False, kw_only=True)
class PermutationTest(Document):
    """Candidates compared with permuted columns.

    Attributes
    ----------
    candidates : tuple
        Names of the candidates, or their numbers; of screened ones, those that were estimated.
    observed : ndarray of shape (n_candidates,)
        What is compared with permuted columns: the evidence of several ways of asking at once, in
        decimal digits (about 2 where a p-value would be 0.01); of pairs, and with
        ``statistic="ksg"``, information in nats.
    null : ndarray of shape (n_permutations, n_candidates) or (n_permutations, 1)
        The values of the permuted columns; with the correction "max", the largest of each
        permutation.
    correction : {"max"} or None
        "max": p-values allow for choosing the best of the candidates (maximum statistic). None:
        each is about its candidate only.
    given : tuple
        Names of the columns that were conditioned on, or their numbers.
    alpha : float or None
        The significance level at which the test could be ended early.
    early_stopped : bool
        Whether it was.
    n_permutations_asked : int
        How many permutations there could be. The default is that none was saved.
    sequential : bool
        Whether the test of each candidate could end as soon as it had surely passed or failed at
        ``alpha``. Otherwise there was a fixed number of permutations.
    lower_limit : bool
        Whether the p-values are lower limits, all above ``alpha``: those of a fixed number of
        permutations, ended early because none could pass any more.
    provenance : Provenance or None
        Data, parameters, seed and versions.
    device : str
        Where it was computed.
    n_candidates : int
        How many candidates there were; more than in ``candidates`` if they were screened. The
        default is those.
    n_parts : int
        Estimates are means over so many random parts of the samples; 1: of all at once.
    n_samples_used : int or None
        How many samples these parts have together; None where that is not known.
    information : ndarray of shape (n_candidates,)
        What each candidate tells, in nats.
    views : tuple of str
        How each candidate is informative, in the words of ``view`` of :class:`Step`; an interaction
        names the given column. Empty, if information is what is tested.
    strength : Strength or None
        Of the best candidate a p-value that goes on where the exact one ends, by a tail that is
        fitted to the permuted values, with limits of 90 %. It decides nothing. None, if information
        is what is tested.
    followed : dict
        For some candidates, by their place, a second test: ``columns``, one or two given columns
        that predict the candidate better than all together, and ``null``, the values of permuted
        columns that follow these as the candidate does. Of a pair, the test of the column
        (``weaker``) that is less certain to add something (``observed``) given the other one. The
        larger p-value counts.
    notes : tuple of str
        What was estimated of how many candidates and samples, and what p-values are not: a
        sentence each, as terminals and reports have them.
    n_permutations : int
        How many permutations were drawn.
    permutations_used : ndarray of int, of shape (n_candidates,)
        After how many of them the test of each candidate had ended.
    exceedances : ndarray of int, of shape (n_candidates,)
        How many of these permuted values are at least the observed one, b. Of two tests, these are
        of the one with the larger p-value.
    p_values : ndarray of shape (n_candidates,)
        (b + 1) / (n_permutations_asked + 1). Of a sequential test, the exact probability to come
        as far by chance: to pass as early, or to fail as late.
    p_value : float or ndarray of shape (n_candidates,)
        Of one candidate, its p-value; with the correction "max", that of the best candidate;
        of several candidates without a correction, all p-values.

    See Also
    --------
    permutation_test : Makes one.
    Step : What a selection keeps of its tests.

    Examples
    --------
    >>> from infosieve import PermutationTest
    >>> test = PermutationTest(
    ...     candidates=("a", "b"), observed=[0.5, 0.1], null=[[0.2], [0.1], [0.3]], correction="max"
    ... )
    >>> test
    PermutationTest('a': 0.5 nats, p = 0.25, 2 candidates, 3 permutations)
    >>> test.p_values.tolist()
    [0.25, 1.0]
    >>> test.p_value
    0.25
    """

    _schema: ClassVar[str] = "permutation-test"
    _names: ClassVar = "candidates"
    _shapes: ClassVar = {"information": ("candidates",)}

    candidates: tuple[Any, ...]
    observed: FloatArray
    null: FloatArray
    correction: Literal["max"] | None = None
    given: tuple[Any, ...] = ()
    alpha: Probability | None = None
    early_stopped: bool = False
    n_permutations_asked: Count = 0
    provenance: Provenance | None = None
    device: str = "cpu"
    sequential: bool = False
    n_candidates: Count = 0
    n_parts: Positive = 1
    n_samples_used: Positive | None = None
    followed: Mapping[int, Followed] = field(default_factory=dict)
    information: FloatArray = field(default_factory=lambda: np.empty(0))
    views: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not np.size(self.information):
            object.__setattr__(self, "information", self.observed)
        freeze(self, "observed", "null", "information")
        if not self.n_candidates:
            object.__setattr__(self, "n_candidates", len(self.candidates))
        if self.n_samples_used is None and self.provenance is not None:
            object.__setattr__(self, "n_samples_used", self.provenance.n_samples)
        n, drawn = len(self.candidates), len(self.null)
        asked = self.n_permutations_asked or drawn
        object.__setattr__(self, "n_permutations_asked", asked)
        shapes = self.observed.shape, self.null.shape
        fits = shapes[0] == (n,) and shapes[1] in ((drawn, 1), (drawn, n))
        need(fits, f"'observed' must be {n} numbers, and 'null' rows of {n}, or of 1", shapes)
        if self.sequential:
            need(0 < (self.alpha or 0) < 1, "A sequential test has a level, 'alpha'", self.alpha)

    @property
    def n_permutations(self) -> int:
        return len(self.null)

    @property
    def lower_limit(self) -> bool:
        return self.early_stopped and not self.sequential

    @property
    def strength(self) -> Strength | None:
        best = int(np.argmax(self.observed))
        null = self.null[:, best if self.null.shape[1] > 1 else 0]
        return strength(float(self.observed[best]), null) if self.views else None

    @property
    def _rule(self) -> SequentialRule | None:
        if not self.sequential or self.alpha is None:
            return None
        return sequential_rule(self.alpha, self.n_permutations_asked)

    def _ended(self, null: FloatArray, observed: FloatArray) -> tuple[Any, Any, FloatArray]:
        """After how many permutations tests had ended, how many reached, and the p-values."""
        reached = null >= observed
        if self._rule is None:
            counts = reached.sum(axis=0)
            p_values = (counts + 1) / (self.n_permutations_asked + 1)
            return np.full(observed.size, len(null)), counts, np.asarray(p_values)
        times, counts = self._rule.endings(reached)
        return times, counts, self._rule.p_values(counts, times)

    @cached_property
    def _both(self) -> tuple[IntArray, IntArray, FloatArray]:
        """The same of all candidates, of those with two tests of the one with the larger p."""
        times, counts, p_values = map(np.array, self._ended(self.null, self.observed))
        for place, second in self.followed.items():
            seen = self.observed[place] if second.observed is None else second.observed
            ended = self._ended(second.null[:, None], np.array([seen]))
            if ended[2][0] > p_values[place]:
                times[place], counts[place], p_values[place] = (part[0] for part in ended)
        return times, counts, p_values

    @property
    def permutations_used(self) -> IntArray:
        return self._both[0]

    @property
    def exceedances(self) -> IntArray:
        return self._both[1]

    @property
    def p_values(self) -> FloatArray:
        return self._both[2]

    @property
    def p_value(self) -> float | FloatArray:
        if len(self.candidates) > 1 and self.correction is None:
            return self.p_values
        return float(self.p_values[np.argmax(self.observed)])

    def __repr__(self) -> str:
        best = int(np.argmax(self.observed))
        sign = ">=" if self.lower_limit else "="
        several = self.n_candidates > 1
        note = " (uncorrected)" if several and self.correction is None else ""
        return (
            f"PermutationTest({self.candidates[best]!r}: {self.information[best]:.4g} nats, "
            f"p {sign} {self.p_values[best]:.4g}{note}, {self.n_candidates} "
            f"candidate{'s' if several else ''}, {self.n_permutations} permutations)"
        )

    def to_frame(self) -> pd.DataFrame:
        """A row for each candidate, with quantiles of its permuted values.

        Returns
        -------
        DataFrame
            Columns ``feature``, ``information``, ``observed``, ``exceedances``, ``permutations``,
            ``p_value``, ``early_stopped``, ``follows``, ``null_q05``, ``null_q50``, ``null_q95``
            and ``view``; without ``information`` and ``view``, if information is what is observed.
        """
        null = np.broadcast_to(self.null, (self.n_permutations, len(self.candidates)))
        first = self._ended(self.null, self.observed)[2]
        second = {c: t for c, t in self.followed.items() if self.p_values[c] > first[c]}
        nulls = [second[c].null if c in second else null[:, c] for c in range(len(first))]
        follows = [second[c].columns if c in second else () for c in range(len(first))]
        columns: dict[str, Any] = {
            "feature": list(self.candidates),
            "observed": self.observed,
            "exceedances": self.exceedances,
            "permutations": self.permutations_used,
            "p_value": self.p_values,
            "early_stopped": self.early_stopped,
        }
        columns["follows"] = [" and ".join(map(str, names)) for names in follows]
        quantiles = np.array([np.quantile(values, QUANTILES) for values in nulls]).T
        frame = pd.DataFrame(columns | dict(zip(QUANTILE_NAMES, quantiles, strict=True)))
        if self.views:
            frame.insert(1, "information", self.information)
            frame["view"] = self.views
        return frame

    def _plain(self) -> dict[str, Any]:
        content = super()._plain()
        seconds = content["followed"]["$mapping"] if self.followed else ()
        again = [[place, *second.values()] for place, second in seconds]
        return content | {"followed": again}

    @classmethod
    def _arranged(cls, content: dict[str, Any]) -> dict[str, Any]:
        names = [field.name for field in fields(Followed)]
        again = {place: dict(zip(names, of, strict=True)) for place, *of in content["followed"]}
        return content | {"followed": again}

    def _columns(self) -> Iterable[int]:
        return self.followed

    def _check(self) -> None:
        super()._check()
        n = len(self.candidates)
        need(len(self.views) in (0, n), f"'views' must be of {n} candidates", len(self.views))
        width = n if self.correction is None else 1
        need(self.null.shape[1] == width, f"'null' must be rows of {width} numbers")
        for second in self.followed.values():
            need(second.null.size > 0, "a second test must have permutations")
        used = self._ended(self.null, self.observed)[0]
        need((used > 0).all(), "a test has not ended with its permutations")
