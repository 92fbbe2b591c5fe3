"""From what users pass to prepared columns: the door that all public functions share."""

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from infosieve._json import versions
from infosieve._scale import exponent_of, prepare
from infosieve._types import Columns, Executor, Scale
from infosieve._validate import (
    Table,
    check_lengths,
    check_target,
    fingerprint,
    read_table,
    shown,
)
from infosieve.results import EXCERPT, Excerpt, Origin

if TYPE_CHECKING:
    from infosieve.estimate.mixed import Scores


def read_tables(
    X: Any, y: Any, given: Any, discrete_features: Any, discrete_target: Any
) -> list[Table]:
    """X, y and, if there is one, the condition: checked."""
    tables = [read_table(X, "X", discrete_features), read_table(y, "y", discrete_target)]
    if given is not None:
        tables.append(read_table(given, "given"))
    check_lengths(*tables)
    check_target(tables[1])
    return tables


def prepare_tables(
    tables: list[Table],
    scale: Scale,
    executor: Executor,
    with_order: bool = False,
    separate: bool = True,
) -> list[Columns]:
    """Scaled, ties broken unless told otherwise: see :func:`._scale.prepare`."""
    exponent = exponent_of(*(t.values[~t.categorical] for t in tables)) if scale is None else 0
    return [
        prepare(t.values, t.categorical, scale, exponent, executor, with_order, separate)
        for t in tables
    ]


def origin_of(tables: list[Table], seed: int, parameters: Mapping[str, Any]) -> Origin:
    """Where a result comes from."""
    known = dict(parameters), dict(versions())
    return Origin(fingerprint(*tables), tables[0].n_samples, seed, *known)


def excerpt_of(tables: list[Table], selected: list[int]) -> Excerpt:
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


def _shown_values(table: Table, j: int, rows: Any) -> list[Any]:
    """Numbers, or the texts of categories."""
    values = table.column(j)[rows].tolist()
    return [str(v) for v in values] if table.categorical[j] else values


def warn_of_lonely(scores: "Scores", tables: list[Table], columns: list[list[int]]) -> None:
    """Say which samples had no neighbour, naming their categories.

    ``columns`` has, for each candidate, its columns in X.
    """
    if not scores.lonely:
        return
    candidate, rows = next(iter(scores.lonely.items()))
    row = int(rows[0])
    x, *others = tables
    involved = [(table, j) for table in others for j in range(table.n_columns)]
    involved += [(x, j) for j in columns[candidate]]
    classes = ", ".join(
        f"{table.label(j)} = {shown(table.levels[j][int(table.values[j, row])])}"
        for table, j in involved
        if table.categorical[j]
    )
    more = len(scores.lonely) - 1
    warnings.warn(
        f"{rows.size} of {x.n_samples} samples are alone in their class, or combination of "
        f"classes, and have no neighbour: they are left out. The first is sample {row} ({classes})."
        + (f" The same holds for {more} other columns." if more else ""),
        UserWarning,
        stacklevel=3,
    )
