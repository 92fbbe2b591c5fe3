"""From what users pass to prepared columns: the door that all public functions share."""

import inspect
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from infosieve._core.documents import versions
from infosieve._core.estimators import PAIRS, described, import_lines, imports_of, told, written
from infosieve._core.messages import shown, warn
from infosieve._core.parameters import CLASS_CODES, MISSING, WITHOUT_EFFECT, check_choice
from infosieve._core.types import (
    BoolArray,
    Columns,
    ColumnSet,
    Executor,
    FloatArray,
    IntArray,
    Runner,
    Scale,
    Which,
)
from infosieve._engines.numba.columns import LIFT
from infosieve._input.in_time import is_dated, out_of_order, repeated
from infosieve._input.lazy_columns import (
    SMALL,
    LazyColumns,
    SourceTable,
    complete_rows,
    marks_of_rows,
    open_table,
    unread_table,
)
from infosieve._input.row_order import (
    Marking,
    marks_of_categories,
    marks_of_numbers,
    row_order,
)
from infosieve._input.scaling import exponent_of, prepare
from infosieve._input.tables import Table, check_lengths, check_target, fingerprint, read_table
from infosieve._input.together import (
    INDEPENDENT,
    Together,
    period_of,
    together_of,
    told_by_place,
)
from infosieve._sources import as_source
from infosieve.results import Excerpt, Provenance

# Samples of an excerpt, at most.
EXCERPT = 1000

# What people write for missing values.
_FILLS = (99, 999, 9999, 99999, 999999)
# A target is matched, and a column in order, if the place in the group tells so much of it.
_MATCHED, _ORDERED = 0.9, 0.7
# Whole numbers in equal blocks may be individuals if there are so many of them.
_MANY = 10
# Of a table on disk, so many values are looked at together.
_BLOCK = 2**21
# Categories with fewer samples each, on average, may be individuals.
_ROWS = 5

