"""The public estimators: mutual information of sets of columns, and of each column."""

from typing import Any, Literal, TypeAlias, TypedDict, Unpack, overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from infosieve._core.categories import n_singletons
from infosieve._core.settings import DEFAULT_NEIGHBORS, InformationSettings
from infosieve._core.types import (
    ColumnNumbers,
    Columns,
    Criterion,
    Device,
    FloatArray,
    Method,
    Metric,
    Missing,
    Neighbors,
    Runner,
    Scale,
)
from infosieve._input.notices import warn_of_identifiers, warn_of_singletons
from infosieve._scoring.measure import Measure
from infosieve._study.study import Study

Conditional: TypeAlias = Literal["frenzel-pompe", "cmi", "mi"]

# What engines call them: with "gain", candidate and given columns form one block.
_MEASURED: dict[str, Criterion] = {"frenzel-pompe": "cmi", "cmi": "gain", "mi": "mi"}


def mutual_information(
    X: Any,
    y: Any,
    *,
    condition: Any = None,
    criterion: Conditional = "frenzel-pompe",
    n_neighbors: Neighbors = DEFAULT_NEIGHBORS,
    method: Method = "ksg1",
    metric: Metric = "euclidean",
    scale: Scale = "standard",
    discrete_features: Any = "auto",
    discrete_target: Any = "auto",
    max_samples: int | float | Literal["auto"] | None = "auto",
    missing: Missing = "auto",
    groups: Any = None,
    series: bool | int = False,
) -> float:
    """Mutual information between a set of columns and a target, in nats.

    The estimate counts nearest neighbours [1]_. It is signed: independent columns give values
    around 0, some of them negative.

    Parameters
    ----------
    X : array-like of shape (n_samples,) or (n_samples, n_features)
        One column or several; several are measured together, as a set. Samples are paired
        with those of y row by row.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        The target.
    condition : array-like of shape (n_samples,) or (n_samples, n_conditions), optional
        What is known already, as data (not as names): the columns of I(X; y | condition).
    criterion : {"frenzel-pompe", "cmi", "mi"}, default="frenzel-pompe"
        How information is measured conditional on ``condition``. "frenzel-pompe": the textbook
        estimate [2]_, X and ``condition`` being blocks of their own. "cmi": the quantity that
        :class:`MISelector` ranks by, X and ``condition`` forming one block with one norm. "mi": the
        information of X and ``condition`` together less that of ``condition``.
    n_neighbors : int or pair of ints, default=(3, 15)
        The smoothing parameter K, or an inclusive range of K whose estimates are averaged.
        A range is capped at ``n_samples - 1``.
    method : {"ksg1", "ksg2"}, default="ksg1"
        The first or second form of the estimate by Kraskov, Stögbauer and Grassberger.
    metric : {"euclidean", "chebyshev"}, default="euclidean"
        The norm inside X, inside y and inside ``condition``; across them it is always the maximum.
    scale : {"standard", "normal-scores"} or None, default="standard"
        What is done to each continuous column first: centre and divide by the standard
        deviation, replace ranks by normal quantiles (for heavy tails), or nothing.
    discrete_features : "auto", bool, or array-like, default="auto"
        Which columns of X are categories: "auto" takes bools, strings and pandas
        categoricals; or all, none, a mask, or the numbers or names of discrete columns beside
        those. Columns of ``condition`` are always taken by their type.
    discrete_target : "auto", bool or array-like, default="auto"
        The same for y, where "auto" takes a column of two different numbers as classes, too.
        Other numbers are continuous unless declared, which is fine for integers: repeated
        values are handled.
    max_samples : int, float, "auto" or None, default="auto"
        Samples of one estimate. A number, or a share of the samples: more samples are split at
        random into parts of that size at least, whose estimates are averaged. "auto": parts of
        4,000 (from 8,000 samples on), at most 25 of them. None: all samples in one estimate.
    missing : {"auto", "value", "median", "drop", "error"}, default="auto"
        What becomes of gaps in X and ``condition`` (NaN, None, NA). "value": a gap is a value of
        its own, infinitely far from numbers, so gaps that carry information are found. "median":
        gaps are filled with the median of the column. "auto": "value" for a column by itself; in
        sets of several columns and in ``condition``, where the few samples with the same gaps would
        be compared with each other only, medians and a column beside that says where gaps are.
        "drop": samples with gaps are left out. "error": gaps are refused. Among categories a gap is
        a level. Samples without a target are left out, with a warning.
    groups : array-like of shape (n_samples,), optional
        Which rows belong together (several rows of one patient): they are not each other's
        neighbours. One row of each group is in a part of the samples, and the estimates of parts
        are averaged.
    series : bool or int, default=False
        True: rows are in order of time, and rows that are near in time are not each other's
        neighbours. How near depends on how persistent the target is; a number says it. If the
        target is not stationary (it would take more than a tenth of the table to return to its
        mean), the changes of all columns of numbers from row to row are measured, with a warning.

    Returns
    -------
    float
        The estimate in nats; divide by ``math.log(2)`` for bits.

    See Also
    --------
    relevance : The same for each column of a table on its own.
    permutation_test : Whether it is more than chance.
    entropy : Differential entropy of a set of columns.

    Notes
    -----
    Among categories, samples of the same combination are at distance zero and others infinitely
    far [3]_. What counts of categories owe to chance is subtracted.

    References
    ----------
    .. [1] A. Kraskov, H. Stögbauer and P. Grassberger (2004). Estimating mutual information.
       https://doi.org/10.1103/PhysRevE.69.066138
    .. [2] S. Frenzel and B. Pompe (2007). Partial mutual information for coupling analysis of
       multivariate time series. https://doi.org/10.1103/PhysRevLett.99.204101
    .. [3] B. C. Ross (2014). Mutual information between discrete and continuous data sets.
       https://doi.org/10.1371/journal.pone.0087357

    Examples
    --------
    >>> import numpy as np
    >>> from infosieve import mutual_information
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 1000))
    >>> y = a * b + 0.1 * rng.normal(size=1000)
    >>> print(f"{mutual_information(np.c_[a, b], y):.1f}")  # jointly
    1.5
    >>> print(f"{mutual_information(a, y):.1f}")  # marginal
    0.3
    >>> print(f"{mutual_information(b, y, condition=a):.1f}")  # conditional on a
    1.2
    """
    settings = InformationSettings.of(locals())
    with Study.open(settings, X, y, condition=condition, groups=groups, ordered=False) as study:
        columns = study.columns
        measure = study.measure(_MEASURED[criterion], study.engine(1))
        varying = ~columns.x.constant
        if not varying.any():
            return 0.0
        x = columns.x.take(varying)
        if columns.fills and x.n_columns > 1:
            x = columns.take_given(varying)
        alone = n_singletons(x, columns.given, columns.target)
        warn_of_singletons(alone, study.problem.n_samples)
        return _of_set(measure, x, columns.given, study.executor.here)


