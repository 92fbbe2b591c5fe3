"""Supervised clustering of features: those join that are redundant with respect to the target."""

from dataclasses import fields
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from infosieve._core.dialect import setting
from infosieve._core.messages import unsaid
from infosieve._core.model_text import made_of_word
from infosieve._core.progress import Progress
from infosieve._core.rules import check_x, seed_of
from infosieve._core.settings import (
    ClusteringSettings,
    Correlation,
    Linkage,
    Representative,
    Settings,
    Similarity,
)
from infosieve._core.types import Executor, FloatArray, IntArray, NameArray, Scale
from infosieve._executors import KeepsExecutor, executor_of
from infosieve._input.named import remember_columns
from infosieve._input.notices import check_dates
from infosieve._input.problem import Problem, open_columns_alone, open_problem
from infosieve._input.tables import Table, read_table
from infosieve._sources import run_once
from infosieve._study.provenance import provenance_of
from infosieve.clustering._agglomeration import Agglomeration, Dendrogram
from infosieve.clustering._constraints import Constraints, connected_pairs
from infosieve.clustering._number_of_clusters import (
    CrossValidation,
    Folds,
    above_threshold,
    check_connected,
    check_cross_validation,
    check_number,
    numbers_to_try,
    steady_number,
)
from infosieve.clustering._representatives import BackToColumns, cluster_name
from infosieve.results import ClusterResult


