"""What users pass, checked once, at the door.

Every error names the argument or the column, the rule, the value, and a way out.
"""

import hashlib
import numbers
import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse

from infosieve._core.messages import shown as shown
from infosieve._core.parameters import is_flag, is_int
from infosieve._core.types import BoolArray, FloatArray, IntArray, Runner
from infosieve._input.number_texts import seems_numbers
from infosieve._input.numbers import EXACT, Offset, as_floats, beyond_floats, is_missing
from infosieve._sources import as_source


@dataclass(frozen=True)
class Table:
    """A checked table: numbers, and codes for categories.

    Attributes
    ----------
    argument : str
        What the user calls it ("X", "y", "given").
    names : list
        The columns' names, or their numbers where they have none.
    named : bool
        Whether the names are the user's.
    values : ndarray of shape (n_columns, n_samples)
    categorical : ndarray of bool
    levels : dict
        The categories of each categorical column, by its number, in the order of the codes.
    index : Index or None
        The samples' labels, where pandas gave some.
    offsets : dict
        What was subtracted, exactly, from columns whose numbers float64 does not tell apart.
    """

    argument: str
    names: list[Any]
    named: bool
    values: FloatArray
    categorical: BoolArray
    levels: dict[int, list[Any]]
    index: Any = None
    offsets: dict[int, Offset] = field(default_factory=dict)

    @property
    def n_columns(self) -> int:
        return int(self.values.shape[0])

    @property
    def n_samples(self) -> int:
        return int(self.values.shape[1])

    def take_rows(self, rows: IntArray) -> "Table":
        """The same columns for some of the samples."""
        return replace(self, values=np.ascontiguousarray(self.values[:, rows]), index=None)

    def original(self) -> Any:
        """What to learn from, one column flat: numbers, or what the codes stand for.

        Offsets stay subtracted: whoever fits a model to the numbers would lose them again.
        """
        m = self.n_columns
        columns = [self.column(j) if j in self.levels else self.values[j] for j in range(m)]
        return columns[0] if len(columns) == 1 else np.column_stack(columns)

    def column(self, j: int) -> Any:
        """The values of one column as they were; of numbers, what float64 holds of them."""
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
            digest = hashlib.blake2b(row.astype("<f8").tobytes(), digest_size=16)
            if j in self.offsets:
                offset = self.offsets[j]
                digest.update(f"{offset.numerator:x}/{offset.denominator:x}".encode())
            each.append(digest.digest())
        return each


def fingerprint(*tables: Any) -> str:
    """A short text that changes with any value, name, type or order of the tables."""
    digest = hashlib.blake2b(digest_size=16)
    for table in tables:
        names = table.names if table.named else None
        shape = table.n_columns, table.n_samples
        kinds = (table.argument, names, shape, table.categorical.tolist())
        digest.update(repr((*kinds, table.levels)).encode())
        digest.update(b"".join(table.digests))
    return digest.hexdigest()


def read_table(
    data: Any,
    argument: str,
    discrete: Any = "auto",
    least: int = 2,
    runner: Runner | None = None,
    offsets: Mapping[int, Offset] | None = None,
) -> Table:
    """Check a column or a table of columns and turn it into numbers and codes.

    ``least`` is the number of samples that it must have; a runner copies by all its threads.
    ``offsets`` are those of an earlier table, for samples that come later; {} leaves numbers
    where they are.
    """
    if issparse(data):
        raise TypeError(
            f"{argument} is a sparse matrix; neighbours need all values at hand. Pass "
            f"{argument}.toarray(), on fewer columns if it does not fit into memory."
        )
    source = as_source(data)
    columns, names = read_columns(data if source is None else source.read(), argument)
    named = names is not None
    names = list(range(len(columns))) if names is None else list(names)
    if len(columns) == 0:
        raise ValueError(
            f"{argument} has 0 feature(s) (shape={np.shape(data)}) while a minimum of 1 is "
            "required. Check what became of its columns."
        )
    if columns[0].shape[0] == 0:
        raise ValueError(
            f"{argument} is empty (shape {np.shape(data)}); it needs at least two samples and "
            "one column."
        )
    n = columns[0].shape[0]
    if n < least:
        raise ValueError(
            f"{argument} has one sample; information is estimated from neighbours and needs at "
            "least two."
        )
    declared = declared_columns(discrete, argument, names, named)
    index = data.index if isinstance(data, (pd.DataFrame, pd.Series)) else None
    checked = check_columns(columns, names, named, argument, declared, index, runner, offsets)
    typed = [isinstance(c.dtype, pd.CategoricalDtype) for c in columns] if checked.levels else []
    warn_of_number_texts(checked, (j for j in checked.levels if not (declared.get(j) or typed[j])))
    with np.errstate(over="ignore", invalid="ignore"):
        total = checked.values.sum()
    if not np.isfinite(total):  # which may have overflown
        counts = (test(checked.values).sum(axis=1) for test in (np.isnan, np.isinf))
        refuse_missing(argument, names, n, *counts)
    return checked


