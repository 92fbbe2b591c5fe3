"""Interactive figures as Plotly's JSON: plain dicts, no drawing library needed to make them.

Colours are names ("found", "chance", ...) that the page replaces by those of its theme.
"""

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from infosieve.report import _data
from infosieve.report._parts import cut, shortened

Figure = dict[str, Any]
# So many rows have figures that cannot have all.
MANY = 30


# Numbers on axes and in hovers as people write them: no "200µ" beside "0.002", no "20k".
_PLAIN: Figure = {
    "exponentformat": "power", "minexponent": 5, "separatethousands": True, "hoverformat": ".6~g",
}  # fmt: skip


def _figure(data: list[Figure], x: str, y: str, height: int = 340, **layout: Any) -> Figure:
    axes = {"xaxis": _PLAIN | {"title": {"text": x}}, "yaxis": _PLAIN | {"title": {"text": y}}}
    for name in ("xaxis", "yaxis"):
        axes[name] |= layout.pop(name, {})
    return {"data": data, "layout": axes | {"height": height} | layout}


def rows_axis(labels: Sequence[str], length: int) -> Figure:
    """An axis of rows with a label each, the first on top: no name is skipped or turned."""
    n = len(labels)
    return {
        "tickvals": list(range(n)), "ticktext": _texts(labels, length), "range": [n - 0.4, -0.6],
        "automargin": True, "showgrid": False, "zeroline": False, "hoverformat": "",
    }  # fmt: skip


def _text(name: Any, length: int = 10_000) -> str:
    """A name as Plotly shows it: its texts know a little HTML."""
    return html.escape(cut(name, length), quote=False)


def _texts(names: Iterable[Any], length: int) -> list[str]:
    """The same of names that stand side by side, and are told apart."""
    return [html.escape(text, quote=False) for text in shortened(names, length)]


def path(result: Any) -> Figure:
    """The gain of each step beside the gains of permuted columns; without a test, alone."""
    points = _data.path_beside_chance(result)
    if not points:
        return _untested_path(_data.path(result))
    boxes = [_row_box(i, p.above_chance(_data.percentiles(p.null))) for i, p in enumerate(points)]
    boxes = [box | {"showlegend": i == 0} for i, box in enumerate(boxes)]
    places = [float(p.above_chance(p.gain)) for p in points]
    shown = []
    for label, color, action, doubtful in (
        ("selected", "found", "add", False),
        ("selected, but did not pass", "found", "add", True),
        ("refused: follows a selected column", "third", "refuse", False),
        ("did not pass", "refused", "stop", False),
    ):
        kind = [p.action == action and p.doubtful == doubtful for p in points]
        some = [(i, places[i], p) for i, p in enumerate(points) if kind[i]]
        if some:
            markers = _markers(label, color, some)
            markers["marker"]["symbol"] = _symbol("circle", not doubtful)
            shown.append(markers)
    ticks = _data.chance_ticks(max(places))
    high = float(np.arcsinh(max(*places, ticks[-1])))
    low = float(np.arcsinh(min(-2.0, *places)))
    low -= 0.05 * (high - low)  # more than half a dot, on a phone too
    end = high + 0.25 * (high - low)
    shown.append(_beside([f"{_data.nats(p.gain, '+')} nats" for p in points], end))
    across: Figure = {
        "tickvals": np.arcsinh(ticks).tolist(), "ticktext": [f"{tick:g}" for tick in ticks],
        "range": [low, end], "zeroline": False,
    }  # fmt: skip
    edge = {"type": "line", "x0": float(np.arcsinh(1)), "x1": float(np.arcsinh(1)), "y0": 0}
    edge |= {"yref": "paper", "y1": 1, "line": {"color": "chance", "dash": "dash", "width": 1}}
    down = rows_axis(_labels(points), 40)
    height = 120 + 30 * len(points)
    title = "above chance, in widths of the chance band"
    return _figure([*boxes, *shown], title, "", height, xaxis=across, yaxis=down, shapes=[edge])


