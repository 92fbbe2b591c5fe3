"""Interactive figures as Plotly's JSON: plain dicts, no drawing library needed to make them.

Colours are names ("found", "chance", ...) that the page replaces by those of its theme.
"""

import html
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from infosieve._core.files import printable
from infosieve.results._records import ClusterResult, KChoice, SelectionResult, Step

Figure = dict[str, Any]
_MANY = 30


def _figure(data: list[Figure], x: str, y: str, height: int = 340, **layout: Any) -> Figure:
    axes = {"xaxis": {"title": {"text": x}}, "yaxis": {"title": {"text": y}}}
    for name in ("xaxis", "yaxis"):
        axes[name] |= layout.pop(name, {})
    return {"data": data, "layout": axes | {"height": height} | layout}


def _text(name: Any, length: int = 10_000) -> str:
    """A name as Plotly shows it: its texts know a little HTML."""
    text = printable(name)
    text = text if len(text) <= length else text[: length - 1] + "…"
    return html.escape(text, quote=False)


def path(result: SelectionResult) -> Figure:
    """What each step adds, and what permuted columns would."""
    names = [f"{number}. {_joined(result, step)}" for number, step in enumerate(result.steps, 1)]
    full = [" and ".join(_text(result.features[j]) for j in step.features) for step in result.steps]
    known, boxes = 0.0, list[Figure]()
    whole = result.provenance.parameters.get("criterion") == "mi"
    for name, step in zip(names, result.steps, strict=True):
        if step.null:
            shift = known if whole else 0.0
            boxes.append(
                {
                    "type": "box", "x": [name] * len(step.null),
                    "y": [value - shift for value in step.null], "name": "permuted columns",
                    "marker": {"color": "chance", "size": 3}, "boxpoints": False,
                    "showlegend": not boxes, "hoverinfo": "y", "line": {"width": 1},
                }
            )  # fmt: skip
        known = step.mi if step.action != "stop" else known
    points = []
    for label, color, actions in (
        ("selected", "found", ("add",)),
        ("removed", "third", ("remove",)),
        ("did not pass", "refused", ("stop",)),
    ):
        each = zip(names, full, result.steps, strict=True)
        some = [(name, whole_name, s) for name, whole_name, s in each if s.action in actions]
        if some:
            points.append(
                {
                    "type": "scatter", "mode": "markers", "name": label,
                    "x": [n for n, _, _ in some], "y": [s.gain for *_, s in some],
                    "marker": {"color": color, "size": 12},
                    "text": [f"{w}<br>adds {s.gain:.3f} nats, {p_text(s)}" for _, w, s in some],
                    "hovertemplate": "%{text}<extra></extra>",
                }
            )  # fmt: skip
    category = {"type": "category", "categoryorder": "array", "categoryarray": names}
    return _figure([*boxes, *points], "", "what it adds (nats)", xaxis=category)


def p_text(step: Step) -> str:
    """ "p = 0.005", or its early_stopped."""
    if step.p_value is None:
        return "no test"
    return f"p {'≥' if step.early_stopped else '='} {step.p_value:.3g}"


def _joined(result: SelectionResult, step: Step) -> str:
    return " and ".join(_text(result.features[j], 24) for j in step.features)


def relevance(result: SelectionResult) -> Figure:
    """What columns tell alone, the largest."""
    order = np.argsort(-result.relevance, kind="stable")[:_MANY][::-1]
    chosen = set(result.selected)
    bars = {
        "type": "bar", "orientation": "h", "x": result.relevance[order].tolist(),
        "y": list(range(len(order))), "text": [_text(result.features[j]) for j in order],
        "textposition": "none",
        "marker": {"color": ["found" if int(j) in chosen else "faint" for j in order]},
        "hovertemplate": "%{text}: %{x:.3f} nats<extra></extra>",
    }  # fmt: skip
    names = [_text(result.features[j], 28) for j in order]
    ticks = {"tickvals": bars["y"], "ticktext": names, "automargin": True, "showgrid": False}
    return _figure([bars], "nats, alone", "", 120 + 20 * len(order), yaxis=ticks)


def smoothing(choice: KChoice) -> Figure:
    """t against K, the best features."""
    order = np.argsort(-choice.t.max(axis=1), kind="stable")[:8]
    lines = [
        {
            "type": "scatter", "mode": "lines+markers", "name": _text(choice.features[j]),
            "x": choice.ks.tolist(), "y": choice.t[j].tolist(),
            "line": {"color": "found" if choice.features[j] == choice.feature else "chance"},
            "hovertemplate": "K = %{x}: t = %{y:.2f}<extra>%{fullData.name}</extra>",
        }
        for j in order
    ]  # fmt: skip
    mark = {"type": "line", "x0": choice.k, "x1": choice.k, "yref": "paper", "y0": 0, "y1": 1}
    shapes = [mark | {"line": {"color": "found", "dash": "dash", "width": 1}}]
    return _figure(lines, "K (neighbours)", "t: standard deviations above chance", shapes=shapes)


def against_target(result: SelectionResult) -> list[Figure]:
    """Each selected column against each target."""
    return [
        _pair(result.excerpt.features[j], target, _text(result.features[j], 40), _text(name, 40))
        for j in result.selected
        for name, target in result.excerpt.target.items()
    ]


