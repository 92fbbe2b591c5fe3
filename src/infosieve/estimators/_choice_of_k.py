"""The smoothing parameter K, chosen from the data (the chapter's section 3)."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from infosieve._core.parameters import check_count, check_jobs, check_method
from infosieve._core.types import FloatArray, Method, Metric, Scale
from infosieve._engines.devices import Device, check_device, engine_of, require_device
from infosieve._executors import executor_of
from infosieve._input.problem import prepare_tables, provenance_of, read_tables
from infosieve._resampling.permutations import global_permutations, random_folds, seed_of
from infosieve._scoring.jobs import Scoring
from infosieve._scoring.measure import Measure
from infosieve.results import KChoice, Provenance

K_MIN, K_MAX, N_FOLDS = 2, 20, 20


def choose_k(
    X: Any,
    y: Any,
    *,
    k_min: int = K_MIN,
    k_max: int = K_MAX,
    n_splits: int = N_FOLDS,
    method: Method = "ksg1",
    metric: Metric = "euclidean",
    scale: Scale = "standard",
    discrete_features: Any = "auto",
    discrete_target: Any = "auto",
    n_jobs: int | None = None,
    executor: Any = None,
    device: Device = "cpu",
    random_state: Any = None,
) -> KChoice:
    """Choose K, the number of neighbours, from the data by resampling.

    For each feature and each K, mutual information is estimated on the data without each of
    ``n_splits`` random folds, with the target as it is and permuted. The K is taken at which
    the two are best told apart, by any feature: where their difference, in standard
    deviations over the splits, is largest.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The features; each is measured on its own.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        The target.
    k_min, k_max : int, default=2 and 20
        The values of K to try. The default largest is capped by the sample.
    n_splits : int, default=20
        The number of folds.
    method, metric, scale, discrete_features, discrete_target
        As in :func:`mutual_information`.
    n_jobs : int or None, default=None
        Threads; -1 for all cores. The result does not depend on it.
    executor : dask.distributed.Client, address or None, default=None
        Who computes: the workers of a Dask cluster, or threads of this process. The result does
        not depend on it.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where it is computed: on the CPU, on an NVIDIA GPU (``infosieve[gpu]``), or on the GPU if
        there is one and the work is large enough. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Draws the folds and the permutation of the target.

    Returns
    -------
    KChoice
        ``k``, and for every feature and K the statistic ``t`` and the estimates behind it.

    Notes
    -----
    Do not test on the data that chose K as if K had been fixed: under the null, a test at 5 %
    then accepts more (9 % in the first step with ten features).

    Examples
    --------
    >>> import numpy as np
    >>> from infosieve import choose_k
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 3))
    >>> y = np.sin(2 * X[:, 1]) + 0.3 * rng.normal(size=100)
    >>> choice = choose_k(X, y, random_state=0)
    >>> choice.feature
    1
    >>> choice.to_frame().columns.tolist()
    ['feature', 'k', 't', 'mi', 'mi_std', 'mi_permuted', 'mi_permuted_std']
    """
    parameters = {name: value for name, value in locals().items() if name not in ("X", "y")}
    check_count(k_min, "k_min", 1)
    check_count(k_max, "k_max", 1)
    check_count(n_splits, "n_splits", 2)
    check_method(method, metric, scale, conditional=False)
    check_jobs(n_jobs)
    check_device(device)
    seed = seed_of(random_state)
    with executor_of(executor, n_jobs) as pool:
        require_device(device, pool)
        parameters["executor"] = pool.text
        declared = discrete_features, discrete_target
        tables = read_tables(X, y, None, *declared, scale, pool)
        x, target = prepare_tables(tables, scale, pool.here, with_order=True)
        ks = _range_of_k(k_min, k_max, n_splits, x.n_samples)
        engine = engine_of(device, pool, x.n_samples, 2 * n_splits * x.n_columns, ks[1])
        parameters["device"] = engine.name
        measure = Measure(target, "mi", method, metric, ks, engine)
        provenance = provenance_of(tables, seed, parameters, choose_k)
        return choose(Scoring(x, pool), tables[0].names, measure, n_splits, provenance)


def choose(
    scoring: Scoring,
    names: list[Any],
    measure: Measure,
    n_splits: int,
    provenance: Provenance,
    depth: int = 1,
) -> KChoice:
    """:func:`choose_k` for prepared columns; ``measure.n_neighbors`` is the range of K.

    ``depth`` says how far from here the caller is whom a warning concerns.
    """
    x = scoring.x
    varying = np.flatnonzero(~x.constant)
    if varying.size == 0:
        raise ValueError(
            "All columns of X are constant: no K can tell them from noise. Check that these "
            "are the right columns."
        )
    seed = provenance.seed
    folds = random_folds((seed, "parts", 0), x.n_samples, min(n_splits, x.n_samples))
    shuffled = global_permutations((seed, "target", 0), x.n_samples).draw(0, 1)
    nothing = x.take([])
    both = []
    for target in (measure.target, measure.target.permuted(shuffled)):
        of_target = replace(measure, target=target, folds=folds)
        of_parts = scoring.scores(of_target, varying.tolist(), nothing).nats
        values = np.zeros((x.n_columns, of_parts.shape[2], of_parts.shape[0]))
        values[varying] = of_parts.transpose(1, 2, 0)
        both.append(values)
    t = _statistic(*both)
    lo, hi = measure.n_neighbors
    ks = np.arange(lo, hi + 1)
    if not t.any():
        warnings.warn(
            "No K tells any column of X from noise: all estimates are the same on all splits. "
            f"The smallest, K = {lo}, is taken.",
            UserWarning,
            stacklevel=2 + depth,
        )
    best = int(np.argmax(t.max(axis=0)))
    feature = names[int(np.argmax(t[:, best]))]
    mi, mi_permuted = both
    return KChoice(
        k=int(ks[best]),
        feature=feature,
        features=tuple(names),
        ks=ks,
        t=t,
        mi=mi,
        mi_permuted=mi_permuted,
        provenance=provenance,
    )


def _statistic(mi: FloatArray, mi_permuted: FloatArray) -> FloatArray:
    """(mean mi - mean mi_permuted) / sqrt(var mi + var mi_permuted); 0 without variance."""
    pool = np.sqrt(mi.var(axis=2, ddof=1) + mi_permuted.var(axis=2, ddof=1))
    difference = mi.mean(axis=2) - mi_permuted.mean(axis=2)
    t: FloatArray = np.zeros_like(pool)
    np.divide(difference, pool, out=t, where=pool > 0)
    return t


def _range_of_k(k_min: int, k_max: int, n_splits: int, n_samples: int) -> tuple[int, int]:
    """The values of K, capped by what remains of the sample without its largest fold."""
    n_splits = min(n_splits, n_samples)
    most = n_samples - -(-n_samples // n_splits) - 1
    if k_max == K_MAX:
        k_max = min(k_max, most)
    rule = f"{n_samples} samples without one of {n_splits} folds have {most} neighbours"
    if k_max > most or most < 1:
        raise ValueError(
            f"The 'k_max' parameter must be at most {most}: {rule}. Got {k_max} instead."
            if most >= 1
            else f"There are too few samples to choose K: {rule}. Use more samples."
        )
    if k_min > k_max:
        raise ValueError(
            f"The 'k_min' parameter must not exceed the largest K, {k_max} ({rule}). "
            f"Got {k_min} instead."
        )
    return int(k_min), int(k_max)


def default_range(n_samples: int) -> tuple[int, int]:
    """The values of K that a selector tries."""
    most = _range_of_k(1, K_MAX, N_FOLDS, n_samples)[1]
    return min(K_MIN, most), most
