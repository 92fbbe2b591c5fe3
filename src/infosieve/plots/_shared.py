"""Colours, axes, legends and names that all displays share."""

from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from infosieve.report._figures import GROUPS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Result = TypeVar("Result")

# One hue for what was found, grey for chance, others for what did not pass, or not beside others.
FOUND, CHANCE, REFUSED, FOLLOWS = "#1f6feb", "#8b949e", "#d9480f", "#2b8a3e"
FAINT = "#c9d1d9"


class Display:
    """What all displays share: ``plot`` draws, then ``ax_`` and ``figure_`` are there."""

    ax_: "Axes"
    figure_: "Figure"

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


def legend(ax: Any, *, beside: bool = False, **more: Any) -> None:
    """A small legend without a frame, ``beside`` the axes or on them."""
    place = {"loc": "center left", "bbox_to_anchor": (1, 0.5)} if beside else {}
    ax.legend(fontsize="small", frameon=False, **place, **more)


def short(name: Any, length: int = 28) -> str:
    """A name that fits a label."""
    text = str(name)
    return text if len(text) <= length else text[: length - 1] + "…"


def colors(n: int) -> list[str]:
    """As many colours, neighbouring ones different."""
    return [GROUPS[i % len(GROUPS)] for i in range(n)]
