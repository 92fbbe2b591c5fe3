"""MISelector: feature selection as a scikit-learn estimator."""

from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from infosieve._core.dialect import either, setting
from infosieve._core.formats import p_text
from infosieve._core.messages import warn
from infosieve._core.model_text import PAIRS
from infosieve._core.progress import Progress
from infosieve._core.rules import check_x, is_int
from infosieve._core.settings import (
    DEFAULT_NEIGHBORS,
    OF_NO_MATTER,
    Correction,
    Null,
    Resample,
    SelectorSettings,
    StatisticName,
    Stop,
    screen_size,
)
from infosieve._core.types import (
    BoolArray,
    ColumnNumbers,
    Device,
    Executor,
    FloatArray,
    IntArray,
    Method,
    Metric,
    Missing,
    Neighbors,
    Scale,
)
from infosieve._executors import KeepsExecutor, WorkersLostError
from infosieve._input.named import remember_columns
from infosieve._input.notices import (
    warn_of_identifiers,
    warn_of_singletons,
    warn_of_the_target,
)
from infosieve._input.problem import AnyTable, Problem
from infosieve._sources import as_source, run_once
from infosieve._study.provenance import excerpt_of, plain_parameter
from infosieve._study.study import Study
from infosieve.results import CVScores, Provenance, Remaining, SelectionResult, Step
from infosieve.results._facts import uncorrected
from infosieve.results._selection import alternatives_frame, cv_scores_frame, selected_by
from infosieve.selection._alternatives import find_alternatives
from infosieve.selection._checkpoint import (
    CVCheckpoint,
    Fold,
    SearchCheckpoint,
    broken_off,
    claimed,
)
from infosieve.selection._folds import digest_of, folds_of
from infosieve.selection._models import check_prediction
from infosieve.selection._prediction import (
    classes_asked,
    cross_validated,
    cut,
    refuse_numbers,
    trial_of,
    with_tests,
)
from infosieve.selection._progress import PermutationProgress, in_words, shorter
from infosieve.selection._search import Search, Strategy, remaining
from infosieve.selection._start import Selection, Start, begin, engine_for
from infosieve.selection._strategies import strategy_of


