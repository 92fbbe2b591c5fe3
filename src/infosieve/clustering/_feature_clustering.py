"""Supervised clustering of features: those join that make the same mistakes about the target."""

from copy import copy
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from sklearn.base import BaseEstimator, TransformerMixin, clone, is_classifier
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted
from threadpoolctl import threadpool_limits

from infosieve._core.parameters import check_choice, check_jobs, check_number, check_x, is_int
from infosieve._core.progress import Progress
from infosieve._core.types import BoolArray, Executor, FloatArray, IntArray, Scale
from infosieve._engines.cuda.engine import CudaEngine
from infosieve._engines.devices import Device, check_device, engine_of, require_device
from infosieve._executors import KeepsExecutor, executor_of
from infosieve._executors.threads import Threads
from infosieve._input.problem import prepare_tables, provenance_of, remember_columns
from infosieve._input.scaling import Scaling
from infosieve._input.tables import Table, check_lengths, check_target, read_table
from infosieve._resampling.permutations import seed_of
from infosieve.clustering._agglomeration import (
    Clusters,
    Comparison,
    Correlation,
    Features,
    Linkage,
    Representative,
    Tree,
    centred,
    covariances,
    false_counts,
    grow,
    target_strips,
)
from infosieve.clustering._pls import PLSRegressionCV
from infosieve.clustering._representatives import BackToColumns, Grown
from infosieve.results import ClusterResult

Similarity: TypeAlias = Literal["supervised", "unsupervised"]

_SCALES = ("standard", "normal-scores", None)


def false_neighbors(
    X: Any,
    y: Any,
    *,
    scale: Scale = "standard",
    n_jobs: int | None = None,
    device: Device = "cpu",
) -> "IntArray | pd.DataFrame":
    """How often each column misjudges who is near: counts of local false neighbours.

    The truth about a sample is its nearest neighbour in the space of one column and the target
    together. Counted are the samples that the column alone puts closer than that one: 0 where the
    column is right. Columns with the same counts are wrong in the same places, that is, they tell
    the same about the target; :class:`FeatureClustering` joins them.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The columns, numbers. Each is judged on its own.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        The target. Samples of different categories are infinitely far from each other.
    scale : {"standard", "normal-scores"} or None, default="standard"
        What is done to each column, and to the target, first.
    n_jobs : int or None, default=None
        Threads; -1 for all cores.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where it is computed: on the CPU, on an NVIDIA GPU (``infosieve[gpu]``), or on the GPU if
        there is one and the work is large enough. The result does not depend on it.

    Returns
    -------
    ndarray of int of shape (n_samples, n_features), or DataFrame
        The C vectors of Verleysen, Rossi and François (2009), one in each column. A frame where X
        is one.

    Notes
    -----
    Distances are Euclidean, after scaling; they are equal if they differ by less than 1e-8,
    relatively. Among several nearest neighbours the one that is nearest along the column counts,
    and "closer" is strict, so repeated values need no noise. A column and its negative have the
    same counts; a constant column has zeros, and so has a sample that is alone in its category.

    Examples
    --------
    >>> import numpy as np
    >>> from infosieve import false_neighbors
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = X[:, 0] ** 3
    >>> false_neighbors(X, y).mean(axis=0).round()
    array([0., 9.])
    """
    check_choice(scale, "scale", _SCALES)
    check_jobs(n_jobs)
    check_device(device)
    executor = Threads(n_jobs)
    require_device(device, executor)
    tables = [read_table(X, "X", False), read_table(y, "y")]
    check_lengths(*tables)
    check_target(tables[1])
    x, target = prepare_tables(tables, scale, executor, with_order=True, separate=False)
    engine = engine_of(device, executor, x.n_samples, x.n_columns, 1)
    if isinstance(engine, CudaEngine):
        counts = engine.false_counts(x, target).T
    else:
        counts = false_counts(x, target, target_strips(target), executor).T
    if tables[0].named:
        return pd.DataFrame(counts, columns=tables[0].names, index=tables[0].index)
    return counts


