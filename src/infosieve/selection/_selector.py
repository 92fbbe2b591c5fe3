"""MISelector: feature selection as a scikit-learn estimator."""

import warnings
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from infosieve._core.files import printable
from infosieve._core.parameters import (
    check_alpha,
    check_choice,
    check_count,
    check_jobs,
    check_method,
    check_neighbors,
    check_permutations,
    check_x,
    is_int,
)
from infosieve._core.progress import Progress
from infosieve._core.types import (
    Columns,
    ColumnSet,
    Engine,
    Executor,
    Method,
    Metric,
    Neighbors,
    Scale,
)
from infosieve._engines.devices import Device, check_device, engine_of, require_device
from infosieve._executors import KeepsExecutor, WorkersLostError, executor_of
from infosieve._input.duplicates import find_duplicates
from infosieve._input.problem import (
    excerpt_of,
    prepare_tables,
    provenance_of,
    read_tables,
    remember_columns,
    warn_of_identifiers,
    warn_of_singletons,
)
from infosieve._resampling.permutations import seed_of
from infosieve._scoring.jobs import Scoring
from infosieve._scoring.measure import Measure
from infosieve._sources.columns import as_source
from infosieve.estimators._choice_of_k import N_FOLDS, choose, default_range
from infosieve.results import Provenance, SelectionResult, Step
from infosieve.selection._checkpoint import Checkpoint, claimed
from infosieve.selection._search import Rules, Search, Stop, share
from infosieve.significance._permutation_test import MEASURED, Correction, Null, Resample, cv_folds

# Averaged over more K than a plain estimate, by evidence: docs/default.md.
DEFAULT_NEIGHBORS = (3, 15)


