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
        yield f"{known.n_left_out:,} samples without a target were left out."
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


def _promise(result: Any) -> Iterator[str]:
    """The bound in words."""
    if result.n_selected_mean == 0:
        return
    threshold = result.threshold()
    bound = result.expected_false(1.0 if math.isnan(threshold) else threshold)
    if math.isnan(threshold):
        yield (
            "No threshold keeps false columns out: even among columns that were chosen from all "
            f"halves, up to {bound:.2g} may be expected."
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
        f"False is a column whose probability to be chosen from a half is {percent(low)} or less: "
        "as if columns were drawn at random."
    )


def stability_page(result: Any) -> Page:
    """Words, the most frequent columns as a table and a figure, and the most frequent sets."""
    frame = result.to_frame()
    order = by_frequency(result)
    rows = [_row(one) for one in frame.iloc[order[:_ROWS]].to_dict("records")]
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


def _row(one: dict[str, Any]) -> list[str]:
    return [
        name_text(one["feature"]),
        percent(one["frequency"]),
        bound_text(one["expected_false"]),
        "stable" if one["stable"] else "",
    ]


def bound_text(bound: float) -> str:
    """ "up to 0.3": of a threshold at that frequency."""
    if bound != bound:
        return ""
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