def warn_of_number_texts(table: Any, texts: Iterable[int]) -> None:
    """Say that texts are categories, where they look like numbers and nobody declared them."""
    found = [j for j in texts if j in table.levels and seems_numbers(table.levels[j])]
    if found:
        more = f" So do {len(found) - 1} other columns." if len(found) > 1 else ""
        warnings.warn(
            f"{table.label(found[0])} holds numbers as text ({shown(table.levels[found[0]][0])}), "
            f"and text is categories.{more} pandas.to_numeric makes numbers of it; if it is "
            "categories, declare it discrete.",
            UserWarning,
            stacklevel=4,
        )


def check_columns(
    columns: Any,
    names: list[Any],
    named: bool,
    argument: str,
    declared: dict[int, bool],
    index: Any = None,
    runner: Runner | None = None,
    known: Mapping[int, Offset] | None = None,
) -> Table:
    """The columns as numbers and codes; missing values are NaN.

    ``known`` are the offsets to subtract; by default, each column has its own where it needs one.
    """
    n = columns[0].shape[0]
    table = Table(argument, names, named, np.empty((len(columns), 0)), np.zeros(0, bool), {})
    values = np.empty((len(columns), n))
    categorical = np.zeros(len(columns), bool)
    levels: dict[int, list[Any]] = {}
    offsets: dict[int, Offset] = {}
    if isinstance(columns, np.ndarray) and not any(declared.values()) and not known:

        def copy(j: int) -> None:
            for i in range(0, n, 512):  # blocks that stay in the cache
                values[j : j + 32, i : i + 512] = columns[j : j + 32, i : i + 512]

        copies = [partial(copy, j) for j in range(0, len(columns), 32)]
        if runner is not None:
            runner.run(copies)
        else:
            for each in copies:
                each()
    else:
        for j, column in enumerate(columns):
            kind = _kind(column, table.label(j))
            if declared.get(j, kind == "category"):
                values[j], levels[j] = _codes(column)
                categorical[j] = True
            elif kind == "category" and not pd.api.types.is_bool_dtype(column.dtype):
                raise TypeError(
                    f"{table.label(j)} holds {_example(column)}, which is no number, where only "
                    "numbers will do. Turn it into numbers (pandas.get_dummies makes a column of "
                    "0 and 1 for each category), or leave it out; if it was declared continuous, "
                    "declare it discrete."
                )
            else:
                offset = None if known is None else known.get(j, 0)
                values[j], offset = as_floats(column, table.label(j), offset)
                if offset:
                    offsets[j] = offset
    return Table(argument, names, named, values, categorical, levels, index, offsets)


def read_columns(data: Any, argument: str) -> tuple[Any, Sequence[Any] | None]:
    """The columns, as one float matrix where possible, and their names if they have any."""
    if isinstance(data, pd.DataFrame):
        if all(isinstance(t, np.dtype) and _held_by_floats(t) for t in data.dtypes):
            return np.asarray(data.to_numpy(np.float64)).T, list(data.columns)
        return [data.iloc[:, j] for j in range(data.shape[1])], list(data.columns)
    if isinstance(data, pd.MultiIndex):
        raise TypeError(f"{argument} is a MultiIndex. Pass its to_frame(index=False).")
    if isinstance(data, (pd.api.extensions.ExtensionArray, pd.Index)):
        data = pd.Series(data)
    if isinstance(data, pd.Series):
        return [data], None if data.name is None else [data.name]
    if type(data).__module__.partition(".")[0] == "polars":
        if hasattr(data, "collect"):
            raise TypeError(f"{argument} is a lazy polars frame. Pass {argument}.collect().")
        if hasattr(data, "get_columns"):
            series = data.get_columns()
            return [_from_polars(s, argument) for s in series], [s.name for s in series]
        return [_from_polars(data, argument)], [data.name] if getattr(data, "name", "") else None
    array = _as_array(data, argument)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise ValueError(
            f"{argument} must be a column or a table (1 or 2 dimensions); got {array.ndim} "
            f"dimensions, shape {array.shape}."
        )
    if _held_by_floats(array.dtype) or (array.dtype.kind in "iu" and not beyond_floats(array)):
        return array.T, None
    return list(array.T), None


def _held_by_floats(dtype: np.dtype[Any]) -> bool:
    return dtype.kind == "f" and dtype.itemsize <= 8


