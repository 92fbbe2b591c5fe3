"""Would another sample choose the same columns? What a selector chooses from halves."""

import threading
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from infosieve._core.dialect import Dialect, parameter, setting, speaking, spoken
from infosieve._core.files import first_line
from infosieve._core.messages import shown, subject_of, unsaid, warn
from infosieve._core.model_text import import_lines, imports_of, portable, written
from infosieve._core.progress import Progress
from infosieve._core.provenance import versions
from infosieve._core.rules import check_x, seed_of
from infosieve._core.settings import OF_NO_MATTER, Settings, StabilitySettings
from infosieve._core.types import IntArray
from infosieve._executors import WorkersLostError, executor_of
from infosieve._executors.threads import Threads
from infosieve._input.notices import CLASS_CODES
from infosieve._input.problem import open_problem
from infosieve._input.tables import Table, fingerprint
from infosieve._sources import ColumnSource, as_source
from infosieve.results import Provenance, Stability
from infosieve.selection._checkpoint import LOST, Checkpoint, broken_off, claimed
from infosieve.selection._selector import MISelector, settings_of

# Samples, or groups, that can be halved: two for each half.
_FEWEST = 4
# Of what halves warn of, so many different texts are told.
_TOLD = 3


def stability(
    selector: Any,
    X: Any,
    y: Any,
    *,
    n_resamples: int = 50,
    groups: Any = None,
    n_jobs: int | None = None,
    executor: Any = None,
    random_state: Any = None,
    checkpoint: Any = None,
    verbose: int = 0,
) -> Stability:
    """Tell which columns a selector chooses again and again from halves of the samples.

    The samples are split at random into two halves, many times, and the selector is fitted on
    each half (complementary pairs [1]_). How often a column is chosen says how much the choice
    depends on the sample; and of columns that are chosen often enough, few can be false.

    Parameters
    ----------
    selector : estimator
        Anything with ``fit`` and ``get_support``: :class:`MISelector`, or a selector of
        scikit-learn; or a pipeline that ends in one and only scales, fills or selects columns
        before. It is cloned, and each clone has a seed of its own (every parameter
        ``random_state``), which ``random_state`` decides.
    X : array-like of shape (n_samples, n_features)
        The columns, in memory: an array or a frame. Halves are of the same kind, with names and
        types.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        The target. Of classes (categories, or at most 20 different whole numbers) each half has
        as many samples as the other, or one more. Samples without a target are left out, with a
        warning.
    n_resamples : int, default=50
        How many times the samples are halved: there are twice as many fits.
    groups : array-like of shape (n_samples,), optional
        Which rows belong together, such as several rows of one patient. It is groups that are
        halved then, and ``fit`` is given them where it takes ``groups``.
    n_jobs : int or None, default=None
        Processes, which fit a half each; -1 for all cores. The result does not depend on it.
    executor : dask.distributed.Client, address or None, default=None
        Who computes: the workers of a Dask cluster fit a half each. The result does not depend on
        it.
    random_state : int, RandomState, Generator or None, default=None
        Draws the halves, and the seeds of the selectors. The same seed gives the same result.
    checkpoint : path or None, default=None
        A file that holds what was chosen from the finished halves. Killed at any moment and called
        again with the same data and parameters, it goes on from there and ends with the same
        result. A checkpoint of anything else is refused.
    verbose : int, default=0
        1: tell how far it is, on standard error.

    Returns
    -------
    Stability
        A frozen record: frequencies, sets, an index with its interval, and how many false columns
        a threshold lets in.

    See Also
    --------
    MISelector : A selector.
    permutation_test : How sure a single column is.

    Notes
    -----
    What is measured is a selector that has half of the samples: from all of them it chooses more.
    Of columns that could stand in for each other, one half chooses this one and the next half
    that one; each may be rare although one of them is in every set.

    Rows in order of time cannot be halved at random: neighbours would be torn apart, and there
    are only two halves without a seam. ``MISelector(series=True)`` is refused. Cut the series into
    stretches that are long compared with its memory, and pass these as ``groups``.

    The bounds of integrated path stability selection [2]_ need a path of penalties, which a
    selector need not have; they are not used.

    References
    ----------
    .. [1] R. D. Shah and R. J. Samworth (2013). Variable selection with error control: another
       look at stability selection. https://doi.org/10.1111/j.1467-9868.2011.01034.x
    .. [2] O. Melikechi and J. W. Miller (2025). Integrated path stability selection.
       https://doi.org/10.1080/01621459.2025.2525589

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from infosieve import MISelector, stability
    >>> rng = np.random.default_rng(2)
    >>> X = pd.DataFrame(rng.uniform(size=(200, 5)), columns=list("abcde"))
    >>> y = np.sin(6 * X["b"]) + X["d"] ** 2 + 0.1 * rng.normal(size=200)
    >>> result = stability(MISelector(), X, y, n_resamples=10, random_state=0)
    >>> result.to_frame()[["feature", "frequency", "stable"]]
      feature  frequency  stable
    0       a       0.05   False
    1       b       1.00    True
    2       c       0.00   False
    3       d       1.00    True
    4       e       0.00   False
    """
    _check_selector(selector, executor)
    settings = StabilitySettings.of(locals())
    seed = seed_of(random_state)
    asked = {name: settings.asked[name] for name in ("n_resamples", "n_jobs", "checkpoint")}
    with claimed(checkpoint), Progress(verbose) as progress:
        samples = _opened(selector, X, y, groups)
        provenance = _provenance(selector, samples, seed, asked)
        kept = None
        if checkpoint is not None:
            kept = _HalvesCheckpoint(checkpoint, provenance, random_state is None)
            provenance = kept.provenance
        halves = _halves(samples, n_resamples, provenance.seed)
        chosen = _choose(samples, halves, kept, n_jobs, executor, progress)
    empty = sum(not half for half in chosen)
    if empty:
        warn(f"From {empty} of {len(chosen)} halves nothing was selected.")
    return Stability(features=tuple(samples.names), chosen=tuple(chosen), provenance=provenance)


