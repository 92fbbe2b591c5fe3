"""What all records share: JSON, and the way to the report."""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from infosieve._core.documents import dump, load, plain, typed
from infosieve._core.lazy import report

# Of all documents; a field that is renamed makes another version.
SCHEMA_VERSION = 2
# Of permuted values, in tables.
QUANTILES = (0.05, 0.5, 0.95)
QUANTILE_NAMES = [f"null_q{round(100 * q):02d}" for q in QUANTILES]


def freeze(record: Any, *names: str) -> None:
    """Store the arrays of a frozen record so that nobody writes into them."""
    for name in names:
        array = np.array(getattr(record, name))
        array.flags.writeable = False
        object.__setattr__(record, name, array)


def need(holds: Any, rule: str, *got: Any) -> None:
    """Refuse a document that breaks a rule, and say what it has instead."""
    if not holds:
        raise ValueError(rule + "".join(f"; it is {repr(value)[:60]}" for value in got))


class Document:
    """A record that can be written as JSON and read again.

    It knows nothing of words: the package says where the report is, which is imported when somebody
    asks for it.
    """

    _schema: ClassVar[str]
    # The field that has names, and the lengths of arrays: numbers, or fields as long as these.
    _names: ClassVar[str] = "features"
    _shapes: ClassVar[Mapping[str, tuple[int | str, ...]]] = {}

    def to_json(self) -> str:
        """Write the whole record as a JSON document, with a schema and its version.

        Returns
        -------
        str
            The document, which :meth:`from_json` reads.
        """
        return dump(self._schema, SCHEMA_VERSION, self._plain())

    @property
    def notes(self) -> tuple[str, ...]:
        notes: tuple[str, ...] = report().notes(self)
        return notes

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
            One of this class. A document is refused if a field is not what it is declared to be,
            or is of other columns than there are.
        """
        known = fields(cls)  # type: ignore[arg-type]
        needed = {f.name for f in known if f.default is f.default_factory is MISSING}
        content = load(text, cls._schema, SCHEMA_VERSION, {f.name for f in known}, needed)
        try:
            record = typed(cls._arranged(content), cls)
            record._check()
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise ValueError(f"this document is damaged: {error}") from error
        return record

    def to_frame(self) -> pd.DataFrame:
        raise NotImplementedError

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The table of ``to_frame`` for all that reads Arrow, such as ``polars.DataFrame(result)``.

        Names of several types are texts there.
        """
        import pyarrow as pa

        frame = self.to_frame()
        try:
            table = pa.Table.from_pandas(frame, preserve_index=False)
        except pa.ArrowException:
            types = frame.dtypes.items()
            texts = {name: str for name, kind in types if pd.api.types.is_object_dtype(kind)}
            table = pa.Table.from_pandas(frame.astype(texts), preserve_index=False)
        return table.__arrow_c_stream__(requested_schema)

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
        beside = {"clusters": clusters, "relevance": relevance, "stability": stability}
        report().write(self, path, curves=curves, **beside)

    def _repr_html_(self) -> str:
        text: str = report().fragment(self)
        return text

    def _plain(self) -> dict[str, Any]:
        """The fields, as JSON holds them."""
        content: dict[str, Any] = plain(self)
        return content

    @classmethod
    def _arranged(cls, content: dict[str, Any]) -> dict[str, Any]:
        """The fields by name, if :meth:`_plain` has arranged them otherwise."""
        return content

    def _columns(self) -> Iterable[int]:
        """All numbers of columns that it has."""
        return ()

    def _check(self) -> None:
        """Refuse what cannot name columns, other columns than there are, and wrong shapes."""
        names = getattr(self, self._names)
        known = all(isinstance(name, (str, int, float, tuple)) or name is None for name in names)
        need(names and known, f"{self._names!r} must be names or numbers")
        hash(names)  # a TypeError where a list is inside of a tuple
        for name, lengths in self._shapes.items():
            wanted = tuple(k if isinstance(k, int) else len(getattr(self, k)) for k in lengths)
            found = np.shape(getattr(self, name))
            need(found == wanted, f"{name!r} must have the shape {wanted}", found)
        others = {*self._columns()} - {*range(len(names))}
        need(not others, f"there are {len(names)} columns, and none has the numbers", others)
