"""Interactive figures as Plotly's JSON: plain dicts, no drawing library needed to make them.

Colours are names ("found", "chance", ...) that the page replaces by those of its theme.
"""

import html
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from infosieve._core.formats import counted, nats
from infosieve._core.types import FloatArray
from infosieve.report._clusters import LEAVES, ClusterFacts, tree_of
from infosieve.report._names import cut, shortened
from infosieve.report._prediction import Prediction
from infosieve.report._selection import (
    FAR,
    SelectionFacts,
    StandIn,
    StepFacts,
    chance_ticks,
    percentiles,
)
from infosieve.report._tests import RelevanceFacts, Tested, TestFacts, best_features
from infosieve.results import KChoice, Stability

Figure = dict[str, Any]
# Colours of groups (clusters, parts of curves), in order.
GROUPS = ("#1f6feb", "#d9480f", "#2b8a3e", "#ae3ec9", "#e8a200", "#0b7285", "#c2255c", "#5c7cfa")
# So many rows have figures that cannot have all.
MANY = 30
# What a column adds, by the criterion that holds it against one selected column at a time, if any.
_ADDS = {
    "cmim": "adds to one of those before, at least (nats)",
    "jmi": "adds to one of those before, on average (nats)",
    "": "adds, given those before (nats)",
}
# So many points has the figure of all columns.
_POINTS = 400


# Numbers on axes and in hovers as people write them: no "200µ" beside "0.002", no "20k".
_PLAIN: Figure = {
    "exponentformat": "power", "minexponent": 5, "separatethousands": True, "hoverformat": ".6~g",
}  # fmt: skip
# Texts are HTML, and are shown where one points at something.
TEXTS = {"hovertemplate": "%{text}<extra></extra>"}


def figure(data: list[Figure], x: str, y: str, height: int = 340, **layout: Any) -> Figure:
    axes = {"xaxis": _PLAIN | {"title": {"text": x}}, "yaxis": _PLAIN | {"title": {"text": y}}}
    for name in ("xaxis", "yaxis"):
        axes[name] |= layout.pop(name, {})
    return {"data": data, "layout": axes | {"height": height} | layout}


def scatter(mode: str, x: Iterable[Any], y: Iterable[Any], **more: Any) -> Figure:
    return {"type": "scatter", "mode": mode, "x": _plain(x), "y": _plain(y)} | more