def _of_set(measure: Measure, x: Columns, given: Columns, runner: Runner) -> float:
    """The information of a set of columns, conditional on others where there are some."""
    if given.n_columns and measure.criterion != "mi":
        return float(measure(x, given, runner, width=x.n_columns)[0])
    whole = given.beside(x) if given.n_columns else x
    return measure.of_set(whole, runner) - (
        measure.of_set(given, runner) if given.n_columns else 0.0
    )


class RelevanceOptions(TypedDict, total=False):
    """The keywords of :func:`relevance`, for type checkers: what it returns depends on X alone."""

    condition: Any
    criterion: Conditional
    n_neighbors: Neighbors
    method: Method
    metric: Metric
    scale: Scale
    discrete_features: Any
    discrete_target: Any
    max_samples: int | float | Literal["auto"] | None
    missing: Missing
    groups: Any
    series: bool | int
    n_jobs: int | None
    executor: Any
    device: Device


@overload
def relevance(
    X: pd.DataFrame, y: Any, **options: Unpack[RelevanceOptions]
) -> "pd.Series[float]": ...
@overload
def relevance(X: NDArray[Any], y: Any, **options: Unpack[RelevanceOptions]) -> FloatArray: ...
@overload
def relevance(
    X: Any, y: Any, **options: Unpack[RelevanceOptions]
) -> "FloatArray | pd.Series[float]": ...
def relevance(
    X: Any,
    y: Any,
    *,
    condition: Any = None,
    criterion: Conditional = "frenzel-pompe",
    n_neighbors: Neighbors = DEFAULT_NEIGHBORS,
    method: Method = "ksg1",
    metric: Metric = "euclidean",
    scale: Scale = "standard",
    discrete_features: Any = "auto",
    discrete_target: Any = "auto",
    max_samples: int | float | Literal["auto"] | None = "auto",
    missing: Missing = "auto",
    groups: Any = None,
    series: bool | int = False,
    n_jobs: int | None = None,
    executor: Any = None,
    device: Device = "cpu",
) -> "FloatArray | pd.Series[float]":
    """Mutual information of each column with the target, in nats.

    What ``sklearn.feature_selection.mutual_info_regression`` and ``mutual_info_classif`` are
    used for; the estimates here are signed, deterministic and safe with repeated values. They are
    the ``relevance_`` of :class:`MISelector`: all defaults are the same.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The columns; each is measured on its own.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        The target.
    condition : array-like of shape (n_samples,) or (n_samples, n_conditions), optional
        What is known already, as data: see :func:`mutual_information`.
    criterion, n_neighbors, method, metric, scale, discrete_features, discrete_target, max_samples
        As in :func:`mutual_information`. ``criterion="cmi"`` is what :class:`MISelector` ranks by.
    missing, groups, series
        As in :func:`mutual_information`.
    n_jobs, executor, device
        As in :class:`MISelector`; no result depends on them.

    Returns
    -------
    ndarray of shape (n_features,), or Series
        Nats. A pandas Series with the columns' names where X has names (a pandas or polars
        frame). A constant column has 0.

    See Also
    --------
    mutual_information : Of a set of columns.
    MISelector : Columns selected by it, one after the other.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from infosieve import relevance
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame(rng.normal(size=(500, 3)), columns=["heat", "noise", "light"])
    >>> y = np.sin(2 * X["heat"]) + 0.3 * rng.normal(size=500)
    >>> relevance(X, y).round(1).abs()
    heat     0.8
    noise    0.0
    light    0.0
    Name: relevance, dtype: float64
    """
    settings = InformationSettings.of(locals())
    ordered = condition is None and device != "cuda"
    with Study.open(settings, X, y, condition=condition, groups=groups, ordered=ordered) as study:
        problem, columns = study.problem, study.columns
        measure = study.measure(_MEASURED[criterion], study.engine(problem.x.n_columns))
        x, given = columns.x, columns.given
        warn_of_identifiers(problem, x)
        warn_of_singletons(n_singletons(given, columns.target), problem.n_samples)
        result = np.zeros(x.n_columns)
        varying = ColumnNumbers(np.flatnonzero(~x.constant))
        if varying:
            scores = study.scoring.scores(measure, varying, given)
            known = criterion == "mi" and given.n_columns
            here = study.executor.here
            result[varying] = scores - (measure.of_set(given, here) if known else 0.0)
    if problem.x.named:
        return pd.Series(result, index=problem.x.names, name="relevance")
    return result
