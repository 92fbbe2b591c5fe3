"""Notices about the data: likely mistakes, told as warnings, and a few that are refused."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from infosieve._core.dialect import bare, either, parameter, row, setting
from infosieve._core.messages import shown, warn
from infosieve._core.types import BoolArray, ColumnSet, FloatArray, IntArray
from infosieve._input.tables import Table
from infosieve._input.together import Together

if TYPE_CHECKING:
    from infosieve._input.problem import AnyTable, Problem

# A target of so many distinct whole numbers, from the first to the second, may be classes.
CLASS_CODES = (3, 20)
# What people write for missing values.
_FILLS = (99, 999, 9999, 99999, 999999)
# Whole numbers in equal blocks may be individuals if there are so many of them.
_MANY = 10
# Categories with fewer samples each, on average, may be individuals.
_ROWS = 5


def tell_of_targets(y: Table, without: BoolArray) -> None:
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
            f"{without.size} samples (the first in {row(int(np.argmax(without)))}): these samples "
            "are left out.",
            about="no target",
        )


def tell_of_dropped(n_dropped: int, n_samples: int) -> None:
    if n_dropped >= n_samples - 1:
        raise ValueError(
            f"{n_dropped} of {n_samples} samples have missing values: "
            f"{setting('missing', 'drop')} leaves {n_samples - n_dropped}. Pass "
            f"{setting('missing', 'auto')}, or leave out columns with many gaps."
        )
    if n_dropped:
        warn(
            f"{n_dropped} of {n_samples} samples have missing values, and are left out "
            f"({setting('missing', 'drop')}).",
            about="gaps",
        )


def warn_of_changes(y: Table) -> None:
    warn(
        f"{y.label(0) if y.n_columns == 1 else 'y'} is not stationary: it does not return to a "
        "mean often enough to be compared. The changes of all columns of numbers, from row to row, "
        "are measured instead."
    )


def warn_of_fills(x: "AnyTable") -> None:
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
            f"all others.{more} If it stands for a missing value, write NaN for it.",
            about="fills",
            of=x.label(j),
        )


def warn_of_dates(x: "AnyTable", together: Together) -> None:
    """Say that rows with dates, in their order, may be a series."""
    index = getattr(x, "index", None)
    if together.groups is not None or together.in_order:
        return
    if not isinstance(index, (pd.DatetimeIndex, pd.PeriodIndex)):
        return
    if index.is_monotonic_increasing and index.is_unique:
        warn(
            "The rows of X have dates, one after the other, and are taken as independent. If "
            f"neighbouring rows are alike, pass {setting('series', True)}"
            f"{either(' where that is a parameter', '')}; if not, X.reset_index(drop=True) says "
            "so.",
            about="dates",
        )


def check_dates(tables: Sequence[Any]) -> None:
    """Refuse rows that are said to be in order of time, and have dates that are not."""
    from infosieve._input.in_time import dates_of, out_of_order, repeated

    dates = dates_of(tables)
    if dates is None:
        return
    if (found := out_of_order(dates.values)) is not None:
        way = (
            "X.sort_index(), and y with it (y.loc[X.index], or y[X.index.argsort()] before, for an "
            "array)."
        )
        if dates.where != "X.index":
            way = f"order = {dates.where}.argsort(), and X and y in this order (.iloc[order])."
        if dates.level is not None:
            way += (
                f" If they are of several individuals, or places, pass {bare('groups')} (which of "
                f"them each row is of) instead of {setting('series', True)}."
            )
        raise ValueError(
            f"{parameter('series')} says that rows are in order of time, but by their index they "
            f"are not: {found}. Sort them by it: {way} If the index says something else, "
            f"{dates.argument}.reset_index(drop=True) leaves the rows as they are."
        )
    if (rows := repeated(dates.values)) is not None:
        warn(
            f"Rows are taken as one series, but {rows}. If these are several individuals, or "
            f"places, pass {bare('groups')} (which of them each row is of) instead of "
            f"{setting('series', True)}, or one of them at a time.",
            about="repeated dates",
        )


def warn_of_class_codes(y: Table) -> None:
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
                "numbers. If they are codes of classes, "
                + either(
                    "pass discrete_target=True; if they are numbers, discrete_target=False says "
                    "so.",
                    "--categorical with its name says so.",
                ),
                about="class codes",
                of=y.label(int(j)),
            )


def warn_of_dominated(table: Any, columns: IntArray) -> None:
    """Say which columns one value dominates: standard scaling makes the others alike."""
    if columns.size == 0:
        return
    j = int(columns[0])
    values = table.column(j)
    far = np.abs(values - np.nanmedian(values))
    rows = np.flatnonzero(far == np.nanmax(far))
    place, at = min((int(i) if table.kept is None else int(table.kept[i]), i) for i in rows)
    times = int((values == values[at]).sum())
    more = f" (and {times - 1} more)" if times > 1 else ""
    others = f" So do {columns.size - 1} other columns." if columns.size > 1 else ""
    warn(
        f"{table.label(j)} has the value {shown(values[at])} in {row(place)}{more}, so far from "
        f"all others that these hardly differ on the standard scale.{others} If it stands for a "
        "missing value, write NaN for it; if it is a value, pass "
        f"{setting('scale', 'normal-scores')}.",
        about="dominated",
        of=table.label(j),
    )


def warn_of_identifiers(problem: "Problem", x: ColumnSet, left_out: Collection[int] = ()) -> None:
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
            f"categories, join rare ones, or declare them ({bare('discrete_features')}).",
            about="left out as identifiers",
            of=names,
        )
        found = np.setdiff1d(found, list(left_out))
    if found.size:
        j = int(found[0])
        more = f" So have {found.size - 1} other columns." if found.size > 1 else ""
        warn(
            f"{table.label(j)} has {x.n_distinct[j]} categories in {table.n_samples} samples, as "
            f"identifiers have: its information cannot be told from chance.{more} "
            f"{either('Leave it out', 'Leave it out with --exclude')}, join rare categories or, if "
            "these are numbers, pass them as numbers.",
            about="identifiers",
            of=table.label(j),
        )
    few = x.categorical & (_ROWS * x.n_distinct > table.n_samples)
    few[[*found, *left_out]] = False
    if isinstance(table, Table) and problem.independent:
        few |= _in_blocks(table.values[:, problem.as_passed], x.n_distinct)
    if few.any() and problem.together.groups is None:
        j = int(np.argmax(few))
        more = f" So have {few.sum() - 1} other columns." if few.sum() > 1 else ""
        way = either("leave the column out of X and pass it as groups", "give it as --groups")
        warn(
            f"{table.label(j)} has {x.n_distinct[j]} values in {table.n_samples} samples, so few "
            f"samples each that they may be individuals.{more} If several rows are of one "
            f"individual, {way}: rows of one individual are alike, and tests must know it.",
            about="individuals",
            of=table.label(j),
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


def warn_of_singletons(n_singletons: int, n_samples: int) -> None:
    """Say that most samples share their combination of categories with no other."""
    if 2 * n_singletons > n_samples:
        warn(
            f"{n_singletons} of {n_samples} samples share their combination of categories with no "
            "other sample, and cannot be told from chance: the information of this set is "
            "uncertain. Join rare categories, or use fewer columns.",
            about="singletons",
        )


def warn_of_the_target(problem: "Problem", selected: Sequence[int]) -> None:
    """Say which columns are the target in other words: mostly they are not known beforehand."""
    for j in selected:
        for i in range(problem.y.n_columns):
            if _says_the_same(problem.x, j, problem.y, i):
                target = problem.y.label(i) if problem.y.n_columns > 1 or problem.y.named else "y"
                warn(
                    f"{problem.x.label(j)} is a copy of {target}, or the same in other words: from "
                    "each value of one follows that of the other. If it is not known before the "
                    f"target is, {either('leave it out', 'leave it out with --exclude')}."
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
