"""The page of a stability result: which columns another sample would choose again."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from infosieve.report import _figures as figures
from infosieve.report._parts import (
    Page,
    counted,
    listed,
    name_text,
    names,
    percent,
    section,
    short_names,
    table,
)

# Rows of the table, sets, and names of a set, at most.
_ROWS, _SETS, _NAMES = 200, 8, 12
# What a bound is that more than half of the columns would keep to.
_NO_BOUND = "no useful bound"


def stability_notes(result: Any) -> Iterator[str]:
    """What was done, and what the numbers promise: a sentence each."""
    known = result.provenance
    groups = known.parameters.get("groups")
    grouped = f" in {counted(groups, 'group')}" if isinstance(groups, int) else ""
    of = f"{counted(known.n_samples, 'sample')}{grouped}"
    yield (
        f"{known.parameters.get('selector', 'The selector')} was fitted on {result.n_halves} "
        f"halves, {counted(result.n_pairs, 'pair')}, of {of}; it chose "
        f"{result.n_selected_mean:.1f} of {counted(len(result.features), 'column')} on average."
    )
    if known.n_left_out:
        were = "sample without a target was" if known.n_left_out == 1 else None
        were = were or "samples without a target were"
        yield f"{known.n_left_out:,} {were} left out."
    empty = sum(not half for half in result.chosen)
    if empty:
        yield f"From {empty} of {result.n_halves} halves it chose nothing."
    yield from _promise(result)
    if not math.isnan(result.index):
        low, high = result.index_interval
        yield (
            f"The sets agree with an index of {result.index:.2f} ({low:.2f} to {high:.2f}); 1: all "
            "are equal, 0: no more alike than random sets (Nogueira, Sechidis and Brown 2018)."
        )
    yield (
        "A half has half of the samples: from all of them more is found. Of columns that can "
        "stand in for each other, each may be rare although one of them is always there."
    )


def unbounded(result: Any) -> Iterator[str]:
    """Why a cell of the table has no number, if there is such a cell."""
    frame = result.to_frame()
    chosen = frame["expected_false"][frame["frequency"] > 0]
    if any(bound_text(bound, len(result.features)) == _NO_BOUND for bound in chosen):
        yield (
            f"{_NO_BOUND.capitalize()}: more than half of the columns could be false, because "
            "halves have few samples or columns tell little."
        )


def _promise(result: Any) -> Iterator[str]:
    """The bound in words."""
    if result.n_selected_mean == 0:
        return
    threshold = result.threshold()
    bound = result.expected_false(1.0 if math.isnan(threshold) else threshold)
    if math.isnan(threshold):
        so_many = "" if bound > len(result.features) / 2 else f": up to {bound:.2g} may be expected"
        yield (
            "No threshold keeps false columns out, not even among columns that were chosen from "
            f"all halves{so_many}."
        )
    else:
        few = "Fewer than 0.001" if bound < 0.001 else f"At most {bound:.2g}"
        are = "column is" if few.endswith(" 1") else "columns are"
        yield (
            f"{few} false {are} expected among those that were chosen from "
            f"{percent(threshold)} of the halves or more (Shah and Samworth 2013)."
        )
    low = result.n_selected_mean / len(result.features)
    yield (
        "A column counts as false here if it is chosen no more often than by drawing columns at "
        f"random, from {percent(low)} of the halves."
    )


def stability_page(result: Any) -> Page:
    """Words, the most frequent columns as a table and a figure, and the most frequent sets."""
    frame = result.to_frame()
    order = by_frequency(result)
    n_columns = len(result.features)
    rows = [_row(one, n_columns) for one in frame.iloc[order[:_ROWS]].to_dict("records")]
    words = list(result.notes)
    never = len(result.features) - order.size
    if never:
        were = "was" if never == 1 else "were"
        words.append(f"{never:,} of {len(result.features):,} columns {were} never chosen.")
    if order.size > _ROWS:
        words.append(f"The table has the {_ROWS} most frequent of {order.size:,} columns.")
    sections: list[Page] = []
    if order.size:
        sections = [_how_often(result), _which_sets(result)]
    return {
        "kind": "Stability",
        "title": _title(result),
        "words": words,
        "heads": ["column", "share of halves", "false columns so far", ""],
        "rows": rows,
        "numeric": [1, 2],
        "table_notes": list(unbounded(result)),
        "sections": sections,
    }


def by_frequency(result: Any) -> Any:
    """The numbers of the columns that were chosen, most often first."""
    order = np.argsort(-result.frequencies, kind="stable")
    return order[result.frequencies[order] > 0]


def _title(result: Any) -> str:
    stable = result.stable()
    if not stable:
        return "No column is chosen again and again"
    verb = "is" if len(stable) == 1 else "are"
    found = short_names(result, stable)
    return f"{listed(found, 4)} {verb} chosen again and again"


def _row(one: dict[str, Any], n_columns: int) -> list[str]:
    return [
        name_text(one["feature"]),
        percent(one["frequency"]),
        bound_text(one["expected_false"], n_columns),
        "stable" if one["stable"] else "",
    ]


def bound_text(bound: float, n_columns: int) -> str:
    """ "up to 0.3": of a threshold at that frequency, unless that may be most of all columns."""
    if bound != bound:
        return ""
    if bound > n_columns / 2:
        return _NO_BOUND
    return "below 0.001" if bound < 0.001 else f"up to {bound:.2g}"


def _how_often(result: Any) -> Page:
    threshold, text = result.threshold(), "From how many of the halves columns were chosen."
    if not math.isnan(threshold):
        text += f" The dashed line is the threshold of stable columns, {percent(threshold)}."
    return section("How often", text, figures.frequencies(result, result.stable()))


def _which_sets(result: Any) -> Page:
    sets = [(columns, times) for columns, times in result.sets if times > 1][:_SETS]
    rows = [
        [listed(names(result, columns), _NAMES) if columns else "(nothing)", str(times)]
        for columns, times in sets
    ]
    text = f"{counted(len(result.sets), 'different set')} in {result.n_halves} halves."
    text += " The most frequent:" if rows else " None was chosen twice."
    shown = table(["columns", "halves"], rows, numeric=[1]) if rows else None
    return section("Which sets", text, table=shown)