class FeatureClustering(TransformerMixin, KeepsExecutor, BaseEstimator):  # type: ignore[misc]
    """Join columns that say the same about the target, and represent each cluster by one.

    Two columns are alike if they misjudge the same samples: the similarity is the correlation of
    their :func:`false_neighbors`. The two most similar clusters are joined and replaced by a
    representative, whose false neighbours are counted anew, and so on.

    Parameters
    ----------
    n_clusters : int, "auto" or None, default="auto"
        The number of clusters. "auto": chosen by cross-validation of ``estimator`` behind the
        clusters, which are found anew without each fold. Tried are 1 to 14, 16, 18, ... by steps
        of a seventh, up to the number of columns or of samples, whichever is less; of equally good
        ones, the smallest is taken. None goes with ``similarity_threshold``.
    similarity_threshold : float or None, default=None
        Stop before the first merge of clusters less similar than this.
    similarity : {"supervised", "unsupervised"}, default="supervised"
        What is correlated: false neighbours, or the columns themselves, without a look at the
        target (then the size of the correlation counts, so that negated columns are alike).
    correlation : {"pearson", "spearman"}, default="pearson"
        The correlation.
    linkage : {"representative", "average", "complete"}, default="representative"
        How similar clusters are: as their representatives; or as the mean, or the least, of their
        columns' similarities, which is faster, as nothing is counted anew.
    representative : {"mean", "medoid", "pls"}, default="mean"
        "mean": the mean of the scaled columns, those negated that fall where the first rises.
        "medoid": the one column that is most like the others in what is correlated; then
        ``transform`` gives original columns under their own names. "pls": the sum weighted by
        covariance with the target, which is the first direction of partial least squares.
    connectivity : None, "chain" or matrix of shape (n_features, n_features), default=None
        Which columns are neighbours; only clusters with neighbouring columns join. "chain": each
        column and the next, for spectra and other curves. A matrix: where it is not zero.
    scale : {"standard", "normal-scores"} or None, default="standard"
        What is done to each column, and to the target, first.
    estimator : estimator or None, default=None
        What judges numbers of clusters, by its ``score``. None: partial least squares, the number
        of its components chosen by 4-fold cross-validation, judged by squared error. For a target
        of categories, pass a classifier.
    cv : int, splitter or iterable of (train, test), default=4
        The folds that judge numbers of clusters. For groups that must stay together, pass
        ``list(GroupKFold().split(X, y, groups))``.
    n_jobs : int or None, default=None
        Threads; -1 for all cores. The result does not depend on it.
    executor : dask.distributed.Client, address or None, default=None
        Who counts false neighbours, computes similarities and judges numbers of clusters: the
        workers of a Dask cluster, or threads of this process. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Shuffles the samples before they are cut into folds.
    verbose : int, default=0
        1: tell how far it is, on standard error.

    Attributes
    ----------
    labels_ : ndarray of int, of shape (n_features_in_,)
        The cluster of each column. Clusters are numbered by their first column.
    n_clusters_ : int
    children_ : ndarray of shape (n_features_in_ - 1, 2)
        What was joined, step by step, as in scikit-learn: numbers below ``n_features_in_`` are
        columns, number ``n_features_in_ + i`` is the result of step i.
    similarities_ : ndarray of shape (n_features_in_ - 1,)
        How similar the two were; with representatives this need not fall from step to step.
        Parts that ``connectivity`` does not connect come last, with -1.
    linkage_matrix_ : ndarray of shape (n_features_in_ - 1, 4)
        Both in the form that ``scipy.cluster.hierarchy.dendrogram`` draws, at heights
        1 - similarity.
    medoids_ : ndarray of int, of shape (n_clusters_,)
        The most typical column of each cluster.
    representatives_ : ndarray of shape (n_samples, n_clusters_)
        The representatives in the data of ``fit``.
    cv_results_ : dict or None
        With "auto": "n_clusters", "mean_test_score", "std_test_score", and the scores of each
        fold.
    result_ : ClusterResult
        All of it, as a frozen record.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Of several pairs of clusters that are equally similar, that one is joined whose earlier cluster
    comes first, then the one whose later cluster does; a cluster comes where its first column does.
    A constant vector has similarity -1 to everything: constant columns join last, and so do
    columns that are right about every sample (no false neighbours at all).

    See Also
    --------
    MISelector : Select columns, where few matter.

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
        estimator: Any = None,
        cv: Any = 4,
        n_jobs: int | None = None,
        executor: Any = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.similarity_threshold = similarity_threshold
        self.similarity = similarity
        self.correlation = correlation
        self.linkage = linkage
        self.representative = representative
        self.connectivity = connectivity
        self.scale = scale
        self.estimator = estimator
        self.cv = cv
        self.n_jobs = n_jobs
        self.executor = executor
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> "FeatureClustering":
        """Join columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The columns, numbers.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The target. Without supervision and with a number of clusters or a threshold, it is
            not used.

        Returns
        -------
        FeatureClustering
            Itself.
        """
        self._check_parameters()
        seed = seed_of(self.random_state)
        check_x(X)
        if y is None and self._needs_target:
            raise ValueError(
                "This FeatureClustering estimator requires y to be passed, but the target y is "
                "None. similarity='unsupervised' with a number of clusters needs none."
            )
        tables = [read_table(X, "X", False)]
        if self._needs_target:
            tables.append(read_table(y, "y"))
            check_lengths(*tables)
            check_target(tables[1])
        connected = self._connected(tables[0])
        self._check_number(tables)
        for name in [name for name in vars(self) if name.endswith("_") or name.startswith("_r")]:
            delattr(self, name)  # of an earlier fit
        remember_columns(self, X)
        self.cv_results_: dict[str, Any] | None = None
        with (
            Progress(self.verbose) as progress,
            executor_of(self.executor, self.n_jobs, progress) as executor,
        ):
            work = executor, progress
            grown = self._grow(tables, connected, *work)
            self.n_clusters_ = self._number(grown.tree, tables, connected, seed, *work)
            parameters = self.get_params(deep=False) | {"executor": executor.text}
        self.children_, self.similarities_ = grown.tree.children, grown.tree.similarities
        self._reduction = grown.cut(self.n_clusters_)
        self.labels_ = np.empty(tables[0].n_columns, np.int64)
        for label, members in enumerate(self._reduction.clusters):
            self.labels_[members] = label
        self.medoids_ = self._reduction.medoids
        self._offsets = tables[0].offsets
        values = tables[0].values.T
        self.representatives_ = self._representatives(values)
        self._reverse = BackToColumns(values, self.representatives_, self.labels_)
        self.result_ = ClusterResult(
            features=tuple(tables[0].names),
            clusters=tuple(self.get_feature_names_out().tolist()),
            labels=self.labels_,
            medoids=self.medoids_,
            children=self.children_,
            similarities=self.similarities_,
            cv_results=self.cv_results_,
            provenance=provenance_of(tables, seed, parameters, FeatureClustering),
        )
        self.linkage_matrix_ = self.result_.linkage_matrix
        return self

    @property
    def _needs_target(self) -> bool:
        auto = isinstance(self.n_clusters, str)
        return self.similarity == "supervised" or auto or self.representative == "pls"

    def _check_parameters(self) -> None:
        number: Any = self.n_clusters
        auto = isinstance(number, str) and number == "auto"
        if not auto and number is not None and not (is_int(number) and number >= 1):
            raise ValueError(
                "The 'n_clusters' parameter must be an int of at least 1, 'auto', or None with a "
                f"'similarity_threshold'. Got {number!r} instead."
            )
        check_number(self.similarity_threshold, "similarity_threshold", -1, 1, optional=True)
        if (self.n_clusters is None) == (self.similarity_threshold is None):
            raise ValueError(
                "Exactly one of 'n_clusters' and 'similarity_threshold' must be None: with a "
                f"threshold, pass n_clusters=None. Got {self.n_clusters!r} and "
                f"{self.similarity_threshold!r}."
            )
        check_choice(self.similarity, "similarity", get_args(Similarity))
        check_choice(self.correlation, "correlation", get_args(Correlation))
        check_choice(self.linkage, "linkage", get_args(Linkage))
        check_choice(self.representative, "representative", get_args(Representative))
        check_choice(self.scale, "scale", _SCALES)
        check_jobs(self.n_jobs)

    def _check_number(self, tables: list[Table]) -> None:
        """What can be known of the number of clusters before work begins."""
        m, n = tables[0].n_columns, tables[0].n_samples
        number: Any = self.n_clusters
        if is_int(number) and number > m:
            raise ValueError(
                f"The 'n_clusters' parameter asks for {self.n_clusters} clusters, but X has {m} "
                "columns."
            )
        if not isinstance(self.n_clusters, str):
            return
        if is_int(self.cv) and not 2 <= self.cv <= n:
            raise ValueError(
                "The 'cv' parameter must be at least 2, and at most the number of samples "
                f"({n}). Got {self.cv!r} instead; a number of clusters needs no folds."
            )
        y = tables[1]
        if self.estimator is None and y.categorical.any():
            raise ValueError(
                f"{y.label(int(np.argmax(y.categorical)))} holds categories, and "
                "n_clusters='auto' judges numbers of clusters by regression. Pass a classifier as "
                "'estimator', or a number of clusters."
            )

    def _connected(self, table: Table) -> BoolArray | None:
        """Of each pair of columns, as scipy's pdist orders them, whether they are neighbours."""
        m = table.n_columns
        if self.connectivity is None:
            return None
        if isinstance(self.connectivity, str) and self.connectivity == "chain":
            first: Any = np.arange(m - 1)
            second: Any = first + 1
        else:
            graph = self.connectivity
            shape = graph.shape if hasattr(graph, "shape") else np.shape(graph)
            if shape != (m, m):
                raise ValueError(
                    "The 'connectivity' parameter must be None, 'chain', or a matrix with a row "
                    f"and a column for each of the {m} columns of X. Got "
                    + (f"the shape {shape}." if shape else f"{graph!r} instead.")
                )
            graph = coo_array(graph)
            graph.eliminate_zeros()
            if np.isnan(graph.data.astype(np.float64)).any():
                raise ValueError("The 'connectivity' parameter has NaN: say 0 or 1 for each pair.")
            first, second = graph.coords
        a, b = np.minimum(first, second), np.maximum(first, second)
        a, b = a[a < b].astype(np.int64), b[a < b].astype(np.int64)
        connected = np.zeros(m * (m - 1) // 2, bool)
        connected[a * m - a * (a + 1) // 2 + b - a - 1] = True
        return connected

    def _grow(
        self,
        tables: list[Table],
        connected: BoolArray | None,
        executor: Executor,
        progress: Progress,
    ) -> Grown:
        """Scale the columns, count false neighbours, join all clusters."""
        runner = executor.here
        x, *rest = prepare_tables(tables, self.scale, runner, with_order=True, separate=False)
        target = rest[0] if self.similarity == "supervised" else None
        comparison = Comparison(target, self.correlation, self.scale)
        rows = centred(x.values, runner)
        features = Features(
            rows,
            comparison.profiles(x, executor),
            covariances(rows, rest[0]) if rest else np.empty((0, x.n_columns)),
            x.n_samples,
            comparison.absolute,
        )
        how = self.linkage, self.representative
        tree = grow(Clusters(features, comparison, *how, connected, executor), progress)
        scaling = Scaling(tables[0].values, self.scale)
        return Grown(tree, features, self.representative, scaling)

    def _number(
        self,
        tree: Tree,
        tables: list[Table],
        connected: BoolArray | None,
        seed: int,
        executor: Executor,
        progress: Progress,
    ) -> int:
        """How many clusters."""
        if self.similarity_threshold is not None:
            below = np.flatnonzero(tree.similarities < self.similarity_threshold)
            merges = below[0] if below.size else len(tree.similarities)
            return max(tree.n_leaves - int(merges), tree.n_parts)
        if isinstance(self.n_clusters, str):
            work = executor, progress
            return self._best_number(tree, tables, connected, seed % 2**32, *work)
        assert self.n_clusters is not None
        if self.n_clusters < tree.n_parts:
            raise ValueError(
                f"The 'n_clusters' parameter asks for {self.n_clusters} clusters, but the columns "
                f"fall into {tree.n_parts} parts that 'connectivity' does not connect. Ask for at "
                f"least {tree.n_parts}, or connect more columns."
            )
        return int(self.n_clusters)

    def _best_number(
        self,
        tree: Tree,
        tables: list[Table],
        connected: BoolArray | None,
        seed: int,
        executor: Executor,
        progress: Progress,
    ) -> int:
        """The number of clusters behind which the estimator predicts best what it has not seen."""
        table, y = tables
        target, estimator = y.original(), self.estimator
        if estimator is None:
            estimator = PLSRegressionCV(random_state=seed)
            target = Scaling(y.values, "standard").apply(y.values.T)
        folds = self.cv
        if is_int(folds):
            kind = StratifiedKFold if is_classifier(estimator) else KFold
            folds = kind(folds, shuffle=True, random_state=seed)
        numbers = numbers_to_try(tree.n_parts, min(table.n_columns, table.n_samples))
        alike = copy(self)
        alike.executor, alike.estimator = None, estimator
        squared = self.estimator is None
        known = [executor.share(v) for v in (tables, connected, target)]
        told = Progress(0) if executor.remote else progress
        jobs = (
            (1, (alike, *known, numbers, train, test, squared, told))
            for train, test in check_cv(folds).split(table.values.T, target)
        )
        each = np.array(list(executor.map(_judged, jobs)))  # a row for each fold
        if not np.isfinite(each).all():
            raise ValueError(
                "The scores of the 'estimator' are not all numbers (R^2 is not defined for a fold "
                "of one sample). Use fewer folds (cv)."
            )
        self.cv_results_ = {
            "n_clusters": numbers,
            "mean_test_score": each.mean(axis=0),
            "std_test_score": each.std(axis=0),
        } | {f"split{i}_test_score": row for i, row in enumerate(each)}
        return int(numbers[np.argmax(each.mean(axis=0))])

    def transform(self, X: Any) -> FloatArray:
        """The clusters' representatives.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The columns of ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters_)
        """
        check_is_fitted(self)
        check_x(X)
        remember_columns(self, X, reset=False)
        table = read_table(X, "X", False, least=1, offsets=self._offsets)
        return self._representatives(table.values.T)

    def _representatives(self, values: FloatArray) -> FloatArray:
        """Of columns less their offsets; a medoid stands where its column does."""
        out = self._reduction.transform(values)
        if self.representative == "medoid":
            out += [float(self._offsets.get(j, 0)) for j in self.medoids_.tolist()]
        return out

    def inverse_transform(self, X: Any) -> FloatArray:
        """Columns from representatives: each by least squares, as in the data of ``fit``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_clusters_)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
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

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The clusters by their columns, such as ``cluster[abs_012..abs_027]``.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            The columns' names, where ``fit`` saw none.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        names = np.array([str(n) for n in _check_feature_names_in(self, input_features)], object)
        if self.representative == "medoid":
            return names[self.medoids_]
        clusters = [_cluster_name(names, members) for members in self._reduction.clusters]
        return np.array(clusters, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._needs_target
        tags.target_tags.multi_output = True
        return tags


def _judged(
    executor: Any,
    clustering: FeatureClustering,
    tables: list[Table],
    connected: BoolArray | None,
    target: Any,
    numbers: IntArray,
    train: IntArray,
    test: IntArray,
    squared: bool,
    progress: Progress,
) -> list[float]:
    """How well the estimator predicts one fold behind each number of clusters.

    ``squared``: by R^2 over all folds, as one fold may be one sample; else by its own score.
    """
    grown = clustering._grow([t.only(train) for t in tables], connected, executor, progress)
    progress.begin("numbers of clusters of a fold", len(numbers))
    values = tables[0].values.T
    scores = []
    for done, number in enumerate(numbers, start=1):
        reduction = grown.cut(number)
        known, new = (reduction.transform(values[rows]) for rows in (train, test))
        with threadpool_limits(1, "blas"):  # whose sums depend on the number of its threads
            model = clone(clustering.estimator).fit(known, target[train])
            if squared:
                scores.append(float(1.0 - np.mean((model.predict(new) - target[test]) ** 2)))
            else:
                scores.append(float(model.score(new, target[test])))
        progress.advance(done, len(numbers))
    return scores


def _cluster_name(names: Any, members: IntArray) -> str:
    """Runs of neighbouring columns by their ends, at most three of them."""
    runs = np.split(members, np.flatnonzero(np.diff(members) > 1) + 1)
    shown = [
        ",".join(names[run]) if run.size < 3 else f"{names[run[0]]}..{names[run[-1]]}"
        for run in runs[:3]
    ]
    rest = sum(run.size for run in runs[3:])
    return f"cluster[{','.join(shown)}{f',+{rest}' if rest else ''}]"


def numbers_to_try(least: int, most: int) -> IntArray:
    """All up to 14, then by steps of about a seventh."""
    numbers = [least]
    while numbers[-1] < most:
        numbers.append(min(most, numbers[-1] + max(1, numbers[-1] // 7)))
    return np.array(numbers)