# ---- what is asked


def _check_selector(selector: BaseEstimator, executor: Any) -> None:
    last = selector.steps[-1][1] if isinstance(selector, Pipeline) else selector
    known = hasattr(selector, "get_params") and hasattr(last, "get_support")
    if isinstance(selector, type) or not known:
        raise TypeError(
            f"{parameter('selector')} must be an estimator that selects columns (with "
            "'get_support'), such as MISelector(); of a model with weights SelectFromModel(model), "
            f"of a pipeline the part that ends in a selector. Got {shown(selector)} instead."
        )
    if not isinstance(last, MISelector):
        return
    settings_of(last)
    if last.series is not False:
        raise ValueError(
            f"MISelector(series={last.series!r}) cannot be given halves: rows in order of time "
            "would be torn apart. Pass series=False, and as 'groups' the numbers of stretches that "
            "are long compared with the memory of the series: groups=np.arange(n) // 50."
        )
    if last.checkpoint is not None:
        raise ValueError(
            "The selector has a 'checkpoint', which all halves would share. Pass it to stability "
            "instead, and None to the selector."
        )
    if executor is not None and last.executor is not None:
        raise ValueError(
            "Both stability and the selector have an 'executor'. Pass it to stability, whose "
            "workers fit a half each, or to the selector, whose halves come one after the other."
        )


@dataclass(frozen=True, kw_only=True)
class _Samples:
    """What is halved.

    ``strata`` are the classes of the samples, or of the groups where there are some.
    """

    selector: Any
    X: Any
    y: Any
    groups: IntArray | None
    names: list[Any]
    strata: IntArray
    data: str
    n_samples: int
    n_left_out: int


