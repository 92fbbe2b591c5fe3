"""Where a result comes from, and some of its data: what every record has.

The numerical core makes them, so they stand below it; they are public in ``infosieve.results``.
"""

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.metadata import version
from typing import Any, Self

from infosieve._core.documents import Count, Positive
from infosieve._core.types import IntArray
from infosieve._core.version import __version__

LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "pandas")


@lru_cache(maxsize=1)
def versions() -> Mapping[str, str]:
    """The versions of what computes; looked up once, as it takes longer than a small fit."""
    ours = {"python": platform.python_version(), "infosieve": __version__}
    return ours | {name: version(name) for name in LIBRARIES}


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where a result comes from: all that is needed to have it again.

    Attributes
    ----------
    data : str
        A fingerprint of the table and the target.
    n_samples : int
        How many samples there were, without those that were left out.
    seed : int
        What random numbers were drawn from.
    parameters : dict
        Those of the estimator or function.
    versions : dict
        Of Python and the libraries.
    command : str
        The command line, where there was one.
    options : dict
        What it was given, by the names of the options in Python.
    code : str
        The call in Python that repeats it.
    n_left_out : int
        Samples that were left out: they had no target, or had gaps and ``missing="drop"``.
    by_changes : bool
        Whether changes from row to row were measured, because the target of a series
        is not stationary.
    by_order : tuple of str
        Columns that the order of the rows tells, which no test can tell from chance: the same in
        the same order in each group, or repeated as a calendar is in a series.

    See Also
    --------
    SelectionResult, ClusterResult, KChoice, PermutationTest : Records that have one.

    Examples
    --------
    >>> import numpy as np
    >>> from infosieve import FeatureClustering
    >>> x = np.random.default_rng(0).normal(size=(20, 3))
    >>> known = FeatureClustering(2, random_state=0).fit(x, x[:, 0]).result_.provenance
    >>> known.n_samples, known.seed
    (20, 0)
    >>> print(known.code)
    from infosieve import FeatureClustering
    <BLANKLINE>
    FeatureClustering(n_clusters=2, random_state=0).fit(X, y)
    """

    data: str
    n_samples: Positive
    seed: Count
    parameters: Mapping[str, Any]
    versions: Mapping[str, str]
    command: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    code: str = ""
    n_left_out: Count = 0
    by_changes: bool = False
    # Documents have it as a marked tuple.
    by_order: tuple[str, ...] = field(default=(), metadata={"json": Any})

    def with_seed(self, seed: int) -> Self:
        """The same with another seed, which the code has as well.

        Parameters
        ----------
        seed : int
            The other seed.

        Returns
        -------
        Provenance
        """
        before, found, after = self.code.rpartition(f"random_state={self.seed}")
        code = f"{before}random_state={seed}{after}" if found else self.code
        return replace(self, seed=seed, code=code)


@dataclass(frozen=True, eq=False, kw_only=True)
class Excerpt:
    """Some samples of the selected columns and of the target: enough to draw them.

    Attributes
    ----------
    rows : ndarray of int
        Which samples: all, or 1000 of them, evenly spaced.
    features : dict
        For each selected column, its values: numbers, or categories.
    target : dict
        For each target, by name, its values.

    See Also
    --------
    SelectionResult : The record that has one.

    Examples
    --------
    >>> import numpy as np
    >>> from infosieve import MISelector
    >>> x = np.arange(-5.0, 7.0)
    >>> excerpt = MISelector(stop=None, max_features=1).fit(x[:, None], x**2).result_.excerpt
    >>> excerpt.features[0][:3], excerpt.target["y"][:3]
    ([-5.0, -4.0, -3.0], [25.0, 16.0, 9.0])
    """

    rows: IntArray
    features: Mapping[int, list[Any]]
    target: Mapping[Any, list[Any]]