def _labels(points: Sequence[_data.PathPoint]) -> list[str]:
    """Steps in front of their rows; of a pair both names are there."""
    known = list(dict.fromkeys(name for point in points for name in point.names))
    whole, half = (dict(zip(known, shortened(known, n), strict=True)) for n in (26, 13))
    names = [[(whole if len(p.names) == 1 else half)[name] for name in p.names] for p in points]
    return [f"{p.number}. {' and '.join(n)}" for p, n in zip(points, names, strict=True)]


def _row_box(row: int, widths: Any) -> Figure:
    """The box of permuted values in a row, on the scale of widths."""
    ends = ("lowerfence", "q1", "median", "q3", "upperfence")
    box: Figure = {
        end: [value] for end, value in zip(ends, np.arcsinh(widths).tolist(), strict=True)
    }
    return box | {
        "type": "box", "orientation": "h", "y": [row], "hoverinfo": "skip", "width": 0.6,
        "name": "permuted columns (5 to 95 %)", "marker": {"color": "chance", "size": 3},
        "line": {"width": 1},
    }  # fmt: skip


def _markers(label: str, color: str, points: list[tuple[int, float, _data.PathPoint]]) -> Figure:
    texts = [
        f"{_joined(p)}<br>adds {_data.nats(p.gain)} nats, {_widths_text(place)}, {p.p_text}"
        for _, place, p in points
    ]
    return {
        "type": "scatter", "mode": "markers", "name": label,
        "x": np.arcsinh([place for _, place, _ in points]).tolist(),
        "y": [row for row, _, _ in points], "marker": {"color": color, "size": 12},
        "text": texts, "hovertemplate": "%{text}<extra></extra>",
    }  # fmt: skip


def _beside(texts: Sequence[str], end: float) -> Figure:
    """Texts at the end of rows, where a figure is wide enough."""
    return {
        "type": "scatter", "mode": "text", "x": [end] * len(texts), "y": list(range(len(texts))),
        "text": list(texts), "textposition": "middle left", "hoverinfo": "skip",
        "showlegend": False, "meta": "wide",
    }  # fmt: skip


def _symbol(shape: str, filled: bool) -> str:
    """Filled for what is certain, open for what is not."""
    return shape if filled else f"{shape}-open"


def _widths_text(place: float) -> str:
    far = abs(place) >= _data.FAR
    return "all permuted columns add the same" if far else f"{place:.1f} widths above chance"


def _untested_path(points: list[_data.PathPoint]) -> Figure:
    labels = _labels(points)
    texts = [f"{_joined(p)}<br>adds {_data.nats(p.gain)} nats, no test" for p in points]
    colors = ["third" if p.action == "remove" else "found" for p in points]
    return bars(labels, [p.gain for p in points], "adds (nats)", texts, colors, length=40)


def bars(
    labels: Sequence[str],
    values: Sequence[float],
    title: str,
    texts: Sequence[str],
    colors: Sequence[str],
    length: int = 28,
    **across: Any,
) -> Figure:
    """A bar in each row, the first on top; ``texts`` (HTML) are shown where one points at it."""
    data = {
        "type": "bar", "orientation": "h", "x": list(values), "y": list(range(len(labels))),
        "text": list(texts), "textposition": "none", "marker": {"color": list(colors)},
        "hovertemplate": "%{text}<extra></extra>",
    }  # fmt: skip
    down, height = rows_axis(labels, length), 100 + 20 * len(labels)
    return _figure([data], title, "", height, xaxis=across, yaxis=down, showlegend=False)


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


def _joined(point: _data.PathPoint) -> str:
    return " and ".join(_text(name) for name in point.names)