class MISelector(SelectorMixin, KeepsExecutor, BaseEstimator):  # type: ignore[misc]
    """Select the columns that tell something about the target, and no more than that.

    Columns are added one after the other, each time the one that tells most beyond those
    selected already, until a permutation test finds that the best one left tells no more
    than chance.

    Parameters
    ----------
    n_neighbors : int, pair of ints or "auto", default=(3, 15)
        The smoothing parameter K, a range of K whose estimates are averaged (the default is
        capped by the sample), or "auto": chosen from the data by :func:`choose_k`. After
        that choice the tests accept more than they should (see Notes).
    criterion : {"cmi", "mi"}, default="cmi"
        What candidates are ranked and tested by: what they add, I(X; Y | selected), or the
        information of the whole set, MI(selected and X; Y).
    search : {"forward", "forward-backward"}, default="forward"
        Whether, after each addition, one earlier column may be removed again.
    removal : {"test", "mi"}, default="test"
        Which: one that a test at ``alpha`` finds to tell nothing beyond the others, or one
        without which the information of the set rises.
    stop : {"fdr", "permutation", "max-mi"} or None, default="fdr"
        When to stop. "permutation": when p > ``alpha``. "fdr": when the mean of -log(1 - p)
        over the steps exceeds ``alpha``, or p exceeds ``2 * alpha``. That keeps the chance to
        select anything where nothing matters below ``alpha``, and aims at the same for the
        share of false features; sure steps leave more room to later ones. "max-mi": when the
        information of the set falls. None: never, up to the number of features asked for.
    null : {"local", "global"}, default="local"
        What a candidate is compared with: copies that follow the selected columns as it does,
        the rest permuted among samples that are alike in these, so that only what it tells
        beyond them counts; or copies permuted at will, the published test, which redundant
        columns pass, too.
    correction : {"max"} or None, default="max"
        "max": compare with the best of all permuted candidates, because the candidate is the
        best of all. None: with permuted copies of the candidate alone, the published test.
    resample : {"cv"} or None, default=None
        "cv": single columns are tested by means of estimates without each of 20 folds of the
        samples.
    alpha : float, default=0.05
        The level of the tests.
    n_permutations : int, default=199
        The number of permutations. A test ends early when its outcome is certain.
    n_features_to_select : int or None, default=None
        Select that many, whatever the tests say.
    min_features, max_features : int, default=0 and None
        Select at least and at most that many. What is kept only to reach ``min_features`` is
        marked as not significant in ``path_``.
    method, metric, scale, discrete_features, discrete_target
        As in :func:`mutual_information`.
    lookahead : {1, 2}, default=2
        2: when no single column passes, try pairs, for columns that matter only together (such
        as a and b in y = sign(a * b)): those among the 64 columns that add most. Single columns
        are then tested at three quarters of the level, pairs at one quarter, always against
        the best of all permuted pairs. Without a stop there is nothing to fail, and no pairs.
    n_jobs : int or None, default=None
        Threads; -1 for all cores. The result does not depend on it.
    executor : dask.distributed.Client, address or None, default=None
        Who computes: the workers of a Dask cluster, or threads of this process. The result does
        not depend on it.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where it is computed: on the CPU, on an NVIDIA GPU (``infosieve[gpu]``), or on the GPU if
        there is one and the work is large enough. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Draws the permutations. The same seed gives the same result.
    checkpoint : path or None, default=None
        A file that holds the finished steps. Killed at any moment and called again with the same
        data and parameters, ``fit`` goes on from there and ends with the same result, bit by
        bit. A checkpoint of anything else is refused, and so is one that another process uses.
    verbose : int, default=0
        1: tell each step, and how far a long one is, on standard error.

    Attributes
    ----------
    support_ : ndarray of bool, of shape (n_features_in_,)
    selected_ : ndarray of int
        The selected columns in the order of their selection.
    path_ : DataFrame
        A row for each step: action, feature, information of the set (nats), gain, p-value
        and the level it was held against, exceedances, quantiles of the permuted values,
        candidates tried, samples left out. Where a test ended the search, the last row is the
        candidate that did not pass.
    result_ : SelectionResult
        All of it, as a frozen record.
    relevance_ : ndarray of shape (n_features_in_,)
        Information of each column alone, in nats.
    n_neighbors_ : tuple of int
        The range of K.
    k_choice_ : KChoice or None
        What K was chosen from.
    duplicates_ : dict
        For the first column of a group that says the same (equal, shifted, scaled or negated;
        with normal scores also any monotone image), the others: they are scored once, and
        only the first can be selected.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The procedure of Verleysen, Rossi and François (2009) is ``MISelector(n_neighbors="auto",
    criterion="mi", stop="permutation", null="global", correction=None, lookahead=1)``, but for
    p = (b + 1) / (P + 1), which was b / P.

    With ``n_neighbors="auto"`` the same target chooses K and is tested: among ten columns of
    noise, the first step then passes in 9 % of cases at alpha = 0.05.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from infosieve import MISelector
    >>> rng = np.random.default_rng(1)
    >>> X = pd.DataFrame(rng.uniform(size=(200, 5)), columns=list("abcde"))
    >>> y = np.sin(6 * X["b"]) + X["d"] ** 2 + 0.1 * rng.normal(size=200)
    >>> selector = MISelector(random_state=0).fit(X, y)
    >>> selector.get_feature_names_out()
    array(['b', 'd'], dtype=object)
    >>> selector.path_[["action", "feature", "p_value", "early_stopped"]].head(2)
      action feature  p_value  early_stopped
    0    add       b    0.005          False
    1    add       d    0.005          False
    """

    def __init__(
        self,
        n_neighbors: Neighbors | Literal["auto"] = DEFAULT_NEIGHBORS,
        *,
        criterion: Literal["cmi", "mi"] = "cmi",
        search: Literal["forward", "forward-backward"] = "forward",
        removal: Literal["test", "mi"] = "test",
        stop: Stop = "fdr",
        null: Null = "local",
        correction: Correction = "max",
        resample: Resample = None,
        alpha: float = 0.05,
        n_permutations: int = 199,
        n_features_to_select: int | None = None,
        min_features: int = 0,
        max_features: int | None = None,
        method: Method = "ksg1",
        metric: Metric = "euclidean",
        scale: Scale = "standard",
        discrete_features: Any = "auto",
        discrete_target: Any = "auto",
        lookahead: Literal[1, 2] = 2,
        n_jobs: int | None = None,
        executor: Any = None,
        device: Device = "cpu",
        random_state: Any = None,
        checkpoint: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.criterion = criterion
        self.search = search
        self.removal = removal
        self.stop = stop
        self.null = null
        self.correction = correction
        self.resample = resample
        self.alpha = alpha
        self.n_permutations = n_permutations
        self.n_features_to_select = n_features_to_select
        self.min_features = min_features
        self.max_features = max_features
        self.method = method
        self.metric = metric
        self.scale = scale
        self.discrete_features = discrete_features
        self.discrete_target = discrete_target
        self.lookahead = lookahead
        self.n_jobs = n_jobs
        self.executor = executor
        self.device = device
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> "MISelector":
        """Select columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or ColumnSource
            The columns: an array, a frame, or a table that stays on disk (:func:`open_columns`,
            a memory map).
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The target: numbers, or categories.

        Returns
        -------
        MISelector
            Itself. Interrupted (Ctrl-C), it keeps the steps that were finished, says so, and
            raises KeyboardInterrupt.
        """
        seed = self._check_parameters()
        if y is None:
            raise ValueError(
                "This MISelector estimator requires y to be passed, but the target y is None."
            )
        check_x(X)
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)  # of an earlier fit
        with (
            claimed(self.checkpoint),
            Progress(self.verbose) as progress,
            executor_of(self.executor, self.n_jobs, progress) as executor,
        ):
            self._fit(X, y, seed, executor, progress)
        return self

    def _fit(self, X: Any, y: Any, seed: int, executor: Executor, progress: Progress) -> None:
        require_device(self.device, executor)
        declared = self.discrete_features, self.discrete_target
        tables = read_tables(X, y, None, *declared, self.scale, executor)
        remember_columns(self, X)
        rules = self._rules(tables[0], seed)
        engine = self._engine(tables[0], rules, executor)
        if self.device != "cpu":
            progress.say(f"computing on {engine.name}")
        used = {"executor": executor.text, "device": engine.name}
        provenance = provenance_of(tables, seed, self.get_params(deep=False) | used, MISelector)
        checkpoint = None
        if self.checkpoint is not None:
            any_seed, m = self.random_state is None, tables[0].n_columns
            checkpoint = Checkpoint(self.checkpoint, provenance, any_seed, m)
            provenance = checkpoint.provenance
        rules = replace(rules, seed=provenance.seed)
        x, target = prepare_tables(tables, self.scale, executor.here, with_order=True)
        scoring = Scoring(x, executor)
        measure = self._measure(tables[0], scoring, target, provenance, engine)
        self.duplicates_ = find_duplicates(x)
        copies = {j for group in self.duplicates_.values() for j in group}
        constant = x.constant
        candidates = [j for j in range(x.n_columns) if not constant[j] and j not in copies]
        if not candidates:
            raise ValueError(
                f"All {x.n_columns} columns of X are constant: there is nothing to select. Check "
                "that these are the right columns and rows."
            )
        if len(candidates) < rules.min_features:
            raise ValueError(
                f"{rules.min_features} features are asked for, but only {len(candidates)} columns "
                "of X vary and differ from each other. Ask for fewer (min_features, "
                "n_features_to_select)."
            )
        folds = cv_folds(self.resample, provenance.seed, x.n_samples)
        tested = measure if folds is None else replace(measure, folds=folds)
        search = Search(scoring, candidates, measure, tested, rules, self.metric, _ticker(progress))
        known = checkpoint.known(candidates) if checkpoint is not None else []
        try:
            if known:
                progress.say(f"{len(known)} steps are in the checkpoint")
                search.score_alone()
            for step in search.steps(known):
                if checkpoint is not None and len(search.path) > len(known):
                    checkpoint.write(search.path)
                progress.say(_told(step, tables[0]))
        except (KeyboardInterrupt, WorkersLostError) as error:
            self._keep(search, tables, x, provenance)
            kept = (
                f"the {len(search.path)} steps that were finished are kept: "
                f"{len(self.selected_)} features selected"
            )
            if checkpoint is not None:
                kept += f" (the checkpoint {self.checkpoint} has them; run again to go on)"
            if isinstance(error, KeyboardInterrupt):
                raise KeyboardInterrupt(f"fit was interrupted; {kept}") from None
            raise WorkersLostError(f"{error} fit was ended; {kept}.") from error
        self._keep(search, tables, x, provenance)
        warn_of_identifiers(tables[0], x)
        worst = max((step.singletons for step in search.path if step.action == "add"), default=0)
        warn_of_singletons(worst, x.n_samples)
        self._warn_of_nothing(search.path[-1], tables[0])

    def _check_parameters(self) -> int:
        check_choice(self.criterion, "criterion", MEASURED)
        check_choice(self.search, "search", ("forward", "forward-backward"))
        check_choice(self.removal, "removal", ("test", "mi"))
        check_choice(self.stop, "stop", ("fdr", "permutation", "max-mi", None))
        check_choice(self.null, "null", ("local", "global"))
        check_choice(self.correction, "correction", ("max", None))
        check_choice(self.resample, "resample", ("cv", None))
        check_count(self.n_permutations, "n_permutations", 1)
        check_method(self.method, self.metric, self.scale, conditional=False)
        if self.criterion == "cmi" and self.method == "ksg2":
            raise ValueError(
                "The 'method' parameter must be 'ksg1' with criterion='cmi': conditional "
                "information is defined for that form only. Got 'ksg2' instead; use "
                "criterion='mi' with it."
            )
        check_alpha(self.alpha)
        check_count(self.n_features_to_select, "n_features_to_select", 1, optional=True)
        check_count(self.min_features, "min_features", 0)
        check_count(self.max_features, "max_features", 1, optional=True)
        if not is_int(self.lookahead) or self.lookahead not in (1, 2):
            raise ValueError(f"The 'lookahead' parameter must be 1 or 2. Got {self.lookahead!r}.")
        removes = self.search == "forward-backward" and self.removal == "test"
        if self.stop in ("fdr", "permutation"):
            level = self.alpha if self.stop == "permutation" else -np.expm1(-self.alpha)
            pairs = self.lookahead == 2
            check_permutations(
                self.n_permutations,
                level * share(self.lookahead, of_pairs=pairs),
                " for pairs (lookahead=1 leaves them out)" if pairs else "",
            )
        elif removes:
            check_permutations(self.n_permutations, self.alpha, " for removals")
        check_jobs(self.n_jobs)
        check_device(self.device)
        return seed_of(self.random_state)

    def _rules(self, table: Any, seed: int) -> Rules:
        """The parameters that depend on the number of columns, and the rest."""
        m = table.n_columns
        most = m if self.max_features is None else min(self.max_features, m)
        least = self.min_features
        if self.n_features_to_select is not None:
            least = most = self.n_features_to_select
        for name in ("n_features_to_select", "min_features"):
            value = getattr(self, name)
            if value is not None and value > m:
                raise ValueError(
                    f"The {name!r} parameter asks for {value} features, but X has {m} columns."
                )
        if least > most:
            raise ValueError(
                f"The 'min_features' parameter ({least}) must not exceed 'max_features' ({most})."
            )
        return Rules(
            self.search == "forward-backward",
            self.removal,
            self.stop,
            self.null,
            self.correction,
            float(self.alpha),
            self.n_permutations,
            least,
            most,
            self.lookahead,
            seed,
        )

    def _range_of_k(self, n_samples: int) -> tuple[tuple[int, int], bool]:
        """The range of K, and whether one of them is still to be chosen."""
        if isinstance(self.n_neighbors, str) and self.n_neighbors == "auto":
            return default_range(n_samples), True
        also = ", or 'auto'"
        return check_neighbors(self.n_neighbors, n_samples, DEFAULT_NEIGHBORS, also), False

    def _engine(self, table: Any, rules: Rules, executor: Executor) -> Engine:
        """What scores; a step of many columns and permutations is what may need a GPU."""
        scored = table.n_columns
        if rules.tested:
            scored += rules.n_permutations * (table.n_columns if rules.correction == "max" else 1)
        ks, _ = self._range_of_k(table.n_samples)
        return engine_of(self.device, executor, table.n_samples, scored, ks[1])

    def _measure(
        self, table: Any, scoring: Scoring, target: Columns, provenance: Provenance, engine: Engine
    ) -> Measure:
        """How candidates are measured, K having been chosen."""
        self.k_choice_ = None
        ks, auto = self._range_of_k(scoring.x.n_samples)
        measure = Measure(target, "mi", self.method, self.metric, ks, engine)
        if auto:
            self.k_choice_ = choose(scoring, table.names, measure, N_FOLDS, provenance, depth=3)
            ks = (self.k_choice_.k,) * 2
        self.n_neighbors_ = ks
        return replace(measure, criterion=MEASURED[self.criterion], n_neighbors=ks)

    def _keep(
        self, search: Search, tables: list[Any], x: ColumnSet, provenance: Provenance
    ) -> None:
        self.selected_ = np.array(search.selected, dtype=np.intp)
        self.support_ = np.zeros(x.n_columns, dtype=bool)
        self.support_[self.selected_] = True
        self.relevance_ = np.zeros(x.n_columns)
        if search.first is not None:
            self.relevance_[search.candidates] = search.first.averaged
        for first, others in self.duplicates_.items():
            self.relevance_[list(others)] = self.relevance_[first]
        self.result_ = SelectionResult(
            selected=tuple(search.selected),
            features=tuple(tables[0].names),
            steps=tuple(search.path),
            relevance=self.relevance_,
            n_neighbors=self.n_neighbors_,
            duplicates=dict(self.duplicates_),
            constant=tuple(np.flatnonzero(x.constant).tolist()),
            stop_reason=search.stop_reason,
            k_choice=self.k_choice_,
            excerpt=excerpt_of(tables, search.selected),
            provenance=provenance,
        )
        self.path_ = self.result_.to_frame()

    def _warn_of_nothing(self, best: Step, table: Any) -> None:
        if self.selected_.size:
            return
        names = " and ".join(repr(table.names[j]) for j in best.features)
        verdict = "it adds nothing"
        if best.p_value is not None:
            sign = ">=" if best.early_stopped else "="
            verdict = (
                f"p {sign} {best.p_value:.3g}, allowed are {best.level:.3g} "
                f"({best.exceedances} of {best.n_permutations} permutations reach it)"
            )
        warnings.warn(
            f"No column was selected: the best of {best.n_candidates} candidates, {names} "
            f"({best.mi:.3g} nats), does not pass: {verdict} (stop={self.stop!r}, "
            f"alpha={self.alpha}). transform gives zero columns; min_features=1 keeps the best.",
            UserWarning,
            stacklevel=4,
        )

    def transform(self, X: Any) -> Any:
        """The selected columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or ColumnSource
            The columns of ``fit``. Of a table that stays on disk, only the selected ones are
            read.

        Returns
        -------
        ndarray of shape (n_samples, n_selected), or DataFrame
            A frame for a source with names, or where ``set_output`` says so.
        """
        check_is_fitted(self)
        source = None if isinstance(X, np.ndarray) else as_source(X)
        if source is None:
            return super().transform(X)
        remember_columns(self, source, reset=False)
        return source.read(np.flatnonzero(self.support_))

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _told(step: Step, table: Any) -> str:
    """A step in words."""
    names = " and ".join(printable(table.names[j]) for j in step.features)
    text = f"{step.action} {names} (best of {step.n_candidates}): {step.mi:.3f} nats"
    if step.p_value is not None:
        text += f", p {'>=' if step.early_stopped else '='} {step.p_value:.3g}"
    return text


def _ticker(progress: Progress) -> Any:
    """What a search tells of its permutations: None where nobody listens."""
    if not progress.verbose:
        return None
    current = 0

    def tick(step: int, done: int, total: int) -> None:
        nonlocal current
        if step != current or done == 0:
            current = step
            progress.begin(f"step {step}, permutations", total)
        progress.advance(done, total)

    return tick
