"""Interactive figures as Plotly's JSON: plain dicts, no drawing library needed to make them.

Colours are names ("found", "chance", ...) that the page replaces by those of its theme.
"""

import html
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from infosieve._core.files import printable
from infosieve.report import _data

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


def path(result: Any) -> Figure:
    """The gain of each step, and the gains of permuted columns."""
    points = _data.path(result)
    names = [f"{i}. {_joined(point, 24)}" for i, point in enumerate(points, 1)]
    boxes = [_box(name, point.null) for name, point in zip(names, points, strict=True)]
    boxes = [box | {"showlegend": i == 0} for i, box in enumerate(filter(None, boxes))]
    shown = []
    for label, color, action in (
        ("selected", "found", "add"),
        ("removed", "third", "remove"),
        ("did not pass", "refused", "stop"),
    ):
        some = [(n, p) for n, p in zip(names, points, strict=True) if p.action == action]
        if some:
            shown.append(_markers(label, color, some))
    category = {"type": "category", "categoryorder": "array", "categoryarray": names}
    return _figure([*boxes, *shown], "", "adds (nats)", xaxis=category)


def _box(name: str, null: Any) -> Figure:
    """Box of permuted values; empty where there are none."""
    if not len(null):
        return {}
    ends = ("lowerfence", "q1", "median", "q3", "upperfence")
    quantiles = _data.percentiles(null).tolist()
    box: Figure = {end: [value] for end, value in zip(ends, quantiles, strict=True)}
    return box | {
        "type": "box", "x": [name], "name": "permuted columns (5 to 95 %)", "hoverinfo": "y",
        "marker": {"color": "chance", "size": 3}, "line": {"width": 1},
    }  # fmt: skip


def _markers(label: str, color: str, points: list[tuple[str, _data.PathPoint]]) -> Figure:
    texts = [
        f"{_joined(point)}<br>adds {point.gain:.3f} nats, {point.p_text or 'no test'}"
        for _, point in points
    ]
    return {
        "type": "scatter", "mode": "markers", "name": label,
        "x": [name for name, _ in points], "y": [point.gain for _, point in points],
        "marker": {"color": color, "size": 12}, "text": texts,
        "hovertemplate": "%{text}<extra></extra>",
    }  # fmt: skip


def _joined(point: _data.PathPoint, length: int = 10_000) -> str:
    return " and ".join(_text(name, length) for name in point.names)


def relevance(result: Any) -> Figure:
    """Marginal information of the columns, the largest."""
    best = _data.relevance(result, _MANY)
    names, at = best.names[::-1], list(range(len(best.names)))
    bars = {
        "type": "bar", "orientation": "h", "x": best.nats[::-1].tolist(), "y": at,
        "text": [_text(name) for name in names], "textposition": "none",
        "marker": {"color": ["found" if chosen else "faint" for chosen in best.selected[::-1]]},
        "hovertemplate": "%{text}: %{x:.3f} nats<extra></extra>",
    }  # fmt: skip
    ticks = {"tickvals": at, "ticktext": [_text(name, 28) for name in names]}
    ticks |= {"automargin": True, "showgrid": False}
    return _figure([bars], "marginal information (nats)", "", 120 + 20 * len(names), yaxis=ticks)


def smoothing(choice: Any) -> Figure:
    """t against K, the best features."""
    lines = [
        {
            "type": "scatter", "mode": "lines+markers", "name": _text(line.name),
            "x": choice.ks.tolist(), "y": line.t.tolist(),
            "line": {"color": "found" if line.chose else "chance"},
            "hovertemplate": "K = %{x}: t = %{y:.2f}<extra>%{fullData.name}</extra>",
        }
        for line in _data.t_lines(choice, _data.best_features(choice, 8))
    ]  # fmt: skip
    mark = {"type": "line", "x0": choice.k, "x1": choice.k, "yref": "paper", "y0": 0, "y1": 1}
    shapes = [mark | {"line": {"color": "found", "dash": "dash", "width": 1}}]
    return _figure(lines, "K (neighbours)", "t: standard deviations above chance", shapes=shapes)