def _pair(values: list[Any], target: list[Any], x: str, y: str) -> Figure:
    """Points, boxes where one of them is categories, counts where both are."""
    classes = [isinstance(v[0], str) for v in (values, target)]
    values, target = ([_text(v) if isinstance(v, str) else v for v in c] for c in (values, target))
    axes = [{"type": "category"} if of_classes else {} for of_classes in classes]
    look: Figure = {"marker": {"color": "found", "size": 5, "opacity": 0.6}}
    if all(classes):
        columns, rows = (sorted(set(c)) for c in (values, target))
        pairs = list(zip(values, target, strict=True))
        counts = [[pairs.count((c, r)) for c in columns] for r in rows]
        data: Figure = {"type": "heatmap", "x": columns, "y": rows, "z": counts, "showscale": False}
        data |= {"colorscale": [[0, "faint"], [1, "found"]], "texttemplate": "%{z}"}
        data |= {"hovertemplate": "%{x}, %{y}: %{z} samples<extra></extra>"}
    elif any(classes):
        side = "h" if classes[1] else "v"
        data = {"type": "box", "x": values, "y": target, "boxpoints": "all", "jitter": 0.5}
        data |= look | {"orientation": side}
    else:
        data = {"type": "scatter", "mode": "markers", "x": values, "y": target} | look
        data |= {"hovertemplate": "%{x}, %{y}<extra></extra>"}
    return _figure([data], x, y, 280, showlegend=False, xaxis=axes[0], yaxis=axes[1])


def curves(
    values: Any, axis: Any, parts: Sequence[tuple[float, float, str, int]], unit: str
) -> Figure:
    """Curves as bands, and shaded parts (start, end, label, group)."""
    values, axis = np.asarray(values, float), np.asarray(axis, float)
    low, first, middle, third, high = np.percentile(values, (5, 25, 50, 75, 95), axis=0)
    data: list[Figure] = []
    for below, above, name in ((low, high, "9 of 10 curves"), (first, third, "half of them")):
        ring = {"x": [*axis, *axis[::-1]], "y": [*above, *below[::-1]], "fill": "toself"}
        look = {"type": "scatter", "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
        data.append(ring | look | {"name": name, "fillcolor": "band"})
    data.append(
        {
            "type": "scatter", "mode": "lines", "x": axis.tolist(), "y": middle.tolist(),
            "name": "median", "line": {"color": "text", "width": 1.5},
            "hovertemplate": "%{x:.5g}: %{y:.4g}<extra></extra>",
        }
    )  # fmt: skip
    shapes = []
    for start, end, label, group in parts:
        shapes.append(
            {
                "type": "rect", "x0": start, "x1": end, "yref": "paper", "y0": 0, "y1": 1,
                "fillcolor": f"group{group % 8}", "opacity": 0.3, "line": {"width": 0},
                "layer": "below",
            }
        )  # fmt: skip
        hover = {
            "type": "scatter", "mode": "markers",
            "x": [(start + end) / 2], "y": [float(high.max())],
            "marker": {"color": f"group{group % 8}", "size": 10, "symbol": "triangle-down"},
            "name": _text(label), "hovertemplate": "%{fullData.name}<extra></extra>",
            "showlegend": len(parts) <= 10,
        }  # fmt: skip
        data.append(hover)
    return _figure(data, unit, "", 400, shapes=shapes)


def tree(result: ClusterResult) -> Figure:
    """The dendrogram."""
    from scipy.cluster.hierarchy import dendrogram

    m = len(result.features)
    nodes = result.node_clusters

    def note(node: int) -> str:
        number = nodes[node]
        return "none" if number is None else str(number)

    drawn = dendrogram(result.linkage_matrix, no_plot=True, link_color_func=note)
    data = []
    for xs, ys, color in zip(drawn["icoord"], drawn["dcoord"], drawn["color_list"], strict=True):
        name = "faint" if color == "none" else f"group{int(color) % 8}"
        data.append(
            {
                "type": "scatter", "mode": "lines", "x": xs, "y": ys, "line": {"color": name},
                "showlegend": False, "hoverinfo": "y",
            }
        )  # fmt: skip
    leaves = [_text(result.features[j], 20) for j in drawn["leaves"] or []]
    ticks: Figure = {"tickvals": [5 + 10 * i for i in range(m)], "ticktext": leaves}
    ticks |= {"showgrid": False, "showticklabels": m <= 60}
    return _figure(data, "", "1 − similarity", 420, xaxis=ticks)  # noqa: RUF001


def numbers(results: Mapping[str, Any]) -> Figure:
    """The cross-validated score against the number of clusters."""
    line = {
        "type": "scatter", "mode": "lines+markers", "x": np.asarray(results["n_clusters"]).tolist(),
        "y": np.asarray(results["mean_test_score"]).tolist(), "line": {"color": "found"},
        "error_y": {"type": "data", "array": np.asarray(results["std_test_score"]).tolist(),
                    "color": "chance", "thickness": 1},
        "hovertemplate": "%{x} clusters: %{y:.4f}<extra></extra>",
    }  # fmt: skip
    return _figure([line], "number of clusters", "cross-validated score", showlegend=False)
