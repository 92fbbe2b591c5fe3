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
    short,
)

# Rows of the table, and sets in the figure, at most.
_ROWS, _SETS = 200, 8


def stability_notes(result: Any) -> Iterator[str]:
    """What was done, and what the numbers promise: a sentence each."""
    known = result.provenance
    groups = known.parameters.get("groups")
    of = f"{known.n_samples:,} samples" + (f" in {groups:,} groups" if groups else "")
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
    yield _promise(result)
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


def _promise(result: Any) -> str:
    """The bound in words."""
    low = result.n_selected_mean / len(result.features)
    false = (
        "one that is chosen from a half with a probability of no more than "
        f"{percent(low)}, the share of all columns that is chosen on average"
    )
    threshold = result.threshold()
    if math.isnan(threshold):
        bound = result.expected_false(1.0)
        return (
            "No threshold keeps false columns out: even among columns that were chosen from all "
            f"halves, up to {bound:.2g} may be expected to be false ({false})."
        )
    bound = result.expected_false(threshold)
    return (
        f"Of columns that were chosen from {percent(threshold)} of the halves or more, at most "
        f"{bound:.2g} is expected to be false: {false} (Shah and Samworth 2013, r-concave "
        "frequencies)."
    )


def stability_page(result: Any) -> Page:
    """Words, a table of the most frequent columns, and two figures."""
    frame = result.to_frame()
    order = by_frequency(result)
    rows = [_row(one) for one in frame.iloc[order[:_ROWS]].to_dict("records")]
    words = list(result.notes)
    never = len(result.features) - order.size
    if never:
        words.append(f"{counted(never, 'column')} of {len(result.features):,} never chosen.")
    if order.size > _ROWS:
        words.append(f"The table has the {_ROWS} most frequent of {order.size:,} columns.")
    sections: list[Page] = []
    if order.size:
        sections = [_how_often(result), _which_sets(result)]
    return {
        "kind": "Stability",
        "title": _title(result),
        "words": words,
        "heads": ["column", "chosen from", "false columns expected", ""],
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
    found = [short(result.features[j]) for j in stable]
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
    sets = result.sets
    most = sets[:_SETS]
    labels = [listed(names(result, columns), 4) if columns else "(nothing)" for columns, _ in most]
    labels = [f"{i}. {label}" for i, label in enumerate(labels, 1)]
    texts = [
        f"{figures._text(label)}<br>chosen from {times} of {result.n_halves} halves"
        for label, (_, times) in zip(labels, most, strict=True)
    ]
    values = [times / result.n_halves for _, times in most]
    across = {"rangemode": "tozero", "tickformat": ".0%"}
    shown = figures.bars(
        labels, values, "share of the halves", texts, ["found"] * len(most), **across
    )
    text = f"{counted(len(sets), 'different set')} in {result.n_halves} halves"
    return section("Which sets", f"{text}; the most frequent.", shown)
