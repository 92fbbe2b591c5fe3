"""The smoothing parameter K, chosen from the data by resampling."""

from dataclasses import replace
from typing import Any

import numpy as np

from infosieve._core.messages import warn
from infosieve._core.rules import ends_of
from infosieve._core.settings import N_FOLDS, NEIGHBORS_TRIED, ChoiceSettings
from infosieve._core.types import ColumnNumbers, Device, FloatArray, Method, Metric, Missing, Scale
from infosieve._resampling.layout import Layout
from infosieve._resampling.nulls import global_permutations
from infosieve._resampling.permutations import random_folds
from infosieve._scoring.jobs import Scoring
from infosieve._scoring.measure import Measure
from infosieve._study.study import Study
from infosieve.results import KChoice, Provenance


def choose_k(
    X: Any,
    y: Any,
    *,
    n_neighbors: tuple[int, int] = NEIGHBORS_TRIED,
    n_folds: int = N_FOLDS,
    method: Method = "ksg1",
    metric: Metric = "euclidean",
    scale: Scale = "standard",
    discrete_features: Any = "auto",
    discrete_target: Any = "auto",
    missing: Missing = "auto",
    groups: Any = None,
    series: bool | int = False,
    n_jobs: int | None = None,
    executor: Any = None,
    device: Device = "cpu",
    random_state: Any = None,
) -> KChoice:
    """Choose K, the number of neighbours, from the data by resampling.

    For each feature and each K, mutual information is estimated on the data without each of
    ``n_folds`` random folds, with the target as it is and permuted. The K is taken at which
    the two are best told apart, by any feature: where their difference, in standard
    deviations over the folds, is largest [1]_ [2]_.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The features; each is measured on its own.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        The target.
    n_neighbors : pair of ints, default=(2, 20)
        The smallest and the largest K to try. The range is capped by the sample without its
        largest fold.
    n_folds : int, default=20
        The number of folds.
    method, metric, scale, discrete_features, discrete_target
        As in :func:`mutual_information`.
    missing, groups, series
        As in :func:`mutual_information`. Folds keep groups together, and are stretches of a series.
    n_jobs, executor, device
        As in :class:`MISelector`; no result depends on them.
    random_state : int, RandomState, Generator or None, default=None
        Draws the folds and the permutation of the target.

    Returns
    -------
    KChoice
        ``k``, and for every feature and K the statistic ``t`` and the estimates behind it.

    See Also
    --------
    MISelector : ``MISelector(n_neighbors="auto")`` chooses K before it selects.
    mutual_information : The estimate that K smooths.
    infosieve.plots.KChoiceDisplay : The curves behind the choice.

    Notes
    -----
    Do not test on the data that chose K as if K had been fixed: under the null, a test at 5 %
    then accepts more (9 % in the first step with ten features).

    References
    ----------
    .. [1] D. François, F. Rossi, V. Wertz and M. Verleysen (2007). Resampling methods for
       parameter-free and robust feature selection with mutual information. Neurocomputing 70,
       1276-1288. https://doi.org/10.1016/j.neucom.2006.11.019
    .. [2] M. Verleysen, F. Rossi and D. François (2009). Advances in feature selection with
       mutual information. https://doi.org/10.1007/978-3-642-01805-3_4

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
    settings = ChoiceSettings.of(locals())
    with Study.open(settings, X, y, groups=groups) as study:
        ks = neighbors_tried(n_neighbors, n_folds, study.layout.n_together(study.x.n_samples))
        engine = study.engine(2 * n_folds * study.x.n_columns, ks[1])
        measure = study.measure("mi", engine, n_neighbors=ks)
        provenance = study.provenance(choose_k, device=engine.name)
        names = study.problem.x.names
        return choose(study.scoring, names, measure, n_folds, provenance, study.layout)


def choose(
    scoring: Scoring,
    names: list[Any],
    measure: Measure,
    n_folds: int,
    provenance: Provenance,
    layout: Layout,
) -> KChoice:
    """:func:`choose_k` for prepared columns; ``measure.n_neighbors`` is the range of K."""
    x = scoring.x
    varying = np.flatnonzero(~x.constant)
    if varying.size == 0:
        raise ValueError(
            "All columns of X are constant: no K can separate them from noise. Check that these "
            "are the right columns."
        )
    seed = provenance.seed
    n = layout.n_together(x.n_samples) if layout.dependent else x.n_samples
    folds = random_folds((seed, "parts", 0), x.n_samples, min(n_folds, n), layout)
    permutations = global_permutations((seed, "target", 0), x.n_samples, layout)
    surrogates = permutations.surrogates(measure.target, scoring.executor.here)
    permuted = surrogates(permutations.draw(0, 1))
    edges = layout.edges if layout.dependent else None
    nothing = x.take([])
    both = []
    for target in (measure.target, permuted):
        of_target = replace(measure, target=target, folds=folds, edges=edges)
        of_folds = scoring.detailed(of_target, ColumnNumbers(varying), nothing)
        values = np.zeros((x.n_columns, of_folds.shape[2], of_folds.shape[0]))
        values[varying] = of_folds.transpose(1, 2, 0)
        both.append(values)
    mi, mi_permuted = both
    t = _statistic(mi, mi_permuted)
    lo, hi = measure.n_neighbors
    ks = np.arange(lo, hi + 1)
    if not t.any():
        warn(
            "No K separates any column of X from noise: all estimates are the same on all folds. "
            f"The smallest, K = {lo}, is taken."
        )
    best = int(np.argmax(t.max(axis=0)))
    feature = names[int(np.argmax(t[:, best]))]
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
    deviation = np.sqrt(mi.var(axis=2, ddof=1) + mi_permuted.var(axis=2, ddof=1))
    difference = mi.mean(axis=2) - mi_permuted.mean(axis=2)
    t: FloatArray = np.zeros_like(deviation)
    np.divide(difference, deviation, out=t, where=deviation > 0)
    return t


def neighbors_tried(n_neighbors: tuple[int, int], n_folds: int, n_samples: int) -> tuple[int, int]:
    """The smallest and the largest K, capped by what remains of the sample without a fold."""
    n_folds = min(n_folds, n_samples)
    most = n_samples - -(-n_samples // n_folds) - 1
    if most < 1:
        raise ValueError(
            f"There are too few samples to choose K: {n_samples} samples without one of {n_folds} "
            f"folds have {most} neighbours. Use more samples."
        )
    lo, hi = ends_of(n_neighbors)
    return min(lo, most), min(hi, most)
