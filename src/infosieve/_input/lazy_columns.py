"""Tables that stay where they are: checked in one pass, columns prepared when they are taken."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infosieve._core.types import (
    BoolArray,
    ColumnNumbers,
    Columns,
    Executor,
    FloatArray,
    IntArray,
    PreparedScale,
    Runner,
    Which,
)
from infosieve._executors.threads import Threads
from infosieve._input.duplicates import projections_of
from infosieve._input.scaling import exponent_of, prepare
from infosieve._input.tables import (
    Table,
    check_columns,
    read_columns,
    refuse_values,
    warn_of_number_texts,
)
from infosieve._sources import ColumnSource

# Sources up to this size are simply read: bytes.
SMALL = 1 << 26
# What is read at once, at most.
_BLOCK_BYTES = 1 << 24


@dataclass(frozen=True, kw_only=True)
class Survey:
    """What one pass over the table has found out about each column."""

    categorical: BoolArray
    n_distinct: IntArray  # after scaling, before ties were broken
    dominated: BoolArray  # see infosieve._core.types.Columns
    n_missing: IntArray
    n_infinite: IntArray
    # A row for each direction, and widths of the bulk: they separate what is no duplicate.
    projections: FloatArray
    widths: FloatArray
    digests: NDArray[np.object_]  # of the values: bytes
    levels: NDArray[np.object_]  # the categories of each categorical column; None for others

    @classmethod
    def joined(cls, surveys: Sequence["Survey"]) -> "Survey":
        """Surveys of blocks of columns as one of all of them."""
        names = [field.name for field in fields(cls)]
        each = {name: [getattr(survey, name) for survey in surveys] for name in names}
        return cls(**{name: np.concatenate(parts, axis=-1) for name, parts in each.items()})


@dataclass(frozen=True)
class SourceTable:
    """A checked table whose values are elsewhere. See :class:`infosieve._input.tables.Table`."""

    source: ColumnSource
    argument: str
    declared: dict[int, bool]
    survey: Survey | None = None
    largest: float = 0.0
    index: None = None
    kept: IntArray | None = None  # the rows that are used; None: all
    missing: str = "auto"  # what becomes of gaps, and of columns of a series: Table.completed
    by_changes: bool = False

    @property
    def names(self) -> list[Any]:
        return self.source.columns

    @property
    def named(self) -> bool:
        return self.source.named

    @property
    def n_samples(self) -> int:
        return self.source.shape[0] if self.kept is None else int(self.kept.size)

    @property
    def n_columns(self) -> int:
        return self.source.shape[1]

    @property
    def n_missing(self) -> IntArray:
        return self._known.n_missing

    @property
    def categorical(self) -> BoolArray:
        return self._known.categorical

    @cached_property
    def levels(self) -> dict[int, list[Any]]:
        return {j: self._known.levels[j] for j in np.flatnonzero(self.categorical).tolist()}

    @property
    def digests(self) -> list[bytes]:
        return list(self._known.digests)

    @property
    def _known(self) -> Survey:
        assert self.survey is not None
        return self.survey

    def read(self, columns: IntArray) -> Table:
        """Some of the columns, as they are measured."""
        return self.read_raw(columns).completed(self.missing, self.by_changes)

    def read_raw(self, columns: IntArray) -> Table:
        """Some of the columns; gaps are NaN."""
        values, names = read_columns(self.source.read(columns), self.argument)
        numbers = columns.tolist()
        declared = {i: self.declared[j] for i, j in enumerate(numbers) if j in self.declared}
        unread = Table.without_values(self.argument, names, len(numbers))
        unread = unread if self.named else replace(unread, names=numbers)
        table = check_columns(values, unread, declared)
        return table if self.kept is None else table.take_rows(self.kept)

    def take_rows(self, rows: IntArray) -> "SourceTable":
        """The same columns for some of the samples, in this order."""
        if np.array_equal(rows, np.arange(self.n_samples)):
            return self
        return replace(self, kept=rows if self.kept is None else self.kept[rows])

    def column(self, j: int) -> Any:
        """The values of one column, as they were."""
        return self.read_raw(np.array([j])).completed(self.missing).column(0)

    def label(self, column: int) -> str:
        """How an error message calls a column."""
        return f"column {self.names[column]!r} of {self.argument}"


def asked_of(table: SourceTable, ask: Callable[[Table], Any], executor: Executor) -> list[Any]:
    """What is asked of columns whose gaps are NaN, a few at a time."""
    return list(_of_pieces(partial(_asked, ask=ask), LazyColumns(table), executor))


def _of_pieces(
    job: Callable[..., Any], unread: "LazyColumns", executor: Executor, progress: bool = False
) -> Iterator[Any]:
    """What a job finds in all columns, some at a time, wherever the executor finds it best.

    ``progress`` says how far it is.
    """
    m, n = unread.n_columns, unread.source.shape[0]
    who: Any = executor if executor.can_read(unread.source) else executor.here
    size = max(1, _BLOCK_BYTES // (8 * n))
    pieces = who.place(unread).pieces(ColumnNumbers(range(m)), size)
    if progress:
        executor.progress.begin("looking at columns", m)
    for i, found in enumerate(who.map(job, ((size, piece) for piece in pieces)), start=1):
        yield found
        if progress:
            executor.progress.advance(min(i * size, m), m)


def open_table(
    table: SourceTable, scale: PreparedScale, others: list[Table], executor: Executor
) -> SourceTable:
    """Look at each column once; refuse what cannot be used.

    ``others`` are the tables that share the scale.
    """
    unread = LazyColumns(table, scale, 0, executor.here)
    if scale is None:  # columns keep their unit: the largest number of all comes first
        job = partial(_asked, ask=attrgetter("largest"), raw=False)
        table = replace(table, largest=max(_of_pieces(job, unread, executor, progress=True)))
        exponent = exponent_of(np.array([table.largest, *(t.largest for t in others)]))
        unread = LazyColumns(table, scale, exponent, executor.here)
    survey = Survey.joined(list(_of_pieces(_survey, unread, executor, progress=True)))
    gaps = survey.n_missing * (table.missing == "error")
    refuse_values(table.argument, table.names, table.n_samples, survey.n_infinite, gaps)
    known, texts = replace(table, survey=survey), set(table.source.texts)
    undeclared = [j for j in range(table.n_columns) if not table.declared.get(j)]
    warn_of_number_texts(known, (j for j in undeclared if table.names[j] in texts))
    return known


@dataclass(frozen=True)
class LazyColumns:
    """Prepared columns that are read when they are taken.

    See :class:`infosieve._core.types.ColumnSet`.
    """

    table: SourceTable
    scale: PreparedScale = None
    exponent: int = 0
    runner: Runner = field(default_factory=lambda: Threads(1))
    used: IntArray | None = None

    def __getstate__(self) -> dict[str, Any]:
        # Who takes columns needs nothing of what has been found out about all of them.
        return self.__dict__ | {"runner": Threads(1), "table": replace(self.table, survey=None)}

    @property
    def source(self) -> ColumnSource:
        return self.table.source

    @property
    def n_columns(self) -> int:
        return self.table.n_columns

    @property
    def n_samples(self) -> int:
        return self.table.n_samples if self.used is None else self.used.size

    def rows(self, rows: IntArray) -> "LazyColumns":
        """The same columns on some of the samples (scaling and ties as before)."""
        return replace(self, used=rows)

    @property
    def categorical(self) -> BoolArray:
        return self.table.categorical

    @property
    def n_distinct(self) -> IntArray:
        return self.table._known.n_distinct

    @property
    def dominated(self) -> BoolArray:
        return self.table._known.dominated

    @property
    def constant(self) -> BoolArray:
        return np.asarray(self.n_distinct == 1)

    @property
    def labelled(self) -> BoolArray:
        """See :class:`infosieve._core.types.Columns`."""
        gaps = self.table._known.n_missing > 0
        return self.categorical | (gaps if self.table.missing in ("auto", "value") else False)

    @property
    def projections(self) -> tuple[FloatArray, FloatArray]:
        """See :func:`infosieve._input.duplicates.projections_of`."""
        return self.table._known.projections, self.table._known.widths

    @cached_property
    def _numbers(self) -> IntArray:
        return np.arange(self.n_columns)

    def take(self, columns: Which, with_order: bool = True) -> Columns:
        """Some of the columns, read and prepared now."""
        which: Any = columns if isinstance(columns, slice) else np.asarray(columns)
        if not isinstance(columns, slice) and which.size == 0:
            which = slice(0)
        numbers = self._numbers[which]
        if numbers.size == 0:
            nothing = np.empty((0, self.n_samples))
            return Columns(nothing, np.zeros(0, bool), np.zeros(0, np.int64))
        taken = self.prepared(self.table.read(numbers), with_order)
        return taken if self.used is None else taken.rows(self.used)

    def prepared(self, table: Table, with_order: bool = False) -> Columns:
        """Columns that were read, scaled and with ties broken."""
        return prepare(
            table.values, table.categorical, self.scale, self.exponent, self.runner, with_order
        )


def _asked(
    runner: Runner, unread: LazyColumns, which: Which, ask: Callable[[Table], Any], raw: bool = True
) -> Any:
    """What is asked of columns, whose gaps are NaN if they are ``raw``."""
    table = unread.table
    return ask((table.read_raw if raw else table.read)(unread._numbers[which]))


def _survey(runner: Runner, unread: LazyColumns, which: Which) -> Survey:
    numbers = unread._numbers[which]
    how = unread.table
    table = how.read_raw(numbers)
    missing, infinite = np.isnan(table.values).sum(axis=1), np.isinf(table.values).sum(axis=1)
    if infinite.any() or (how.missing == "error" and missing.any()):
        table = replace(table, values=np.zeros_like(table.values))  # refused, whatever follows
    table = table.completed(how.missing, how.by_changes)
    columns = unread.prepared(table)
    projections, widths = projections_of(columns)
    assert columns.dominated is not None
    levels = np.full(numbers.size, None)
    for i, values in table.levels.items():
        levels[i] = values
    return Survey(
        categorical=table.categorical,
        n_distinct=columns.n_distinct,
        dominated=columns.dominated,
        n_missing=missing,
        n_infinite=infinite,
        projections=projections,
        widths=widths,
        digests=np.array(table.digests, object),
        levels=levels,
    )
