"""How displays draw: figures of the report on axes of matplotlib, with its colours."""

import html
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import numpy as np

from infosieve.report._figures import GROUPS, Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

Result = TypeVar("Result")

# One hue for what was found, grey for chance, others for what did not pass, or not beside others.
FOUND, CHANCE, REFUSED, FOLLOWS = "#1f6feb", "#8b949e", "#d9480f", "#2b8a3e"
FAINT = "#c9d1d9"
_COLORS = {"found": FOUND, "chance": CHANCE, "refused": REFUSED, "third": FOLLOWS, "faint": FAINT}
_COLORS |= {f"group{number}": color for number, color in enumerate(GROUPS)}
_DASHES = {"solid": "-", "dash": "--", "dot": ":"}
# Inches that a label of an axis needs.
_LABEL = 0.125


class Display:
    """What all displays share: ``plot`` draws, then ``ax_`` and ``figure_`` are there."""

    ax_: "Axes"
    figure_: "Canvas"

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        Display
            Itself, with ``ax_`` and ``figure_``.
        """
        drawn = self._draw(ax)
        drawn.spines[["top", "right"]].set_visible(False)
        self.ax_, self.figure_ = drawn, drawn.figure
        return self

    def _draw(self, ax: Any) -> Any:
        """Draw on given axes or, if they are None, on new ones; these are returned."""
        raise NotImplementedError


class ResultDisplay(Display, Generic[Result]):
    """A display of a whole record."""

    def __init__(self, result: Result) -> None:
        self.result = result

    @classmethod
    def from_result(cls, result: Result) -> Self:
        """Show a result.

        Parameters
        ----------
        result : record of a fit
            The ``result_`` of what was fitted; see the class.

        Returns
        -------
        Display
            To be drawn with ``plot``.
        """
        return cls(result)


def axes(ax: Any, size: tuple[float, float] = (7.0, 4.2)) -> Any:
    """Axes to draw on: those that were passed, or new ones."""
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def draw(ax: Any, figure: Figure) -> None:
    """Draw a figure of the report, but for what it shows where one points at it."""
    for trace in figure["data"]:
        {"bar": _bars, "box": _box, "scatter": _scatter}[trace["type"]](ax, trace)
    for shape in figure["layout"].get("shapes", ()):
        line = shape["line"]
        dash = _DASHES[line.get("dash", "solid")]
        ax.axvline(shape["x0"], color=_COLORS[line["color"]], lw=0.8, ls=dash, zorder=0)
    for name in ("x", "y"):
        how, axis = figure["layout"][f"{name}axis"], getattr(ax, f"{name}axis")
        axis.set_label_text(html.unescape(how["title"]["text"]), parse_math=False)
        if "tickvals" in how:
            every = _every(ax, name, len(how["tickvals"]))
            texts = [html.unescape(text) for text in how["ticktext"][::every]]
            turned = {"rotation": -how.get("tickangle", 0), "parse_math": False}
            axis.set_ticks(how["tickvals"][::every], texts, fontsize="small", **turned)
        if "range" in how:
            ax.set(**{f"{name}lim": how["range"]})


def _every(ax: Any, name: str, n: int) -> int:
    """Which labels of an axis have room: all, or every second, third, ..."""
    place, figure = ax.get_position(), ax.figure
    room = place.width * figure.get_figwidth() if name == "x" else np.inf
    return max(1, int(np.ceil(n * _LABEL / room)))


def _label(trace: Figure) -> str | None:
    shown = trace.get("showlegend", True) and "name" in trace
    return html.unescape(trace["name"]) if shown else None


def _bars(ax: Any, trace: Figure) -> None:
    colors = [_COLORS[name] for name in trace["marker"]["color"]]
    ax.barh(trace["y"], trace["x"], height=0.7, color=colors)


def _box(ax: Any, trace: Figure) -> None:
    ends = ("lowerfence", "q1", "median", "q3", "upperfence")
    (low, first, middle, third, high), (y,) = (trace[end][0] for end in ends), trace["y"]
    ax.barh(y, third - first, left=first, height=0.5, color=CHANCE, label=_label(trace))
    ax.plot([low, high], [y, y], color=CHANCE, lw=1.5)
    ax.plot([middle, middle], [y - 0.25, y + 0.25], color="white", lw=1.5)


def _scatter(ax: Any, trace: Figure) -> None:
    x, y = (np.array([np.nan if v is None else v for v in trace[name]], float) for name in "xy")
    line, marker = trace.get("line", {}), trace.get("marker", {})
    color = _COLORS.get(line.get("color") or marker.get("color"), CHANCE)
    width = {"found": 2.0, "faint": 0.8}.get(line.get("color"), 1.3)
    look: dict[str, Any] = {"color": color, "label": _label(trace), "lw": width}
    if "lines" in trace["mode"]:
        look["ls"] = _DASHES[line.get("dash", "solid")]
    else:
        look["ls"] = "none"
    if "markers" in trace["mode"]:
        symbol = marker.get("symbol", "circle")
        look |= {"marker": {"c": "o", "s": "s"}[symbol[0]], "ms": 0.6 * marker.get("size", 6)}
        look |= {"zorder": 3, "mfc": "white" if symbol.endswith("open") else color}
    if "error_y" in trace:
        ax.errorbar(x, y, trace["error_y"]["array"], elinewidth=1, capsize=2, **look)
    elif trace["mode"] != "text":
        ax.plot(x, y, **look)


def legend(ax: Any, *, beside: bool = False, **more: Any) -> None:
    """A small legend without a frame, ``beside`` the axes or on them."""
    place = {"loc": "center left", "bbox_to_anchor": (1, 0.5)} if beside else {}
    ax.legend(fontsize="small", frameon=False, **place, **more)


def colors(n: int) -> list[str]:
    """As many colours, neighbouring ones different."""
    return [GROUPS[i % len(GROUPS)] for i in range(n)]
