"""A checked table, and what must hold between tables."""

import hashlib
import numbers
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from infosieve._core.dialect import either, setting
from infosieve._core.messages import shown, warn
from infosieve._core.types import BoolArray, FloatArray, IntArray
from infosieve._input.numbers import EXACT, Offset
from infosieve._input.series import changes, is_non_stationary

# Where changes are measured, a category is what it was and is if there are so many samples a pair.
_EACH_PAIR = 10


@dataclass(frozen=True, kw_only=True)
class Table:
    """A checked table: numbers, and codes for categories."""

    argument: str  # what the user calls it ("X", "y", "condition")
    names: list[Any]  # of the columns, or their numbers where they have none
    named: bool  # whether the names are the user's
    values: FloatArray  # of shape (n_columns, n_samples)
    categorical: BoolArray
    levels: dict[int, list[Any]]  # of each categorical column, in the order of the codes
    index: Any = None  # the samples' labels, where pandas gave some
    # What was subtracted, exactly, from columns whose numbers float64 does not distinguish.
    offsets: dict[int, Offset] = field(default_factory=dict)
    n_missing: IntArray | None = None  # gaps of each column
    unchanged: "Table | None" = None  # the values, where this table has their changes
    kept: IntArray | None = None  # which of the rows that were passed; None: all, in their order

    @classmethod
    def without_values(
        cls, argument: str, names: Sequence[Any] | None, n_columns: int, index: Any = None
    ) -> "Table":
        """Columns that nobody has looked at, named or numbered."""
        return cls(
            argument=argument,
            names=list(range(n_columns)) if names is None else list(names),
            named=names is not None,
            values=np.empty((n_columns, 0)),
            categorical=np.zeros(n_columns, bool),
            levels={},
            index=index,
        )

    @property
    def n_columns(self) -> int:
        return int(self.values.shape[0])

    @property
    def n_samples(self) -> int:
        return int(self.values.shape[1])

    @property
    def incomplete(self) -> BoolArray:
        """Which samples have gaps."""
        return np.asarray(np.isnan(self.values).any(axis=0))

    @property
    def is_non_stationary(self) -> bool:
        """Whether a column of numbers is, in order of time."""
        return any(is_non_stationary(row) for row in self.values[~self.categorical])

    def completed(self, missing: str, by_changes: bool = False) -> "Table":
        """Gaps as they are measured: a level of categories; of numbers NaN, or the median.

        ``by_changes``: numbers give way to their changes from row to row, categories to what they
        were and are.
        """
        if by_changes:
            levelled = self.completed(missing)
            return replace(levelled._changes(), unchanged=levelled)
        values, levels = self.values, dict(self.levels)
        gaps = np.isnan(values)
        if not gaps.any():
            return self
        values = values.copy()
        values[gaps] = np.nan  # one of many
        for j, missed in enumerate(gaps):
            if j in levels and missed.any():
                values[j, missed] = len(levels[j])
                levels[j] = [*levels[j], None]
            elif missing == "median":
                values[j, missed] = np.median(values[j, ~missed]) if not missed.all() else 0.0
        return replace(self, values=values, levels=levels, n_missing=gaps.sum(axis=1))

    def _changes(self) -> "Table":
        values, levels = self.values.copy(), dict(self.levels)
        for j, row in enumerate(self.values):
            if not self.categorical[j]:
                values[j] = changes(row)
            elif len(levels[j]) ** 2 * _EACH_PAIR <= self.n_samples:
                before = np.concatenate([row[:1], row[:-1]])
                codes, pairs = pd.factorize(before * len(levels[j]) + row)
                values[j] = codes
                levels[j] = [tuple(divmod(int(pair), len(self.levels[j]))) for pair in pairs]
        return replace(self, values=values, levels=levels, offsets={})

    def take_rows(self, rows: IntArray) -> "Table":
        """The same columns for some of the samples, in this order.

        Codes of categories are numbered as they appear in it.
        """
        if np.array_equal(rows, np.arange(self.n_samples)):
            return self
        index = None if self.index is None else self.index[rows]
        values, levels = np.ascontiguousarray(self.values[:, rows]), dict(self.levels)
        for j, names in self.levels.items():
            codes, found = pd.factorize(values[j], use_na_sentinel=True)
            values[j] = np.where(codes < 0, np.nan, codes)
            levels[j] = [names[int(code)] for code in found]
        kept = rows if self.kept is None else self.kept[rows]
        return replace(self, values=values, levels=levels, index=index, kept=kept)

    def original(self) -> Any:
        """What to learn from, one column flat: numbers, or what the codes stand for.

        Offsets stay subtracted: whoever fits a model to the numbers would lose them again.
        """
        m = self.n_columns
        columns = [self.column(j) if j in self.levels else self.values[j] for j in range(m)]
        return columns[0] if len(columns) == 1 else np.column_stack(columns)

    def column(self, j: int) -> Any:
        """The values of one column as they were; of numbers, what float64 holds of them."""
        if self.unchanged is not None:
            return self.unchanged.column(j)
        if j not in self.levels:
            return self.values[j] + float(self.offsets[j]) if j in self.offsets else self.values[j]
        levels: Any = np.empty(len(self.levels[j]), dtype=object)
        levels[:] = self.levels[j]
        if len({type(level) for level in self.levels[j]}) == 1 and np.isscalar(levels[0]):
            levels = np.array(self.levels[j])
        return levels[self.values[j].astype(int)]

    def label(self, column: int) -> str:
        """How an error message calls a column."""
        name = self.names[column]
        if self.named:
            return f"column {shown(name)} of {self.argument}"
        return f"column {name} of {self.argument}" if self.n_columns > 1 else self.argument

    @property
    def largest(self) -> float:
        """The size of the largest number."""
        sizes = np.abs(self.values[~self.categorical])
        return float(np.max(sizes, initial=0.0, where=np.isfinite(sizes)))

    @property
    def digests(self) -> list[bytes]:
        """What changes with any value of each column."""
        each = []
        for j, row in enumerate(self.values):
            row = row + 0.0  # -0.0 is 0
            digest = hashlib.blake2b(row.astype("<f8").tobytes(), digest_size=16)
            if j in self.offsets:
                digest.update(f"{self.offsets[j]:x}/1".encode())
            each.append(digest.digest())
        return each


