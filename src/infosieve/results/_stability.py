"""Which columns another sample would choose again."""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from infosieve._core import rules
from infosieve._core.provenance import Provenance
from infosieve._core.stability_bounds import (
    Assumption,
    false_bound,
    normal_interval,
    stability_index,
)
from infosieve._core.types import BoolArray, FloatArray
from infosieve.results._base import Document, need

# The range of thresholds that Meinshausen and Bühlmann (2010) recommend begins here.
LOWEST_THRESHOLD = 0.6


@dataclass(frozen=True, eq=False, kw_only=True)
class Stability(Document):
    """What a selector chose from each half of the samples.

    Attributes
    ----------
    features : tuple
        Names of the columns, or their numbers.
    chosen : tuple of tuple of int
        The columns that were chosen from each half; the two halves of a pair stand together, and
        have no sample in common.
    provenance : Provenance
        Data, parameters, seed and versions.
    n_pairs, n_halves : int
        How many pairs there are, and how many halves.
    n_samples : int
        How many samples were halved.
    n_selected_mean : float
        How many columns were chosen from a half, on average.
    frequencies : ndarray of shape (n_features,)
        The share of the halves from which each column was chosen.
    sets : tuple of (tuple of int, int)
        The sets of columns that were chosen, and from how many halves: the most frequent first.
    index : float
        The stability measure of Nogueira, Sechidis and Brown [3]_: 1 if all sets are equal, 0 on
        average if columns are drawn at random. NaN if nothing was chosen from any half, or
        everything from all.
    index_interval : tuple of float
        Its asymptotic interval of 95 %: of halvings of this sample, not of other samples.
    notes : tuple of str
        What the numbers promise and what they do not: a sentence each, as terminals and reports
        have them.

    See Also
    --------
    stability : Makes one.

    Notes
    -----
    What :meth:`expected_false` bounds is the expected number of columns *of low probability*: those
    that the selector chooses from a half with a probability of at most q / p, that is, no more
    often than if it drew its q columns at random from all p. A column that tells nothing has a
    low probability where the selector is better than chance; but columns that follow
    informative ones may be chosen more often than that, and are not counted as false. q is the
    mean number of columns that were chosen from a half. Samples (or groups) must be independent.

    References
    ----------
    .. [1] N. Meinshausen and P. Bühlmann (2010). Stability selection.
       https://doi.org/10.1111/j.1467-9868.2010.00740.x
    .. [2] R. D. Shah and R. J. Samworth (2013). Variable selection with error control: another
       look at stability selection. https://doi.org/10.1111/j.1467-9868.2011.01034.x
    .. [3] S. Nogueira, K. Sechidis and G. Brown (2018). On the stability of feature selection
       algorithms. Journal of Machine Learning Research 18 (174), 1-54.

    Examples
    --------
    >>> import numpy as np
    >>> from infosieve import Stability, stability
    >>> from sklearn.feature_selection import SelectKBest, f_regression
    >>> x = np.random.default_rng(0).normal(size=(60, 8))
    >>> y = x[:, 2] + 0.1 * x[:, 5]
    >>> result = stability(SelectKBest(f_regression, k=1), x, y, random_state=0)
    >>> result
    Stability(1 of 8 features are stable over 100 halves: [2])
    >>> result.stable(), result.sets
    ((2,), (((2,), 100),))
    >>> Stability.from_json(result.to_json()).index
    1.0
    """

    _schema: ClassVar[str] = "stability"

    features: tuple[Any, ...]
    chosen: tuple[tuple[int, ...], ...]
    provenance: Provenance

    def __repr__(self) -> str:
        names = [self.features[j] for j in self.stable()]
        return (
            f"Stability({len(names)} of {len(self.features)} features are stable over "
            f"{self.n_halves} halves: {names})"
        )

    @property
    def n_halves(self) -> int:
        return len(self.chosen)

    @property
    def n_pairs(self) -> int:
        return self.n_halves // 2

    @property
    def n_samples(self) -> int:
        return self.provenance.n_samples

    @property
    def n_selected_mean(self) -> float:
        return sum(map(len, self.chosen)) / self.n_halves

    @property
    def frequencies(self) -> FloatArray:
        shares: FloatArray = self._counts / self.n_halves
        return shares

    @property
    def sets(self) -> tuple[tuple[tuple[int, ...], int], ...]:
        times = Counter(self.chosen)
        return tuple(sorted(times.items(), key=lambda item: (-item[1], len(item[0]), item[0])))

    @property
    def index(self) -> float:
        return stability_index(self._membership)[0]

    @property
    def index_interval(self) -> tuple[float, float]:
        return normal_interval(*stability_index(self._membership))

    @property
    def _counts(self) -> Any:
        columns = [j for half in self.chosen for j in half]
        return np.bincount(columns, minlength=len(self.features)).astype(np.int64)

    @property
    def _membership(self) -> BoolArray:
        member = np.zeros((self.n_halves, len(self.features)), bool)
        for row, half in zip(member, self.chosen, strict=True):
            row[list(half)] = True
        return member

    def expected_false(self, threshold: float, assumption: Assumption = "r-concave") -> float:
        """At most so many false columns are expected among those of that frequency or more.

        False is a column that the selector chooses from a half no more often than if it drew at
        random: with a probability of at most q / p, where q of p columns are chosen on average.

        Parameters
        ----------
        threshold : float
            A frequency above 0.
        assumption : {"r-concave", "unimodal"} or None, default="r-concave"
            What is assumed of the distribution of the frequency of a false column over samples.
            None: nothing; the bound of Meinshausen and Bühlmann, q² / ((2 threshold - 1) p).
            "unimodal": of the share of pairs with both halves, that it has a single peak.
            "r-concave": that it falls like the frequencies that Shah and Samworth saw, r = -1/2
            for pairs and -1/4 for halves; the tightest of the three.

        Returns
        -------
        float
            The bound. It is large where most columns are chosen: then chance chooses them, too.
        """
        rules.one_of("r-concave", "unimodal", None).check("assumption", assumption)
        rules.between(0, 1).check("threshold", threshold)
        # Frequencies are shares of the halves: what lies between two of them is the larger.
        count = max(1, math.ceil(threshold * self.n_halves - 1e-9))
        return self._bound(count, assumption)

    def _bound(self, count: int, assumption: Assumption = "r-concave") -> float:
        q, p = self.n_selected_mean, len(self.features)
        return false_bound(p, q, self.n_pairs, count, assumption)

    def threshold(self, max_false: float = 1.0, assumption: Assumption = "r-concave") -> float:
        """The frequency from which on at most so many false columns are expected.

        Parameters
        ----------
        max_false : float, default=1.0
            What :meth:`expected_false` must not exceed.
        assumption : {"r-concave", "unimodal"} or None, default="r-concave"
            As in :meth:`expected_false`.

        Returns
        -------
        float
            The smallest, and no less than 0.6; NaN where even columns that were chosen from all
            halves are too many.
        """
        rules.one_of("r-concave", "unimodal", None).check("assumption", assumption)
        rules.between(0, math.inf).check("max_false", max_false)
        n = self.n_halves
        for count in range(math.ceil(LOWEST_THRESHOLD * n - 1e-9), n + 1):
            if self._bound(count, assumption) <= max_false:
                return count / n
        return math.nan

    def stable(
        self, max_false: float = 1.0, assumption: Assumption = "r-concave"
    ) -> tuple[int, ...]:
        """The columns whose frequency reaches the threshold.

        Parameters
        ----------
        max_false : float, default=1.0
            As in :meth:`threshold`.
        assumption : {"r-concave", "unimodal"} or None, default="r-concave"
            As in :meth:`expected_false`.

        Returns
        -------
        tuple of int
            Their numbers.
        """
        threshold = self.threshold(max_false, assumption)
        return tuple(np.flatnonzero(self.frequencies >= threshold).tolist())

    def to_frame(self) -> pd.DataFrame:
        """A row for each column: how often it was chosen, and what that promises.

        Returns
        -------
        DataFrame
            Columns ``feature``, ``frequency``, ``expected_false`` (of a threshold at this
            frequency; empty where that is 0) and ``stable`` (whether it reaches the threshold for
            one false column).
        """
        counts = self._counts
        bounds = {count: self._bound(count) for count in set(counts.tolist()) if count}
        return pd.DataFrame(
            {
                "feature": list(self.features),
                "frequency": self.frequencies,
                "expected_false": [bounds.get(count, math.nan) for count in counts.tolist()],
                "stable": np.isin(np.arange(counts.size), self.stable()),
            }
        )

    def _columns(self) -> Iterable[int]:
        return chain(*self.chosen)

    def _check(self) -> None:
        super()._check()
        even = self.chosen and len(self.chosen) % 2 == 0
        need(even, "'chosen' must be pairs of halves, one at least", len(self.chosen))
