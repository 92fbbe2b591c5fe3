"""Which columns tell anything at all: a test of each."""

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from infosieve._core.documents import Positive, Probability
from infosieve._core.provenance import Provenance
from infosieve._core.types import BoolArray, FloatArray, IntArray
from infosieve.results._base import Document, freeze, need
from infosieve.results._facts import ENOUGH

_VALUES, _COUNTS = ("information", "statistic", "chance"), ("exceedances", "n_draws")
_ARRAYS = (*_VALUES, *_COUNTS, "n_draws_asked", "shared")


@dataclass(frozen=True, eq=False, kw_only=True)
class RelevanceTest(Document):
    """Each column of a table tested on its own, with a false discovery rate over all.

    Attributes
    ----------
    features : tuple
        Names of the columns, or their numbers, in the order of the table.
    information : ndarray of shape (n_features,)
        Marginal information, in nats, estimated as :func:`relevance_test` was asked to, by default
        under normal scores and with K from 3 to 25. Other numbers than those of :func:`relevance`:
        compare values of one of the two only. A constant column has 0.
    statistic : ndarray of shape (n_features,)
        What is compared with permuted columns: the evidence of several ways of asking at once, in
        decimal digits (about 2 where a p-value would be 0.01), or the information.
    strength : ndarray of shape (n_features,)
        A p-value that goes on where ``p_values`` end, by a tail that is fitted to permuted values.
        It shows how strong a column is and decides nothing. Empty, if information is what is
        tested.
    alpha : float
        The false discovery rate: the expected share of columns without information among those
        that are called relevant, at most.
    exceedances : ndarray of int, of shape (n_features,)
        How many draws of its null distribution reached the statistic of a column, b.
    n_draws : ndarray of int, of shape (n_features,)
        How many draws it was compared with, t; 0 for a constant column, which is not tested.
    n_draws_asked : ndarray of int, of shape (n_features,)
        How many there could be, n. Draws for one column alone end with the twentieth that
        reaches it [1]_.
    shared : ndarray of bool, of shape (n_features,)
        Whether the null distribution is one that several columns share.
    chance : ndarray of shape (n_features,)
        What 95 % of the statistics of the first draws stay below.
    provenance : Provenance
        Data, parameters, seed and versions.
    views : tuple of str
        How each column is informative, in the words of ``view`` of :class:`Step`. Empty, if
        information is what is tested.
    device : str
        Where it was computed.
    n_parts : int
        Estimates are means over so many parts of the samples, where rows belong together.
    n_samples_used : int or None
        How many samples these parts have together.
    tested : ndarray of bool, of shape (n_features,)
        Which columns vary.
    p_values : ndarray of shape (n_features,)
        (b + 1) / (n + 1); where draws ended early, b / t, which is as valid [1]_; 1 where there was
        no test.
    q_values : ndarray of shape (n_features,)
        The smallest false discovery rate at which a column is relevant [2]_; 1 where there was no
        test.
    relevant : ndarray of bool, of shape (n_features,)
        Whether q <= ``alpha``.
    smallest_p : ndarray of shape (n_features,)
        The smallest p-value that a column could have had.
    n_needed : int
        So many columns must be relevant before the one with the coarsest p-value can be.
    notes : tuple of str
        What columns were compared with, and what that leaves open: a sentence each.

    See Also
    --------
    relevance_test : Makes one.
    PermutationTest : Columns tested conditional on others.

    References
    ----------
    .. [1] J. Besag and P. Clifford (1991). Sequential Monte Carlo p-values.
       https://doi.org/10.1093/biomet/78.2.301
    .. [2] Y. Benjamini and Y. Hochberg (1995). Controlling the false discovery rate.
       https://doi.org/10.1111/j.2517-6161.1995.tb02031.x

    Examples
    --------
    >>> import numpy as np
    >>> from infosieve import relevance_test
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> test = relevance_test(X, np.sin(2 * X[:, 1]) + X[:, 3], random_state=0)
    >>> test
    RelevanceTest(2 of 5 columns relevant at a false discovery rate of 0.05)
    >>> test.relevant.tolist()
    [False, True, False, True, False]
    >>> test.p_values[[1, 3]].tolist()  # none of 1,999 draws reaches them
    [0.0005, 0.0005]
    """

    _schema: ClassVar[str] = "relevance-test"
    _shapes: ClassVar = dict.fromkeys(_ARRAYS, ("features",))

    features: tuple[Any, ...]
    statistic: FloatArray
    alpha: Probability
    exceedances: IntArray
    n_draws: IntArray
    n_draws_asked: IntArray
    shared: BoolArray
    chance: FloatArray
    provenance: Provenance
    information: FloatArray = field(default_factory=lambda: np.empty(0))
    strength: FloatArray = field(default_factory=lambda: np.empty(0))
    views: tuple[str, ...] = ()
    device: str = "cpu"
    n_parts: Positive = 1
    n_samples_used: Positive | None = None

    def __post_init__(self) -> None:
        if not np.size(self.information):
            object.__setattr__(self, "information", self.statistic)
        freeze(self, *_ARRAYS, "strength")
        if self.n_samples_used is None:
            object.__setattr__(self, "n_samples_used", self.provenance.n_samples)

    @property
    def tested(self) -> BoolArray:
        return np.asarray(self.n_draws_asked > 0)

    @property
    def p_values(self) -> FloatArray:
        ended = ~self.shared & (self.exceedances >= ENOUGH)
        early = self.exceedances / np.maximum(self.n_draws, 1)
        return np.where(ended, early, (self.exceedances + 1) / (self.n_draws_asked + 1))

    @property
    def q_values(self) -> FloatArray:
        from scipy.stats import false_discovery_control

        q = np.ones(len(self.features))
        if self.tested.any():
            q[self.tested] = false_discovery_control(self.p_values[self.tested])
        return q

    @property
    def relevant(self) -> BoolArray:
        return np.asarray(self.tested & (self.q_values <= self.alpha))

    @property
    def smallest_p(self) -> FloatArray:
        return np.asarray(1 / (self.n_draws_asked + 1))

    @property
    def n_needed(self) -> int:
        if not self.tested.any():
            return 0
        coarsest = float(self.smallest_p[self.tested].max())
        return max(1, math.ceil(coarsest * int(self.tested.sum()) / self.alpha - 1e-9))

    def __repr__(self) -> str:
        n = len(self.features)
        return (
            f"RelevanceTest({int(self.relevant.sum())} of {n} column{'s' if n > 1 else ''} "
            f"relevant at a false discovery rate of {self.alpha:g})"
        )

    def to_frame(self) -> pd.DataFrame:
        """A row for each column, in the order of the table.

        Returns
        -------
        DataFrame
            Columns ``feature``, ``information``, ``statistic``, ``chance_q95``, ``p_value``,
            ``q_value``, ``relevant``, ``smallest_p``, ``exceedances``, ``draws``, ``shared``,
            ``strength`` and ``view``; without ``information`` and the last two, if information is
            the statistic.
        """
        frame = pd.DataFrame(
            {
                "feature": list(self.features),
                "statistic": self.statistic,
                "chance_q95": self.chance,
                "p_value": self.p_values,
                "q_value": self.q_values,
                "relevant": self.relevant,
                "smallest_p": self.smallest_p,
                "exceedances": self.exceedances,
                "draws": self.n_draws,
                "shared": self.shared,
            }
        )
        if self.views:
            frame.insert(1, "information", self.information)
            frame = frame.assign(strength=self.strength, view=self.views)
        return frame

    def _check(self) -> None:
        super()._check()
        n = len(self.features)
        b, t, most = self.exceedances, self.n_draws, self.n_draws_asked
        counts = (b >= 0).all() and (b <= t).all() and (t <= most).all()
        need(counts, "'exceedances' and 'n_draws' are out of range")
        for part in (self.views, self.strength):
            need(len(part) in (0, n), f"'views' and 'strength' must be {n}, or none", len(part))