AnyTable: TypeAlias = Table | SourceTable


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What a public function was asked about: its tables, checked.

    Attributes
    ----------
    x : Table or SourceTable
        The latter where the columns stay on disk.
    y : Table or None
    given : Table or None
        The columns to condition on.
    together : Together
        Which rows belong together.
    missing : str
        How gaps are measured.
    n_left_out : int
        Samples without a target, or with gaps where only complete ones are wanted.
    by_changes : bool
        Whether columns have changes from row to row instead of values, because the target wanders.
    by_order : frozenset of int
        Columns of X that the order of the rows tells: the same in the same order in each group, or
        a calendar's. No test can tell them from chance.
    rows : ndarray of int
        Which samples of X, as it was passed, are used, in the order of the tables here.
    """

    x: Any
    y: Any = None
    given: Table | None = None
    together: Together = INDEPENDENT
    missing: str = "auto"
    n_left_out: int = 0
    by_changes: bool = False
    by_order: frozenset[int] = frozenset()
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

    def prepare(self, scale: Scale, runner: Runner, with_order: bool = False) -> "Prepared":
        """Scaled columns, ties broken; constant columns are not worth conditioning on."""
        x, target, *rest = prepare_tables(self.tables, scale, runner, with_order)
        given = rest[0].take(~rest[0].constant) if rest else target.take(slice(0))
        given = given.with_flags(LIFT) if self.missing == "auto" else given
        return Prepared(
            x=x, target=target, given=given, together=self.together, fills=self.missing == "auto"
        )


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """Columns that can be measured: candidates, target and, if there are some, given columns.

    ``fills``: gaps are values of their own in a column that is measured alone, or given others, and
    medians in the columns that it is measured with, with a column that says where they are.
    """

    x: Any
    target: Columns
    given: Columns
    together: Together = INDEPENDENT
    fills: bool = False

    def take_given(self, columns: Which) -> Columns:
        """Columns of ``x`` to condition on."""
        return self.as_given(self.x.take(columns))

    def as_given(self, columns: Columns) -> Columns:
        """The same columns to condition on: filled, where gaps are."""
        return columns.with_flags(LIFT) if self.fills else columns


def open_problem(
    X: Any,
    y: Any,
    *,
    given: Any = None,
    discrete_features: Any = "auto",
    discrete_target: Any = "auto",
    scale: Scale = None,
    executor: Executor | None = None,
    missing: Any = "error",
    groups: Any = None,
    series: Any = False,
    among: IntArray | None = None,
    as_passed: bool = False,
) -> Problem:
    """Check X, y and, if there are some, the columns to condition on.

    With an executor, X may stay where it is. Samples without a target are left out. ``among``:
    use some of the ``rows`` of an earlier problem only. ``as_passed``: samples keep their order.
    """
    check_choice(missing, "missing", MISSING)
    source = as_source(X)
    X = X if source is None else source
    if source is not None and (executor is None or 8 * np.prod(source.shape) <= SMALL):
        source = None
    runner = executor.here if executor is not None else None
    x: Any
    if source is not None:
        x = SourceTable(source, "X", {})
    else:
        x = read_table(X, "X", discrete_features, runner=runner, missing=missing)
    by_type = series is not False and isinstance(discrete_target, str) and discrete_target == "auto"
    # What wanders between two numbers is measured by its changes.
    others = [read_table(y, "y", () if by_type else discrete_target, missing=missing)]
    if given is not None:
        others.append(read_table(given, "given", missing=missing))
    check_lengths(x, *others)
    n_samples = x.n_samples
    together = together_of(groups, series, n_samples, x.index)
    if together.in_order and among is None:
        check_dates(next((t.index for t in (x, *others) if t.index is not None), None))
    if among is None:
        used = _usable(x, others, source, executor, missing)
    else:
        used = np.isin(np.arange(n_samples), among)
    rows = np.flatnonzero(used)
    together, others = together.of_rows(rows), [table.take_rows(rows) for table in others]
    by_changes = together.in_order and others[0].wanders
    if source is not None:
        x = unread_table(source, "X", discrete_features, missing, by_changes)
    x = x.take_rows(rows)
    if among is None:
        _warn_of_dates(x, together)
    if not (together.in_order or as_passed):
        order = row_order(rows.size, _parts(x, others, executor), together.groups)
        rows, together, x = rows[order], together.of_rows(order), x.take_rows(order)
        others = [table.take_rows(order) for table in others]
    if isinstance(x, Table):
        x = x.completed(missing, by_changes)
    elif executor is not None:
        x = open_table(x, scale, others, executor)
    others = [table.completed(missing, by_changes) for table in others]
    check_target(others[0])
    _warn_of_what_is_read(x, others[0], by_changes, discrete_target, first=among is None)
    together, by_order = _with_places(together, x, others[0])
    return Problem(
        x=x,
        y=others[0],
        given=others[1] if given is not None else None,
        together=together,
        missing=missing,
        n_left_out=n_samples - rows.size,
        by_changes=by_changes,
        by_order=by_order,
        rows=rows,
    )


def _parts(x: AnyTable, others: list[Table], executor: Executor | None) -> list[Marking]:
    """What tells rows apart: the target first, because it does not take long."""
    kinds = marks_of_numbers, marks_of_categories
    parts: list[Marking] = [partial(kind, table) for table in others for kind in kinds]
    if isinstance(x, Table):
        return [*parts, *(partial(kind, x) for kind in kinds)]
    assert executor is not None
    return [*parts, *(partial(marks_of_rows, x, kind, executor) for kind in kinds)]


def _warn_of_what_is_read(
    x: AnyTable, y: Table, by_changes: bool, discrete_target: Any, first: bool
) -> None:
    """``first``: parts of a table that was looked at are not looked at again."""
    if isinstance(discrete_target, str):
        _warn_of_class_codes(y)
    if first:
        _warn_of_fills(x)
    if by_changes:
        _warn_of_changes(y)


def _usable(
    x: Any, others: list[Table], source: Any, executor: Executor | None, missing: str
) -> BoolArray:
    """Which samples have a target and, where only complete ones are wanted, no gaps."""
    without = others[0].incomplete
    _tell_of_targets(others[0], without)
    used = ~without
    if missing == "drop":
        here = others if source is not None else [*others, x]
        used &= ~np.any([table.incomplete for table in here], axis=0)
        if source is not None and executor is not None:
            used &= complete_rows(source, executor)
        _tell_of_dropped(int((~used).sum() - without.sum()), x.n_samples)
    return used


def _warn_of_changes(y: Table) -> None:
    warn(
        f"{y.label(0) if y.n_columns == 1 else 'y'} wanders, without returning to a mean often "
        "enough to be compared. The changes of all columns of numbers, from row to row, are "
        "measured instead."
    )


def open_columns_alone(X: Any, missing: str) -> Problem:
    """Numbers without a target."""
    x = read_table(X, "X", False, missing=missing)
    n, n_left_out = x.n_samples, 0
    if missing == "drop" and x.incomplete.any():
        x = x.take_rows(np.flatnonzero(~x.incomplete))
        n_left_out = n - x.n_samples
        _tell_of_dropped(n_left_out, n)
    return Problem(x=x.completed(missing), missing=missing, n_left_out=n_left_out)


def _tell_of_targets(y: Table, without: BoolArray) -> None:
    """Say how many samples have no target."""
    if without.all():
        raise ValueError(
            f"All {without.size} values of {y.label(0) if y.n_columns == 1 else 'y'} are missing, "
            "or there is no sample without one: there is nothing to predict. Check that it is the "
            "right column."
        )
    if without.any():
        warn(
            f"{y.label(0) if y.n_columns == 1 else 'y'} has missing values in {without.sum()} of "
            f"{without.size} samples (the first in row {int(np.argmax(without))}): these samples "
            "are left out."
        )


def _tell_of_dropped(n_dropped: int, n_samples: int) -> None:
    if n_dropped >= n_samples - 1:
        raise ValueError(
            f"{n_dropped} of {n_samples} samples have missing values: missing='drop' leaves "
            f"{n_samples - n_dropped}. Pass missing='auto', or leave out columns with many gaps."
        )
    if n_dropped:
        warn(
            f"{n_dropped} of {n_samples} samples have missing values, and are left out "
            "(missing='drop')."
        )


def _with_places(together: Together, x: AnyTable, y: Table) -> tuple[Together, frozenset[int]]:
    """Rows of a group are exchanged for those at the same place of others: what follows the place?

    Of a target that does, nothing would change, so its rows have other places. Columns that do, in
    all groups, are returned; in a series, those that repeat themselves.
    """
    if together.groups is None:
        return together, _calendars(x) if together.in_order else frozenset()
    n = y.n_samples
    if (told_by_place(y.values, together, n) >= _MATCHED).all():
        warn(
            f"{y.label(0) if y.n_columns == 1 else 'y'} has the same values in the same order in "
            "the groups, as in matched pairs. The rows of each group are exchanged in random "
            "order, so that they can be compared. Where groups differ much, subtract each group's "
            "mean from columns of numbers first."
        )
        return replace(together, places=np.arange(n)), frozenset()
    found, by_order = list[int](), set[int]()
    for first, values in _blocks(x):
        some = np.flatnonzero(told_by_place(values, together) >= _ORDERED)
        told = told_by_place(values[some], together, n)
        found += (first + some).tolist()
        by_order |= {*(first + some[told >= _MATCHED]).tolist()}
    if not found:
        return together, frozenset()
    names = ", ".join(shown(x.names[j]) for j in found[:3])
    more = f" and {len(found) - 3} other columns" if len(found) > 3 else ""
    warn(
        f"{names}{more}: the same values in the same order in most groups. With groups, a "
        "test replaces each row by that at the same place of another group, where these columns "
        "hardly differ. So it cannot say what they tell, and what others tell is tested "
        "given the place. To ask, shuffle the rows of X, y and groups (together): then all that "
        "takes the same course in every group counts as related. If you ask about these groups "
        "only, and not about others of their kind, do without groups and keep the column that "
        "names them in X, as a category."
    )
    return together, frozenset(by_order)


def _blocks(x: AnyTable) -> Iterator[tuple[int, FloatArray]]:
    """The values of all columns, a column in a row, with the number of the first of a block."""
    if isinstance(x, Table):
        yield 0, x.values
        return
    size = max(1, _BLOCK // x.n_samples)
    for first in range(0, x.n_columns, size):
        yield first, x.read(np.arange(first, min(first + size, x.n_columns))).values


def _calendars(x: AnyTable) -> frozenset[int]:
    """Columns of a series that repeat themselves."""
    found = {
        first + i: period
        for first, values in _blocks(x)
        for i, column in enumerate(values)
        if (period := period_of(column))
    }
    if found:
        j = min(found)
        more = f" So do {len(found) - 1} other columns." if len(found) > 1 else ""
        warn(
            f"{x.label(j)} repeats itself every {found[j]} rows, as a calendar does.{more} Moved "
            "in a circle it is the same again, so that no test can tell it from chance. To ask "
            "what matters beyond the season, subtract the season's means from the target first: "
            "y - y.groupby(season).transform('mean')."
        )
    return frozenset(found)


def _warn_of_fills(x: AnyTable) -> None:
    """Say which columns have -999 or the like far from all other values."""
    if not isinstance(x, Table):
        return
    found = []
    for ends in (np.fmin.reduce(x.values, axis=1), np.fmax.reduce(x.values, axis=1)):
        for j in np.flatnonzero(np.isin(np.abs(ends), _FILLS) & ~x.categorical).tolist():
            filled = x.values[j] == ends[j]
            others = x.values[j][~filled & ~np.isnan(x.values[j])]
            if filled.sum() < 2 or others.size == 0:
                continue
            if np.abs(others - ends[j]).min() > np.ptp(others):
                found.append((j, ends[j], int(filled.sum())))
    if found:
        j, value, times = found[0]
        more = f" So have {len(found) - 1} other columns such a value." if len(found) > 1 else ""
        warn(
            f"{x.label(j)} has the value {value:.0f} in {times} of {x.n_samples} samples, far from "
            f"all others.{more} If it stands for a missing value, write NaN for it."
        )


def _warn_of_dates(x: AnyTable, together: Together) -> None:
    """Say that rows with dates, in their order, may be a series."""
    index = getattr(x, "index", None)
    if together.groups is not None or together.in_order:
        return
    if not isinstance(index, (pd.DatetimeIndex, pd.PeriodIndex)):
        return
    if index.is_monotonic_increasing and index.is_unique:
        warn(
            "The rows of X have dates, one after the other, and are taken as independent. If "
            "neighbouring rows are alike, pass series=True where that is a parameter; if not, "
            "X.reset_index(drop=True) says so."
        )


def check_dates(index: Any) -> None:
    """Refuse rows that are said to be in order of time, and have dates that are not."""
    if not is_dated(index):
        return
    if (row := out_of_order(index)) is not None:
        raise ValueError(
            f"The 'series' parameter says that rows are in order of time, but by their index they "
            f"are not: {row}. Sort them by it: X.sort_index(), and y with it (y.loc[X.index], or "
            "y[X.index.argsort()] before, for an array). If the index says something else, "
            "X.reset_index(drop=True) leaves the rows as they are."
        )
    if (rows := repeated(index)) is not None:
        warn(
            f"Rows are taken as one series, but {rows}. If these are several individuals, or "
            "places, pass groups (which of them each row is of) instead of series=True, or one of "
            "them at a time."
        )


def _warn_of_class_codes(y: Table) -> None:
    """Say that a target of few whole numbers is taken as numbers."""
    for j in np.flatnonzero(~y.categorical):
        few, many = CLASS_CODES
        distinct = np.unique(y.values[j][: 100 * many])
        if distinct.size <= many:
            distinct = np.unique(y.values[j])
        repeated = 2 * distinct.size <= y.n_samples
        if few <= distinct.size <= many and repeated and (distinct == np.rint(distinct)).all():
            warn(
                f"{y.label(int(j))} has {distinct.size} distinct whole numbers, and is taken as "
                "numbers. If they are codes of classes, pass discrete_target=True; if they are "
                "numbers, discrete_target=False says so."
            )


def prepare_tables(
    tables: Sequence[AnyTable],
    scale: Scale,
    runner: Runner,
    with_order: bool = False,
    separate: bool = True,
) -> list[Any]:
    """Scaled, ties broken unless told otherwise: see :func:`.scaling.prepare`.

    A table that stays where it is becomes columns that are prepared when they are taken. Spread
    scores are for the first table only: the others have normal scores, ties and all.
    """
    exponent = exponent_of(np.array([t.largest for t in tables])) if scale is None else 0
    others: Scale = "normal-scores" if scale == "spread-scores" else scale
    prepared: list[Any] = [
        LazyColumns(t, own, exponent, runner)
        if isinstance(t, SourceTable)
        else prepare(t.values, t.categorical, own, exponent, runner, with_order, separate)
        for t, own in zip(tables, [scale, *[others] * (len(tables) - 1)], strict=True)
    ]
    for table, columns in zip(tables, prepared, strict=True):
        _warn_of_owned(table, np.flatnonzero(columns.owned))
    return prepared


def _warn_of_owned(table: Any, columns: IntArray) -> None:
    """Say which columns one value owns: beside it, standard scaling makes all others alike."""
    if columns.size == 0:
        return
    j = int(columns[0])
    values = table.column(j)
    far = np.abs(values - np.nanmedian(values))
    rows = np.flatnonzero(far == np.nanmax(far))
    row, at = min((int(i) if table.kept is None else int(table.kept[i]), i) for i in rows)
    times = int((values == values[at]).sum())
    more = f" (and {times - 1} more)" if times > 1 else ""
    others = f" So do {columns.size - 1} other columns." if columns.size > 1 else ""
    warn(
        f"{table.label(j)} has the value {shown(values[at])} in row {row}{more}, so far from all "
        f"others that these hardly differ on the standard scale.{others} If it stands for a "
        "missing value, write NaN for it; if it is a value, pass scale='normal-scores'."
    )


def order_of_rows(x: Table, y: Table, together: Together) -> IntArray:
    """See :mod:`.row_order`; for those who open no problem."""
    return row_order(x.n_samples, _parts(x, [y], None), together.groups)


def provenance_of(
    problem: Problem, seed: int, parameters: Mapping[str, Any], call: Callable[..., Any]
) -> Provenance:
    """Where a result comes from; ``call`` is the public function or estimator that was called."""
    groups = problem.together.groups
    known = dict(parameters)
    if groups is not None:  # how many, instead of one for each sample
        known["groups"] = int(groups.max()) + 1
    code = _code(call, known, seed)
    known = {name: plain_parameter(value) for name, value in known.items()}
    return Provenance(
        data=fingerprint(*problem.tables, groups=groups),
        n_samples=problem.n_samples,
        seed=seed,
        parameters=known,
        versions=dict(versions()),
        code=code,
        n_left_out=problem.n_left_out,
        by_changes=problem.by_changes,
        by_order=tuple(str(problem.x.names[j]) for j in sorted(problem.by_order)),
    )


def _code(call: Callable[..., Any], parameters: Mapping[str, Any], seed: int) -> str:
    """The call that gives the result again, with what differs from the defaults.

    Groups are a value for each sample: they are named, as X and y are.
    """
    defaults = {name: p.default for name, p in inspect.signature(call).parameters.items()}
    written = {name: _written(value) for name, value in parameters.items() if name != "groups"}
    known = {name: value for name, value in written.items() if name in defaults}
    changed = [
        f"{name}={value}"
        for name, value in known.items()
        if name not in WITHOUT_EFFECT and value != repr(defaults[name])
    ]
    data = ["X", "y", *(["groups=groups"] if parameters.get("groups") is not None else [])]
    fitted = isinstance(call, type)
    arguments = [*([] if fitted else data), *changed, f"random_state={seed}"]
    name, method = call.__name__, f".fit({', '.join(data)})" if fitted else ""
    homes = {"infosieve": {name}}
    for value in parameters.values():
        if _is_object(value):
            homes = imports_of(value, homes)
    lines, rest = import_lines(homes), [one.partition("=")[0] for one in changed if "..." in one]
    if rest:
        lines += (
            f"\n# ... stands for what cannot be written: put in what was passed ({', '.join(rest)})"
        )
    return f"{lines}\n\n{name}({', '.join(arguments)}){method}"


def _is_object(value: Any) -> bool:
    """Whether a parameter is a model, a splitter or the like, or a function."""
    return callable(value) or any(hasattr(value, name) for name in ("get_params", "get_n_splits"))


def plain_parameter(value: Any) -> Any:
    """A parameter as records keep it: objects by name and parameters, or by name."""
    if not _is_object(value):
        return value
    return described(value) if hasattr(value, "get_params") else told(value)


def _written(value: Any) -> str:
    """A parameter as Python reads it again: arrays and indexes as lists."""
    if _is_object(value):
        return written(value)
    if isinstance(value, str) and value == PAIRS:
        return "..."
    if isinstance(value, (np.ndarray, np.generic, pd.Index, pd.Series)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        items = [_written(item) for item in value]
        if isinstance(value, list):
            return f"[{', '.join(items)}]"
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    return repr(value)


def excerpt_of(problem: Problem, selected: list[int]) -> Excerpt:
    """Some samples of the selected columns and the targets."""
    x, y = problem.x, problem.y
    n = x.n_samples
    rows = np.unique(np.linspace(0, n - 1, min(n, EXCERPT)).round().astype(np.int64))
    at = problem.as_passed[rows]
    names = y.names if y.named else ["y"] if y.n_columns == 1 else [f"y{j}" for j in y.names]
    return Excerpt(
        rows=rows,
        features={j: _shown_values(x, j, at) for j in selected},
        target={name: _shown_values(y, j, at) for j, name in enumerate(names)},
    )


def _shown_values(table: Any, j: int, rows: Any) -> list[Any]:
    """Numbers, or the texts of categories."""
    values = table.column(j)[rows].tolist()
    if table.categorical[j]:
        return ["(missing)" if v is None else str(v) for v in values]
    return [None if v != v else v for v in values]


def remember_columns(estimator: Any, X: Any, reset: bool = True) -> None:
    """As scikit-learn's estimators know their columns: ``n_features_in_``, ``feature_names_in_``.

    Without ``reset``, columns other than those of ``fit`` are refused.
    """
    from sklearn.utils.validation import validate_data

    source = as_source(X)
    names = source.columns if source is not None and source.named else getattr(X, "columns", [])
    _refuse_repeated_names(list(names))
    if source is not None and source.named:  # what scikit-learn sees of a frame without rows
        X = pd.DataFrame(columns=source.columns)
    elif source is not None:
        X = np.empty((0, source.shape[1]))
    validate_data(estimator, X, reset=reset, skip_check_array=True)


def _refuse_repeated_names(names: list[Any]) -> None:
    """Whoever selects by name must know which column is meant."""
    if len(set(names)) == len(names):
        return
    times = Counter(names)
    repeated = [name for name in times if times[name] > 1]
    told = ", ".join(f"{shown(name)} ({times[name]} times)" for name in repeated[:10])
    more = f" and {len(repeated) - 10} more" if len(repeated) > 10 else ""
    raise ValueError(
        f"X has several columns of the same name: {told}{more}. Rename them, so that it can be "
        "said which one is selected, or pass the values without names (X.to_numpy())."
    )


def warn_of_identifiers(problem: Problem, x: ColumnSet, left_out: Collection[int] = ()) -> None:
    """Say which categories of X are nearly as many as there are samples, or as individuals."""
    table = problem.x
    found = np.flatnonzero(x.categorical & (2 * x.n_distinct > table.n_samples))
    if left_out:
        names = ", ".join(shown(table.names[j]) for j in sorted(left_out)[:10])
        more = f" and {len(left_out) - 10} more" if len(left_out) > 10 else ""
        warn(
            "Left out as identifiers, with more levels than half of the "
            f"{table.n_samples} samples: {names}{more}. Nothing can be learnt from names that "
            "hardly occur twice. If these are numbers, pass them as numbers; if they are "
            "categories, join rare ones, or declare them (discrete_features)."
        )
        found = np.setdiff1d(found, list(left_out))
    if found.size:
        j = int(found[0])
        more = f" So have {found.size - 1} other columns." if found.size > 1 else ""
        warn(
            f"{table.label(j)} has {x.n_distinct[j]} categories in {table.n_samples} samples, as "
            f"identifiers have: its information cannot be told from chance.{more} Leave it out, "
            "join rare categories or, if these are numbers, pass them as numbers."
        )
    few = x.categorical & (_ROWS * x.n_distinct > table.n_samples)
    few[[*found, *left_out]] = False
    if isinstance(table, Table) and problem.independent:
        few |= _in_blocks(table.values[:, problem.as_passed], x.n_distinct)
    if few.any() and problem.together.groups is None:
        j = int(np.argmax(few))
        more = f" So have {few.sum() - 1} other columns." if few.sum() > 1 else ""
        warn(
            f"{table.label(j)} has {x.n_distinct[j]} values in {table.n_samples} samples, so few "
            f"samples each that they may be individuals.{more} If several rows are of one "
            "individual, leave the column out of X and pass it as groups: rows of one individual "
            "are alike, and tests must know it."
        )


def _in_blocks(values: FloatArray, n_distinct: IntArray) -> BoolArray:
    """Which columns are whole numbers that stand in blocks of as many rows, as in a panel."""
    n = values.shape[1]
    found = (n_distinct >= _MANY) & (2 * n_distinct <= n) & (n % np.maximum(n_distinct, 1) == 0)
    for j in np.flatnonzero(found).tolist():
        blocks = values[j].reshape(n_distinct[j], -1)
        same = (blocks == blocks[:, :1]).all() and (blocks[:, 0] % 1 == 0).all()
        found[j] = same and np.unique(blocks[:, 0]).size == n_distinct[j]
    return np.asarray(found, bool)


def warn_of_two_values(problem: Problem, discrete_features: Any) -> None:
    """Say that columns of two numbers tell classes better, each by itself, as categories."""
    x, y = problem.x, problem.y
    if not (isinstance(discrete_features, str) and isinstance(x, Table) and y.categorical.all()):
        return
    low, high = np.fmin.reduce(x.values, axis=1), np.fmax.reduce(x.values, axis=1)
    two = ((x.values == low[:, None]) | (x.values == high[:, None])).all(axis=1) & (low < high)
    found = np.flatnonzero(two & ~x.categorical)
    if found.size:
        names = ", ".join(shown(x.names[j]) for j in found[:3].tolist())
        more = f" and {found.size - 3} other columns" if found.size > 3 else ""
        which = f"[{shown(x.names[int(found[0])])}{', ...' if found.size > 1 else ''}]"
        warn(
            f"{names}{more}: two numbers each, and the target is classes. A column of two values "
            f"tells classes far better as a category: pass discrete_features={which}, or booleans."
        )


def warn_of_singletons(n_singletons: int, n_samples: int) -> None:
    """Say that most samples share their combination of categories with no other."""
    if 2 * n_singletons > n_samples:
        warn(
            f"{n_singletons} of {n_samples} samples share their combination of categories with no "
            "other sample, and cannot be told from chance: the information of this set is "
            "uncertain. Join rare categories, or use fewer columns."
        )


def warn_of_the_target(problem: Problem, selected: Sequence[int]) -> None:
    """Say which columns are the target in other words: mostly they are not known beforehand."""
    for j in selected:
        for i in range(problem.y.n_columns):
            if _says_the_same(problem.x, j, problem.y, i):
                target = problem.y.label(i) if problem.y.n_columns > 1 or problem.y.named else "y"
                warn(
                    f"{problem.x.label(j)} is a copy of {target}, or the same in other words: from "
                    "each value of one follows that of the other. If it is not known before the "
                    "target is, leave it out."
                )


def _says_the_same(x: Any, j: int, y: Any, i: int) -> bool:
    """Whether one rises or falls with the other in every sample, or has the same classes."""
    one, other = x.column(j), y.column(i)
    if x.categorical[j] or y.categorical[i]:
        codes, again = pd.factorize(one)[0], pd.factorize(other)[0]
        return bool(2 * codes.max() < codes.size and (codes == again).all())
    if np.isnan(one).any():
        return False
    order, again = (np.unique(values, return_inverse=True)[1] for values in (one, other))
    return bool((order == again).all() or (order == again.max() - again).all())