def relevance(result: Any, test: Any = None) -> Figure:
    """Marginal information of the columns, the largest; which are informative, by a test."""
    best = _data.relevance(result, MANY, test)
    kinds = [
        ("found", "selected") if chosen else ("third", "informative") if has else ("faint", "")
        for chosen, has in zip(best.selected, best.informative, strict=True)
    ]
    texts = [
        f"{_text(name)}<br>{_data.nats(value)} nats{', ' if kind else ''}{kind}"
        for name, value, (_, kind) in zip(best.names, best.nats, kinds, strict=True)
    ]
    title = "information about the target, alone (nats)"
    return bars(best.names, best.nats.tolist(), title, texts, [color for color, _ in kinds])


def prediction(drawn: _data.Prediction) -> Figure:
    """Scores against the number of columns, and which columns are certain."""
    low, high, _ = drawn.heights
    first, last, at = drawn.place([0, drawn.last, drawn.n_chosen]).tolist()
    levels = [
        ("no column: ", drawn.without, "chance", "dot"),
        (f"all {drawn.n_features:,} columns: ", drawn.every, "third", "dash"),
    ]
    lines = [
        _line(f"{label}{drawn.text(level)}", [first, last], [level, level], color, dash)
        for label, level, color, dash in levels
        if level is not None
    ]
    chosen = _line(f"chosen: {drawn.n_chosen:,}", [at, at], [low, high], "refused", "solid")
    across: Figure = {"range": _beyond(first, last), "zeroline": False, "showgrid": False}
    across |= _numbers_axis(drawn)
    across["title"] = {"text": "number of columns", "standoff": 8}  # below the longest name
    up = {"range": [low, high], "zeroline": False}
    upright = max(map(len, across["ticktext"])) if across["tickangle"] else 0
    height = 420 + 6 * upright
    others = [_other_means(drawn, name) for name in drawn.others]
    data = [_folds(drawn), *lines, chosen, *others, _means(drawn), *_column_marks(drawn)]
    y = _text(drawn.scoring, 40)
    return _figure(data, "", y, height, xaxis=across, yaxis=up)


def _line(
    name: str, x: Sequence[float], y: Sequence[float | None], color: str, dash: str
) -> Figure:
    return {
        "type": "scatter", "mode": "lines", "name": name, "x": list(x), "y": list(y),
        "line": {"color": color, "dash": dash, "width": 1.5}, "hoverinfo": "skip",
    }  # fmt: skip


def _folds(drawn: _data.Prediction) -> Figure:
    """All folds in one line, with a gap between two of them."""
    sizes, folds = drawn.place(drawn.sizes).tolist(), drawn.folds.tolist()
    return {
        "type": "scatter", "mode": "lines", "name": "folds", "hoverinfo": "skip",
        "x": [*sizes, None] * len(folds), "y": [v for fold in folds for v in (*fold, None)],
        "line": {"color": "faint", "width": 1},
    }  # fmt: skip


def _means(drawn: _data.Prediction) -> Figure:
    return {
        "type": "scatter", "mode": "lines+markers",
        "name": _text(drawn.mean_label),
        "x": drawn.place(drawn.sizes).tolist(), "y": drawn.mean.tolist(),
        "line": {"color": "found", "width": 2}, "marker": {"color": "found", "size": 7},
        "error_y": {"array": drawn.error.tolist(), "color": "found", "thickness": 1, "width": 3},
        "text": [_score_text(drawn, i) for i in range(drawn.sizes.size)],
        "hovertemplate": "%{text}<extra></extra>",
    }  # fmt: skip


def _other_means(drawn: _data.Prediction, criterion: str) -> Figure:
    means, name = drawn.others[criterion].tolist(), _text(criterion)
    line = _line(f"{name}: mean", drawn.place(drawn.sizes).tolist(), means, "chance", "solid")
    texts = [
        f"{_columns_text(int(size))} by {name}: {_text(drawn.scoring)} {drawn.text(mean)}"
        for size, mean in zip(drawn.sizes, means, strict=True)
    ]
    return line | {"text": texts, "hoverinfo": "text"}