def fingerprint(*tables: Any, groups: IntArray | None = None) -> str:
    """A short text that changes with any value, name, type or order of the tables, and groups."""
    digest = hashlib.blake2b(digest_size=16)
    for table in tables:
        names = [_plain(name) for name in table.names] if table.named else None
        shape = table.n_columns, table.n_samples
        kinds = (table.argument, names, shape, table.categorical.tolist())
        levels = {j: [_number(_plain(level)) for level in some] for j, some in table.levels.items()}
        digest.update(repr((*kinds, levels)).encode())
        digest.update(b"".join(table.digests))
    if groups is not None:
        digest.update(groups.astype("<i8").tobytes())
    return digest.hexdigest()


def _plain(value: Any) -> Any:
    """A name or a level without NumPy's types, which say the same with other letters."""
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return value.item() if isinstance(value, np.generic) else value


def _number(level: Any) -> Any:
    """A number as a float, whatever its type, where that is the same number."""
    number = isinstance(level, (numbers.Real, Decimal)) and not isinstance(level, bool)
    same = number and abs(level) <= EXACT and float(level) == level
    return float(level) + 0.0 if same else level


def refuse_values(
    argument: str, names: list[Any], n_samples: int, infinite: IntArray, missing: IntArray
) -> None:
    """No estimate from infinities, or from gaps where these are refused; counts by column."""
    way_out = (
        f"Neighbours of an unknown value are unknown: pass {setting('missing', 'auto')}"
        + either(
            " where that is a parameter, drop those samples or columns, or fill the values in "
            "first (for example with sklearn.impute.SimpleImputer).",
            ", leave these columns out with --exclude, or fill the values in first.",
        )
    )
    if argument == "y":
        way_out = f"Leave these samples out; {setting('missing', 'auto')} does, and says how many."
    no_neighbours = (
        "They have no neighbours: drop those samples or columns, or write NaN (missing) for them."
    )
    for counts, what, way in (
        (infinite, "infinite values", no_neighbours),
        (missing, "missing values (NaN)", way_out),
    ):
        columns = np.flatnonzero(counts)
        if columns.size == 0:
            continue
        first = ", ".join(f"{shown(names[j])} ({counts[j]})" for j in columns[:20])
        more = f" and {columns.size - 20} more" if columns.size > 20 else ""
        where = f" ({counts[0]} of {n_samples})"
        if len(names) > 1:
            where = f" in {columns.size} of its columns: {first}{more}"
        raise ValueError(f"{argument} has {what}{where}. {way}")


def check_target(y: Table) -> None:
    """A target must vary, and classes must have members."""
    for j in range(y.n_columns):
        column = y.values[j]
        if column.min() == column.max() and y.unchanged is not None:
            raise ValueError(
                f"{y.label(j)} is a straight line in time (each change is {shown(column[0])}): "
                "there is nothing to predict. Check that it is the right column; without "
                f"{setting('series', True)} it is taken as it is."
            )
        if column.min() == column.max():
            value = shown(y.levels[j][0] if j in y.levels else y.column(j)[0])
            raise ValueError(
                f"{y.label(j)} is constant (every value is {value}): there is nothing to "
                "predict. Check that it is the right column and that no filter left one class."
            )
        if y.categorical[j] and np.unique(column).size == column.size:
            raise ValueError(
                f"{y.label(j)} is a category with a different value for every sample "
                f"({', '.join(map(shown, y.levels[j][:2]))}, ...), such as an identifier. If these "
                "are numbers, pass them as numbers."
            )


def check_lengths(*tables: Table) -> None:
    """All tables describe the same samples."""
    first = tables[0]
    for other in tables[1:]:
        if other.n_samples != first.n_samples:
            raise ValueError(
                f"{first.argument} has {first.n_samples} samples and {other.argument} has "
                f"{other.n_samples}; they must describe the same samples, row by row."
            )
        one, two = first.index, other.index
        if one is None or two is None or one.equals(two) or not (one.is_unique and two.is_unique):
            continue
        if same_labels_in_another_order(one, two):
            raise ValueError(
                f"{first.argument} and {other.argument} have the same index labels in another "
                f"order: the samples would be mixed up. Pass {other.argument}.loc[{first.argument}"
                ".index], or drop the indexes if they mean nothing (reset_index)."
            )
        if shared := int(one.isin(two).sum()):
            i = int(np.argmax(one != two))
            warn(
                f"{first.argument} and {other.argument} share {shared} of {len(one)} index "
                f"labels, but not row by row: row {i} is {shown(one[i])} in {first.argument} and "
                f"{shown(two[i])} in {other.argument}. Rows are paired by their place. If the "
                "labels say what belongs together, pass rows that both have, in one order; if "
                "not, reset_index makes them alike."
            )


def same_labels_in_another_order(one: Any, other: Any) -> bool:
    """Whether two indexes have the same labels, but not row by row."""
    if not (isinstance(one, pd.Index) and isinstance(other, pd.Index)) or one.equals(other):
        return False
    return bool(one.is_unique and other.is_unique and one.isin(other).all())
