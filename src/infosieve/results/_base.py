"""What all records share: JSON, the report, where they come from."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self, get_origin

import numpy as np

from infosieve._core.documents import dump, load
from infosieve._core.types import IntArray

# Of all documents; a field that is renamed makes another version.
SCHEMA_VERSION = 2
# Of permuted values, in tables.
QUANTILES = (0.05, 0.5, 0.95)
QUANTILE_NAMES = [f"null_q{round(100 * q):02d}" for q in QUANTILES]


def keep(record: Any, **arrays: Any) -> None:
    """Store arrays in a frozen record so that nobody writes into them."""
    for name, value in arrays.items():
        array = np.array(value)
        array.flags.writeable = False
        object.__setattr__(record, name, array)


def plain_record(value: Any) -> dict[str, Any]:
    """The fields of a record."""
    return {one.name: getattr(value, one.name) for one in fields(value)}


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where a result comes from: all that is needed to have it again.

    Attributes
    ----------
    data : str
        A fingerprint of the table and the target.
    n_samples : int
        How many samples there were, without those that were left out.
    seed : int
        What random numbers were drawn from.
    parameters : dict
        Those of the estimator or function.
    versions : dict
        Of Python and the libraries.
    command : str
        The command line, where there was one.
    options : dict
        What it was given, by the names of the options in Python.
    code : str
        The call in Python that repeats it.
    n_left_out : int
        Samples that were left out: they had no target, or had gaps and ``missing="drop"``.
    by_changes : bool
        Whether changes from row to row were measured, because the target of a series wanders.
    by_order : tuple of str
        Columns that the order of the rows tells, which no test can tell from chance: the same in
        the same order in each group, or repeated as a calendar is in a series.

    See Also
    --------
    SelectionResult, ClusterResult, KChoice, PermutationTest : Records that have one.

    Examples
    --------
    >>> import numpy as np
    >>> from infosieve import FeatureClustering
    >>> x = np.random.default_rng(0).normal(size=(20, 3))
    >>> known = FeatureClustering(2, random_state=0).fit(x, x[:, 0]).result_.provenance
    >>> known.n_samples, known.seed
    (20, 0)
    >>> print(known.code)
    from infosieve import FeatureClustering
    <BLANKLINE>
    FeatureClustering(n_clusters=2, random_state=0).fit(X, y)
    """

    data: str
    n_samples: int
    seed: int
    parameters: Mapping[str, Any]
    versions: Mapping[str, str]
    command: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    code: str = ""
    n_left_out: int = 0
    by_changes: bool = False
    by_order: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.by_order, list):  # as JSON has it
            object.__setattr__(self, "by_order", tuple(self.by_order))

    def with_seed(self, seed: int) -> Self:
        """The same with another seed, which the code has as well.

        Parameters
        ----------
        seed : int
            The other seed.

        Returns
        -------
        Provenance
        """
        before, found, after = self.code.rpartition(f"random_state={self.seed}")
        code = f"{before}random_state={seed}{after}" if found else self.code
        return replace(self, seed=seed, code=code)


@dataclass(frozen=True, eq=False, kw_only=True)
class Excerpt:
    """Some samples of the selected columns and of the target: enough to draw them.

    Attributes
    ----------
    rows : ndarray of int
        Which samples: all, or 1000 of them, evenly spaced.
    features : dict
        For each selected column, its values: numbers, or categories.
    target : dict
        For each target, by name, its values.

    See Also
    --------
    SelectionResult : The record that has one.

    Examples
    --------
    >>> import numpy as np
    >>> from infosieve import MISelector
    >>> x = np.arange(-5.0, 7.0)
    >>> excerpt = MISelector(stop=None, max_features=1).fit(x[:, None], x**2).result_.excerpt
    >>> excerpt.features[0][:3], excerpt.target["y"][:3]
    ([-5.0, -4.0, -3.0], [25.0, 16.0, 9.0])
    """

    rows: IntArray
    features: Mapping[int, list[Any]]
    target: Mapping[Any, list[Any]]


class Document:
    """A record that can be written as JSON and read again."""

    _schema: ClassVar[str]
    _schema_version: ClassVar[int] = SCHEMA_VERSION

    def to_json(self) -> str:
        """Write the whole record as a JSON document, with a schema and its version.

        Returns
        -------
        str
            The document, which :meth:`from_json` reads.
        """
        return dump(self._schema, self._schema_version, self._content())

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read the record that :meth:`to_json` wrote.

        Parameters
        ----------
        text : str
            The document. Nothing in it is executed.

        Returns
        -------
        record
            One of this class; a document that no search can have made is refused.
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

    def report(
        self,
        path: Any,
        *,
        curves: Any = None,
        clusters: Any = None,
        relevance: Any = None,
        stability: Any = None,
    ) -> None:
        """Write an HTML page that shows the result: one file, which needs nothing else.

        Parameters
        ----------
        path : path-like
            Where to.
        curves : pair, default=None
            A fitted :class:`CurveFeatures` (for clusters, an axis) and the curves: they are drawn
            with the parts that the result is about.
        clusters : ClusterResult, default=None
            Beside a selection: which columns are redundant with each other.
        relevance : RelevanceTest, default=None
            Beside a selection: which columns are informative by themselves.
        stability : Stability, default=None
            Beside a selection: how often columns are selected from other samples.
        """
        from infosieve.report._render import write

        beside = {"clusters": clusters, "relevance": relevance, "stability": stability}
        write(self, path, curves=curves, **beside)

    def _repr_html_(self) -> str:
        from infosieve.report._render import fragment

        return fragment(self)

    def _content(self) -> dict[str, Any]:
        """Field by field; what holds several things is a list, and a name is what it is."""
        several = {f.name for f in fields(self) if get_origin(f.type) is tuple}  # type: ignore[arg-type]
        content = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        return {k: list(v) if k in several else v for k, v in content.items()}

    @classmethod
    def _restored(cls, content: dict[str, Any]) -> Self:
        raise NotImplementedError