def _opened(selector: BaseEstimator, X: object, y: object, groups: object) -> _Samples:
    """Everything that can be refused before a half is fitted."""
    check_x(X)
    if isinstance(X, ColumnSource) or issparse(X):
        kind = "a sparse matrix" if issparse(X) else "a table on disk"
        call = "X.toarray()" if issparse(X) else "X.read(), or of some columns X[names].read()"
        raise TypeError(f"X is {kind}; stability takes halves of its rows, in memory. Pass {call}.")
    source = as_source(X)
    X = X if source is None else source.read()  # of an Arrow table, a frame
    last = selector.steps[-1][1] if isinstance(selector, Pipeline) else selector
    settings = settings_of(last) if isinstance(last, MISelector) else Settings()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the halves will say the same
        problem = open_problem(X, y, settings, groups=groups)
    x, target, rows = problem.x, problem.y, problem.rows
    if problem.n_left_out:
        gaps = "no target"
        if settings.missing == "drop":
            gaps += f", or gaps ({setting('missing', 'drop')})"
        n = rows.size + problem.n_left_out
        text = f"{problem.n_left_out} of {n} samples have {gaps}, and are left out."
        warn(text, about="samples left out")
    numbers = problem.together.groups
    strata = _classes(target)
    if numbers is not None:
        strata = _most_common(strata, numbers)
    if strata.size < _FEWEST:
        what = "samples" if numbers is None else "groups"
        raise ValueError(
            f"{strata.size} {what} cannot be halved: each half needs two at least. There must be "
            f"{_FEWEST} {what} or more."
        )
    return _Samples(
        selector=selector,
        X=_safe_indexing(X, rows),
        y=_safe_indexing(y, rows),
        groups=numbers,
        names=x.names,
        strata=strata,
        data=fingerprint(x, target, groups=numbers),
        n_samples=x.n_samples,
        n_left_out=problem.n_left_out,
    )


def _classes(target: Table) -> IntArray:
    """The class of each sample; all are of one where the target is a number."""
    codes = np.zeros(target.n_samples, np.int64)
    for values, categorical in zip(target.values, target.categorical, strict=True):
        distinct, own = np.unique(values, return_inverse=True)
        whole = bool((distinct == np.rint(distinct)).all())
        if categorical or (whole and distinct.size <= CLASS_CODES[1]):
            codes = np.unique(codes * distinct.size + own, return_inverse=True)[1]
    return codes


def _most_common(strata: IntArray, groups: IntArray) -> IntArray:
    """The class that most rows of each group have."""
    counts = np.zeros((groups.max() + 1, strata.max() + 1), np.int64)
    np.add.at(counts, (groups, strata), 1)
    return np.asarray(counts.argmax(axis=1), np.int64)


# ---- where a result comes from


def _provenance(
    selector: BaseEstimator, samples: _Samples, seed: int, asked: Mapping[str, Any]
) -> Provenance:
    parameters: dict[str, Any] = {"selector": type(selector).__name__}
    for name, value in sorted(selector.get_params(deep=True).items()):
        if name.rpartition("__")[2] not in OF_NO_MATTER:
            parameters[f"selector__{name}"] = portable(value)
    parameters |= asked
    if samples.groups is not None:
        parameters["groups"] = samples.strata.size
    return Provenance(
        data=samples.data,
        n_samples=samples.n_samples,
        seed=seed,
        parameters=parameters,
        versions=dict(versions()),
        code=_code(selector, asked["n_resamples"], samples.groups is not None, seed),
        n_left_out=samples.n_left_out,
    )


def _code(selector: BaseEstimator, n_resamples: int, grouped: bool, seed: int) -> str:
    """The call that gives the result again."""
    lines = import_lines(imports_of(selector, {"infosieve": {"stability"}}))
    arguments = [written(selector), "X", "y", *(["groups=groups"] if grouped else [])]
    arguments += [f"n_resamples={n_resamples}"] if n_resamples != 50 else []
    return f"{lines}\n\nstability({', '.join(arguments)}, random_state={seed})"


