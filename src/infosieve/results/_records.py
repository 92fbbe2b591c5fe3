"""What users get back: frozen records that turn into tables and JSON."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd

from infosieve._core.documents import dump, load
from infosieve._core.types import FloatArray, IntArray

Action = Literal["add", "remove", "stop"]
QUANTILES = (0.05, 0.5, 0.95)
# Samples of an excerpt, at most.
EXCERPT = 1000


def _keep(record: Any, **arrays: Any) -> None:
    """Store arrays in a frozen record so that nobody writes into them."""
    for name, value in arrays.items():
        array = np.array(value)
        array.flags.writeable = False
        object.__setattr__(record, name, array)


@dataclass(frozen=True)
class Provenance:
    """Where a result comes from: all that is needed to have it again.

    Attributes
    ----------
    data : str
        A fingerprint of the table and the target.
    n_samples : int
    seed : int
        What random numbers were drawn from.
    parameters : dict
        Those of the estimator or function.
    versions : dict
        Of Python and the libraries.
    command : str
        The command line, where there was one.
    code : str
        The call in Python that repeats it.
    """

    data: str
    n_samples: int
    seed: int
    parameters: Mapping[str, Any]
    versions: Mapping[str, str]
    command: str = ""
    code: str = ""

    def with_seed(self, seed: int) -> Self:
        """The same with another seed, which the code has as well."""
        before, found, after = self.code.rpartition(f"random_state={self.seed}")
        code = f"{before}random_state={seed}{after}" if found else self.code
        return replace(self, seed=seed, code=code)


class _Document:
    """A record that can be written as JSON and read again."""

    _schema: ClassVar[str]
    _schema_version: ClassVar[int] = 1

    def to_json(self) -> str:
        """The whole record as a JSON document, with a schema and its version.

        Returns
        -------
        str
        """
        return dump(self._schema, self._schema_version, self._content())

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The record that :meth:`to_json` wrote.

        Parameters
        ----------
        text : str
            The document. Nothing in it is executed.

        Returns
        -------
        record
        """
        from infosieve.results._checks import ImpossibleError, check_record

        names = {field.name for field in fields(cls)}  # type: ignore[arg-type]
        content = load(text, cls._schema, cls._schema_version, names)
        try:
            record = cls._restored(content)
            check_record(record)
        except ImpossibleError as error:
            raise ValueError(f"this document is damaged: {error}") from None
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise ValueError(
                "this document is damaged: a part of it is missing or of the wrong kind"
            ) from error
        return record

    def report(self, path: Any, *, curves: Any = None, clusters: Any = None) -> None:
        """Write an HTML page that shows the result: one file, which needs nothing else.

        Parameters
        ----------
        path : path-like
            Where to.
        curves : pair, default=None
            A fitted :class:`CurveFeatures` (for clusters, an axis) and the curves: they are drawn
            with the parts that the result is about.
        clusters : ClusterResult, default=None
            Which columns say the same, for a section of its own.
        """
        from infosieve.report._render import write

        write(self, path, curves, clusters)

    def _repr_html_(self) -> str:
        from infosieve.report._render import fragment

        return fragment(self)

    def _content(self) -> dict[str, Any]:
        """Field by field; what holds several things is a list."""
        content = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        return {k: list(v) if isinstance(v, tuple) else v for k, v in content.items()}

    @classmethod
    def _restored(cls, content: dict[str, Any]) -> Self:
        raise NotImplementedError


