"""The choice of K."""

from dataclasses import dataclass
from typing import Any, ClassVar

import pandas as pd

from infosieve._core.documents import plain
from infosieve._core.provenance import Provenance
from infosieve._core.types import FloatArray, IntArray
from infosieve.results._base import Document, freeze, need


@dataclass(frozen=True, eq=False, kw_only=True)
class KChoice(Document):
    """The smoothing parameter K, and what it was chosen from.

    Attributes
    ----------
    k : int
        The K whose statistic is largest over all features.
    feature : object
        Name (or number) of the feature that reached it.
    features : tuple
        Names of the features, or their numbers.
    ks : ndarray of shape (n_K,)
        The values of K that were tried.
    t : ndarray of shape (n_features, n_K)
        How far the information of a feature stands above that with the target permuted, in
        standard deviations over the folds.
    mi, mi_permuted : ndarray of shape (n_features, n_K, n_folds)
        Mutual information without each fold, in nats, with the target as it is and permuted.
    provenance : Provenance
        Data, parameters, seed and versions.

    See Also
    --------
    choose_k : Makes one.
    infosieve.plots.KChoiceDisplay : Draws t against K.

    Examples
    --------
    >>> import numpy as np
    >>> from infosieve import choose_k
    >>> x = np.random.default_rng(0).normal(size=(30, 2))
    >>> choice = choose_k(x, x[:, 0] ** 2, random_state=0)
    >>> choice.k in choice.ks, choice.feature, choice.t.shape == (2, len(choice.ks))
    (True, 0, True)
    >>> KChoice.from_json(choice.to_json()).k == choice.k
    True
    """

    _schema: ClassVar[str] = "k-choice"
    _shapes: ClassVar = {"t": ("features", "ks")}

    k: int
    feature: Any
    features: tuple[Any, ...]
    ks: IntArray
    t: FloatArray
    mi: FloatArray
    mi_permuted: FloatArray
    provenance: Provenance

    def __post_init__(self) -> None:
        freeze(self, "ks", "t", "mi", "mi_permuted")

    def __repr__(self) -> str:
        return (
            f"KChoice(k={self.k}, by {self.feature!r} of {len(self.features)} features, "
            f"K from {self.ks[0]} to {self.ks[-1]}, {self.mi.shape[2]} folds)"
        )

    def to_frame(self) -> pd.DataFrame:
        """A row for each feature and K: t, and means and deviations over the folds.

        Returns
        -------
        DataFrame
            Columns ``feature``, ``k``, ``t``, ``mi``, ``mi_std``, ``mi_permuted`` and
            ``mi_permuted_std``.
        """
        index = pd.MultiIndex.from_product([self.features, self.ks], names=["feature", "k"])
        columns = {
            "t": self.t.ravel(),
            "mi": self.mi.mean(axis=2).ravel(),
            "mi_std": self.mi.std(axis=2, ddof=1).ravel(),
            "mi_permuted": self.mi_permuted.mean(axis=2).ravel(),
            "mi_permuted_std": self.mi_permuted.std(axis=2, ddof=1).ravel(),
        }
        return pd.DataFrame(columns, index=index).reset_index()

    def _check(self) -> None:
        super()._check()
        need(self.k in self.ks, "'k' must be one of 'ks'", self.k)
        known = plain(self.feature) in map(plain, self.features)  # as NaN is not in itself
        need(known, "'feature' must be one of 'features'", self.feature)
        alike = self.mi.shape == self.mi_permuted.shape == (*self.t.shape, self.mi.shape[-1])
        need(alike, "'mi' and 'mi_permuted' must have folds of each 't'")
