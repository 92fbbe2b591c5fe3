"""The page of clusters: who is in each, the tree, and how their number was chosen."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from infosieve.report import _data
from infosieve.report._figures import Figure, _figure, _texts
from infosieve.report._parts import Page, counted, name_text, names, section

# So many columns of a cluster are named at once; the others are folded away.
_NAMED = 8
# Leaves of a tree that a page has room for.
LEAVES = 150


def cluster_page(result: Any) -> Page:
    """What a clustering found."""
    m, k, n = len(result.features), len(result.clusters), result.provenance.n_samples
    columns = counted(m, "column")
    sizes = np.bincount(result.labels, minlength=k)
    largest_first = np.argsort(-sizes, kind="stable").tolist()
    rows = [_row(result, label) for label in largest_first]
    sections = [tree_section(result, "The merges")]
    if result.cv_results is not None:
        sections.append(_number_section(result))
    return {
        "kind": "Clusters",
        "title": f"{counted(k, 'cluster')} of {columns}",
        "words": [
            f"{columns} of {counted(n, 'sample')} were joined into {counted(k, 'cluster')}.",
            *result.notes,
        ],
        "heads": ["cluster", "how many", "columns", "most typical"],
        "rows": rows,
        "numeric": [0, 1],
        "names": [3],
        "sections": sections,
    }


def _row(result: Any, label: int) -> list[Any]:
    members = np.flatnonzero(result.labels == label)
    typical = name_text(result.features[result.medoids[label]])
    named, others = names(result, members[:_NAMED]), names(result, members[_NAMED:])
    if len(others) == 1:  # which needs no more room than "1 more" does
        named, others = named + others, []
    return [str(label), f"{members.size:,}", {"names": named, "folded": others}, typical]


def tree_section(result: Any, title: str, anchor: str = "") -> Page:
    """The tree of a clustering, and what it shows."""
    text = "The further left two columns meet, the more alike they are."
    m = len(result.features)
    if m > LEAVES:
        text += (
            f" These are the last {LEAVES - 1} of {m - 1:,} merges: names with a plus stand for "
            "several columns."
        )
    return section(title, text, tree(result), anchor=anchor)


def tree(result: Any) -> Figure:
    """The dendrogram, its leaves at the left, a row each."""
    drawn = _data.tree(result, LEAVES)
    lines: dict[str, list[list[Any]]] = {}
    for at, height, cluster in drawn.links:
        color = "faint" if cluster is None else f"group{cluster % 8}"
        xs, ys = lines.setdefault(color, [[], []])
        xs += [*height, None]  # a gap before the next
        ys += [*at, None]
    data = [
        {
            "type": "scatter", "mode": "lines", "x": xs, "y": ys, "line": {"color": color},
            "showlegend": False, "hovertemplate": "1 − similarity = %{x:.3f}<extra></extra>",  # noqa: RUF001
        }
        for color, (xs, ys) in lines.items()
    ]  # fmt: skip
    names = _texts([leaf.name for leaf in drawn.leaves], 24)
    leaves = [name + leaf.more for name, leaf in zip(names, drawn.leaves, strict=True)]
    n = len(leaves)
    rows = {"tickvals": [5 + 10 * i for i in range(n)], "ticktext": leaves, "range": [10 * n, 0]}
    rows |= {"showgrid": False, "zeroline": False, "tickfont": {"size": 11}}
    across: Figure = {"rangemode": "tozero", "side": "top" if n > 30 else "bottom"}
    ends = [x for xs, _ in lines.values() for x in xs if x is not None]
    if ends:  # the last merge is not on the edge
        across["range"] = [min(0.0, *ends), 1.03 * max(ends)]
    pixels = 110 + 16 * max(n, 6)
    return _figure(data, "1 − similarity", "", pixels, xaxis=across, yaxis=rows)  # noqa: RUF001


def _number_section(result: Any) -> Page:
    text = (
        "Judged by predictions for samples that were left out. Bars: the standard error of the "
        "distance from the best. Folds were drawn again and again; each draw asks for the smallest "
        "number whose error, 1 − score, is at most 5\u00a0% more than the least, and the middle of "  # noqa: RUF001
        "these was taken."
    )
    return section("How many clusters", text, _numbers(result))


def _numbers(result: Any) -> Figure:
    """The cross-validated score against the number of clusters."""
    scores: Mapping[str, Any] = result.cv_results
    tried, chosen = np.asarray(scores["n_clusters"]), len(result.clusters)
    line = {
        "type": "scatter", "mode": "lines+markers", "x": tried.tolist(),
        "y": np.asarray(scores["mean_test_score"]).tolist(), "line": {"color": "chance"},
        "error_y": {"type": "data", "array": np.asarray(scores["standard_error"]).tolist(),
                    "color": "faint", "thickness": 1, "width": 2},
        "hovertemplate": "%{x} clusters: %{y:.4f}<extra></extra>", "name": "score",
    }  # fmt: skip
    taken = {
        "type": "scatter", "mode": "markers", "x": [chosen],
        "y": [float(np.asarray(scores["mean_test_score"])[tried == chosen][0])],
        "marker": {"color": "found", "size": 12}, "name": f"taken: {chosen}",
        "hovertemplate": "%{x} clusters: %{y:.4f}<extra></extra>",
    }  # fmt: skip
    low, high = result.n_clusters_range
    band = {
        "type": "rect", "x0": low / 1.03, "x1": high * 1.03, "yref": "paper", "y0": 0, "y1": 1,
        "fillcolor": "band", "line": {"width": 0}, "layer": "below",
    }  # fmt: skip
    ticks = [t * 10**p for p in range(6) for t in (1, 2, 5) if t * 10**p <= 1.2 * tried[-1]]
    across = {"type": "log", "tickvals": ticks, "ticktext": [f"{t:,}" for t in ticks]}
    near = f"{low} to {high}" if high > low else str(low)
    within = f"number of clusters (shaded: within one standard error, {near})"
    return _figure([line, taken], within, "score", 360, xaxis=across, shapes=[band])
