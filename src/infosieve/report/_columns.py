"""Figures of the columns themselves: against a target, and on the curves that they come from."""

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from infosieve._core.types import FloatArray
from infosieve.report import _figures
from infosieve.report._clusters import cluster_parts
from infosieve.report._figures import Figure, figure, label_text, label_texts, rows_axis, scatter
from infosieve.report._names import name_text, shortened
from infosieve.report._selection import percentiles
from infosieve.results import ClusterResult, SelectionResult

if TYPE_CHECKING:
    import pandas as pd

# So many levels have a row of their own, and so many classes a colour.
_LEVELS = 30
_CLASSES = 8
# So many letters of a title fit an axis of a small figure, in capitals too.
_TITLE = 22
# Numbers of so few values are drawn as levels.
_FEW = 6
# What an excerpt has for a gap among categories.
_MISSING = "(missing)"


def against_target(result: SelectionResult) -> list[Figure]:
    """Each selected column against each target."""
    # What the numbers count that a command made of dates.
    units = {k: f"{v}" for k, v in (result.provenance.parameters.get("dates") or {}).items()}
    return [
        _pair(result.excerpt.features[j], target, str(column), str(name), units)
        for j, column in ((j, result.features[j]) for j in result.selected)
        for name, target in result.excerpt.target.items()
    ]


def _pair(
    values: list[Any],
    target: list[Any],
    x: str,
    y: str,
    units: Mapping[str, str] = MappingProxyType({}),
) -> Figure:
    """Points; boxes where one of them is categories, shares where both are."""
    n_missing = sum(v is None for v in values)
    missing = f" ({n_missing:,} of {len(values):,} missing)" if n_missing else ""
    column, about = (
        f"{name_text(name)} ({units[name]})" if name in units else name_text(name)
        for name in (x, y)
    )
    values, target = _as_levels(values), _as_levels(target)
    of_levels, of_classes = _is_text(values), _is_text(target)
    if of_levels and of_classes:
        shown, caption = _shares(values, target), f"{column}: shares of {about} in each level"
    elif of_levels:
        shown, caption = _boxes(values, target), f"{column}: {about} in each level"
    elif of_classes:
        shown, caption = _boxes(target, values), f"{column} for each class of {about}"
    else:
        shown, caption = _points(values, target, x, y, units), column
    return shown | {"caption": caption + missing}


def _as_levels(values: list[Any]) -> list[Any]:
    """Numbers of few values as texts: as points they would lie on top of each other."""
    known = {v for v in values if v is not None}
    if _is_text(values) or len(known) > _FEW or 3 * len(known) > len(values):
        return values
    return [_MISSING if v is None else f"{v:.6g}" for v in values]


def _is_text(values: list[Any]) -> bool:
    return any(isinstance(v, str) for v in values)


def _points(
    values: list[Any], target: list[Any], x: str, y: str, units: Mapping[str, str]
) -> Figure:
    data = scatter(
        "markers", values, target, marker={"color": "found", "size": 5, "opacity": 0.6},
        hovertemplate="%{x:.6~g}, %{y:.6~g}<extra></extra>",
    )  # fmt: skip
    across, up = (
        "<br>".join(label_text(text, _TITLE) for text in (name, units.get(name)) if text)
        for name in (x, y)
    )
    return figure([data], across, up, 280, showlegend=False)


def _boxes(levels: list[str], numbers: list[Any]) -> Figure:
    """A box of numbers for each level, in rows; the caption says of what."""
    labels, places = _rows(levels)
    few = len(labels) <= _CLASSES
    data = {
        "type": "box", "orientation": "h", "x": numbers, "y": places,
        "boxpoints": "all" if few else "outliers", "jitter": 0.5, "pointpos": 0 if few else None,
        "marker": {"color": "found", "size": 3, "opacity": 0.5}, "line": {"width": 1.5},
        "boxmean": True,
    }  # fmt: skip
    height, down = _height(labels), rows_axis(labels, 34)
    return figure([data], "", "", height, showlegend=False, yaxis=down)


def _shares(levels: list[str], classes: list[str]) -> Figure:
    """What shares the classes have within each level: a bar of 100 % in each row."""
    labels, places = _rows(levels)
    groups = _groups(classes)
    counts = Counter(zip(places, (groups[c] for c in classes), strict=True))
    totals = Counter(places)
    kinds = list(dict.fromkeys(groups.values()))
    data = []
    for number, (kind, name) in enumerate(zip(kinds, label_texts(kinds, 24), strict=True)):
        some = [counts[row, kind] for row in range(len(labels))]
        texts = [
            f"{label_text(label)}<br>{label_text(kind)}: {n:,} samples, {n / totals[row]:.0%}"
            for row, (label, n) in enumerate(zip(labels, some, strict=True))
        ]
        shares = [n / totals[row] for row, n in enumerate(some)]
        data.append(
            _figures.row_bars(range(len(labels)), shares, texts, f"group{number}") | {"name": name}
        )
    across = {"tickformat": ".0%", "range": [0, 1], "dtick": 0.25}
    height, down = _height(labels) + 22 * len(kinds), rows_axis(labels, 34)
    layout: Figure = {"barmode": "stack", "legend": {"traceorder": "normal"}, "bargap": 0.25}
    return figure(data, "", "", height, xaxis=across, yaxis=down, **layout)