def _from_polars(series: Any, argument: str) -> Any:
    name = getattr(series, "name", "")
    dtype: Any = getattr(series, "dtype", type(series).__name__)
    if hasattr(dtype, "is_nested") and not dtype.is_nested():
        try:
            if dtype.is_integer() and (series.null_count() or "128" in str(dtype)):
                return np.array(series.to_list(), object)  # NumPy has no such integers
            return series.to_numpy()
        except Exception:
            pass
    raise TypeError(
        f"column {shown(name)} of {argument} has the polars type {dtype}, which is neither numbers "
        "nor categories. Turn it into numbers or strings first (cast, or unnest)."
    )


def _as_array(data: Any, argument: str) -> Any:
    if isinstance(data, (str, bytes, dict, set)) or data is None:
        raise TypeError(
            f"{argument} is {type(data).__name__!r}, not a column or a table. Pass an array, a "
            "list, or a pandas or polars frame or series."
        )
    if isinstance(data, np.ma.MaskedArray):
        if np.ma.is_masked(data):
            raise ValueError(
                f"{argument} has {int(np.ma.getmaskarray(data).sum())} masked (missing) values. "
                "Drop those samples or columns, or fill the values in first."
            )
        data = data.data
    try:
        array = np.asarray(data)
        if array.dtype.kind in "USV" and not isinstance(data, np.ndarray):
            array = np.asarray(data, dtype=object)  # NumPy would turn numbers beside text to text
        if isinstance(data, (list, tuple)) and array.dtype.kind == "f" and _large(array):
            array = np.asarray(data, dtype=object)  # and large integers beside floats to floats
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"{argument} is no table: its rows differ in length or it cannot be read as an array "
            f"({error}). Pass a table with the same columns in every row."
        ) from error
    return array


def _large(array: Any) -> bool:
    with np.errstate(invalid="ignore"):
        return bool((np.abs(array) > EXACT).any())


def _kind(column: Any, label: str) -> str:
    """Whether a column holds numbers or categories."""
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return "category"
    if isinstance(dtype, np.dtype):
        if dtype.kind in "iuf":
            return "number"
        if dtype.kind in "bSUT":
            return "category"
        if dtype.kind == "O":
            return _kind_of_objects(column, label)
    elif pd.api.types.is_bool_dtype(dtype) or pd.api.types.is_string_dtype(dtype):
        return "category"
    elif pd.api.types.is_complex_dtype(dtype):
        pass
    elif pd.api.types.is_numeric_dtype(dtype):
        return "number"
    if pd.api.types.is_datetime64_any_dtype(dtype) or str(dtype).startswith(
        ("datetime64", "timedelta64", "period", "date")
    ):
        raise TypeError(
            f"{label} holds dates or times ({dtype}). Say what matters about them: turn them "
            "into numbers first, such as days since a date, the hour, or the weekday."
        )
    if pd.api.types.is_complex_dtype(dtype):
        raise ValueError(
            f"Complex data not supported: {label} holds complex numbers, which have no order. "
            "Pass the real and imaginary parts, or modulus and angle, as columns of their own."
        )
    raise TypeError(
        f"{label} has the type {dtype}, which is neither numbers nor categories. Turn it into "
        "numbers, strings or a pandas categorical."
    )


def _kind_of_objects(column: Any, label: str) -> str:
    values = [v for v in np.asarray(column, object) if not is_missing(v)]
    kinds = [_kind_of_object(v) for v in values]
    for v, kind in zip(values, kinds, strict=True):
        if kind is None or kind != kinds[0]:
            raise TypeError(
                f"{label} holds what is neither all numbers nor all categories: {shown(v)} is a "
                f"{type(v).__name__}"
                + (f" beside the {type(values[0]).__name__} {shown(values[0])}" if kind else "")
                + ". Each argument must be a string or a number, and all in a column alike."
            )
    return kinds[0] or "number" if kinds else "number"


def _kind_of_object(value: Any) -> str | None:
    if isinstance(value, (str, bytes, bool, np.bool_)):
        return "category"
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return None
    if isinstance(value, (numbers.Real, Decimal)):
        return "number"
    return None


def _example(column: Any) -> str:
    return shown(np.asarray(column, object)[0])


def _codes(column: Any) -> tuple[FloatArray, list[Any]]:
    """Codes 0, 1, ... and what they stand for; missing ones become NaN."""
    if isinstance(column.dtype, np.dtype) and not column.dtype.isnative:
        column = np.asarray(column).astype(column.dtype.newbyteorder("="))
    codes, levels = pd.factorize(column, use_na_sentinel=True)
    return np.where(codes < 0, np.nan, codes), list(levels)