def test(result: Any) -> Figure:
    """Permuted values and observed ones: a histogram, or boxes where each has its own."""
    candidates = _data.tested(result)
    if result.null.shape[1] > 1:
        return _test_boxes(candidates[:_MANY])
    bars = {
        "type": "histogram", "x": candidates[0].null.tolist(), "name": "permuted columns",
        "marker": {"color": "chance"}, "hovertemplate": "%{x} nats: %{y}<extra></extra>",
    }  # fmt: skip
    shown = candidates[:_MANY]
    lines = [
        {
            "type": "line", "x0": c.observed, "x1": c.observed, "yref": "paper", "y0": 0, "y1": 1,
            "line": {"color": "found" if i == 0 else "faint", "width": 2 if i == 0 else 1},
        }
        for i, c in enumerate(shown)
    ]  # fmt: skip
    points = {
        "type": "scatter", "mode": "markers", "name": "observed",
        "x": [c.observed for c in shown], "y": [0.0] * len(shown),
        "marker": {"color": "found", "size": 10}, "text": [_tested_text(c) for c in shown],
        "hovertemplate": "%{text}<extra></extra>", "cliponaxis": False,
    }  # fmt: skip
    from_zero = {"rangemode": "tozero"}
    return _figure([bars, points], "nats", "permutations", shapes=lines, yaxis=from_zero)


def _test_boxes(candidates: list[_data.Tested]) -> Figure:
    names = [f"{i}. {_text(c.name, 24)}" for i, c in enumerate(candidates, 1)]
    boxes = [_box(name, c.null) for name, c in zip(names, candidates, strict=True)]
    boxes = [box | {"showlegend": i == 0} for i, box in enumerate(boxes)]
    points = {
        "type": "scatter", "mode": "markers", "name": "observed", "x": names,
        "y": [c.observed for c in candidates], "marker": {"color": "found", "size": 12},
        "text": [_tested_text(c) for c in candidates], "hovertemplate": "%{text}<extra></extra>",
    }  # fmt: skip
    category = {"type": "category", "categoryorder": "array", "categoryarray": names}
    return _figure([*boxes, points], "", "nats", xaxis=category)


def _tested_text(candidate: _data.Tested) -> str:
    return f"{_text(candidate.name)}<br>{candidate.observed:.3f} nats, {candidate.p_text}"


def against_target(result: Any) -> list[Figure]:
    """Each selected column against each target."""
    return [
        _pair(result.excerpt.features[j], target, _text(result.features[j], 40), _text(name, 40))
        for j in result.selected
        for name, target in result.excerpt.target.items()
    ]


def _pair(values: list[Any], target: list[Any], x: str, y: str) -> Figure:
    """Points, boxes where one of them is categories, counts where both are."""
    classes = [isinstance(v[0], str) for v in (values, target)]
    n_missing = sum(v is None for v in values)
    x += f" ({n_missing} of {len(values)} missing)" if n_missing else ""
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
    low, first, middle, third, high = _data.percentiles(values)
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


def tree(result: Any) -> Figure:
    """The dendrogram."""
    drawn = _data.tree(result)
    data = [
        {
            "type": "scatter", "mode": "lines", "x": xs, "y": ys,
            "line": {"color": "faint" if cluster is None else f"group{cluster % 8}"},
            "showlegend": False, "hoverinfo": "y",
        }
        for xs, ys, cluster in drawn.links
    ]  # fmt: skip
    leaves = [_text(name, 20) for name in drawn.leaves]
    ticks: Figure = {"tickvals": [5 + 10 * i for i in range(len(leaves))], "ticktext": leaves}
    ticks |= {"showgrid": False, "showticklabels": len(leaves) <= 60}
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