def _height(labels: Sequence[str]) -> int:
    return max(200, 80 + 24 * len(labels))


def _rows(levels: list[str]) -> tuple[list[str], list[int]]:
    """Labels of rows, with numbers of samples, and the row of each value.

    All levels have one, in order; of very many the most frequent, and the others share the last.
    """
    counts = Counter(levels)
    kept = _in_order([level for level, _ in counts.most_common(_LEVELS)])
    row = {level: i for i, level in enumerate(kept)}
    labels = [
        f"{text} ({counts[level]:,})" for level, text in zip(kept, shortened(kept, 22), strict=True)
    ]
    rest = len(counts) - len(kept)
    if rest:
        n = len(levels) - sum(counts[level] for level in kept)
        labels.append(f"and {rest:,} more levels ({n:,})")
    return labels, [row.get(level, len(kept)) for level in levels]


def _groups(classes: list[str]) -> dict[str, str]:
    """The class of each value as the legend has it; rare ones of many share one name."""
    counts = Counter(classes)
    most = _CLASSES if len(counts) <= _CLASSES else _CLASSES - 1
    kept = _in_order([name for name, _ in counts.most_common(most)])
    rest = [name for name in counts if name not in kept]
    return {name: name for name in kept} | dict.fromkeys(rest, f"{len(rest):,} more classes")


def _in_order(levels: list[str]) -> list[str]:
    """Sorted by number where all are numbers, else by name; gaps come last."""
    known = [level for level in levels if level != _MISSING]
    try:
        known.sort(key=float)
    except ValueError:
        known.sort()
    return known + [level for level in levels if level == _MISSING]


def on_curves(result: object, source: Any, values: npt.ArrayLike) -> Figure:
    """The curves, and where what was found comes from.

    ``source`` is a fitted CurveFeatures, or for clusters an axis.
    """
    if isinstance(result, ClusterResult):
        axis = np.asarray(source, float)
        covered = cluster_parts(result, axis)
        parts = [(start, end, result.clusters[label], label) for start, end, label in covered]
        return _curves(_read_curves(values, axis), axis, parts, "")
    if not isinstance(result, SelectionResult):
        raise ValueError("'curves' can be shown beside a selection or clusters only.")
    about = source.describe().set_index("feature", drop=False)
    chosen = about.loc[[str(result.features[j]) for j in result.selected]]
    parts = [(*part, i) for i, part in enumerate(feature_parts(chosen, source.axis_))]
    axis = np.asarray(source.axis_, float)
    return _curves(_read_curves(values, axis), axis, parts, str(source.unit or ""))


def _read_curves(values: npt.ArrayLike, axis: FloatArray) -> FloatArray:
    """Curves as numbers, a row each, whatever table they come in."""
    rows: FloatArray = np.asarray(values, np.float64)
    if rows.ndim != 2 or rows.shape[1] != len(axis) or not np.isfinite(rows).all():
        raise ValueError(
            f"'curves' must be rows of {len(axis)} finite numbers, one for each point of the "
            f"axis. Got a table of shape {rows.shape}."
        )
    return rows


def feature_parts(features: "pd.DataFrame", axis: FloatArray) -> list[tuple[float, float, str]]:
    """The parts of an axis that features come from: start, end, name; a point gets some width."""
    width = np.abs(np.diff(axis)).mean() if axis.size > 1 else 1.0
    parts = []
    for name, a, b in features[["feature", "from", "to"]].itertuples(index=False):
        slack = width / 2 if a == b else 0.0
        parts.append((float(min(a, b) - slack), float(max(a, b) + slack), str(name)))
    return parts


def _curves(
    values: FloatArray,
    axis: FloatArray,
    parts: Sequence[tuple[float, float, str, int]],
    unit: str,
) -> Figure:
    """Curves as bands, and shaded parts (start, end, label, group)."""
    low, first, middle, third, high = percentiles(values)
    data: list[Figure] = []
    for below, above, name in ((low, high, "9 of 10 curves"), (first, third, "half of them")):
        look = {"fill": "toself", "fillcolor": "band", "line": {"width": 0}, "hoverinfo": "skip"}
        ring = [*above, *below[::-1]]
        data.append(scatter("lines", [*axis, *axis[::-1]], ring, name=name, **look))
    look = {
        "line": {"color": "text", "width": 1.5},
        "hovertemplate": "%{x:.5g}: %{y:.4g}<extra></extra>",
    }
    data.append(scatter("lines", axis, middle, name="median", **look))
    shapes, names = [], label_texts([part[2] for part in parts], 40)
    for (start, end, label, group), name in zip(parts, names, strict=True):
        color = f"group{group % 8}"
        shapes.append(_figures.shaded(start, end, color, opacity=0.3))
        data.append(
            scatter(
                "markers", [(start + end) / 2], [float(high.max())], name=name,
                marker={"color": color, "size": 10, "symbol": "triangle-down"},
                text=[label_text(label)], showlegend=len(parts) <= 10, **_figures.TEXTS,
            )
        )  # fmt: skip
    return figure(data, label_text(unit, 40), "", 400, shapes=shapes)
