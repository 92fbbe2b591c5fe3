"""From what users pass to prepared columns: the door that all public functions share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from infosieve._core.formats import direction_text
from infosieve._core.settings import Settings
from infosieve._core.types import (
    BoolArray,
    Columns,
    Executor,
    IntArray,
    PreparedScale,
    Runner,
    View,
    Which,
)
from infosieve._engines.numba.columns import LIFT
from infosieve._input.named import declared_columns
from infosieve._input.notices import (
    check_dates,
    tell_of_dropped,
    tell_of_targets,
    warn_of_changes,
    warn_of_class_codes,
    warn_of_dates,
    warn_of_dominated,
    warn_of_fills,
)
from infosieve._input.row_order import (
    Marking,
    Marks,
    marks_of_categories,
    marks_of_numbers,
    row_order,
)
from infosieve._input.scaling import exponent_of, prepare
from infosieve._input.tables import Table, check_lengths, check_target, read_table
from infosieve._input.together import INDEPENDENT, Together, together_of
from infosieve._sources import as_source, run_once

if TYPE_CHECKING:
    from infosieve._input.lazy_columns import SourceTable

AnyTable: TypeAlias = "Table | SourceTable"


def _on_disk() -> Any:
    """Tables that stay on disk, loaded where there is one."""
    from infosieve._input import lazy_columns

    return lazy_columns


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What a public function was asked about: its tables, checked."""

    x: Any  # Table, or SourceTable where the columns stay on disk
    y: Any = None  # Table
    given: Table | None = None  # the columns to condition on
    together: Together = INDEPENDENT
    missing: str = "auto"  # how gaps are measured
    n_left_out: int = 0  # samples without a target, or with gaps where complete ones are wanted
    # Whether changes from row to row stand for values, because the target is not stationary.
    by_changes: bool = False
    # Columns of X that the order of the rows tells: the same in the same order in each group, or a
    # calendar's. No test can tell them from chance.
    by_order: frozenset[int] = frozenset()
    # Which samples of X, as it was passed, are used, in the order of the tables here.
    rows: IntArray = field(default_factory=lambda: np.arange(0))

    @property
    def tables(self) -> list[AnyTable]:
        return [table for table in (self.x, self.y, self.given) if table is not None]

    @property
    def n_samples(self) -> int:
        return int(self.x.n_samples)

    @property
    def as_passed(self) -> IntArray:
        """What puts the samples in the order in which they were passed."""
        return np.argsort(self.rows)

    @property
    def why_by_order(self) -> str:
        """What columns are like that the order of the rows tells."""
        if self.together.in_order:
            return "it repeats itself, as a calendar does"
        return "it has the same values in the same order in the groups"

    @property
    def independent(self) -> bool:
        """Whether nobody has said that rows belong together."""
        return self.together.groups is None and not self.together.in_order

    def prepare(self, scale: PreparedScale, runner: Runner, with_order: bool = False) -> "Prepared":
        """Scaled columns, ties broken; constant columns are not worth conditioning on."""
        x, target, *rest = prepare_tables(self.tables, scale, runner, with_order)
        given = rest[0].take(~rest[0].constant) if rest else target.take(slice(0))
        given = given.with_flags(LIFT) if self.missing == "auto" else given
        fills = self.missing == "auto"
        return Prepared(
            x=x, target=target, given=given, together=self.together, fills=fills, tables=self.tables
        )


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """Columns that can be measured: candidates, target and, if there are some, given columns."""

    x: Any
    target: Columns
    given: Columns
    together: Together = INDEPENDENT
    # Gaps are values of their own in a column that is measured alone, or given others, and medians
    # in the columns that it is measured with, with a column that says where they are.
    fills: bool = False
    # What they were made from: X, y and, if there are some, the given columns.
    tables: Sequence[AnyTable] = ()

    def in_words(self, view: View, column: int) -> View:
        """How a column tells something; the levels of categories give a direction a name."""
        known = (self.tables[0].levels.get(column), self.tables[1].levels.get(0))
        return view._replace(name=direction_text(view.name, *known))

    def take_given(self, columns: Which) -> Columns:
        """Columns of ``x`` to condition on."""
        return self.as_given(self.x.take(columns))

    def as_given(self, columns: Columns) -> Columns:
        """The same columns to condition on: filled, where gaps are."""
        return columns.with_flags(LIFT) if self.fills else columns


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Tables as they were read, of which any samples make a problem."""

    settings: Settings
    x: Any
    others: list[Table]  # the target and, if there are some, the given columns
    together: Together
    usable: IntArray  # samples with a target and, where complete ones are wanted, without gaps
    source: Any  # where columns stay; None: they were read
    executor: Executor | None
    as_passed: bool  # whether samples keep their order

    def problem(self, among: IntArray | None = None) -> Problem:
        """The problem of the usable samples, or of some of them."""
        missing, series = self.settings.missing, self.together.in_order
        rows = self.usable if among is None else np.sort(among)
        together = self.together.of_rows(rows)
        x, others = self.x, [table.take_rows(rows) for table in self.others]
        by_changes = series and others[0].is_non_stationary
        if self.source is not None:
            how, source = self.settings.discrete_features, self.source
            declared = declared_columns(how, "X", source.columns, source.named)
            x = replace(x, declared=declared, missing=missing, by_changes=by_changes)
        x = x.take_rows(rows)
        if among is None:
            warn_of_dates(x, together)
        if not (series or self.as_passed):
            order = row_order(rows.size, _parts(x, others, self.executor), together.groups)
            rows, together, x = rows[order], together.of_rows(order), x.take_rows(order)
            others = [table.take_rows(order) for table in others]
        if isinstance(x, Table):
            x = x.completed(missing, by_changes)
        elif self.executor is not None:
            x = _on_disk().open_table(x, self.settings.prepared_scale, others, self.executor)
        others = [table.completed(missing, by_changes) for table in others]
        y, given = others[0], others[1] if others[1:] else None
        check_target(y)
        if isinstance(self.settings.discrete_target, str):
            warn_of_class_codes(y)
        if among is None:  # parts of a table that was looked at are not looked at again
            warn_of_fills(x)
        if by_changes:
            warn_of_changes(y)
        by_order = frozenset[int]()
        if together is not INDEPENDENT:
            from infosieve._input.by_order import columns_by_order

            together, by_order = columns_by_order(together, x, y, self.settings.by_place)
        return Problem(
            x=x,
            y=y,
            given=given,
            together=together,
            missing=missing,
            n_left_out=self.x.n_samples - rows.size,
            by_changes=by_changes,
            by_order=by_order,
            rows=rows,
        )


def read_tables(
    X: Any,
    y: Any,
    settings: Settings,
    *,
    condition: Any = None,
    groups: Any = None,
    executor: Executor | None = None,
    as_passed: bool = False,
) -> Reading:
    """Check X, y and, if there are some, the columns to condition on.

    With an executor, X may stay where it is.
    """
    X, y, groups = run_once(X, "X"), run_once(y, "y"), run_once(groups, "groups")
    missing, series = settings.missing, settings.series
    source = as_source(X)
    X = X if source is None else source
    if source is not None and (executor is None or 8 * np.prod(source.shape) <= _on_disk().SMALL):
        source = None
    x: Any
    if source is not None:
        x = _on_disk().SourceTable(source, "X", {})
    else:
        x = read_table(X, "X", settings.discrete_features, missing=missing)
    kinds = settings.discrete_target
    if series is not False and isinstance(kinds, str) and kinds == "auto":
        kinds = ()  # two numbers have changes, too, if the target is not stationary
    others = [read_table(y, "y", kinds, missing=missing)]
    if condition is not None:
        others.append(read_table(condition, "condition", missing=missing))
    check_lengths(x, *others)
    together = together_of(groups, series, x.n_samples, x.index)
    if together.in_order:
        check_dates([x, *others])
    used = _usable(x, others, source, executor, missing)
    return Reading(
        settings=settings,
        x=x,
        others=others,
        together=together,
        usable=np.flatnonzero(used),
        source=source,
        executor=executor,
        as_passed=as_passed,
    )


def open_problem(X: Any, y: Any, settings: Settings, **how: Any) -> Problem:
    """The problem of all samples that can be used: see :func:`read_tables`."""
    return read_tables(X, y, settings, **how).problem()


def _parts(x: AnyTable, others: list[Table], executor: Executor | None) -> list[Marking]:
    """What tells rows apart: the target first, because it does not take long."""
    kinds = marks_of_numbers, marks_of_categories
    here = [*others, x] if isinstance(x, Table) else others
    parts: list[Marking] = [partial(kind, table) for table in here for kind in kinds]
    if isinstance(x, Table):
        return parts
    assert executor is not None

    def on_disk(kind: Callable[..., Marks], known: Marks) -> Marks:
        each = _on_disk().asked_of(x, partial(kind, known=known), executor)
        return np.asarray(np.sum(each, axis=0, dtype=np.uint64))

    return [*parts, *(partial(on_disk, kind) for kind in kinds)]


def _usable(
    x: Any, others: list[Table], source: Any, executor: Executor | None, missing: str
) -> BoolArray:
    """Which samples have a target and, where only complete ones are wanted, no gaps."""
    without = others[0].incomplete
    tell_of_targets(others[0], without)
    used = ~without
    if missing == "drop":
        here = others if source is not None else [*others, x]
        used &= ~np.any([table.incomplete for table in here], axis=0)
        if source is not None and executor is not None:
            gaps = _on_disk().asked_of(x, attrgetter("incomplete"), executor)
            used &= ~np.any(gaps, axis=0)
        tell_of_dropped(int((~used).sum() - without.sum()), x.n_samples)
    return used


def open_columns_alone(X: Any, missing: str) -> Problem:
    """Numbers without a target."""
    x = read_table(X, "X", False, missing=missing)
    n, n_left_out = x.n_samples, 0
    if missing == "drop" and x.incomplete.any():
        x = x.take_rows(np.flatnonzero(~x.incomplete))
        n_left_out = n - x.n_samples
        tell_of_dropped(n_left_out, n)
    return Problem(x=x.completed(missing), missing=missing, n_left_out=n_left_out)


def prepare_tables(
    tables: Sequence[AnyTable],
    scale: PreparedScale,
    runner: Runner,
    with_order: bool = False,
    separate: bool = True,
) -> list[Any]:
    """Scaled, ties broken unless told otherwise: see :func:`.scaling.prepare`.

    A table that stays where it is becomes columns that are prepared when they are taken. Spread
    scores are for the first table only: the others have normal scores, ties and all.
    """
    exponent = exponent_of(np.array([t.largest for t in tables])) if scale is None else 0
    others: PreparedScale = "normal-scores" if scale == "spread-scores" else scale
    prepared: list[Any] = [
        prepare(t.values, t.categorical, own, exponent, runner, with_order, separate)
        if isinstance(t, Table)
        else _on_disk().LazyColumns(t, own, exponent, runner)
        for t, own in zip(tables, [scale, *[others] * (len(tables) - 1)], strict=True)
    ]
    for table, columns in zip(tables, prepared, strict=True):
        warn_of_dominated(table, np.flatnonzero(columns.dominated))
    return prepared
