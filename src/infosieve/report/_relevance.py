"""The page of a relevance test: which columns are informative at all."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from infosieve.report import _figures as figures
from infosieve.report._data import nats
from infosieve.report._parts import Page, counted, listed, name_text, section, short_names
from infosieve.report._words import _left_out, _parts, setting, target_name
from infosieve.results._facts import few_groups

# Columns in the first figure; rows of the table, at least and at most; points in the second figure.
_BARS, _FEWEST, _ROWS, _POINTS = 30, 10, 200, 400
# So many are named in the headline.
_NAMED = 4


def relevance_notes(result: Any) -> Iterator[str]:
    """What columns were compared with, and what that leaves open: a sentence each."""
    shared, tested = result.shared, result.tested
    own = tested & ~shared
    if shared.any():
        draws = np.unique(result.n_draws_asked[shared])
        sizes = f"{draws[-1]:,}" if draws.size == 1 else f"{draws[0]:,} to {draws[-1]:,}"
        yield (
            f"{counted(int(shared.sum()), 'column')} {_was(shared)} compared with {sizes} columns "
            "that know nothing, drawn once for all columns whose values repeat alike."
        )
    if own.any():
        most = int(result.n_draws_asked[own].max())
        yield (
            f"{counted(int(own.sum()), 'column')} {_was(own)} compared with up to {most:,} "
            f"permutations of {'its' if own.sum() == 1 else 'their'} own: no p-value there is "
            f"below {1 / (most + 1):.2g}."
        )
    few = few_groups(result)
    if few:
        yield (
            f"{few} groups can be arranged in {math.factorial(few):,} ways at most: p-values are "
            f"hardly smaller than {1 / math.factorial(few):.2g}, which is too large for one column "
            f"of {int(tested.sum()):,} by itself. More groups are needed."
        )
    if result.n_needed > 1:
        enough = math.ceil(tested.sum() / result.alpha)
        more = f"; with {setting(result.provenance, 'n_permutations', enough)} it would be for one"
        yield (
            f"A p-value of {result.smallest_p[tested].max():.2g} is small enough only if "
            f"{result.n_needed:,} columns or more are relevant{'' if few else more}."
        )
    if (tested & ~result.relevant).any():
        yield (
            "What is not relevant is not shown to be useless: of a weak trend, a rank correlation "
            "needs fewer samples."
        )
    if not tested.all():
        yield f"{counted(int((~tested).sum()), 'constant column')} {_was(~tested)} not tested."
    yield from _parts(result)
    yield from _left_out(result.provenance)


def _was(columns: Any) -> str:
    return "was" if columns.sum() == 1 else "were"


def by_information(result: Any) -> Any:
    """The numbers of the columns: relevant ones first, the largest information first."""
    return np.lexsort((-result.statistic, ~result.relevant))


def relevance_page(result: Any) -> Page:
    """Words, a table of the relevant columns, and figures of these and of all."""
    frame, order, n = result.to_frame(), by_information(result), int(result.relevant.sum())
    rows = order[: min(_ROWS, max(n, _FEWEST))]
    words = [
        f"Each of {counted(len(result.features), 'column')} was tested by itself, from "
        f"{result.provenance.n_samples:,} samples: does it tell anything about the target? Columns "
        "that say the same are all relevant; columns that matter only together may not be.",
        f"Of columns that are called relevant, {100 * result.alpha:.3g} % are expected to tell "
        "nothing, at most (false discovery rate).",
        "The statistic of the test is information as it is best tested, by default under normal "
        "scores and with K from 3 to 25: compare it with chance, and not with what relevance() "
        "measures.",
        *result.notes,
    ]
    if n > _ROWS:
        words.append(f"The table has the {_ROWS} most informative of {n:,} relevant columns.")
    return {
        "kind": "Relevance test",
        "title": _title(result, order[:n]),
        "words": words,
        "heads": ["column", "statistic (nats)", "chance (95 %)", "p", "q", ""],
        "rows": [_row(frame.iloc[j]) for j in rows],
        "numeric": [1, 2, 3, 4],
        "sections": _sections(frame, order),
    }


def _title(result: Any, relevant: Any) -> str:
    target = target_name(result.provenance)
    about = "the target" if target is None else name_text(target)
    if not relevant.size:
        return f"No column of {len(result.features):,} was found to be informative about {about}"
    found = short_names(result, relevant)
    verb = "is" if len(found) == 1 else "are"
    which = f": {listed(found)}" if len(found) <= _NAMED else ""
    columns = counted(len(result.features), "column")
    return f"{len(found):,} of {columns} {verb} informative about {about}{which}"


def _row(one: Any) -> list[str]:
    name = name_text(one["feature"])
    if one["draws"] == 0:
        return [name, "0", "", "", "", "constant"]
    return [
        name,
        nats(one["statistic"]),
        nats(one["chance_q95"]),
        f"{one['p_value']:.2g}",
        f"{one['q_value']:.2g}",
        "relevant" if one["relevant"] else "not relevant",
    ]


def _sections(frame: Any, order: Any) -> list[Page]:
    shown = order[:_BARS]
    most = "The columns" if shown.size == order.size else f"The first {shown.size} columns"
    text = f"{most} beside chance: 95 % of permuted columns stay below the mark."
    sections = [section("The most informative columns", text, _bars(frame.iloc[shown]))]
    if order.size > _BARS:
        text = "From the most informative column to the least. The dashed line is chance (95 %)."
        sections.append(section("All columns", text, _ranked(frame)))
    return sections


def _hover(frame: Any) -> list[str]:
    """Columns as a figure tells them."""
    columns = ("feature", "statistic", "p_value", "q_value")
    return [
        f"{figures._text(name)}<br>{nats(value)} nats, p = {p:.2g}, q = {q:.2g}"
        for name, value, p, q in zip(*(frame[column] for column in columns), strict=True)
    ]


def _bars(frame: Any) -> Page:
    """The columns of a frame, beside what chance gives each."""
    shown = figures.bars(
        [str(name) for name in frame["feature"]],
        frame["statistic"].tolist(),
        "statistic: information about the target (nats)",
        _hover(frame),
        ["found" if relevant else "faint" for relevant in frame["relevant"]],
    )
    tested = np.flatnonzero(frame["draws"] > 0)
    mark = {
        "type": "scatter", "mode": "markers", "name": "chance (95 %)", "hoverinfo": "skip",
        "x": frame["chance_q95"].iloc[tested].tolist(), "y": tested.tolist(),
        "marker": {
            "color": "refused", "symbol": "line-ns-open", "size": 13, "line": {"width": 2}
        },
    }  # fmt: skip
    shown["data"][0] |= {"showlegend": False}
    shown["data"].append(mark)
    shown["layout"] |= {"showlegend": True}
    return shown


def _ranked(frame: Any) -> Page:
    """All columns by their information, thinned out where there are thousands."""
    frame = frame.sort_values("statistic", ascending=False, kind="stable")
    at = np.unique(np.geomspace(1, len(frame), _POINTS).round().astype(int)) - 1
    some, data = frame.iloc[at].assign(rank=at + 1), []
    for name, color, relevant in (("not relevant", "chance", False), ("relevant", "found", True)):
        part = some[some["relevant"] == relevant]
        if len(part):
            data.append(
                {
                    "type": "scatter", "mode": "markers", "name": name,
                    "x": part["rank"].tolist(), "y": part["statistic"].tolist(),
                    "marker": {"color": color}, "text": _hover(part),
                    "hovertemplate": "%{text}<extra></extra>",
                }
            )  # fmt: skip
    # Most columns are compared with one distribution, and its level is that of the line.
    level = float(frame.loc[frame["draws"] > 0, "chance_q95"].median())
    line = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": level, "y1": level}
    line |= {"line": {"color": "refused", "dash": "dash", "width": 1}}
    ticks = [10**k for k in range(len(str(len(frame))))]
    across = {"type": "log", "tickvals": ticks, "ticktext": [f"{tick:,}" for tick in ticks]}
    title = "column, by rank (logarithmic)"
    return figures._figure(data, title, "statistic (nats)", shapes=[line], xaxis=across)