def _columns_text(size: int) -> str:
    return "no column" if size == 0 else "1 column" if size == 1 else f"{size:,} columns"


def _beyond(low: float, high: float) -> list[float]:
    """The ends of an axis, with room for marks at its first and last place."""
    room = 0.03 * (high - low) + 0.05
    return [low - room, high + room]


def _numbers_axis(drawn: _data.Prediction) -> Figure:
    """Names where they fit, else numbers."""
    named = drawn.last <= min(MANY, len(drawn.names))
    ticks = list(range(drawn.last + 1)) if named else drawn.ticks()
    labels = [_text(drawn.label(k), 22) if named else f"{k:,}" for k in ticks]
    upright = named and max(map(len, labels)) * len(labels) > 90
    return {
        "tickvals": drawn.place(ticks).tolist(), "ticktext": labels,
        "tickangle": -90 if upright else 0,
    }  # fmt: skip


def _score_text(drawn: _data.Prediction, number: int) -> str:
    size, mean = int(drawn.sizes[number]), drawn.text(float(drawn.mean[number]))
    error = drawn.text(float(drawn.error[number]))
    names = ", ".join(_text(name, 40) for name in drawn.names[:size][:6])
    more = f" and {size - 6:,} more" if size > 6 else ""
    scored = f"{_columns_text(size)}: {_text(drawn.scoring)} {mean} ± {error}"
    return f"{scored}<br>{names}{more}" if size else scored


def _column_marks(drawn: _data.Prediction) -> list[Figure]:
    """A mark for each selected column, below the scores."""
    return [
        {
            "type": "scatter", "mode": "markers", "name": kind,
            "x": drawn.place(numbers).tolist(), "y": [drawn.heights[2]] * len(numbers),
            "marker": {"color": "found", "size": 9, "symbol": _symbol("square", filled)},
            "text": [f"{_text(drawn.label(k))}<br>{kind}" for k in numbers],
            "hovertemplate": "%{text}<extra></extra>",
        }
        for kind, filled, numbers in drawn.marked()
    ]  # fmt: skip


def smoothing(choice: Any) -> Figure:
    """t against K, the best features."""
    best = _data.t_lines(choice, _data.best_features(choice, 8))
    lines = [
        {
            "type": "scatter", "mode": "lines+markers", "name": name,
            "x": choice.ks.tolist(), "y": line.t.tolist(),
            "line": {"color": "found" if line.chose else "chance"},
            "hovertemplate": "K = %{x}: t = %{y:.2f}<extra>%{fullData.name}</extra>",
        }
        for line, name in zip(best, _texts([line.name for line in best], 28), strict=True)
    ]  # fmt: skip
    mark = {"type": "line", "x0": choice.k, "x1": choice.k, "yref": "paper", "y0": 0, "y1": 1}
    shapes = [mark | {"line": {"color": "found", "dash": "dash", "width": 1}}]
    return _figure(lines, "K (neighbours)", "t: standard deviations above chance", shapes=shapes)


def test(result: Any) -> Figure:
    """Permuted values and observed ones: a histogram, or boxes where each has its own."""
    candidates = _data.tested(result)
    if result.null.shape[1] > 1:
        return _test_boxes(candidates[:MANY])
    bars = {
        "type": "histogram", "x": candidates[0].null.tolist(), "name": "permuted columns",
        "marker": {"color": "chance"}, "hovertemplate": "%{x:.4f} nats: %{y}<extra></extra>",
    }  # fmt: skip
    shown = candidates[:MANY]
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
    names = [f"{i}. {name}" for i, name in enumerate(_texts([c.name for c in candidates], 24), 1)]
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
    return f"{_text(candidate.name)}<br>{_data.nats(candidate.observed)} nats, {candidate.p_text}"


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
    shapes, names = [], _texts([part[2] for part in parts], 40)
    for (start, end, label, group), name in zip(parts, names, strict=True):
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
            "name": name, "text": [_text(label)], "hovertemplate": "%{text}<extra></extra>",
            "showlegend": len(parts) <= 10,
        }  # fmt: skip
        data.append(hover)
    return _figure(data, _text(unit, 40), "", 400, shapes=shapes)