class MISelector(SelectorMixin, KeepsExecutor, BaseEstimator):  # type: ignore[misc]
    """Select the columns that are informative about the target, and not redundant.

    Columns are added one after the other, each time the one with the largest information about the
    target conditional on those selected already, until a permutation test finds that the best
    one left is not better than chance [1]_; or, with ``stop="cv"``, until more columns do not
    predict better.

    Parameters
    ----------
    n_neighbors : int, pair of ints or "auto", default=(3, 15)
        The smoothing parameter K, a range of K whose estimates are averaged (capped by the
        sample), or "auto": chosen from the data by :func:`choose_k`. After that choice the
        tests accept more than they should (see Notes).
    criterion : {"auto", "cmi", "mi", "cmim", "jmi"}, default="auto"
        What candidates are ranked by: I(X; Y | selected) ("cmi"), the information of the whole set
        ("mi"), or the least ("cmim" [7]_) or mean ("jmi" [8]_) of I(X; Y | s) over the selected
        columns s, which have no test and no pairs. "auto": "cmi"; with ``stop="cv"``, of "cmi" and
        "cmim" the one that predicts better.
    search : {"forward", "forward-backward"}, default="forward"
        Whether, after each addition, one earlier column may be removed again.
    removal : {"test", "mi"}, default="test"
        Which: one that a test at ``alpha`` finds to be uninformative given the others, or one
        without which the information of the set rises.
    stop : {"auto", "fdr", "permutation", "max-mi", "cv"} or None, default="auto"
        When to stop. "permutation": when p > ``alpha``. "fdr": when the mean of -log(1 - p)
        over the steps exceeds ``alpha`` (ForwardStop [5]_), or p exceeds ``2 * alpha``, so that
        sure steps leave more room to later ones. "max-mi": when the information of the set falls.
        None: never, up to the number of features asked for. "auto": "fdr", or no test if
        ``n_features_to_select`` is given. "cv": the fewest columns of a ranking whose
        cross-validated error exceeds the smallest by 5 % at most, certain or not; the ranking is
        made anew without each fold.
    model : estimator, {"neighbors", "trees", "support-vectors", "linear"} or None, default=None
        With ``stop="cv"``, what predicts: a regressor or classifier of scikit-learn's kind, which
        is given the columns of X as they are; a classifier says that the target has classes. Or a
        word, whatever the target has, for which columns are prepared: scaled, gaps filled,
        categories encoded. None: "neighbors" (five, weighted by distance), which learn from a
        random part of more than 10,000 samples.
    cv : int, splitter or iterable, default=5
        With ``stop="cv"``, the folds, as in scikit-learn. A number: so many, in random order, with
        the same share of each class; groups stay together, and of a series later rows are judged
        by earlier ones.
    scoring : str, callable or None, default=None
        With ``stop="cv"``, what predictions are judged by, as in scikit-learn. None: R² of numbers,
        accuracy of classes.
    test : bool, default=False
        With ``stop="cv"``, whether the chosen columns are tested as "fdr" would, in their order and
        up to the first that does not pass: ``path_`` then says which of them are certain.
    statistic : {"auto", "combined", "ksg"}, default="auto"
        What tests compare: several ways of asking at once, of what the selected columns leave of
        candidate and target ("combined"), or the estimate of information ("ksg"), which is reported
        in any case and by which pairs are tested. "auto": "combined", but "ksg" where ``null``,
        ``resample``, ``criterion="mi"`` or ``method`` ask for a test of estimates.
    null : {"local", "global"}, default="local"
        What a candidate is compared with. "local": surrogates that keep what a local linear fit
        on the selected columns predicts; the residuals are permuted among near samples [2]_
        [3]_. "global": columns permuted at will, the published test, which redundant columns
        pass, too.
    correction : {"max"} or None, default="max"
        "max": compare with the best of all permuted candidates, because the candidate is the
        best of all [4]_. None: with permutations of the candidate alone, the published test, which
        the best of many passes more often than its p-value says.
    resample : {"cv"} or None, default=None
        "cv": single columns are tested by means of estimates without each of 20 folds.
    alpha : float, default=0.05
        The significance level of the tests.
    n_permutations : int or "auto", default="auto"
        "auto": up to 199 permutations, and more for ``alpha`` below 0.05; a test ends as soon as
        it has surely passed or failed, and p is the exact probability to come as far by chance. A
        number: so many, p = (b + 1) / (n_permutations + 1) where b of them reach the candidate,
        and a test ends early only when it can no longer pass [6]_.
    screen : int, "auto" or None, default="auto"
        How many candidates of a step are estimated: the best by a table of counts, in each
        permutation anew, so the test stays valid. "auto": 32 for up to 1,000 samples, half of that
        for each fourfold, at least 8; of pairs, half as many. None: all.
    max_samples : int, float, "auto" or None, default="auto"
        Samples of one estimate, a number or a share: more are split at random into parts of at
        least that size, whose estimates are averaged. "auto": parts of 4,000 (from 8,000 samples
        on), at most 25 of them. None: all samples in one estimate.
    n_features_to_select : int or None, default=None
        Select that many, whatever tests would say.
    min_features, max_features : int, default=0 and None
        Select at least and at most that many; with ``stop="cv"``, None is 50. What is kept only to
        reach ``min_features`` is marked as not significant in ``path_``.
    method, metric, scale, discrete_features, discrete_target
        As in :func:`mutual_information`. Columns of text with more levels than half of the samples
        (identifiers) are left out, with a warning, unless they are declared discrete.
    missing : {"auto", "value", "median", "drop", "error"}, default="auto"
        What becomes of gaps in X (NaN, None, NA). "value": a gap is a value of its own, infinitely
        far from numbers. "median": filled with the median of the column. "auto": "value" for
        candidates; selected columns have medians, and beside them columns that say where gaps are.
        "drop": samples with gaps are left out. "error": gaps are refused. Samples without a target
        are left out, with a warning. :meth:`transform` passes gaps on.
    series : bool or int, default=False
        True: rows are in order of time. Rows that are near in time are not each other's neighbours,
        and surrogates are as persistent as their columns. A number says how near. See
        :func:`mutual_information`, also for a target that is not stationary.
    lookahead : {1, 2}, default=2
        2: when no single column passes, try pairs, for columns that are only jointly informative
        (such as a and b in y = sign(a * b)), among up to 1,024 columns. Single columns are tested
        at three quarters of the level, pairs at one quarter. Where nothing is tested,
        ``n_features_to_select`` and ``stop="cv"`` take a pair that adds more than twice what the
        best two single columns add. 1: no pairs.
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
        bit. A checkpoint of anything else is refused.
    verbose : int, default=0
        1: tell each step, and how far a long one is, on standard error.

    Attributes
    ----------
    support_ : ndarray of bool, of shape (n_features_in_,)
        Which columns are selected.
    selected_ : ndarray of int
        The selected columns in the order of their selection.
    path_ : DataFrame
        A row for each step, as ``result_.to_frame()`` has it. Where a test ended the search, the
        last row is the candidate that did not pass.
    result_ : SelectionResult
        All of it, as a frozen record.
    relevance_ : ndarray of shape (n_features_in_,)
        Marginal information of each column, in nats: that of :func:`relevance`, and 0 for columns
        that are left out.
    n_neighbors_ : tuple of int
        The range of K.
    k_choice_ : KChoice or None
        What K was chosen from.
    duplicates_ : dict
        For the first column of a group of duplicates (equal, shifted, scaled or negated; with
        normal scores also any monotone image), the others: they are scored once, and only the
        first can be selected.
    cv_scores_ : DataFrame
        After ``stop="cv"`` only: a row for each number of columns that was tried, with the columns
        that come to those of the row before (added, of the ranking of all samples), mean and
        standard error of the scores, the score of each fold (score_1, ...), whether this number was
        chosen, and whether what it adds is certain (NA where that was not tested).
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    permutation_test : The test of a step, on its own.
    relevance : Marginal information of each column.
    FeatureClustering : Redundant columns joined instead of left out.

    Notes
    -----
    The procedure of Verleysen, Rossi and François (2009) is ``MISelector(n_neighbors="auto",
    criterion="mi", stop="permutation", null="global", correction=None, lookahead=1)``, but for
    p = (b + 1) / (P + 1), which was b / P.

    With ``n_neighbors="auto"`` the same target chooses K and is tested: among ten columns of
    noise, the first step then passes in 9 % of cases at alpha = 0.05.

    Every number of ``path_`` can be had with one call: ``mi`` with ``mutual_information(X[names],
    y)``, ``gain`` with ``mutual_information(X[new], y, condition=X[before], criterion="cmi")``, the
    test with ``permutation_test(X, y, candidates, given=before, alpha=level, screen="auto",
    random_state=seed)`` (of a pair, with ``pairs=True``), each with the same ``missing``,
    ``groups`` and ``series``. (With ``missing="drop"``, pass the complete rows of all columns.)

    References
    ----------
    .. [1] M. Verleysen, F. Rossi and D. François (2009). Advances in feature selection with
       mutual information. https://doi.org/10.1007/978-3-642-01805-3_4
    .. [2] J. Runge (2018). Conditional independence testing based on a nearest-neighbor estimator
       of conditional mutual information. PMLR 84, 938-947.
    .. [3] D. Freedman and D. Lane (1983). A nonstochastic interpretation of reported significance
       levels. https://doi.org/10.1080/07350015.1983.10509354
    .. [4] P. H. Westfall and S. S. Young (1993). Resampling-based multiple testing. Wiley.
    .. [5] M. G. G'Sell, S. Wager, A. Chouldechova and R. Tibshirani (2016). Sequential selection
       procedures and false discovery rate control. https://doi.org/10.1111/rssb.12122
    .. [6] J. Besag and P. Clifford (1991). Sequential Monte Carlo p-values.
       https://doi.org/10.1093/biomet/78.2.301
    .. [7] F. Fleuret (2004). Fast binary feature selection with conditional mutual information.
       Journal of Machine Learning Research 5, 1531-1555.
    .. [8] H. H. Yang and J. Moody (1999). Data visualization and feature selection: new algorithms
       for nongaussian data. Advances in Neural Information Processing Systems 12.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from infosieve import MISelector
    >>> rng = np.random.default_rng(2)
    >>> X = pd.DataFrame(rng.uniform(size=(200, 5)), columns=list("abcde"))
    >>> y = np.sin(6 * X["b"]) + X["d"] ** 2 + 0.1 * rng.normal(size=200)
    >>> selector = MISelector(random_state=0).fit(X, y)
    >>> selector.get_feature_names_out()
    array(['b', 'd'], dtype=object)
    >>> selector.path_[["action", "feature", "p_value", "early_stopped"]].head(2)
      action feature   p_value  early_stopped
    0    add       b  0.015873           True
    1    add       d  0.022222           True
    """

    __metadata_request__fit: ClassVar[dict[str, Any]] = {
        "groups": True
    }  # as splitters of groups do

    def __init__(
        self,
        n_neighbors: Neighbors | Literal["auto"] = DEFAULT_NEIGHBORS,
        *,
        criterion: Literal["auto", "cmi", "mi", "cmim", "jmi"] = "auto",
        search: Literal["forward", "forward-backward"] = "forward",
        removal: Literal["test", "mi"] = "test",
        stop: Stop | Literal["auto"] = "auto",
        model: Any = None,
        cv: Any = 5,
        scoring: Any = None,
        test: bool = False,
        statistic: StatisticName = "auto",
        null: Null = "local",
        correction: Correction = "max",
        resample: Resample = None,
        alpha: float = 0.05,
        n_permutations: int | Literal["auto"] = "auto",
        screen: int | Literal["auto"] | None = "auto",
        max_samples: int | float | Literal["auto"] | None = "auto",
        n_features_to_select: int | None = None,
        min_features: int = 0,
        max_features: int | None = None,
        method: Method = "ksg1",
        metric: Metric = "euclidean",
        scale: Scale = "standard",
        discrete_features: Any = "auto",
        discrete_target: Any = "auto",
        missing: Missing = "auto",
        series: bool | int = False,
        lookahead: Literal[1, 2] = 2,
        n_jobs: int | None = None,
        executor: Any = None,
        device: Device = "cpu",
        random_state: Any = None,
        checkpoint: Any = None,
        verbose: int = 0,
    ) -> None:
        for name, value in locals().items():
            if name != "self":
                setattr(self, name, value)

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Select columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or ColumnSource
            The columns: an array, a frame, or a table that stays on disk (:func:`open_columns`,
            a memory map).
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The target: numbers, or categories.
        groups : array-like of shape (n_samples,), optional
            Which rows belong together, such as several rows of one patient: they are not each
            other's neighbours, and permutations are of groups (docs/how.md).

        Returns
        -------
        MISelector
            Itself. Interrupted (Ctrl-C), it keeps the steps that were finished, says so, and
            raises KeyboardInterrupt.
        """
        settings = settings_of(self)
        if y is None:
            raise ValueError(
                "This MISelector estimator requires y to be passed, but the target y is None."
            )
        check_x(X)
        X, y, groups = run_once(X, "X"), run_once(y, "y"), run_once(groups, "groups")
        if settings.by_model:
            refuse_numbers(settings, y)
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)  # of an earlier fit
        with claimed(self.checkpoint), Study.open(settings, X, y, groups=groups) as study:
            remember_columns(self, X)
            self._fit(study, X)
        return self

    def _fit(self, study: Selection, X: object) -> None:
        settings, problem, progress = study.settings, study.problem, study.progress
        strategy = strategy_of(settings, problem.x)
        engine = engine_for(study, strategy)
        if self.device != "cpu":
            progress.say(f"computing on {engine.name}")
        used: dict[str, Any] = {"device": engine.name}
        splits = folds_of(self.cv, problem) if settings.by_model else None
        if splits is not None:  # a checkpoint must not go on with others
            used["folds"] = digest_of(splits)
        asked = self._parameters() | {"executor": study.executor.text} | used
        provenance = study.provenance(MISelector, **asked)
        kept: Any = None
        if self.checkpoint is not None:
            kind = CVCheckpoint if settings.by_model else SearchCheckpoint
            kept = kind(self.checkpoint, provenance, self.random_state is None)
            provenance = kept.provenance
        start = begin(study, strategy, provenance, engine)
        search = start.search
        search.tick = self._listener(progress, strategy, problem.n_samples, study.executor)
        folds = list[Fold]()
        scores: CVScores | None = None
        left: Remaining | None = None
        if settings.by_model:
            trial = trial_of(study, X, search, splits)
            folds = cross_validated(trial, study, provenance, kept)
            scores = cut(search, trial, folds, self.checkpoint)
            progress.say(search.stop_reason)
        try:
            if scores is None:
                known = [] if kept is None else kept.items
                if known:
                    progress.say(f"{len(known)} steps are in the checkpoint")
                    search.alone()
                if strategy.tested and self.correction is None:
                    how = setting("correction", None)
                    progress.say(f"{how}: p is that of a column alone, not of the best of many")
                self._run(search, known, kept, [], problem.x)
                left = remaining(search)
            elif self.test:
                chosen, search = search, with_tests(search, self.lookahead)
                self._run(search, [] if kept is None else kept.steps, kept, folds, problem.x)
                search.stop_reason = chosen.stop_reason
            self._keep(start, search, problem, provenance, scores, left)
        except (KeyboardInterrupt, WorkersLostError) as error:
            if kept is not None and scores is None:  # if it came before the last was written
                kept.keep(search.path)
            self._keep(start, search, problem, provenance, scores, left)
            text = f"the {len(search.path)} steps that were finished are kept: "
            text = text if scores is None else "what was chosen is kept, without tests: "
            text += f"{len(self.selected_)} features selected"
            raise broken_off(error, "fit", text, self.checkpoint) from error
        warn_of_identifiers(problem, search.x, start.identifiers)
        warn_of_the_target(problem, search.selected)
        added = (step.singletons for step in search.path if step.action == "add")
        warn_of_singletons(max(added, default=0), problem.n_samples)
        self._warn_of_nothing(search.path[-1], problem.x)

    def _parameters(self) -> dict[str, Any]:
        parameters: dict[str, Any] = self.get_params(deep=False)
        if not (self.cv is None or is_int(self.cv) or hasattr(self.cv, "split")):
            parameters["cv"] = PAIRS
        return parameters

    def _run(
        self, search: Search, known: list[Step], kept: Any, folds: list[Fold], table: AnyTable
    ) -> None:
        """Search to the end; steps that a checkpoint has are not searched for again."""
        progress = search.question.scoring.executor.progress
        for step in search.steps(known):
            if kept is not None:
                kept.keep([*folds, *search.path])
            if progress.verbose:
                progress.say(in_words(step, table, uncorrected(step, self.correction)))

    def _keep(
        self,
        start: Start,
        search: Search,
        problem: Problem,
        provenance: Provenance,
        scores: CVScores | None,
        left: Remaining | None,
    ) -> None:
        self.duplicates_, self.k_choice_ = start.duplicates, start.k_choice
        self.n_neighbors_ = search.measure.n_neighbors
        x, layout, n_missing = search.x, search.question.null.layout, problem.x.n_missing
        path = tuple(search.path)
        selected = selected_by(path)  # that of the search may be a step behind
        gaps = {} if n_missing is None else {j: int(n) for j, n in enumerate(n_missing) if n}
        self.selected_: IntArray = np.array(selected, dtype=np.intp)
        self.support_: BoolArray = np.zeros(x.n_columns, dtype=bool)
        self.support_[self.selected_] = True
        self.relevance_: FloatArray = np.zeros(x.n_columns)
        if search.first is not None:
            self.relevance_[search.candidates] = search.first
        for first, others in self.duplicates_.items():
            self.relevance_[list(others)] = self.relevance_[first]
        self.result_ = SelectionResult(
            selected=tuple(selected),
            features=tuple(problem.x.names),
            steps=path,
            relevance=self.relevance_,
            n_neighbors=self.n_neighbors_,
            n_parts=layout.n_parts,
            n_samples_used=layout.n_used(problem.n_samples),
            duplicates=dict(self.duplicates_),
            constant=tuple(np.flatnonzero(x.constant).tolist()),
            stop_reason=search.stop_reason,
            k_choice=self.k_choice_,
            excerpt=excerpt_of(problem, selected),
            provenance=provenance,
            identifiers=tuple(sorted(start.identifiers)),
            missing=gaps,
            cv_scores=scores,
            remaining=left,
        )
        self.path_ = self.result_.to_frame()

    def _warn_of_nothing(self, best: Step, table: AnyTable) -> None:
        if self.selected_.size:
            return
        names = " and ".join(repr(table.names[j]) for j in best.features)
        verdict = "it adds nothing"
        if best.p_value is not None:
            verdict = (
                f"{p_text(best.p_value, best.lower_limit)}, allowed are {best.level:.3g} "
                f"({best.exceedances} of {best.n_permutations} surrogates are as large)"
            )
        stop = settings_of(self).stop_rule
        warn(
            f"No column was selected: the best of {best.n_candidates} candidates, {names} "
            f"({best.mi:.3g} nats), does not pass: {verdict} "
            f"({setting('stop', stop)}, {setting('alpha', self.alpha)}). "
            f"{either('transform gives zero columns; ', '')}{setting('min_features', 1)} keeps the "
            "best.",
            about="nothing selected",
            of=names,
        )

    def alternatives(self, X: Any, y: Any, groups: Any = None) -> pd.DataFrame:
        """Which columns could stand in for a selected one.

        It takes about as long as tests of half of the steps. ``result_`` keeps what is found, and
        its report shows it; another call does not compute it again.

        Parameters
        ----------
        X, y, groups
            The data of ``fit``; others are refused.

        Returns
        -------
        DataFrame
            A row for each stand-in, the best of each selected column first: names of the selected
            column (feature) and of the stand-in, what the selected column adds to the other
            selected ones (information), what the stand-in adds in its place, with the p-value of a
            test corrected for all columns that are tried (the 16 that have most in common with the
            selected one), what the selected column adds beside permuted copies of the stand-in
            (without) and beside the stand-in itself (remaining), and the share of these two, below
            a half.
        """
        check_is_fitted(self)
        self._find_alternatives(X, y, groups)
        return alternatives_frame(self.result_)

    @property
    def cv_scores_(self) -> pd.DataFrame:
        check_is_fitted(self)
        scores = self.result_.cv_scores
        if scores is None:
            raise AttributeError(
                "'cv_scores_' is there after fit with stop='cv', where a model chooses the number "
                f"of columns; stop was {self.result_.provenance.parameters['stop']!r}."
            )
        return cv_scores_frame(self.result_, scores)

    def _find_alternatives(self, X: object, y: object, groups: object) -> None:
        result = self.result_
        provenance = result.provenance
        self._refuse_other_parameters(provenance)
        with Study.open(settings_of(self), X, y, groups=groups) as study:
            study = study.with_seed(provenance.seed)
            problem = study.problem
            _refuse_other_data(study.provenance(MISelector), provenance)
            if result.alternatives is not None:
                return
            strategy = strategy_of(study.settings, problem.x)
            engine = engine_for(study, strategy)
            measure = study.measure("gain", engine, n_neighbors=self.n_neighbors_)
            out = {j for others in self.duplicates_.values() for j in others}
            out |= {*result.constant, *result.identifiers, *problem.by_order}
            left = ColumnNumbers(j for j in range(problem.x.n_columns) if j not in out)
            study.progress.begin("alternatives, selected columns", len(result.selected))
            by = replace(measure, method="ksg1")
            question = study.question(self.null, statistic=by, candidates=left)
            tests = study.tests(self.null, by, candidates=left)
            rule = strategy.alpha, strategy.rule
            found = find_alternatives(question, tests, result.selected, *rule)
        self.result_ = replace(result, alternatives=found)

    def _refuse_other_parameters(self, provenance: Provenance) -> None:
        for name, now in self._parameters().items():
            value, then = plain_parameter(now), provenance.parameters.get(name)
            if name not in OF_NO_MATTER and repr(value) != repr(then):
                raise ValueError(
                    f"'alternatives' is about the parameters of fit, but {name} was {then!r} and "
                    f"is {value!r}: call fit again."
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

    def _html_repr(self) -> str:
        """What notebooks show: scikit-learn's diagram and, once there is one, the result."""
        shown: str = super()._html_repr()
        if not hasattr(self, "result_"):
            return shown
        return shown + self.result_._repr_html_()

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing != "error"
        if hasattr(self.model, "__sklearn_tags__") and not isinstance(self.model, type):
            tags.input_tags.allow_nan &= get_tags(self.model).input_tags.allow_nan
        return tags

    def _listener(
        self, progress: Progress, strategy: Strategy, n_samples: int, executor: Executor
    ) -> PermutationProgress | None:
        """Who is told of permutations: None where nobody listens."""
        if not progress.verbose:
            return None
        bounded = self.max_features is not None or self.n_features_to_select is not None
        n_threads = None if executor.remote else executor.here.n_workers
        saving = shorter(
            settings_of(self), n_samples, screen_size(self.screen, n_samples), n_threads
        )
        return PermutationProgress(progress, strategy.max_features if bounded else None, saving)


def _refuse_other_data(now: Provenance, then: Provenance) -> None:
    if now.data != then.data:
        raise ValueError(
            f"'alternatives' is about the data of fit, {then.n_samples:,} samples with the "
            f"fingerprint {then.data[:8]}..., but these are {now.n_samples:,} with "
            f"{now.data[:8]}...: pass the X, y and groups of fit, or call fit again."
        )


def settings_of(selector: MISelector) -> SelectorSettings:
    """What a selector is asked, checked; a model says what the target is."""
    settings = SelectorSettings.of(selector.get_params(deep=False))
    if not settings.by_model:
        return settings
    check_prediction(settings)
    return replace(settings, discrete_target=classes_asked(settings))
