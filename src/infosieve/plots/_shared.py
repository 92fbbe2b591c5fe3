"""Colours, axes and names that all displays share."""

from typing import TYPE_CHECKING, Any, Self

from infosieve.report._figures import GROUPS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# One hue for what was found, grey for chance, others for what did not pass, or not beside others.
FOUND, CHANCE, REFUSED, FOLLOWS = "#1f6feb", "#8b949e", "#d9480f", "#2b8a3e"
FAINT = "#c9d1d9"


class Display:
    """What all displays share: after ``plot``, ``ax_`` and ``figure_``."""

    ax_: "Axes"
    figure_: "Figure"

    def _drawn(self, ax: Any) -> Self:
        self.ax_, self.figure_ = ax, ax.figure
        return self


def axes(ax: Any, size: tuple[float, float] = (7.0, 4.2)) -> Any:
    """Axes to draw on: those that were passed, or new ones."""
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def short(name: Any, length: int = 28) -> str:
    """A name that fits a label."""
    text = str(name)
    return text if len(text) <= length else text[: length - 1] + "…"


def colors(n: int) -> list[str]:
    """So many colours that neighbours can be told apart."""
    return [GROUPS[i % len(GROUPS)] for i in range(n)]
