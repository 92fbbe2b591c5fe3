"""Columns that users name, by number, by a mask, or by name; and as scikit-learn names them."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from infosieve._core import dialect
from infosieve._core.messages import shown
from infosieve._core.rules import is_flag, is_int
from infosieve._sources import as_source


def declared_columns(
    discrete: Any, argument: str, names: list[Any], named_columns: bool
) -> dict[int, bool]:
    """Which columns were declared discrete (or not), by number."""
    if isinstance(discrete, str) and discrete == "auto":
        return {}
    m = len(names)
    declares = "discrete_target" if argument == "y" else "discrete_features"
    rule = (
        f"{dialect.parameter(declares)} must be 'auto', a bool, a mask of {m} bools, or the "
        f"numbers or names of the discrete columns. Got {shown(discrete)} instead."
    )
    if isinstance(discrete, (bool, np.bool_)):
        return dict.fromkeys(range(m), bool(discrete))
    several = isinstance(discrete, Iterable) and getattr(discrete, "ndim", 1) == 1
    if isinstance(discrete, (str, dict)) or not several:
        raise ValueError(rule)
    chosen = list(discrete)
    if chosen and all(map(is_flag, chosen)):
        if len(chosen) != m:
            raise ValueError(rule)
        return {j: bool(c) for j, c in enumerate(chosen)}
    declared: dict[int, bool] = {}
    places = _places(names) if named_columns else {}
    for c in chosen:
        found = _numbers(c, places, m)
        if not found:
            raise ValueError(f"{rule} There is no column {shown(c)}.")
        declared |= dict.fromkeys(found, True)
    return declared


def find_columns(columns: Any, table: Any, parameter: str) -> list[int]:
    """The numbers of columns given by number, by a mask, or by name where there are names."""
    m = table.n_columns
    single = isinstance(columns, (str, bytes)) or not isinstance(columns, Iterable)
    if isinstance(columns, tuple) and table.named and columns in table.names:
        single = True  # a name of several levels
    wanted = [columns] if single else list(columns)
    if len(wanted) == m and all(map(is_flag, wanted)):
        return [j for j, chosen in enumerate(wanted) if chosen]
    found: dict[int, None] = {}
    places = _places(table.names) if table.named else {}
    for c in wanted:
        numbers = _numbers(c, places, m)
        if len(numbers) > 1:
            raise ValueError(
                f"{dialect.parameter(parameter)} names {shown(c)}, but {len(numbers)} columns of "
                f"{table.argument} have that name. Give their numbers, or rename them."
            )
        if not numbers:
            kind = f"{'a name or ' if table.named else ''}a number from 0 to {m - 1}"
            raise ValueError(
                f"{dialect.parameter(parameter)} must have columns of {table.argument}, each "
                f"{kind}, or a mask of {m} bools. There is no column {shown(c)}."
            )
        if numbers[0] in found:
            raise ValueError(
                f"{dialect.parameter(parameter)} has {table.label(numbers[0])} twice. Name each "
                "column once."
            )
        found[numbers[0]] = None
    return list(found)


def _places(names: Sequence[Any]) -> dict[Any, list[int]]:
    """Where each name stands."""
    places: dict[Any, list[int]] = {}
    for j, name in enumerate(names):
        places.setdefault(name, []).append(j)
    return places


def _numbers(column: Any, places: dict[Any, list[int]], m: int) -> list[int]:
    """The columns of that name, or the one of that number."""
    known = isinstance(column, Hashable) and not is_flag(column)
    named = places.get(column, []) if known else []
    return named or ([int(column)] if is_int(column) and 0 <= column < m else [])


def remember_columns(estimator: Any, X: Any, reset: bool = True) -> None:
    """As scikit-learn's estimators know their columns: ``n_features_in_``, ``feature_names_in_``.

    Without ``reset``, columns other than those of ``fit`` are refused.
    """
    from sklearn.utils.validation import validate_data

    source = as_source(X)
    names = source.columns if source is not None and source.named else getattr(X, "columns", [])
    times = Counter(names)
    if repeated := [name for name in times if times[name] > 1]:
        told = ", ".join(f"{shown(name)} ({times[name]} times)" for name in repeated[:10])
        more = f" and {len(repeated) - 10} more" if len(repeated) > 10 else ""
        raise ValueError(
            f"X has several columns of the same name: {told}{more}. Rename them, so that it can be "
            "said which one is selected, or pass the values without names (X.to_numpy())."
        )
    if source is not None and source.named:  # what scikit-learn sees of a frame without rows
        X = pd.DataFrame(columns=source.columns)
    elif source is not None:
        X = np.empty((0, source.shape[1]))
    validate_data(estimator, X, reset=reset, skip_check_array=True)
