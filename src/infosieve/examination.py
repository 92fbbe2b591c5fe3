"""All questions about one table, answered together: what ``infosieve select --full`` asks."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
from sklearn.base import clone

from infosieve._core.messages import shown, unsaid
from infosieve._input.kinds import kind_of, read_columns
from infosieve._input.named import declared_columns
from infosieve._sources import ColumnSource, in_memory, run_once
from infosieve.clustering import FeatureClustering
from infosieve.report._selection import CLUSTERED
from infosieve.results import ClusterResult, RelevanceTest, SelectionResult, Stability
from infosieve.selection import MISelector, stability
from infosieve.significance import relevance_test

# Columns are redundant whose ranks share about half of their variance, whatever the target.
REDUNDANT: dict[str, Any] = {
    "similarity": "unsupervised",
    "correlation": "spearman",
    "linkage": "complete",
    "similarity_threshold": 0.7,
}
# What the relevance test has of the selector.
_SHARED = ("metric", "discrete_features", "discrete_target", "missing", "series", "device", "alpha")


@dataclass(frozen=True, kw_only=True, eq=False)
class Examination:
    """What :func:`examine` has found out.

    Attributes
    ----------
    selection : SelectionResult
        Which columns matter, with what could stand in for them.
    relevance : RelevanceTest
        Which columns are informative by themselves.
    stability : Stability or None
        Which columns halves of the samples choose; None for a series, which has no halves.
    clusters : ClusterResult or None
        Which columns are redundant; None where fewer than two columns, or more than 2,000, could
        be.

    See Also
    --------
    examine : The function that returns it.

    Examples
    --------
    >>> import numpy as np
    >>> from infosieve import examine
    >>> x = np.random.default_rng(0).normal(size=(60, 3))
    >>> found = examine(x, x[:, 1] ** 2, n_resamples=2)
    >>> found.selection.selected, found.stability.n_halves
    ((1,), 4)
    """

    selection: SelectionResult
    relevance: RelevanceTest
    stability: Stability | None = None
    clusters: ClusterResult | None = None

    def report(self, path: Any, **how: Any) -> None:
        """Write all of it as one HTML page.

        Parameters
        ----------
        path : path
            Where to.
        **how
            As :meth:`SelectionResult.report` has it.
        """
        more = {"relevance": self.relevance, "stability": self.stability, "clusters": self.clusters}
        given = {name: result for name, result in more.items() if result is not None}
        self.selection.report(path, **given, **how)


def examine(
    X: Any,
    y: Any,
    selector: MISelector | None = None,
    *,
    groups: Any = None,
    n_resamples: int = 50,
    tell: Callable[[str, Any], None] | None = None,
) -> Examination:
    """Answer all questions about a table, but for what predicts, on one page.

    Which columns matter and what could stand in for them, which are informative by themselves,
    which of them another sample would choose, and which are redundant (the absolute rank
    correlation of all columns of numbers in a cluster is 0.7 or more). It takes as long as some
    hundred selections from halves of the samples.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), or ColumnSource
        The columns.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        The target.
    selector : MISelector or None, default=None
        What selects; it is fitted. The other questions have its ``alpha``, ``metric``, ``missing``,
        ``series``, seed and the like, and whom it lets compute. None: ``MISelector()``.
    groups : array-like of shape (n_samples,), optional
        Which rows belong together.
    n_resamples : int, default=50
        How many times the samples are halved, as :func:`stability` has it.
    tell : callable or None, default=None
        Called with the name of an attribute and its value when that is there, before the next
        question.

    Returns
    -------
    Examination
        A frozen record of all results, with one ``report``.

    See Also
    --------
    MISelector, relevance_test, stability, FeatureClustering : What it asks.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from infosieve import MISelector, examine
    >>> rng = np.random.default_rng(1)
    >>> X = pd.DataFrame(rng.uniform(size=(100, 3)), columns=list("abc"))
    >>> X["twice"] = 2 * X["a"] + 0.1 * rng.normal(size=100)
    >>> y = np.sin(6 * X["b"]) + 0.1 * rng.normal(size=100)
    >>> found = examine(X, y, MISelector(random_state=0), n_resamples=2)
    >>> [found.selection.features[j] for j in found.selection.selected]
    ['b']
    >>> found.clusters.members
    [('a', 'twice'), ('b',), ('c',)]
    """
    X, y, groups = run_once(X, "X"), run_once(y, "y"), run_once(groups, "groups")
    selector = MISelector() if selector is None else selector
    found: dict[str, Any] = {}

    def keep(name: str, result: Any) -> None:
        found[name] = result
        if tell is not None:
            tell(name, result)

    selector.fit(X, y, groups)
    selector.alternatives(X, y, groups)  # which its result then has
    keep("selection", selector.result_)
    shared = {"groups": groups, "n_jobs": selector.n_jobs, "executor": selector.executor}
    shared |= {"random_state": selector.result_.provenance.seed, "verbose": selector.verbose}
    with unsaid("identifiers", "samples left out"):  # the selection has
        how = {name: getattr(selector, name) for name in _SHARED}
        keep("relevance", relevance_test(X, y, **how, **shared))
        if selector.series is False:
            own = {"executor": None, "checkpoint": None, "n_jobs": None, "verbose": 0}
            halves = clone(selector).set_params(**own)
            whole = X.read() if isinstance(X, ColumnSource) else X
            keep("stability", stability(halves, whole, y, n_resamples=n_resamples, **shared))
        if (clusters := _redundant(selector, X)) is not None:
            keep("clusters", clusters)
    return Examination(**found)


def _redundant(selector: MISelector, X: Any) -> ClusterResult | None:
    """Clusters of columns of numbers that are redundant; None where there are too many, or one."""
    if selector.n_features_in_ > CLUSTERED:
        return None
    frame = _frame(X)
    left_out = categories(frame, selector.discrete_features)
    numbers = frame.drop(columns=left_out)
    if numbers.shape[1] < 2:
        return None
    missing: Any = selector.missing
    if missing in ("auto", "value"):  # medians would hide how alike columns are
        complete = int(numbers.notna().all(axis="columns").sum())
        missing = "drop" if 2 * complete >= len(numbers) else "auto"
    clustering = FeatureClustering(
        n_clusters=None,
        **REDUNDANT,
        missing=missing,
        n_jobs=selector.n_jobs,
        random_state=selector.result_.provenance.seed,
        verbose=selector.verbose,
    )
    with unsaid("gaps"):  # a note has it
        clustering.fit(numbers)
    return with_left_out(clustering.result_, left_out)


def _frame(X: Any) -> pd.DataFrame:
    """Any table as a frame in memory."""
    X = in_memory(X)
    if isinstance(X, pd.DataFrame):
        return X
    columns, names = read_columns(X, "X")
    frame = pd.DataFrame(dict(enumerate(columns)))
    return frame if names is None else frame.set_axis(list(names), axis="columns")


def categories(frame: pd.DataFrame, declared: Any = "auto") -> list[Any]:
    """The columns that clusters have no place for: categories have no distances."""
    names = list(frame)
    known = declared_columns(declared, "X", names, named_columns=True)
    kinds = {name: kind_of(frame[name], f"column {shown(name)} of X") for name in names}
    return [name for j, name in enumerate(names) if known.get(j) or kinds[name] == "category"]


def with_left_out(result: ClusterResult, names: list[Any]) -> ClusterResult:
    """The result, which knows the categories that were left out."""
    if not names:
        return result
    known = result.provenance
    parameters = {**known.parameters, "categories": [*names]}
    return replace(result, provenance=replace(known, parameters=parameters))