def _plain(values: Iterable[Any]) -> list[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def upright(x: float, color: str, dash: str | None = None, width: int = 1) -> Figure:
    """A line from the bottom of a figure to its top."""
    look = {"color": color, "width": width} | ({"dash": dash} if dash else {})
    return {"type": "line", "x0": x, "x1": x, "yref": "paper", "y0": 0, "y1": 1, "line": look}


def shaded(start: float, end: float, color: str, **more: Any) -> Figure:
    """A part of a figure, from its bottom to its top."""
    place = {"type": "rect", "x0": start, "x1": end, "yref": "paper", "y0": 0, "y1": 1}
    return place | {"fillcolor": color, "line": {"width": 0}, "layer": "below"} | more


def rows_axis(labels: Sequence[object], length: int) -> Figure:
    """An axis of rows with a label each, the first on top: no name is skipped or turned."""
    n = len(labels)
    return {
        "tickvals": list(range(n)), "ticktext": label_texts(labels, length),
        "range": [n - 0.4, -0.6], "automargin": True, "showgrid": False, "zeroline": False,
        "hoverformat": "",
    }  # fmt: skip


def label_text(name: object, length: int = 10_000) -> str:
    """A name as Plotly shows it: its texts know a little HTML."""
    return html.escape(cut(name, length), quote=False)


def label_texts(names: Iterable[object], length: int) -> list[str]:
    """The same of names that stand side by side, and are told apart."""
    return [html.escape(text, quote=False) for text in shortened(names, length)]


def path(facts: SelectionFacts) -> Figure:
    """The gain of each step beside the gains of permuted columns; without a test, alone."""
    points = facts.beside_chance
    if not points:
        return _untested_path(facts.steps, _ADDS[facts.one_by_one])
    boxes = [
        _box(np.arcsinh(p.above_chance(percentiles(p.null))), i == 0)
        | {"orientation": "h", "y": [i], "hoverinfo": "skip", "width": 0.6}
        for i, p in enumerate(points)
    ]
    places = [float(p.above_chance(p.compared)) for p in points]
    shown = []
    for label, color, action, doubtful in (
        ("selected", "found", "add", False),
        ("selected, but did not pass", "found", "add", True),
        ("refused: follows a selected column", "third", "refuse", False),
        ("did not pass", "refused", "stop", False),
    ):
        kind = [p.step.action == action and p.doubtful == doubtful for p in points]
        some = [(i, places[i], p) for i, p in enumerate(points) if kind[i]]
        if some:
            look = {"color": color, "size": 12, "symbol": _symbol("circle", not doubtful)}
            x, texts = np.arcsinh([place for _, place, _ in some]), [_step_text(*p) for p in some]
            rows = [row for row, _, _ in some]
            shown.append(scatter("markers", x, rows, name=label, marker=look, text=texts, **TEXTS))
    ticks = chance_ticks(max(places))
    high = float(np.arcsinh(max(*places, ticks[-1])))
    low = float(np.arcsinh(min(-2.0, *places)))
    low -= 0.05 * (high - low)  # more than half a dot, on a phone too
    end = high + 0.25 * (high - low)
    gains = [f"{nats(p.step.gain, '+')} nats" for p in points]
    rows = list(range(len(points)))
    shown.append(  # where a figure is wide enough
        scatter(
            "text", [end] * len(rows), rows, text=gains, textposition="middle left",
            hoverinfo="skip", showlegend=False, meta="wide",
        )
    )  # fmt: skip
    across: Figure = {
        "tickvals": np.arcsinh(ticks).tolist(), "ticktext": [f"{tick:g}" for tick in ticks],
        "range": [low, end], "zeroline": False,
    }  # fmt: skip
    edge = upright(float(np.arcsinh(1)), "chance", "dash")
    down = rows_axis(_labels(points), 40)
    height = 120 + 30 * len(points)
    title = "above chance, in widths of the chance band"
    return figure([*boxes, *shown], title, "", height, xaxis=across, yaxis=down, shapes=[edge])


def _labels(points: Sequence[StepFacts]) -> list[str]:
    """Steps in front of their rows; of a pair both names are there."""
    known = list(dict.fromkeys(name for point in points for name in point.names))
    whole, half = (dict(zip(known, shortened(known, n), strict=True)) for n in (26, 13))
    names = [[(whole if len(p.names) == 1 else half)[name] for name in p.names] for p in points]
    return [f"{p.number}. {' and '.join(n)}" for p, n in zip(points, names, strict=True)]


def _box(quantiles: FloatArray, named: bool) -> Figure:
    """The box of permuted values; the legend has the first."""
    ends = ("lowerfence", "q1", "median", "q3", "upperfence")
    box: Figure = {end: [value] for end, value in zip(ends, quantiles.tolist(), strict=True)}
    return box | {
        "type": "box", "name": "permuted columns (5 to 95 %)", "showlegend": named,
        "marker": {"color": "chance", "size": 3}, "line": {"width": 1},
    }  # fmt: skip


def _symbol(shape: str, filled: bool) -> str:
    """Filled for what is certain, open for what is not."""
    return shape if filled else f"{shape}-open"


def _step_text(_row: int, place: float, point: StepFacts) -> str:
    far = abs(place) >= FAR
    above = "all permuted columns add the same" if far else f"{place:.1f} widths above chance"
    how = f"{label_text(point.view)}, " if point.view else ""
    return f"{_joined(point)}<br>adds {nats(point.step.gain)} nats, {how}{above}, {point.p_text}"


def _untested_path(points: list[StepFacts], title: str) -> Figure:
    labels = _labels(points)
    texts = [f"{_joined(p)}<br>adds {nats(p.step.gain)} nats, no test" for p in points]
    colors = ["third" if p.step.action == "remove" else "found" for p in points]
    return bars(labels, [p.step.gain for p in points], title, texts, colors, length=40)


def bars(
    labels: Sequence[object],
    values: Sequence[float],
    title: str,
    texts: Sequence[str],
    colors: Sequence[str],
    length: int = 28,
    **across: Any,
) -> Figure:
    """A bar in each row, the first on top; ``texts`` (HTML) are shown where one points at it."""
    data = row_bars(range(len(labels)), values, texts, list(colors))
    down, height = rows_axis(labels, length), 100 + 20 * len(labels)
    return figure([data], title, "", height, xaxis=across, yaxis=down, showlegend=False)


def row_bars(
    rows: Sequence[int], values: Sequence[float], texts: Sequence[str], color: str | list[str]
) -> Figure:
    return {
        "type": "bar", "orientation": "h", "x": list(values), "y": list(rows), "text": list(texts),
        "textposition": "none", "marker": {"color": color}, **TEXTS,
    }  # fmt: skip


def _joined(point: StepFacts) -> str:
    return " and ".join(label_text(name) for name in point.names)


def informative(facts: SelectionFacts) -> Figure:
    """Marginal information of the columns, the largest; which are informative, by a test."""
    result, test = facts.result, facts.relevance
    values = result.relevance if test is None else test.information
    relevant = () if test is None else np.flatnonzero(test.relevant).tolist()
    order = np.argsort(-values, kind="stable")[:MANY].tolist()
    known = dict.fromkeys(relevant, ("third", "informative"))
    known |= dict.fromkeys(result.selected, ("found", "selected"))
    kinds = [known.get(j, ("faint", "")) for j in order]
    names, shown = facts.names(order), values[order].tolist()
    texts = [
        f"{label_text(name)}<br>{nats(value)} nats{', ' if kind else ''}{kind}"
        for name, value, (_, kind) in zip(names, shown, kinds, strict=True)
    ]
    title = "information about the target, alone (nats)"
    return bars(names, shown, title, texts, [color for color, _ in kinds])


def prediction(drawn: Prediction) -> Figure:
    """Scores against the number of columns, and which columns are certain."""
    scores, (low, high, _) = drawn.scores, drawn.heights
    first, last, chosen = drawn.place([0, drawn.last, scores.n_chosen]).tolist()
    lines = [_line(f"chosen: {scores.n_chosen:,}", [chosen, chosen], [low, high], "refused")]
    for label, level, color, dash in (
        (f"all {drawn.n_features:,} columns", drawn.every, "third", "dash"),
        ("no column", scores.without, "chance", "dot"),
    ):
        if level is not None:
            text = f"{label}: {drawn.text(level)}"
            lines.insert(0, _line(text, [first, last], [level, level], color, dash))
    room = 0.03 * (last - first) + 0.05  # for marks at the first and the last place
    across: Figure = {"range": [first - room, last + room], "zeroline": False, "showgrid": False}
    across |= _numbers_axis(drawn)
    across["title"] = {"text": "number of columns", "standoff": 8}  # below the longest name
    up = {"range": [low, high], "zeroline": False}
    upright = max(map(len, across["ticktext"])) if across["tickangle"] else 0
    data = [_folds(drawn), *lines, *_means(drawn), *_column_marks(drawn)]
    y = label_text(scores.scoring, 40)
    return figure(data, "", y, 420 + 6 * upright, xaxis=across, yaxis=up)


def _line(
    name: str, x: Iterable[float], y: Iterable[float], color: str, dash: str = "solid"
) -> Figure:
    look = {"color": color, "dash": dash, "width": 1.5}
    return scatter("lines", x, y, name=name, line=look, hoverinfo="skip")


def _folds(drawn: Prediction) -> Figure:
    """All folds in one line, with a gap between two of them."""
    x = [*drawn.place(drawn.scores.sizes).tolist(), None] * drawn.n_folds
    y = [v for fold in drawn.scores.scores for v in (*fold, None)]
    look = {"color": "faint", "width": 1}
    return scatter("lines", x, y, name="folds", hoverinfo="skip", line=look)


def _means(drawn: Prediction) -> list[Figure]:
    """The means along the ranking, after those along rankings by other criteria."""
    scores, shown = drawn.scores, []
    at, scoring = drawn.place(scores.sizes), label_text(scores.scoring)
    for criterion, means in scores.others.items():
        name = label_text(criterion)
        texts = [
            f"{_columns_text(size)} by {name}: {scoring} {drawn.text(mean)}"
            for size, mean in zip(scores.sizes, means, strict=True)
        ]
        line = _line(f"{name}: mean", at, means, "chance")
        shown.append(line | {"text": texts, "hoverinfo": "text"})
    errors = {"array": scores.standard_error.tolist(), "color": "found", "thickness": 1, "width": 3}
    texts = [_score_text(drawn, i) for i in range(at.size)]
    look = {"line": {"color": "found", "width": 2}, "marker": {"color": "found", "size": 7}}
    name = label_text(drawn.mean_label)
    mean = scatter("lines+markers", at, scores.mean, name=name, error_y=errors, **look)
    return [*shown, mean | {"text": texts, **TEXTS}]


def _columns_text(size: int) -> str:
    return counted(size, "column") if size else "no column"


def _numbers_axis(drawn: Prediction) -> Figure:
    """Names where they fit, else numbers."""
    named = drawn.last <= min(MANY, len(drawn.names))
    ticks = list(range(drawn.last + 1)) if named else drawn.ticks()
    labels = [label_text(drawn.label(k), 22) if named else f"{k:,}" for k in ticks]
    upright = named and max(map(len, labels)) * len(labels) > 90
    return {
        "tickvals": drawn.place(ticks).tolist(), "ticktext": labels,
        "tickangle": -90 if upright else 0,
    }  # fmt: skip


def _score_text(drawn: Prediction, number: int) -> str:
    size, mean = drawn.scores.sizes[number], drawn.text(drawn.scores.mean[number])
    error = drawn.text(drawn.scores.standard_error[number])
    names = ", ".join(label_text(name, 40) for name in drawn.names[:size][:6])
    more = f" and {size - 6:,} more" if size > 6 else ""
    scored = f"{_columns_text(size)}: {label_text(drawn.scores.scoring)} {mean} ± {error}"
    return f"{scored}<br>{names}{more}" if size else scored


def _column_marks(drawn: Prediction) -> list[Figure]:
    """A mark for each selected column, below the scores."""
    return [
        scatter(
            "markers", drawn.place(numbers), [drawn.heights[2]] * len(numbers), name=kind,
            marker={"color": "found", "size": 9, "symbol": _symbol("square", filled)},
            text=[f"{label_text(drawn.label(k))}<br>{kind}" for k in numbers], **TEXTS,
        )
        for kind, filled, numbers in drawn.marked()
    ]  # fmt: skip


def smoothing(choice: KChoice, features: Sequence[int] | None = None) -> Figure:
    """t against K of some features, or of the best."""
    best = best_features(choice, 8) if features is None else features
    names = label_texts([choice.features[j] for j in best], 28)
    lines = [
        scatter(
            "lines+markers", choice.ks, choice.t[j], name=name,
            line={"color": "found" if choice.features[j] == choice.feature else "chance"},
            hovertemplate="K = %{x}: t = %{y:.2f}<extra>%{fullData.name}</extra>",
        )
        for j, name in zip(best, names, strict=True)
    ]  # fmt: skip
    shapes = [upright(choice.k, "found", "dash")]
    return figure(lines, "K (neighbours)", "t: standard deviations above chance", shapes=shapes)


def test(facts: TestFacts) -> Figure:
    """Permuted values and observed ones: a histogram, or boxes where each has its own."""
    shown = facts.candidates[:MANY]
    values, texts = [c.observed for c in shown], [_tested_text(c) for c in shown]
    unit = _EVIDENCE if facts.combined else "nats"
    if facts.result.null.shape[1] > 1:
        labels = label_texts([c.name for c in shown], 24)
        names = [f"{i}. {name}" for i, name in enumerate(labels, 1)]
        boxes = [
            _box(percentiles(c.null), i == 0) | {"x": [name], "hoverinfo": "y"}
            for i, (name, c) in enumerate(zip(names, shown, strict=True))
        ]
        look = {"color": "found", "size": 12}
        points = scatter(
            "markers", names, values, name="observed", marker=look, text=texts, **TEXTS
        )
        category = {"type": "category", "categoryorder": "array", "categoryarray": names}
        return figure([*boxes, points], "", unit, xaxis=category)
    bars = {
        "type": "histogram", "x": shown[0].null.tolist(), "name": "permuted columns",
        "marker": {"color": "chance"}, "hovertemplate": "%{x:.4f}: %{y}<extra></extra>",
    }  # fmt: skip
    lines = [
        upright(x, *(("faint", None, 1) if i else ("found", None, 2))) for i, x in enumerate(values)
    ]
    points = scatter(
        "markers", values, [0.0] * len(shown), name="observed", text=texts, cliponaxis=False,
        marker={"color": "found", "size": 10}, **TEXTS,
    )  # fmt: skip
    from_zero = {"rangemode": "tozero"}
    return figure([bars, points], unit, "permutations", shapes=lines, yaxis=from_zero)


def _tested_text(candidate: Tested) -> str:
    return f"{label_text(candidate.name)}<br>{nats(candidate.information)} nats, {candidate.p_text}"


def stand_ins(facts: SelectionFacts, most: int = 8) -> Figure:
    """For each selected column a full bar, and below it a bar for each of its stand-ins."""
    labels: list[str] = []
    full: list[int] = []
    rows: dict[int, StandIn] = {}
    texts: list[str] = []
    for name, some in facts.stand_ins:
        full.append(len(labels))
        labels.append(str(name))
        for one in some[:most]:
            rows[len(labels)] = one
            labels.append(f"↳ {one.name}")
            texts.append(_stand_in_text(name, one))
        if len(some) > most:
            labels.append(f"↳ and {len(some) - most:,} more, in the table")
    names = [label_text(labels[i]) for i in full]
    worths, shares = zip(*((one.worth, one.other.share) for one in rows.values()), strict=True)
    selected = row_bars(full, [1.0] * len(full), names, "found") | {"name": "selected"}
    others = row_bars(list(rows), worths, texts, "third") | {"name": "stand-in, in its place"}
    dots = scatter(
        "markers", shares, rows, name="what the selected one adds beside it", text=texts,
        marker={"color": "refused", "size": 9}, cliponaxis=False, **TEXTS,
    )  # fmt: skip
    data = [selected | {"width": 0.75}, others | {"width": 0.75}, dots]
    across = {"tickformat": ".0%", "rangemode": "tozero"}
    down, height = rows_axis(labels, 34), 120 + 24 * len(labels)
    title = "in parts of what the selected column adds"
    return figure(data, title, "", height, xaxis=across, yaxis=down, barmode="overlay")


def _stand_in_text(name: object, one: StandIn) -> str:
    other = one.other
    return (
        f"{label_text(one.name)}<br>adds {nats(other.in_place)} nats in the place "
        f"of {label_text(name, 40)}, which adds {nats(other.information)}<br>"
        f"and still {nats(other.remaining)} beside it"
    )


def frequencies(found: Stability, marked: Collection[int]) -> Figure:
    """How often columns were chosen, most often first; ``marked`` ones are there, in colour."""
    values, threshold = found.frequencies, found.threshold()
    order = np.argsort(-values, kind="stable").tolist()
    often = [j for j in order[:MANY] if values[j] > 0]
    shown = [j for j in order if j in {*often, *marked}]
    texts = [
        f"{label_text(found.features[j])}<br>chosen from {values[j]:.0%} of the halves"
        for j in shown
    ]
    colors = ["found" if j in marked else "faint" for j in shown]
    labels, shares = [str(found.features[j]) for j in shown], [float(values[j]) for j in shown]
    across: Figure = {"tickformat": ".0%", "range": [0, 1.02]}
    drawn = bars(labels, shares, "share of the halves", texts, colors, **across)
    if threshold == threshold:
        drawn["layout"]["shapes"] = [upright(threshold, "refused", "dash", 2)]
    return drawn


def tree(facts: ClusterFacts, most: int = LEAVES) -> Figure:
    """The dendrogram, its leaves at the left, a row each."""
    drawn = tree_of(facts.result, most)
    lines: dict[str, list[list[Any]]] = {}
    for at, height, cluster in drawn.links:
        color = "faint" if cluster is None else f"group{cluster % 8}"
        xs, ys = lines.setdefault(color, [[], []])
        xs += [*height, None]  # a gap before the next
        ys += [*at, None]
    look = {"showlegend": False, "hovertemplate": "1 − similarity = %{x:.3f}<extra></extra>"}  # noqa: RUF001
    data = [
        scatter("lines", xs, ys, line={"color": color}, **look) for color, (xs, ys) in lines.items()
    ]
    leaves = drawn.labels(lambda names: label_texts(names, 24))
    n = len(leaves)
    rows = {"tickvals": [5 + 10 * i for i in range(n)], "ticktext": leaves, "range": [10 * n, 0]}
    rows |= {"showgrid": False, "zeroline": False, "tickfont": {"size": 11}}
    across: Figure = {"rangemode": "tozero", "side": "top" if n > 30 else "bottom"}
    ends = [x for xs, _ in lines.values() for x in xs if x is not None]
    if ends:  # the last merge is not on the edge
        across["range"] = [min(0.0, *ends), 1.03 * max(ends)]
    pixels = 110 + 16 * max(n, 6)
    return figure(data, "1 − similarity", "", pixels, xaxis=across, yaxis=rows)  # noqa: RUF001


def numbers(facts: ClusterFacts) -> Figure:
    """The cross-validated score against the number of clusters."""
    result = facts.result
    scores: Mapping[str, Any] = result.cv_results or {}
    tried, chosen = np.asarray(scores["n_clusters"]), len(result.clusters)
    means = np.asarray(scores["mean_test_score"])
    hover = {"hovertemplate": "%{x} clusters: %{y:.4f}<extra></extra>"}
    errors = {"type": "data", "array": np.asarray(scores["standard_error"]).tolist()}
    errors |= {"color": "faint", "thickness": 1, "width": 2}
    line = scatter(
        "lines+markers",
        tried,
        means,
        line={"color": "chance"},
        error_y=errors,
        name="score",
        **hover,
    )
    taken = scatter(
        "markers", [chosen], means[tried == chosen], marker={"color": "found", "size": 12},
        name=f"taken: {chosen}", **hover,
    )  # fmt: skip
    low, high = result.n_clusters_range or (0, 0)
    band = shaded(low / 1.03, high * 1.03, "band")
    ticks = [t * 10**p for p in range(6) for t in (1, 2, 5) if t * 10**p <= 1.2 * tried[-1]]
    across = {"type": "log", "tickvals": ticks, "ticktext": [f"{t:,}" for t in ticks]}
    near = f"{low} to {high}" if high > low else str(low)
    within = f"number of clusters (shaded: within one standard error, {near})"
    return figure([line, taken], within, "score", 360, xaxis=across, shapes=[band])


def _hover(columns: Sequence[Any]) -> list[str]:
    return [
        f"{label_text(one.feature)}<br>{nats(one.information)} nats, "
        f"{label_text(one.view) + ', ' if one.view else ''}p = {one.p_value:.2g}, "
        f"q = {one.q_value:.2g}"
        for one in columns
    ]


# What tests that ask in several ways at once compare.
_EVIDENCE = "evidence (decimal digits)"


def tested_columns(facts: RelevanceFacts, most: int) -> Figure:
    """The first columns of a relevance test, beside what chance gives each."""
    columns = facts.columns[:most]
    shown = bars(
        [str(one.feature) for one in columns],
        [one.statistic for one in columns],
        _EVIDENCE if facts.combined else "statistic: information about the target (nats)",
        _hover(columns),
        ["found" if one.relevant else "faint" for one in columns],
    )
    tested = [(place, one) for place, one in enumerate(columns) if one.draws]
    mark = scatter(
        "markers", [one.chance_q95 for _, one in tested], [place for place, _ in tested],
        name="chance (95 %)", hoverinfo="skip",
        marker={"color": "refused", "symbol": "line-ns-open", "size": 13, "line": {"width": 2}},
    )  # fmt: skip
    shown["data"][0] |= {"showlegend": False}
    shown["data"].append(mark)
    shown["layout"] |= {"showlegend": True}
    return shown


def ranked_columns(facts: RelevanceFacts) -> Figure:
    """All columns by their information, thinned out where there are thousands."""
    columns = sorted(facts.columns, key=lambda one: -one.statistic)
    ranks = np.unique(np.geomspace(1, len(columns), _POINTS).round().astype(int)).tolist()
    data = []
    for name, color, relevant in (("not relevant", "chance", False), ("relevant", "found", True)):
        part = [(rank, columns[rank - 1]) for rank in ranks]
        part = [(rank, one) for rank, one in part if one.relevant == relevant]
        if part:
            x, y = [rank for rank, _ in part], [one.statistic for _, one in part]
            texts = _hover([one for _, one in part])
            data.append(
                scatter("markers", x, y, name=name, marker={"color": color}, text=texts, **TEXTS)
            )
    # Most columns are compared with one distribution, and its level is that of the line.
    chance = [one.chance_q95 for one in columns if one.draws]
    look: Figure = {"line": {"color": "refused", "dash": "dash", "width": 1}}
    lines = [
        {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": level, "y1": level} | look
        for level in ([float(np.median(chance))] if chance else [])
    ]
    ticks = [10**k for k in range(len(str(len(columns))))]
    across = {"type": "log", "tickvals": ticks, "ticktext": [f"{tick:,}" for tick in ticks]}
    title = "column, by rank (logarithmic)"
    shown = _EVIDENCE if facts.combined else "statistic (nats)"
    return figure(data, title, shown, shapes=lines, xaxis=across)