class _HalvesCheckpoint(Checkpoint):
    """What was chosen from the halves, in a file."""

    _schema, _version, _items = "stability-checkpoint", 1, "halves"
    _kind = tuple[int, ...]


# ---- halves


@dataclass(frozen=True, kw_only=True)
class _Half:
    """Some rows, and the seed of whoever chooses from them; ``number`` counts from 1."""

    number: int
    rows: IntArray
    seed: int


def _halves(samples: _Samples, n_resamples: int, seed: int) -> Iterator[_Half]:
    """Pair after pair; each has random numbers of its own."""
    for pair in range(n_resamples):
        rng = np.random.default_rng([seed, pair])
        both = _halved(samples.strata, rng)
        seeds = rng.integers(2**31, size=2)
        for which, units in enumerate(both):
            rows = units
            if samples.groups is not None:
                rows = np.flatnonzero(np.isin(samples.groups, units))
            yield _Half(number=2 * pair + which + 1, rows=rows, seed=int(seeds[which]))


def _halved(strata: IntArray, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Two halves without a common unit, of one size; of an odd number, a random one is left out.

    Units of one stratum are dealt in turn, so each stratum is halved up to one unit.
    """
    order = rng.permutation(strata.size)[: strata.size // 2 * 2]
    places = rng.permutation(strata.max() + 1)
    order = order[np.argsort(places[strata[order]], kind="stable")]
    return np.sort(order[0::2]), np.sort(order[1::2])


def _choose(
    samples: _Samples,
    halves: Iterator[_Half],
    kept: _HalvesCheckpoint | None,
    n_jobs: int | None,
    executor: Any,
    progress: Progress,
) -> list[tuple[int, ...]]:
    """What is chosen from each half; those that a checkpoint has are not fitted again."""
    every = list(halves)
    chosen: list[tuple[int, ...]] = [] if kept is None else list(kept.items)[: len(every)]
    if chosen:
        progress.say(f"{len(chosen)} halves are in the checkpoint")
    progress.begin("halves", len(every))
    said: Counter[tuple[str, str]] = Counter()
    try:
        for columns, texts in _fitted(samples, every[len(chosen) :], n_jobs, executor, progress):
            chosen.append(columns)
            said.update(set(texts))
            if kept is not None:
                kept.keep(chosen)
            progress.advance(len(chosen), len(every))
    except (KeyboardInterrupt, WorkersLostError) as error:
        if kept is not None:  # if it came before the last was written
            kept.keep(chosen)
        text = f"{len(chosen)} halves were finished{LOST if kept is None else ''}"
        path = None if kept is None else kept.path
        raise broken_off(error, "stability", text, path) from error
    _tell(said, len(every))
    return chosen


def _fitted(
    samples: _Samples, halves: list[_Half], n_jobs: int | None, executor: Any, progress: Progress
) -> Iterator[tuple[tuple[int, ...], list[tuple[str, str]]]]:
    """What is chosen from each half, in their order, and what was warned of."""
    if executor is not None:
        with executor_of(executor, n_jobs, progress) as workers:
            shared = workers.share(samples)
            jobs = ((1, (shared, half, True, spoken())) for half in halves)
            yield from workers.map(_fit, jobs)
        return
    n_processes = min(Threads(n_jobs).n_workers, len(halves))
    if n_processes < 2:
        yield from (_fit(None, samples, half, False, spoken()) for half in halves)
        return
    processes = Parallel(n_processes, backend="loky", return_as="generator")
    yield from processes(delayed(_fit)(None, samples, half, True, spoken()) for half in halves)


def _fit(
    _: Any, samples: _Samples, half: _Half, beside_others: bool, dialect: Dialect
) -> tuple[tuple[int, ...], list[tuple[str, str]]]:
    """Fit a clone on a half: what it chooses, and what it warns of.

    ``beside_others``: other halves are fitted at the same time, so one thread must do. ``dialect``:
    the words of the process that asks.
    """
    selector = clone(samples.selector)
    own = {"random_state": half.seed} | ({"n_jobs": 1} if beside_others else {})
    names = selector.get_params(deep=True)
    ends = {name: name.rpartition("__")[2] for name in names}
    selector.set_params(**{name: own[end] for name, end in ends.items() if end in own})
    X, y = _safe_indexing(samples.X, half.rows), _safe_indexing(samples.y, half.rows)
    also = {} if samples.groups is None else _groups_of(selector, samples.groups[half.rows])
    # The result says of all halves together from how many nothing was chosen.
    with speaking(dialect), unsaid("nothing selected"), _ear.listening() as texts:
        try:
            chosen = _chosen(selector.fit(X, y, **also), samples.names)
        except Exception as error:
            raise ValueError(
                f"The selector failed on half {half.number} ({half.rows.size} of "
                f"{samples.n_samples} samples): {first_line(error)}"
            ) from error
    return chosen, texts


def _groups_of(selector: BaseEstimator, groups: IntArray) -> dict[str, Any]:
    """As an argument of ``fit``, where that takes groups."""
    last, prefix = selector, ""
    if isinstance(selector, Pipeline):
        name, last = selector.steps[-1]
        prefix = f"{name}__"
    return {f"{prefix}groups": groups} if has_fit_parameter(last, "groups") else {}


def _chosen(fitted: Any, names: list[Any]) -> tuple[int, ...]:
    """The numbers of the columns that a fitted selector has chosen."""
    if not isinstance(fitted, Pipeline):
        return tuple(np.flatnonzero(fitted.get_support()).tolist())
    if not all(isinstance(name, str) for name in names):
        names = [f"x{j}" for j in range(len(names))]  # as scikit-learn calls them
    places = {name: j for j, name in enumerate(names)}
    found = fitted.get_feature_names_out().tolist()
    others = [name for name in found if name not in places]
    if others:
        raise ValueError(
            f"a step of the pipeline makes columns of its own ({shown(others[0])}), so it cannot "
            "be said which columns of X are chosen. Make them first, and pass them as X"
        )
    return tuple(sorted(places[name] for name in found))


# ---- what halves warn of: many of the same, told once


class _Ear:
    """Hears warnings of halves, which then reach nobody else.

    Filters of warnings belong to the process, and several of its threads may fit halves (a Dask
    worker has some): who comes first changes the filters, who leaves last puts them back. A
    warning may be noted for another half of the same time.
    """

    def __init__(self) -> None:
        self._lock, self._n, self._log = threading.Lock(), 0, list[Any]()
        self._catching: Any = None

    @contextmanager
    def listening(self) -> Iterator[list[tuple[str, str]]]:
        """A list that has the texts afterwards, each with its subject."""
        texts: list[tuple[str, str]] = []
        with self._lock:
            if self._n == 0:
                self._catching = warnings.catch_warnings(record=True)
                self._log = self._catching.__enter__()
                warnings.simplefilter("always")
            self._n += 1
        try:
            yield texts
        finally:
            with self._lock:
                for one in self._log:
                    subject = subject_of(one.message, one.category, one.filename, one.lineno)
                    texts.append((str(one.message), subject))
                self._log.clear()
                self._n -= 1
                if self._n == 0:
                    self._catching.__exit__(None, None, None)


_ear = _Ear()


def _tell(said: Counter[tuple[str, str]], n_halves: int) -> None:
    """Warn once of what halves have warned of."""
    texts = said.most_common()
    for (text, subject), times in texts[:_TOLD]:
        warn(text, about=subject, apart=f"{times} of {n_halves} halves: ")
    if len(texts) > _TOLD:
        warn(f"Halves warned of {len(texts) - _TOLD} more things; fit the selector to see them.")