def worth(other: Any) -> float:
    """What a stand-in adds, in parts of what the selected column adds."""
    return float(other.in_place / other.information)


def stand_ins(result: Any, found: Mapping[int, Sequence[Any]], most: int = 8) -> Figure:
    """For each selected column a full bar, and below it a bar for each of its stand-ins."""
    labels: list[str] = []
    full: list[int] = []
    rows: dict[int, Any] = {}
    for j, others in found.items():
        full.append(len(labels))
        labels.append(str(result.features[j]))
        for other in others[:most]:
            rows[len(labels)] = other
            labels.append(f"↳ {result.features[other.stand_in]}")
        if len(others) > most:
            labels.append(f"↳ and {len(others) - most:,} more, in the table")
    texts = [_stand_in_text(result, other) for other in rows.values()]
    worths = [worth(other) for other in rows.values()]
    data = [
        _row_bars("selected", "found", full, [1.0] * len(full), [_text(labels[i]) for i in full]),
        _row_bars("stand-in, in its place", "third", list(rows), worths, texts),
        {
            "type": "scatter", "mode": "markers", "name": "what the selected one adds beside it",
            "x": [other.share for other in rows.values()], "y": list(rows), "text": texts,
            "marker": {"color": "refused", "size": 9}, "hovertemplate": "%{text}<extra></extra>",
            "cliponaxis": False,
        },
    ]  # fmt: skip
    across = {"tickformat": ".0%", "rangemode": "tozero"}
    down, height = rows_axis(labels, 34), 120 + 24 * len(labels)
    title = "in parts of what the selected column adds"
    return _figure(data, title, "", height, xaxis=across, yaxis=down, barmode="overlay")


def _stand_in_text(result: Any, other: Any) -> str:
    nats, stand_in = _data.nats, _text(result.features[other.stand_in])
    return (
        f"{stand_in}<br>adds {nats(other.in_place)} nats in the place "
        f"of {_text(result.features[other.feature], 40)}, which adds {nats(other.information)}<br>"
        f"and still {nats(other.remaining)} beside it"
    )


def _row_bars(
    name: str, color: str, rows: Sequence[int], values: Sequence[float], texts: Sequence[str]
) -> Figure:
    return {
        "type": "bar", "orientation": "h", "name": name, "x": list(values), "y": list(rows),
        "text": list(texts), "textposition": "none", "marker": {"color": color}, "width": 0.75,
        "hovertemplate": "%{text}<extra></extra>",
    }  # fmt: skip


def frequencies(found: Any, marked: Any) -> Figure:
    """How often columns were chosen, most often first; ``marked`` ones are there, in colour."""
    values, threshold = found.frequencies, found.threshold()
    order = np.argsort(-values, kind="stable").tolist()
    often = [j for j in order[:MANY] if values[j] > 0]
    shown = [j for j in order if j in {*often, *marked}]
    texts = [
        f"{_text(found.features[j])}<br>chosen from {values[j]:.0%} of the halves" for j in shown
    ]
    colors = ["found" if j in marked else "faint" for j in shown]
    labels, shares = [str(found.features[j]) for j in shown], [float(values[j]) for j in shown]
    across: Figure = {"tickformat": ".0%", "range": [0, 1.02]}
    drawn = bars(labels, shares, "share of the halves", texts, colors, **across)
    if threshold == threshold:
        mark = {"type": "line", "x0": threshold, "x1": threshold, "yref": "paper", "y0": 0, "y1": 1}
        mark |= {"line": {"color": "refused", "dash": "dash", "width": 2}}
        drawn["layout"]["shapes"] = [mark]
    return drawn
