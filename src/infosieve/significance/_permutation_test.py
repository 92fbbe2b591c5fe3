"""Permutation tests: is what a column seems to tell more than chance?"""

from typing import Any, Literal, TypeAlias

import numpy as np

from infosieve._core.categories import n_singletons
from infosieve._core.parameters import (
    check_choice,
    check_count,
    check_jobs,
    check_method,
    check_neighbors,
)
from infosieve._core.types import Criterion, Method, Metric, Neighbors, Scale
from infosieve._engines.devices import Device, check_device, engine_of, require_device
from infosieve._executors import executor_of
from infosieve._input.problem import prepare_tables, read_tables, warn_of_singletons
from infosieve._input.tables import find_columns
from infosieve._resampling.permutations import (
    global_permutations,
    local_permutations,
    random_folds,
    seed_of,
)
from infosieve._scoring.jobs import Scoring
from infosieve._scoring.measure import Measure
from infosieve.estimators._choice_of_k import N_FOLDS
from infosieve.results import PermutationTest

Null: TypeAlias = Literal["global", "local"]
Correction: TypeAlias = Literal["max"] | None
Resample: TypeAlias = Literal["cv"] | None

# What a criterion is called by an engine: the candidate joins the selected columns' block.
MEASURED: dict[str, Criterion] = {"mi": "mi", "cmi": "gain"}


def permutation_test(
    X: Any,
    y: Any,
    candidates: Any,
    *,
    given: Any = (),
    criterion: Literal["mi", "cmi"] = "mi",
    null: Null = "global",
    correction: Correction = None,
    resample: Resample = None,
    n_permutations: int = 199,
    n_neighbors: Neighbors = (3, 10),
    method: Method = "ksg1",
    metric: Metric = "euclidean",
    scale: Scale = "standard",
    discrete_features: Any = "auto",
    discrete_target: Any = "auto",
    n_jobs: int | None = None,
    executor: Any = None,
    device: Device = "cpu",
    random_state: Any = None,
) -> PermutationTest:
    """Test whether columns tell something about the target that chance does not explain.

    A candidate is compared with permuted copies of itself:
    p = (b + 1) / (n_permutations + 1), where b copies score at least as much.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The table.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        The target.
    candidates : column or list of columns
        What to test: names, or numbers.
    given : column or list of columns, default=()
        What is known already.
    criterion : {"mi", "cmi"}, default="mi"
        What is measured: information of selected and candidate together with the target, or
        what the candidate adds, I(candidate; target | selected). For "cmi", candidate and
        selected columns form one block with one norm.
    null : {"global", "local"}, default="global"
        Who exchanges what: any samples their values; or those near each other in the selected
        columns what these columns do not foretell. The first asks whether the candidate has
        to do with the target or the selected columns at all (a copy of a selected column
        passes), the second whether it tells more than they do.
    correction : {"max"} or None, default=None
        None: each candidate for itself. "max": each against the best of all permuted
        candidates, which allows for choosing the best of them.
    resample : {"cv"} or None, default=None
        "cv": the mean of the estimates without each of 20 random folds of the samples.
    n_permutations : int, default=199
        The number of permuted copies.
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
    random_state : int, RandomState, Generator or None, default=None
        Draws the permutations.

    Returns
    -------
    PermutationTest
        Observed and permuted values, exceedances, p-values.

    Examples
    --------
    A noisy copy of a column has nothing to add to it, but only the local null says so.

    >>> import numpy as np
    >>> from infosieve import permutation_test
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=200)
    >>> X = np.c_[x, x + 0.2 * rng.normal(size=200)]
    >>> y = np.sin(2 * x) + 0.3 * rng.normal(size=200)
    >>> permutation_test(X, y, 1, given=0, random_state=0).p_value
    0.005
    >>> permutation_test(X, y, 1, given=0, null="local", random_state=0).p_value > 0.05
    True
    """
    check_choice(criterion, "criterion", MEASURED)
    check_choice(null, "null", ("global", "local"))
    check_choice(correction, "correction", ("max", None))
    check_choice(resample, "resample", ("cv", None))
    check_count(n_permutations, "n_permutations", 1)
    check_jobs(n_jobs)
    check_device(device)
    seed = seed_of(random_state)
    with executor_of(executor, n_jobs) as pool:
        require_device(device, pool)
        declared = discrete_features, discrete_target
        tables = read_tables(X, y, None, *declared, scale, pool)
        tested, known = _columns(tables[0], candidates, given)
        check_method(method, metric, scale, conditional=criterion == "cmi" and len(known) > 0)
        ks = check_neighbors(n_neighbors, tables[0].n_samples)
        x, target = prepare_tables(tables, scale, pool.here, with_order=not known)
        for j in tested:
            if x.constant[j]:
                raise ValueError(
                    f"{tables[0].label(j)} is constant: its permuted copies are itself. Leave it "
                    "out of 'candidates'."
                )
        condition = x.take([j for j in known if not x.constant[j]])
        folds = cv_folds(resample, seed, x.n_samples)
        copies = len(tested) * (n_permutations + 1)
        engine = engine_of(device, pool, x.n_samples, copies, ks[1])
        how = MEASURED[criterion], method, metric, ks, engine, folds
        measure, scoring = Measure(target, *how), Scoring(x, pool)
        scores = scoring.scores(measure, tested, condition)
        alone = max(n_singletons(x.take([j]), condition, target) for j in tested)
        warn_of_singletons(alone, x.n_samples)
        key = (seed, "test", 0)
        if null == "local" and condition.n_columns:
            permutations = local_permutations(key, condition, metric, pool.here.n_workers)
        else:
            permutations = global_permutations(key, x.n_samples)
        drawn = permutations, n_permutations
        largest = correction == "max"
        permuted = np.concatenate([*scoring.permuted(measure, tested, condition, *drawn, largest)])
    names = tuple(tables[0].names[j] for j in tested)
    return PermutationTest(
        candidates=names, observed=scores.averaged, null=permuted, device=engine.name
    )


def cv_folds(resample: Resample, seed: int, n_samples: int) -> Any:
    """The partition of the chapter's variant with cross-validated distributions."""
    if resample is None:
        return None
    return random_folds((seed, "parts", 0), n_samples, min(N_FOLDS, n_samples))


def _columns(table: Any, candidates: Any, given: Any) -> tuple[list[int], list[int]]:
    """The numbers of the candidates and of the selected columns."""
    tested = find_columns(candidates, table, "candidates")
    known = find_columns(given, table, "given")
    if not tested:
        raise ValueError("The 'candidates' parameter is empty: name at least one column of X.")
    for j in tested:
        if j in known:
            raise ValueError(
                f"{table.label(j)} is both in 'candidates' and in 'given'. A column tells "
                "nothing beyond itself: take it out of one of them."
            )
    return tested, known