class FeatureClustering(TransformerMixin, KeepsExecutor, BaseEstimator):  # type: ignore[misc]
    """Join columns that are redundant with respect to the target; represent each cluster by one.

    Two columns are redundant in this sense if they are wrong about the target for the same
    samples: their similarity is the correlation of their :func:`false_neighbors`. The two most
    similar clusters are joined and replaced by a representative, whose false neighbours are
    counted anew, and so on: the supervised clustering of Verleysen, Rossi and François (2009)
    [1]_.

    Parameters
    ----------
    n_clusters : int, "auto" or None, default="auto"
        The number of clusters. "auto": chosen by repeated cross-validation of ``model`` behind
        the clusters, which are found anew without each fold. Tried are 1 to 14, 16, 18, ... by
        steps of a seventh, up to the number of different columns or of samples, whichever is less.
        Of draws of the folds, each asks for the smallest number whose error (1 - score) is at most
        5 % more than the least; the middle of these is taken. Where the data do not decide,
        ``result_.notes`` say so. None goes with ``similarity_threshold``.
    similarity_threshold : float or None, default=None
        Stop before the first merge of clusters less similar than this.
    similarity : {"supervised", "unsupervised"}, default="supervised"
        What is correlated: false neighbours, or the columns themselves, without the target (then
        the absolute value of the correlation counts, so that negated columns are alike).
    correlation : {"pearson", "spearman"}, default="pearson"
        Which correlation it is: of values, or of their ranks.
    linkage : {"representative", "average", "complete"}, default="representative"
        What the similarity of two clusters is. "representative": that of their representatives.
        "average" and "complete": the mean, or the smallest, of the similarities of their columns,
        as in scikit-learn and scipy; faster, as nothing is counted anew.
    representative : {"mean", "medoid", "pls"}, default="mean"
        What stands for a cluster. "mean": the mean of the scaled columns, those negated that are
        negatively correlated with the first. "medoid": the one column that is most similar to the
        others; then ``transform`` gives original columns under their own names. "pls": the sum
        weighted by covariance with the target, which is the first direction of partial least
        squares.
    connectivity : None, "chain" or matrix of shape (n_features, n_features), default=None
        Which columns are neighbours; only clusters with neighbouring columns join. "chain": each
        column and the next, for spectra and other curves. A matrix: where it is not zero.
    scale : {"standard", "normal-scores"} or None, default="standard"
        What is done to each column, and to the target, first.
    model : estimator, {"neighbors", "trees", "support-vectors", "linear"} or None, default=None
        What predicts behind the clusters, whose ``score`` chooses their number, with
        ``n_clusters="auto"``: a regressor or classifier of scikit-learn, or a word for one as
        :class:`MISelector` has them. None: partial least squares, judged by squared error, with the
        number of components that has the least in all folds. For a target of categories, pass a
        classifier, or a word.
    cv : int, splitter or iterable of (train, test), default=4
        The folds of that choice; with ``groups``, a number of folds keeps these together. Samples
        are cut into a number of folds five times (twice with a ``model``, or with more than
        500 columns; once if rows are in order of time); a splitter is asked once.
    missing : {"auto", "median", "drop", "error"}, default="auto"
        What becomes of gaps in X. "median", which "auto" is here: they are filled with the median
        that the column has in ``fit``, also in ``transform``. "drop": ``fit`` leaves samples with
        gaps out. "error": gaps are refused. Samples without a target are left out, with a warning.
    series : bool, default=False
        True: rows are in order of time; a number of folds cuts them into stretches.
    n_jobs : int or None, default=None
        Threads; -1 for all cores. The result does not depend on it.
    executor : dask.distributed.Client, address or None, default=None
        Who counts false neighbours, computes similarities and cross-validates: the workers of a
        Dask cluster, or threads of this process. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Shuffles the samples before they are cut into folds.
    verbose : int, default=0
        1: show progress on standard error.

    Attributes
    ----------
    labels_ : ndarray of int, of shape (n_features_in_,)
        The cluster of each column. Clusters are numbered by their first column.
    n_clusters_ : int
        The number of clusters.
    children_ : ndarray of shape (n_features_in_ - 1, 2)
        What was joined, step by step, as in scikit-learn: numbers below ``n_features_in_`` are
        columns, number ``n_features_in_ + i`` is the result of step i.
    similarities_ : ndarray of shape (n_features_in_ - 1,)
        How similar the two were; with representatives this need not fall from step to step.
        Connected components of ``connectivity`` join last, with -1.
    linkage_matrix_ : ndarray of shape (n_features_in_ - 1, 4)
        The merges as scipy's linkage matrix, which ``scipy.cluster.hierarchy.dendrogram`` draws:
        two clusters, their distance 1 - similarity, and the number of columns they have together.
    medoids_ : ndarray of int, of shape (n_clusters_,)
        The most typical column of each cluster.
    representatives_ : ndarray of shape (n_samples, n_clusters_)
        The representatives in the data of ``fit``.
    cv_results_ : dict or None
        With "auto": "n_clusters", "mean_test_score", "std_test_score", and the scores of each
        fold, as in scikit-learn; and "standard_error", that of each number's distance from the
        best score, by Nadeau and Bengio (2003) [2]_. Else None.
    result_ : ClusterResult
        The clusters, the merges and their provenance, as a frozen record.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    MISelector : Select columns, where few matter.
    false_neighbors : What columns are compared by.
    CurveFeatures : Compute features of curves; spectra have many redundant columns.

    Notes
    -----
    Of several pairs of clusters that are equally similar, that one is joined whose earlier cluster
    comes first, then the one whose later cluster does; a cluster comes where its first column does.
    A constant vector has similarity -1 to everything: constant columns join last, and so do
    columns without any false neighbours, which are right about every sample.

    Copies (columns that are equal, shifted, scaled or negated, as ``MISelector.duplicates_`` has
    them; with ``scale=None``, scaled ones are none) join before all others, with similarity 1, and
    never part: more clusters than different columns are refused. With ``connectivity``, copies
    join that neighbours among them connect.

    References
    ----------
    .. [1] M. Verleysen, F. Rossi and D. François (2009). Advances in feature selection with
       mutual information. https://doi.org/10.1007/978-3-642-01805-3_4
    .. [2] C. Nadeau and Y. Bengio (2003). Inference for the generalization error. Machine
       Learning 52, 239-281. https://doi.org/10.1023/A:1024068626366

    Examples
    --------
    >>> from infosieve import FeatureClustering
    >>> from infosieve.datasets import load_tecator
    >>> X, fat = load_tecator(return_X_y=True, as_frame=True)
    >>> clusters = FeatureClustering(4, connectivity="chain").fit(X, fat)
    >>> for name in clusters.get_feature_names_out():
    ...     print(name)
    cluster[abs_001..abs_029]
    cluster[abs_030..abs_053]
    cluster[abs_054..abs_075]
    cluster[abs_076..abs_100]
    >>> clusters.transform(X).shape
    (215, 4)
    """

    # As splitters of groups do.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"groups": True}

    def __init__(
        self,
        n_clusters: int | Literal["auto"] | None = "auto",
        *,
        similarity_threshold: float | None = None,
        similarity: Similarity = "supervised",
        correlation: Correlation = "pearson",
        linkage: Linkage = "representative",
        representative: Representative = "mean",
        connectivity: Any = None,
        scale: Scale = "standard",
        model: Any = None,
        cv: Any = 4,
        missing: Literal["auto", "median", "drop", "error"] = "auto",
        series: bool = False,
        n_jobs: int | None = None,
        executor: Any = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        for name, value in locals().items():
            if name != "self":
                setattr(self, name, value)

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Join columns into clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The columns, numbers.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), or None, default=None
            The target. It is not used, and may be None, with ``similarity="unsupervised"``, a
            number of clusters or a threshold, and a representative other than "pls".
        groups : array-like of shape (n_samples,), optional
            Which rows belong together: ``n_clusters="auto"`` keeps them in one fold.

        Returns
        -------
        FeatureClustering
            Itself.
        """
        ClusteringSettings.of(self.get_params(deep=False))
        seed = seed_of(self.random_state)
        check_x(X)
        X = run_once(X, "X")
        problem = self._read(X, y, groups)
        tables: list[Any] = problem.tables
        connected = connected_pairs(self.connectivity, tables[0].n_columns)
        for name in [name for name in vars(self) if name.endswith("_") or name.startswith("_r")]:
            delattr(self, name)  # of an earlier fit
        remember_columns(self, X)
        self.cv_results_: dict[str, Any] | None = None
        with (
            Progress(self.verbose) as progress,
            executor_of(self.executor, self.n_jobs, progress) as executor,
        ):
            scaled = self._agglomeration.prepare(tables, executor)
            constraints = Constraints.of(scaled.x, connected)
            check_number(self.n_clusters, tables[0], constraints.copies)
            dendrogram = self._agglomeration.join(scaled, constraints, executor)
            self.n_clusters_ = self._number(dendrogram, problem, constraints, seed, executor)
            parameters = self.get_params(deep=False) | {"executor": executor.text}
        self._keep(dendrogram, tables[0])
        self.result_ = ClusterResult(
            features=tuple(tables[0].names),
            clusters=tuple(self.get_feature_names_out().tolist()),
            labels=self.labels_,
            medoids=self.medoids_,
            children=self.children_,
            similarities=self.similarities_,
            duplicates={int(g[0]): tuple(g[1:].tolist()) for g in constraints.copies},
            cv_results=self.cv_results_,
            provenance=provenance_of(problem, seed, parameters, FeatureClustering),
        )
        self.linkage_matrix_ = self.result_.linkage_matrix
        return self

    def _read(self, X: Any, y: Any, groups: Any) -> Problem:
        """The columns, and the target where one is needed; checked."""
        if y is None and self._needs_target:
            raise ValueError(
                "This FeatureClustering estimator requires y to be passed, but the target y is "
                f"None. {setting('similarity', 'unsupervised')} with a number of clusters needs "
                "none."
            )
        how: Any = "median" if self.missing == "auto" else self.missing
        if self._needs_target:
            # Of a series it is known already that its rows follow each other.
            with unsaid(*(["dates"] if self.series else [])):
                settings = Settings(discrete_features=False, discrete_target=(), missing=how)
                problem = open_problem(X, y, settings, groups=groups, as_passed=True)
        else:
            problem = open_columns_alone(X, how)
        if self.series:
            check_dates(problem.tables)
        check_number(self.n_clusters, problem.x)
        if isinstance(self.n_clusters, str):
            check_cross_validation(self.model, self.cv, problem.y, problem.together.groups)
        return problem

    def _keep(self, dendrogram: Dendrogram, table: Table) -> None:
        """Keep the clusters, and what ``transform`` and ``inverse_transform`` need."""
        self.children_, self.similarities_ = dendrogram.children, dendrogram.similarities
        self._reduction = dendrogram.cut(self.n_clusters_)
        self.labels_: IntArray = np.empty(table.n_columns, np.int64)
        for label, members in enumerate(self._reduction.clusters):
            self.labels_[members] = label
        self.medoids_ = self._reduction.medoids
        self._offsets = table.offsets
        self._medians = np.median(table.values, axis=1)
        values = table.values.T
        self.representatives_ = self._representatives(values)
        self._reverse = BackToColumns(values, self.representatives_, self.labels_)

    @property
    def _needs_target(self) -> bool:
        auto = isinstance(self.n_clusters, str)
        return self.similarity == "supervised" or auto or self.representative == "pls"

    @property
    def _agglomeration(self) -> Agglomeration:
        names = [field.name for field in fields(Agglomeration)]
        return Agglomeration(**{name: getattr(self, name) for name in names})

    def _number(
        self,
        dendrogram: Dendrogram,
        problem: Problem,
        constraints: Constraints,
        seed: int,
        executor: Executor,
    ) -> int:
        """How many clusters."""
        if self.similarity_threshold is not None:
            return above_threshold(dendrogram, self.similarity_threshold)
        if not isinstance(self.n_clusters, str):
            assert self.n_clusters is not None
            check_connected(self.n_clusters, dendrogram.n_components)
            return int(self.n_clusters)
        most = min(dendrogram.n_distinct, problem.n_samples)
        validation = CrossValidation(
            agglomeration=self._agglomeration,
            model=made_of_word(self.model, bool(problem.y.categorical.any())),
            numbers=numbers_to_try(dendrogram.n_components, most),
        )
        groups = problem.together.groups
        folds = Folds(cv=self.cv, seed=seed % 2**32, groups=groups, in_order=self.series)
        tables: list[Any] = problem.tables
        self.cv_results_ = validation.results(tables, constraints, folds, executor)
        return steady_number(self.cv_results_)

    def transform(self, X: Any) -> FloatArray:
        """Compute the clusters' representatives.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The columns of ``fit``, for any samples.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters_)
            A representative in each column.
        """
        check_is_fitted(self)
        check_x(X)
        X = run_once(X, "X")
        remember_columns(self, X, reset=False)
        missing = "error" if self.missing == "error" else "median"
        table = read_table(X, "X", False, least=1, offsets=self._offsets, missing=missing)
        medians = self._medians[:, None]
        return self._representatives(np.where(np.isnan(table.values), medians, table.values).T)

    def _representatives(self, values: FloatArray) -> FloatArray:
        """Of columns less their offsets; a medoid stands where its column does."""
        out = self._reduction.transform(values)
        if self.representative == "medoid":
            out += [float(self._offsets.get(j, 0)) for j in self.medoids_.tolist()]
        return out

    def inverse_transform(self, X: Any) -> FloatArray:
        """Predict the columns from the representatives of their clusters.

        Each column by the least-squares line of the data of ``fit``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_clusters_)
            Representatives, as ``transform`` gives them.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            The predicted columns.
        """
        check_is_fitted(self)
        values = read_table(X, "X", False, least=1, offsets={}).values.T
        if values.shape[1] != self.n_clusters_:
            raise ValueError(
                f"X has {values.shape[1]} columns, but there are {self.n_clusters_} clusters. Pass "
                "what transform gives."
            )
        columns = self._reverse.predict(values)
        for j, offset in self._offsets.items():
            columns[:, j] += float(offset)
        return columns

    def get_feature_names_out(self, input_features: Any = None) -> NameArray:
        """Name the clusters by their columns, such as ``cluster[abs_012..abs_027]``.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            The columns' names, where ``fit`` saw none.

        Returns
        -------
        ndarray of str
            A name for each cluster; that of its medoid where medoids are the representatives.
        """
        check_is_fitted(self)
        names = np.array([str(n) for n in _check_feature_names_in(self, input_features)], object)
        if self.representative == "medoid":
            return names[self.medoids_]
        clusters = [cluster_name(names, members) for members in self._reduction.clusters]
        return np.array(clusters, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._needs_target
        tags.target_tags.multi_output = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags
