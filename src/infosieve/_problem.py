"""From what users pass to prepared columns: the door that all public functions share."""

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import validate_data

from infosieve._json import versions
from infosieve._scale import exponent_of, prepare
from infosieve._types import Executor, Runner, Scale
from infosieve._unread import SMALL, SourceTable, Unread, open_table
from infosieve._validate import (
    check_lengths,
    check_target,
    fingerprint,
    read_table,
    shown,
)
from infosieve.columns import as_source
from infosieve.results import EXCERPT, Excerpt, Origin

if TYPE_CHECKING:
    from infosieve.estimate.mixed import Scores


def read_tables(
    X: Any,
    y: Any,
    given: Any,
    discrete_features: Any,
    discrete_target: Any,
    scale: Scale = None,
    executor: Executor | None = None,
) -> list[Any]:
    """X, y and, if there is one, the condition: checked.

    With an executor, X may stay where it is, and is a :class:`._unread.SourceTable`.
    """
    source = as_source(X) if executor is not None else None
    if source is not None and 8 * source.shape[0] * source.shape[1] <= SMALL:
        source = None
    x: Any = SourceTable(source, "X", {}) if source is not None else None
    runner = executor.here if executor is not None else None
    x = x or read_table(X, "X", discrete_features, runner=runner)
    tables = [x, read_table(y, "y", discrete_target)]
    if given is not None:
        tables.append(read_table(given, "given"))
    check_lengths(*tables)
    check_target(tables[1])
    if source is not None:
        assert executor is not None
        tables[0] = open_table(source, "X", discrete_features, scale, tables[1:], executor)
    return tables


def prepare_tables(
    tables: list[Any], scale: Scale, runner: Runner, with_order: bool = False, separate: bool = True
) -> list[Any]:
    """Scaled, ties broken unless told otherwise: see :func:`._scale.prepare`.

    A table that stays where it is becomes columns that are prepared when they are taken.
    """
    exponent = exponent_of(np.array([t.largest for t in tables])) if scale is None else 0
    return [
        Unread(t, scale, exponent, runner)
        if isinstance(t, SourceTable)
        else prepare(t.values, t.categorical, scale, exponent, runner, with_order, separate)
        for t in tables
    ]


def origin_of(tables: list[Any], seed: int, parameters: Mapping[str, Any]) -> Origin:
    """Where a result comes from."""
    known = dict(parameters), dict(versions())
    return Origin(fingerprint(*tables), tables[0].n_samples, seed, *known)


def excerpt_of(tables: list[Any], selected: list[int]) -> Excerpt:
    """Some samples of the selected columns and the targets."""
    x, y = tables
    n = x.n_samples
    rows = np.unique(np.linspace(0, n - 1, min(n, EXCERPT)).round().astype(np.int64))
    names = y.names if y.named else ["y"] if y.n_columns == 1 else [f"y{j}" for j in y.names]
    return Excerpt(
        rows,
        {j: _shown_values(x, j, rows) for j in selected},
        {name: _shown_values(y, j, rows) for j, name in enumerate(names)},
    )


def _shown_values(table: Any, j: int, rows: Any) -> list[Any]:
    """Numbers, or the texts of categories."""
    values = table.column(j)[rows].tolist()
    return [str(v) for v in values] if table.categorical[j] else values


def remember_columns(estimator: Any, X: Any, reset: bool = True) -> None:
    """As scikit-learn's estimators know their columns: ``n_features_in_``, ``feature_names_in_``.

    Without ``reset``, columns other than those of ``fit`` are refused.
    """
    source = as_source(X)
    if source is not None and source.named:  # what scikit-learn sees of a frame without rows
        X = pd.DataFrame(columns=source.columns)
    elif source is not None:
        X = np.empty((0, source.shape[1]))
    validate_data(estimator, X, reset=reset, skip_check_array=True)


def warn_of_lonely(
    scores: "Scores", tables: list[Any], columns: list[list[int]], depth: int = 1
) -> None:
    """Say which samples had no neighbour, naming their categories.

    ``columns`` has, for each candidate, its columns in X; ``depth`` says how far from here the
    caller is whom the warning concerns.
    """
    if not scores.lonely:
        return
    candidate, rows = next(iter(scores.lonely.items()))
    row = int(rows[0])
    x, *others = tables
    involved = [(table, j) for table in others for j in range(table.n_columns)]
    involved += [(x, j) for j in columns[candidate]]
    classes = ", ".join(
        f"{table.label(j)} = {shown(table.column(j)[row])}"
        for table, j in involved
        if table.categorical[j]
    )
    more = len(scores.lonely) - 1
    warnings.warn(
        f"{rows.size} of {x.n_samples} samples are alone in their class, or combination of "
        f"classes, and have no neighbour: they are left out. The first is sample {row} ({classes})."
        + (f" The same holds for {more} other columns." if more else ""),
        UserWarning,
        stacklevel=2 + depth,
    )