def _record(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


@dataclass(frozen=True, eq=False)
class KChoice(_Document):
    """The smoothing parameter K, and what it was chosen from.

    Attributes
    ----------
    k : int
        The K whose statistic is largest over all features.
    feature : object
        Name (or number) of the feature that reached it.
    features : tuple
        Names of the features, or their numbers.
    ks : ndarray of shape (n_K,)
        The values of K that were tried.
    t : ndarray of shape (n_features, n_K)
        How far the information of a feature stands above that of the permuted target, in
        standard deviations over the splits.
    mi, mi_permuted : ndarray of shape (n_features, n_K, n_splits)
        Mutual information on the data without each part, in nats, with the target as it is
        and permuted.
    provenance : Provenance
        Data, parameters, seed and versions.
    """

    _schema: ClassVar[str] = "k-choice"

    k: int
    feature: Any
    features: tuple[Any, ...]
    ks: IntArray
    t: FloatArray
    mi: FloatArray
    mi_permuted: FloatArray
    provenance: Provenance

    def _content(self) -> dict[str, Any]:
        return super()._content() | {"provenance": _record(self.provenance)}

    @classmethod
    def _restored(cls, content: dict[str, Any]) -> Self:
        shape = (len(content["features"]), len(content["ks"]), -1)
        content["features"] = tuple(content["features"])
        for name in ("mi", "mi_permuted"):
            content[name] = np.array(content[name], np.float64).reshape(shape)
        return cls(**content | {"provenance": Provenance(**content["provenance"])})

    def __post_init__(self) -> None:
        _keep(self, ks=self.ks, t=self.t, mi=self.mi, mi_permuted=self.mi_permuted)

    def __repr__(self) -> str:
        return (
            f"KChoice(k={self.k}, by {self.feature!r} of {len(self.features)} features, "
            f"K from {self.ks[0]} to {self.ks[-1]}, {self.mi.shape[2]} splits)"
        )

    def to_frame(self) -> pd.DataFrame:
        """A row for each feature and K: t, and means and deviations over the splits."""
        index = pd.MultiIndex.from_product([self.features, self.ks], names=["feature", "k"])
        columns = {
            "t": self.t.ravel(),
            "mi": self.mi.mean(axis=2).ravel(),
            "mi_std": self.mi.std(axis=2, ddof=1).ravel(),
            "mi_permuted": self.mi_permuted.mean(axis=2).ravel(),
            "mi_permuted_std": self.mi_permuted.std(axis=2, ddof=1).ravel(),
        }
        return pd.DataFrame(columns, index=index).reset_index()


@dataclass(frozen=True, eq=False)
class PermutationTest:
    """Candidates compared with permuted copies of themselves.

    Attributes
    ----------
    candidates : tuple
        Names of the candidates, or their numbers.
    observed : ndarray of shape (n_candidates,)
        What was measured, in nats.
    null : ndarray of shape (n_permutations, n_candidates) or (n_permutations, 1)
        What the permuted copies score; with the correction "max" the largest of each
        permutation.
    exceedances : ndarray of shape (n_candidates,)
        How many permuted values are at least the observed one.
    p_values : ndarray of shape (n_candidates,)
        (exceedances + 1) / (n_permutations + 1).
    device : str
        Where it was computed.
    """

    candidates: tuple[Any, ...]
    observed: FloatArray
    null: FloatArray
    device: str = "cpu"

    def __post_init__(self) -> None:
        _keep(self, observed=self.observed, null=self.null)

    @property
    def n_permutations(self) -> int:
        return len(self.null)

    @property
    def exceedances(self) -> IntArray:
        return np.asarray((self.null >= self.observed).sum(axis=0))

    @property
    def p_values(self) -> FloatArray:
        return np.asarray((self.exceedances + 1) / (self.n_permutations + 1))

    @property
    def p_value(self) -> float:
        """That of the candidate with the largest observed value."""
        return float(self.p_values[np.argmax(self.observed)])

    def __repr__(self) -> str:
        best = self.candidates[int(np.argmax(self.observed))]
        return (
            f"PermutationTest({best!r}: {self.observed.max():.4g} nats, p = {self.p_value:.4g}, "
            f"{len(self.candidates)} candidates, {self.n_permutations} permutations)"
        )

    def to_frame(self) -> pd.DataFrame:
        """A row for each candidate."""
        null = np.broadcast_to(self.null, (self.n_permutations, len(self.candidates)))
        columns: dict[str, Any] = {
            "feature": list(self.candidates),
            "observed": self.observed,
            "exceedances": self.exceedances,
            "p_value": self.p_values,
        }
        columns |= dict(
            zip(_names_of_quantiles(), np.quantile(null, QUANTILES, axis=0), strict=True)
        )
        return pd.DataFrame(columns)


@dataclass(frozen=True)
class Step:
    """One step of a search.

    Attributes
    ----------
    action : {"add", "remove", "stop"}
        "stop": the best that was left did not pass.
    features : tuple of int
        The columns concerned: one, or the two of a pair.
    mi : float
        Information of the whole set with the target after the step (for "stop": of the set
        with the candidate that did not pass), in nats.
    gain : float
        What was added: the difference of the sets, or, under the criterion "cmi",
        I(candidate; target | selected). For a removal, the difference of the sets.
    p_value : float or None
        Of the permutation test, where there was one.
    early_stopped : bool
        Whether the test was ended early, the p-value being a lower early_stopped above the level.
    level : float or None
        What the p-value was compared with.
    exceedances, n_permutations : int or None
        Permuted values that reached the observed one, and how many there were.
    null : tuple of float
        The permuted values, up to the one that decided.
    n_candidates : int
        How many columns (or pairs) this one was the best of.
    singletons : int
        Samples whose combination of categories, of the set and the target, no other has.
    """

    action: Action
    features: tuple[int, ...]
    mi: float
    gain: float
    n_candidates: int
    p_value: float | None = None
    early_stopped: bool = False
    level: float | None = None
    exceedances: int | None = None
    n_permutations: int | None = None
    null: tuple[float, ...] = field(default=(), repr=False)
    singletons: int = 0

    @property
    def null_quantiles(self) -> tuple[float, ...]:
        """5, 50 and 95 % of the permuted values lie below; nothing without a test."""
        return tuple(float(q) for q in np.quantile(self.null, QUANTILES)) if self.null else ()

    @property
    def significant(self) -> bool | None:
        """Whether the test was passed; None without a test."""
        if self.p_value is None or self.level is None:
            return None
        return self.p_value <= self.level


@dataclass(frozen=True, eq=False)
class Excerpt:
    """Some samples of what was selected, and of the target: enough to draw them.

    Attributes
    ----------
    rows : ndarray of int
        Which samples: all, or :data:`EXCERPT` of them, evenly.
    features : dict
        For each selected column, its values: numbers, or categories.
    target : dict
        For each target, by name, its values.
    """

    rows: IntArray
    features: Mapping[int, list[Any]]
    target: Mapping[Any, list[Any]]


@dataclass(frozen=True, eq=False)
class SelectionResult(_Document):
    """What a selection found, step by step.

    Attributes
    ----------
    selected : tuple of int
        The selected columns, in the order of their selection.
    features : tuple
        Names of all columns, or their numbers.
    steps : tuple of Step
        The path of the search.
    relevance : ndarray of shape (n_features,)
        Information of each column alone, in nats.
    n_neighbors : tuple of int
        The range of K.
    duplicates : dict
        For a column, those that say the same (equal, shifted, scaled or negated).
    constant : tuple of int
        Columns with one value.
    stop_reason : str
        Why the search ended.
    k_choice : KChoice or None
        What K was chosen from.
    excerpt : Excerpt
        Some values of the selected columns and the target.
    provenance : Provenance
        Data, parameters, seed and versions.
    """

    _schema: ClassVar[str] = "selection"

    selected: tuple[int, ...]
    features: tuple[Any, ...]
    steps: tuple[Step, ...]
    relevance: FloatArray
    n_neighbors: tuple[int, int]
    duplicates: Mapping[int, tuple[int, ...]]
    constant: tuple[int, ...]
    stop_reason: str
    k_choice: KChoice | None
    excerpt: Excerpt
    provenance: Provenance

    def _content(self) -> dict[str, Any]:
        return super()._content() | {
            "steps": [plain_step(step) for step in self.steps],
            "k_choice": None if self.k_choice is None else self.k_choice._content(),
            "excerpt": _record(self.excerpt),
            "provenance": _record(self.provenance),
        }

    @classmethod
    def _restored(cls, content: dict[str, Any]) -> Self:
        for name in ("selected", "features", "n_neighbors", "constant"):
            content[name] = tuple(content[name])
        choice = content["k_choice"]
        content["k_choice"] = None if choice is None else KChoice._restored(choice)
        content["steps"] = tuple(restored_step(step) for step in content["steps"])
        content["excerpt"] = Excerpt(**content["excerpt"])
        return cls(**content | {"provenance": Provenance(**content["provenance"])})

    def __post_init__(self) -> None:
        _keep(self, relevance=self.relevance)

    def __repr__(self) -> str:
        names = [self.features[j] for j in self.selected]
        return f"SelectionResult({len(names)} of {len(self.features)} features: {names})"

    def to_frame(self) -> pd.DataFrame:
        """The path: a row for each step (two for a pair)."""
        rows = [
            {
                "step": number,
                "action": step.action,
                "feature": self.features[j],
                "mi": step.mi,
                "gain": step.gain,
                "p_value": step.p_value,
                "early_stopped": step.early_stopped,
                "level": step.level,
                "significant": step.significant,
                "exceedances": step.exceedances,
                "permutations": step.n_permutations,
                **dict(zip(_names_of_quantiles(), step.null_quantiles or [None] * 3, strict=True)),
                "candidates": step.n_candidates,
                "singletons": step.singletons,
            }
            for number, step in enumerate(self.steps, start=1)
            for j in step.features
        ]
        types = {"exceedances": "Int64", "permutations": "Int64", "significant": "boolean"}
        types |= dict.fromkeys(["p_value", "level", *_names_of_quantiles()], "float64")
        names = ["step", "action", "feature", "mi", "gain", "p_value", "early_stopped", "level"]
        names += ["significant", "exceedances", "permutations", *_names_of_quantiles()]
        names += ["candidates", "singletons"]
        return pd.DataFrame(rows, columns=names).astype(types)


@dataclass(frozen=True, eq=False)
class ClusterResult(_Document):
    """Which columns were joined.

    Attributes
    ----------
    features : tuple
        Names of the columns, or their numbers.
    clusters : tuple of str
        Names of the clusters.
    labels : ndarray of int, of shape (n_features,)
        The cluster of each column.
    medoids : ndarray of int, of shape (n_clusters,)
        The most typical column of each cluster.
    children, similarities : ndarray
        The merges, as in :class:`FeatureClustering`.
    cv_results : dict or None
        What the number of clusters was chosen from.
    provenance : Provenance
        Data, parameters, seed and versions.
    """

    _schema: ClassVar[str] = "clusters"

    features: tuple[Any, ...]
    clusters: tuple[str, ...]
    labels: IntArray
    medoids: IntArray
    children: IntArray
    similarities: FloatArray
    cv_results: Mapping[str, Any] | None
    provenance: Provenance

    def __post_init__(self) -> None:
        arrays = ("labels", "medoids", "children", "similarities")
        _keep(self, **{name: getattr(self, name) for name in arrays})

    def __repr__(self) -> str:
        return f"ClusterResult({len(self.clusters)} clusters of {len(self.features)} features)"

    @property
    def linkage_matrix(self) -> FloatArray:
        """The tree as scipy's ``dendrogram`` draws it, at heights 1 - similarity."""
        sizes = [1] * len(self.features)
        for a, b in self.children.tolist():
            sizes.append(sizes[a] + sizes[b])
        table: list[Any] = [self.children, 1.0 - self.similarities, sizes[len(self.features) :]]
        return np.column_stack(table).astype(np.float64)

    @property
    def node_clusters(self) -> list[int | None]:
        """The cluster of each column, then of each merge; None where it joins clusters."""
        nodes: list[int | None] = self.labels.tolist()
        for a, b in self.children.tolist():
            nodes.append(nodes[a] if nodes[a] == nodes[b] else None)
        return nodes

    def to_frame(self) -> pd.DataFrame:
        """A row for each column: its cluster's number and name, and whether it is the medoid."""
        numbers = np.arange(len(self.features))
        return pd.DataFrame(
            {
                "feature": list(self.features),
                "cluster": self.labels,
                "name": [self.clusters[label] for label in self.labels],
                "medoid": np.isin(numbers, self.medoids),
            }
        )

    def _content(self) -> dict[str, Any]:
        return super()._content() | {"provenance": _record(self.provenance)}

    @classmethod
    def _restored(cls, content: dict[str, Any]) -> Self:
        content |= {name: tuple(content[name]) for name in ("features", "clusters")}
        content["children"] = np.array(content["children"], np.int64).reshape(-1, 2)
        content["similarities"] = np.array(content["similarities"], np.float64)
        results = content["cv_results"]
        if results is not None:
            content["cv_results"] = {key: np.array(value) for key, value in results.items()}
        return cls(**content | {"provenance": Provenance(**content["provenance"])})


def plain_step(step: Step) -> dict[str, Any]:
    """A step's fields, as JSON holds them."""
    return _record(step) | {"features": list(step.features), "null": list(step.null)}


def restored_step(content: Mapping[str, Any]) -> Step:
    """The step of :func:`plain_step`."""
    tuples = {name: tuple(content[name]) for name in ("features", "null")}
    return Step(**{**content, **tuples})


def _names_of_quantiles() -> list[str]:
    return [f"null_q{round(100 * q):02d}" for q in QUANTILES]
