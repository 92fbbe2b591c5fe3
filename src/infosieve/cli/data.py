"""What a command works on: the columns and the target of a file."""

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal

import pandas as pd

from infosieve._core.messages import shown
from infosieve._input.number_texts import tidied
from infosieve._sources import in_memory
from infosieve.cli.config import meant
from infosieve.cli.dates import holds_dates, tell_of_order
from infosieve.cli.errors import InputError
from infosieve.cli.tables import Reading, Table, read
from infosieve.cli.texts import is_number, is_text

# A column without a name, and what pandas and Arrow call one.
_NAMELESS = re.compile(r"$|Unnamed: |__index_level_")
# Options that name one column.
_ONE = ("--target", "--groups")


@dataclass(frozen=True, kw_only=True)
class Data:
    """The columns and the target of a file."""

    X: Any
    y: "pd.Series[Any]"
    declared: list[str]  # columns that are declared categories
    discrete_target: bool | Literal["auto"]  # True if the target is
    groups: "pd.Series[Any] | None" = None  # which rows belong together
    units: Mapping[Any, str] = field(default_factory=dict)  # what dates count that became numbers
    n_unnamed: int = 0  # columns without a name that were left out

    def matching(self, patterns: Iterable[str], option: str) -> list[str]:
        """The columns to look at that match any of some globs, which an option has."""
        return _matching(patterns, list(self.X.columns), option)

    def beside_target(self, columns: Any) -> pd.DataFrame:
        """The table that --out names: some columns, and the target."""
        table: pd.DataFrame = pd.concat([in_memory(columns), self.y], axis=1)
        return table


def read_data(file: str, target: str, how: Reading) -> Data:
    """Read a file and choose among its columns."""
    table = read(file, how)
    labels = _labels_of_rows(table, [target, *(how.features or [])])
    chosen = _candidates(target, [c for c in table.values.columns if c not in labels], how)
    both = [*chosen, target]
    declared = _matching(how.categorical or (), both, "--categorical")
    groups = None if how.groups is None else table.column(how.groups)
    if how.series:
        tell_of_order(table.dates())
    try:
        frame, units = table.chosen(both, declared, how.dates)
        y = frame[target]
        if how.missing == "error" and y.hasnans:
            gaps = y.isna().to_numpy()
            raise InputError(
                f"the target {shown(target)} has no value in {gaps.sum()} of {len(y)} rows (the "
                f"first is row {int(gaps.argmax()) + 1}); --missing auto leaves these rows out"
            )
    except InputError as error:
        name = "standard input" if file == "-" else file
        raise InputError(f"{name}: {error}") from None
    return Data(
        X=frame[chosen],
        y=y,
        declared=[c for c in declared if c != target],
        discrete_target=True if target in declared else "auto",
        groups=groups,
        units=units,
        n_unnamed=len(labels),
    )


def _labels_of_rows(table: Table, asked: Sequence[str]) -> list[Any]:
    """Columns that only label rows: they have no name, and count or are empty.

    So does the first one if all its values are different: R and pandas write names of rows there.
    Those that somebody asked for stay.
    """
    out = []
    for name in table.values.columns:
        nameless = isinstance(name, str) and _NAMELESS.match(name) and name not in asked
        if nameless and (what := _label(table.column(name), name == table.values.columns[0])):
            print(
                f"infosieve: column {shown(name)} has no name and {what}: left out", file=sys.stderr
            )
            out.append(name)
    return out


def _label(column: "pd.Series[Any]", first: bool) -> str | None:
    """What says that a column without a name is no data; None if it may be."""
    if column.isna().all():
        return "no values"
    if len(column) < 3 or column.isna().any() or not column.is_unique:
        return None
    if pd.api.types.is_numeric_dtype(column.dtype):
        label = bool((column.astype("float64") % 1 == 0).all())
        if label and column.is_monotonic_increasing:
            return "counts rows"
    else:
        measured = is_text(column) and all(is_number(tidied(text)) for text in column)
        label = is_text(column) and not holds_dates(column)
        label = label and (not measured or all(map(str.isdigit, column)))
    return "a different value in every row" if first and label else None


def _candidates(target: str, names: Sequence[str], how: Reading) -> list[str]:
    """The columns to look at."""
    _find(target, names, "--target")
    if how.groups is not None and _find(how.groups, names, "--groups") == target:
        raise InputError(f"--groups and --target are one column, {shown(target)}")
    if how.features and target in how.features:
        raise InputError(f"--features has the target, {shown(target)}; leave it out there")
    chosen = _matching(how.features, names, "--features") if how.features else names
    without = {target, how.groups, *_matching(how.exclude or (), names, "--exclude")}
    chosen = [c for c in chosen if c not in without]
    if not chosen:
        raise InputError("no column is left to look at: see --features and --exclude")
    return chosen


def _find(name: str, columns: Sequence[str], what: str) -> str:
    """A column of that name, or an error that suggests the nearest."""
    if name in columns:
        return name
    hint = meant(name, columns, 3, 0.5, shown).removeprefix("; ")
    if "," in name:
        way = "takes one column" if what in _ONE else f"names one: give several, {what} a {what} b"
        hint = f"{what} {way}"
    elif not hint:
        first = ", ".join(map(shown, columns[:5])) + (", ..." if len(columns) > 5 else "")
        hint = f"there are {first}"
    raise InputError(f"{what} {shown(name)} is no column; {hint}")


def _matching(patterns: Iterable[str], columns: Sequence[str], option: str) -> list[str]:
    """The columns that match any of some globs, in the table's order.

    What is the name of a column is that column, whatever it would match.
    """
    found: set[str] = set()
    for pattern in patterns:
        some = [pattern] if pattern in columns else [c for c in columns if fnmatchcase(c, pattern)]
        if not some:
            _find(pattern, columns, option)
        found.update(some)
    return [c for c in columns if c in found]
