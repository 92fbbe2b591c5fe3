"""From what users pass to prepared columns: the door that all public functions share."""

import inspect
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from infosieve._core.documents import versions
from infosieve._core.messages import shown
from infosieve._core.parameters import WITHOUT_EFFECT
from infosieve._core.types import Columns, ColumnSet, Executor, IntArray, Runner, Scale
from infosieve._input.lazy_columns import SMALL, LazyColumns, SourceTable, open_table
from infosieve._input.scaling import exponent_of, prepare
from infosieve._input.tables import Table, check_lengths, check_target, fingerprint, read_table
from infosieve._sources.columns import as_source
from infosieve.results import Excerpt, Provenance

# Samples of an excerpt, at most.
EXCERPT = 1000

AnyTable: TypeAlias = Table | SourceTable

# Whole numbers of so many kinds may be codes of classes.
_CLASSES = (3, 20)


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What a public function was asked about: its tables, checked.

    Attributes
    ----------
    x : Table or SourceTable
        The latter where the columns stay on disk.
    y : Table
    given : Table or None
        The columns to condition on.
    """

    x: Any
    y: Table
    given: Table | None = None

    @property
    def tables(self) -> list[AnyTable]:
        return [self.x, self.y, *([] if self.given is None else [self.given])]

    @property
    def n_samples(self) -> int:
        return int(self.x.n_samples)

    def prepare(self, scale: Scale, runner: Runner, with_order: bool = False) -> "Prepared":
        """Scaled columns, ties broken; constant columns are not worth conditioning on."""
        x, target, *rest = prepare_tables(self.tables, scale, runner, with_order)
        given = rest[0].take(~rest[0].constant) if rest else target.take(slice(0))
        return Prepared(x=x, target=target, given=given)


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """Columns that can be measured: candidates, target and, if there are some, given columns."""

    x: Any
    target: Columns
    given: Columns


def open_problem(
    X: Any,
    y: Any,
    *,
    given: Any = None,
    discrete_features: Any = "auto",
    discrete_target: Any = "auto",
    scale: Scale = None,
    executor: Executor | None = None,
) -> Problem:
    """Check X, y and, if there are some, the columns to condition on.

    With an executor, X may stay where it is.
    """
    source = as_source(X) if executor is not None else None
    if source is not None and 8 * source.shape[0] * source.shape[1] <= SMALL:
        source = None
    runner = executor.here if executor is not None else None
    x: Any
    if source is not None:
        x = SourceTable(source, "X", {})
    else:
        x = read_table(X, "X", discrete_features, runner=runner)
    target = read_table(y, "y", discrete_target)
    condition = None if given is None else read_table(given, "given")
    others = [target] if condition is None else [target, condition]
    check_lengths(x, *others)
    check_target(target)
    if isinstance(discrete_target, str) and _holds_integers(y):
        _warn_of_class_codes(target)
    if source is not None:
        assert executor is not None
        x = open_table(source, "X", discrete_features, scale, others, executor)
    return Problem(x=x, y=target, given=condition)


def _holds_integers(y: Any) -> bool:
    if isinstance(y, pd.DataFrame):
        return any(pd.api.types.is_integer_dtype(dtype) for dtype in y.dtypes)
    if not hasattr(y, "dtype"):
        return np.asarray(y).dtype.kind in "iu"
    return str(y.dtype).lower().startswith(("int", "uint"))  # NumPy's, pandas', Arrow's, polars'


def _warn_of_class_codes(y: Table) -> None:
    """Say that a target of few whole numbers is taken as numbers."""
    for j in np.flatnonzero(~y.categorical):
        few, many = _CLASSES
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

    A table that stays where it is becomes columns that are prepared when they are taken.
    """
    exponent = exponent_of(np.array([t.largest for t in tables])) if scale is None else 0
    prepared: list[Any] = [
        LazyColumns(t, scale, exponent, runner)
        if isinstance(t, SourceTable)
        else prepare(t.values, t.categorical, scale, exponent, runner, with_order, separate)
        for t in tables
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
    row = int(np.argmax(np.abs(values - np.median(values))))
    times = int((values == values[row]).sum())
    more = f" (and {times - 1} more)" if times > 1 else ""
    others = f" So do {columns.size - 1} other columns." if columns.size > 1 else ""
    warn(
        f"{table.label(j)} has the value {shown(values[row])} in row {row}{more}, so far from all "
        f"others that these hardly differ on the standard scale.{others} If it stands for a "
        "missing value, leave the row out; if it is a value, pass scale='normal-scores'."
    )


def warn(text: str) -> None:
    """Warn whoever called this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("infosieve."):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, UserWarning, stacklevel=level)


def provenance_of(
    tables: Sequence[AnyTable], seed: int, parameters: Mapping[str, Any], call: Callable[..., Any]
) -> Provenance:
    """Where a result comes from; ``call`` is the public function or estimator that was called."""
    return Provenance(
        data=fingerprint(*tables),
        n_samples=tables[0].n_samples,
        seed=seed,
        parameters=dict(parameters),
        versions=dict(versions()),
        code=_code(call, parameters, seed),
    )


def _code(call: Callable[..., Any], parameters: Mapping[str, Any], seed: int) -> str:
    """The call that gives the result again, with what differs from the defaults.

    Groups are a value for each sample: they are named, as X and y are.
    """
    defaults = {name: p.default for name, p in inspect.signature(call).parameters.items()}
    written = {name: _written(value) for name, value in parameters.items() if name != "groups"}
    changed = [
        f"{name}={value}"
        for name, value in written.items()
        if name not in WITHOUT_EFFECT and value != repr(defaults.get(name))
    ]
    data = ["X", "y", *(["groups=groups"] if parameters.get("groups") is not None else [])]
    fitted = isinstance(call, type)
    arguments = [*([] if fitted else data), *changed, f"random_state={seed}"]
    name, method = call.__name__, f".fit({', '.join(data)})" if fitted else ""
    return f"from infosieve import {name}\n\n{name}({', '.join(arguments)}){method}"


def _written(value: Any) -> str:
    """A parameter as Python reads it again: arrays and indexes as lists."""
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
    names = y.names if y.named else ["y"] if y.n_columns == 1 else [f"y{j}" for j in y.names]
    return Excerpt(
        rows=rows,
        features={j: _shown_values(x, j, rows) for j in selected},
        target={name: _shown_values(y, j, rows) for j, name in enumerate(names)},
    )


def _shown_values(table: Any, j: int, rows: Any) -> list[Any]:
    """Numbers, or the texts of categories."""
    values = table.column(j)[rows].tolist()
    return [str(v) for v in values] if table.categorical[j] else values


def remember_columns(estimator: Any, X: Any, reset: bool = True) -> None:
    """As scikit-learn's estimators know their columns: ``n_features_in_``, ``feature_names_in_``.

    Without ``reset``, columns other than those of ``fit`` are refused.
    """
    from sklearn.utils.validation import validate_data

    source = as_source(X)
    if source is not None and source.named:  # what scikit-learn sees of a frame without rows
        X = pd.DataFrame(columns=source.columns)
    elif source is not None:
        X = np.empty((0, source.shape[1]))
    validate_data(estimator, X, reset=reset, skip_check_array=True)


def warn_of_identifiers(table: Any, x: ColumnSet) -> None:
    """Say which categories of X are nearly as many as there are samples."""
    found = np.flatnonzero(x.categorical & (2 * x.n_distinct > x.n_samples))
    if found.size:
        j = int(found[0])
        more = f" So have {found.size - 1} other columns." if found.size > 1 else ""
        warn(
            f"{table.label(j)} has {x.n_distinct[j]} categories in {x.n_samples} samples, as "
            f"identifiers have: its information cannot be told from chance.{more} Leave it out, "
            "join rare categories or, if these are numbers, pass them as numbers."
        )


def warn_of_singletons(n_singletons: int, n_samples: int) -> None:
    """Say that most samples share their combination of categories with no other."""
    if 2 * n_singletons > n_samples:
        warn(
            f"{n_singletons} of {n_samples} samples share their combination of categories with no "
            "other sample, and cannot be told from chance: the information of this set is "
            "uncertain. Join rare categories, or use fewer columns."
        )
