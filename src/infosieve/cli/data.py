"""What a command works on: the columns and the target of a file."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from infosieve.cli import tables
from infosieve.cli.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Data:
    """The columns and the target of a file.

    Attributes
    ----------
    X : DataFrame or ColumnSource
        The columns to look at.
    y : Series
        The target.
    declared : list of str
        The columns of ``X`` that are declared categories.
    """

    X: Any
    y: "pd.Series[Any]"
    declared: list[str]

    def beside_target(self, columns: Any) -> pd.DataFrame:
        """The table that --out names: some columns, and the target."""
        return pd.concat([tables.in_memory(columns), self.y], axis=1)


def read_data(
    file: str,
    target: str,
    *,
    features: list[str] | None,
    exclude: list[str] | None,
    categorical: list[str] | None,
    drop_missing: bool,
    delimiter: str | None,
    decimal: str,
) -> Data:
    """Read a file and choose among its columns, as the options of the same names say."""
    table = tables.read(file, delimiter, decimal)
    names = list(table.columns)
    tables.find(target, names, "--target")
    chosen = tables.matching(features, names, "--features") if features else names
    left_out = tables.matching(exclude, names, "--exclude") if exclude else []
    without = {target, *left_out}
    chosen = [c for c in chosen if c not in without]
    if not chosen:
        raise InputError("no column is left to look at: see --features and --exclude")
    table = table[[*chosen, target]]
    declared = (
        tables.matching(categorical, list(table.columns), "--categorical") if categorical else []
    )
    table = tables.checked(table, declared, drop_missing)
    y = table[target]
    if target in declared:
        y = y.astype("category")
    return Data(X=table[chosen], y=y, declared=[c for c in declared if c != target])
