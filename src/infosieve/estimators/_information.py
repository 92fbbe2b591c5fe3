"""The public estimators: mutual information of sets of columns, and of each column."""

from typing import Any

import numpy as np
import pandas as pd

from infosieve._core.categories import n_singletons
from infosieve._core.parameters import check_jobs, check_method, check_neighbors
from infosieve._core.types import Batch, FloatArray, Method, Metric, Neighbors, Scale
from infosieve._engines.devices import Device, check_device, engine_of, require_device
from infosieve._engines.numba.engine import NumbaEngine
from infosieve._executors import executor_of
from infosieve._executors.threads import Threads
from infosieve._input.problem import (
    prepare_tables,
    read_tables,
    warn_of_identifiers,
    warn_of_singletons,
)
from infosieve._scoring.jobs import Scoring
from infosieve._scoring.measure import Measure
from infosieve._scoring.mixed import score


def mutual_information(
    X: Any,
    y: Any,
    *,
    given: Any = None,
    n_neighbors: Neighbors = (3, 10),
    method: Method = "ksg1",
    metric: Metric = "euclidean",
    scale: Scale = "standard",
    discrete_features: Any = "auto",
    discrete_target: Any = "auto",
) -> float:
    """Mutual information between a set of columns and a target, in nats.

    The estimate counts nearest neighbours (Kraskov, Stögbauer and Grassberger 2004). It is
    signed: independent columns give values around 0, some of them negative.

    Parameters
    ----------
    X : array-like of shape (n_samples,) or (n_samples, n_features)
        One column or several; several are measured together, as a set. Samples are paired
        with those of y row by row.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        The target.
    given : array-like of shape (n_samples,) or (n_samples, n_conditions), optional
        Condition on these columns: what X tells about y beyond them (Frenzel and Pompe
        2007).
    n_neighbors : int or pair of ints, default=(3, 10)
        The smoothing parameter K, or an inclusive range of K whose estimates are averaged.
        The default range is capped at ``n_samples - 1``.
    method : {"ksg1", "ksg2"}, default="ksg1"
        Kraskov's first or second estimate.
    metric : {"euclidean", "chebyshev"}, default="euclidean"
        The norm inside X, inside y and inside ``given``; across them it is always the maximum.
    scale : {"standard", "normal-scores"} or None, default="standard"
        What is done to each continuous column first: centre and divide by the standard
        deviation, replace ranks by normal quantiles (for heavy tails), or nothing.
    discrete_features : "auto", bool, or array-like, default="auto"
        Which columns of X are categories: "auto" takes bools, strings and pandas
        categoricals; or all, none, a mask, or the numbers or names of discrete columns beside
        those. Columns of ``given`` are always taken by their type.
    discrete_target : "auto", bool or array-like, default="auto"
        The same for y. Numbers are continuous unless declared, which is fine for integers
        and 0/1 too: repeated values are handled.

    Returns
    -------
    float
        The estimate in nats; divide by ``math.log(2)`` for bits.

    See Also
    --------
    relevance : The same for each column of a table on its own.

    Examples
    --------
    >>> import numpy as np
    >>> from infosieve import mutual_information
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 1000))
    >>> y = a * b + 0.1 * rng.normal(size=1000)
    >>> print(f"{mutual_information(np.c_[a, b], y):.1f}")  # together
    1.6
    >>> print(f"{mutual_information(a, y):.1f}")  # alone
    0.3
    """
    tables = read_tables(X, y, given, discrete_features, discrete_target)
    check_method(method, metric, scale, conditional=given is not None)
    ks = check_neighbors(n_neighbors, tables[0].n_samples)
    runner = Threads(1)
    x, target, *rest = prepare_tables(tables, scale, runner)
    varying = np.flatnonzero(~x.constant).tolist()
    x = x.take(varying)
    if x.n_columns == 0:
        return 0.0
    if rest:
        condition = rest[0].take(~rest[0].constant)
        batch = Batch(x, condition, target, "cmi", method, metric, ks, width=x.n_columns)
    else:
        last = x.n_columns - 1
        batch = Batch(
            x.take(slice(last, None)), x.take(slice(last)), target, "mi", method, metric, ks
        )
    warn_of_singletons(n_singletons(x, *rest, target), x.n_samples)
    return float(score(batch, NumbaEngine(), runner).averaged[0])


def relevance(
    X: Any,
    y: Any,
    *,
    given: Any = None,
    n_neighbors: Neighbors = (3, 10),
    method: Method = "ksg1",
    metric: Metric = "euclidean",
    scale: Scale = "standard",
    discrete_features: Any = "auto",
    discrete_target: Any = "auto",
    n_jobs: int | None = None,
    executor: Any = None,
    device: Device = "cpu",
) -> "FloatArray | pd.Series[float]":
    """Mutual information of each column with the target, in nats.

    What ``sklearn.feature_selection.mutual_info_regression`` and ``mutual_info_classif`` are
    used for; the estimates here are signed, deterministic and safe with repeated values.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The columns; each is measured on its own.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        The target.
    given : array-like of shape (n_samples,) or (n_samples, n_conditions), optional
        Measure what each column tells about y beyond these.
    n_neighbors, method, metric, scale, discrete_features, discrete_target
        As in :func:`mutual_information`.
    n_jobs : int or None, default=None
        Threads; -1 for all cores. The result does not depend on it.
    executor : dask.distributed.Client, address or None, default=None
        Who computes: the workers of a Dask cluster, or threads of this process. The result does
        not depend on it.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where it is computed: on the CPU, on an NVIDIA GPU (``infosieve[gpu]``), or on the GPU if
        there is one and the work is large enough. The result does not depend on it.

    Returns
    -------
    ndarray of shape (n_features,), or Series
        Nats. A pandas Series with the columns' names where X has names (a pandas or polars
        frame). A constant column has 0.

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
    check_method(method, metric, scale, conditional=given is not None)
    check_jobs(n_jobs)
    check_device(device)
    with executor_of(executor, n_jobs) as pool:
        require_device(device, pool)
        declared = discrete_features, discrete_target
        tables = read_tables(X, y, given, *declared, scale, pool)
        ks = check_neighbors(n_neighbors, tables[0].n_samples)
        engine = engine_of(device, pool, tables[0].n_samples, tables[0].n_columns, ks[1])
        sorted_here = given is None and engine.name == "cpu"
        x, target, *rest = prepare_tables(tables, scale, pool.here, sorted_here)
        selected = rest[0].take(~rest[0].constant) if rest else x.take(slice(0))
        varying = np.flatnonzero(~x.constant).tolist()
        measure = Measure(target, "cmi", method, metric, ks, engine)
        result = np.zeros(x.n_columns)
        if varying:
            warn_of_identifiers(tables[0], x)
            warn_of_singletons(n_singletons(selected, target), x.n_samples)
            result[varying] = Scoring(x, pool).scores(measure, varying, selected).averaged
    if tables[0].named:
        return pd.Series(result, index=tables[0].names, name="relevance")
    return result