def declared_columns(
    discrete: Any, argument: str, names: list[Any], named_columns: bool
) -> dict[int, bool]:
    """Which columns were declared discrete (or not), by number."""
    m = len(names)
    parameter = "discrete_target" if argument == "y" else "discrete_features"
    rule = (
        f"The {parameter!r} parameter must be 'auto', a bool, a mask of {m} bools, or the "
        f"numbers or names of the discrete columns. Got {shown(discrete)} instead."
    )
    if isinstance(discrete, str) and discrete == "auto":
        return {}
    if isinstance(discrete, (bool, np.bool_)):
        return dict.fromkeys(range(m), bool(discrete))
    if isinstance(discrete, (str, dict)) or not isinstance(discrete, Iterable):
        raise ValueError(rule)
    if isinstance(discrete, np.ndarray) and discrete.ndim != 1:
        raise ValueError(rule)
    chosen = list(discrete)
    if not all(isinstance(c, Hashable) for c in chosen):
        raise ValueError(rule)
    if chosen and all(isinstance(c, (bool, np.bool_)) for c in chosen):
        if len(chosen) != m:
            raise ValueError(rule)
        return {j: bool(c) for j, c in enumerate(chosen)}
    declared: dict[int, bool] = {}
    places = _places(names) if named_columns else {}
    for c in chosen:
        if c in places:
            declared |= dict.fromkeys(places[c], True)
        elif is_int(c) and 0 <= int(c) < m:
            declared[int(c)] = True
        else:
            raise ValueError(f"{rule} There is no column {shown(c)}.")
    return declared


def refuse_missing(
    argument: str, names: list[Any], n_samples: int, n_missing: IntArray, n_infinite: IntArray
) -> None:
    """No estimate from values that are not there."""
    for what, counts in (("missing values (NaN)", n_missing), ("infinite values", n_infinite)):
        columns = np.flatnonzero(counts)
        if columns.size == 0:
            continue
        first = ", ".join(f"{shown(names[j])} ({counts[j]})" for j in columns[:5])
        more = f" and {columns.size - 5} more" if columns.size > 5 else ""
        where = f" in {columns.size} of its columns: {first}{more}" if len(names) > 1 else ""
        where = where or f" ({counts[0]} of {n_samples})"
        raise ValueError(
            f"{argument} has {what}{where}. Neighbours of an unknown value are unknown: "
            "drop those samples or columns, or fill the values in first (for example with "
            "sklearn.impute.SimpleImputer)."
        )


def check_target(y: Table) -> None:
    """A target must vary, and classes must have members."""
    for j in range(y.n_columns):
        column = y.values[j]
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
        if _same_labels_in_another_order(first.index, other.index):
            raise ValueError(
                f"{first.argument} and {other.argument} have the same index labels in another "
                f"order: the samples would be mixed up. Pass {other.argument}.loc[{first.argument}"
                ".index], or drop the indexes if they mean nothing (reset_index)."
            )


def _same_labels_in_another_order(one: Any, other: Any) -> bool:
    if one is None or other is None or one.equals(other):
        return False
    if not (one.is_unique and other.is_unique):
        return False
    return bool(one.isin(other).all())


def find_columns(columns: Any, table: Any, parameter: str) -> list[int]:
    """The numbers of columns given by number, by a mask, or by name where there are names."""
    m = table.n_columns
    single = isinstance(columns, (str, bytes)) or not isinstance(columns, Iterable)
    if isinstance(columns, tuple) and table.named and columns in table.names:
        single = True  # a name of several levels
    wanted = [columns] if single else list(columns)
    if len(wanted) == m and all(isinstance(c, (bool, np.bool_)) for c in wanted):
        return [j for j, chosen in enumerate(wanted) if chosen]
    found: dict[int, None] = {}
    places = _places(table.names) if table.named else {}
    for c in wanted:
        known = isinstance(c, Hashable) and not is_flag(c)
        named = places.get(c, []) if known else []
        if len(named) > 1:
            raise ValueError(
                f"The {parameter!r} parameter names {shown(c)}, but {len(named)} columns of "
                f"{table.argument} have that name. Give their numbers, or rename them."
            )
        if not named and not (is_int(c) and 0 <= c < m):
            kind = f"{'a name or ' if table.named else ''}a number from 0 to {m - 1}"
            raise ValueError(
                f"The {parameter!r} parameter must have columns of {table.argument}, each {kind}, "
                f"or a mask of {m} bools. There is no column {shown(c)}."
            )
        j = named[0] if named else int(c)
        if j in found:
            raise ValueError(
                f"The {parameter!r} parameter has {table.label(j)} twice. Name each column once."
            )
        found[j] = None
    return list(found)


def _places(names: Sequence[Any]) -> dict[Any, list[int]]:
    """Where each name stands."""
    places: dict[Any, list[int]] = {}
    for j, name in enumerate(names):
        places.setdefault(name, []).append(j)
    return places
