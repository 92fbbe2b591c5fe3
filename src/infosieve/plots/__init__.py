"""Pictures of results, in the manner of scikit-learn's Display classes, on matplotlib.

Each class has a ``from_...`` constructor and ``plot(ax=None)``, which draws and returns the
display; then ``ax_`` and ``figure_`` are there.
"""

from infosieve.plots._choice import KChoiceDisplay
from infosieve.plots._clusters import DendrogramDisplay
from infosieve.plots._curves import CurvesDisplay
from infosieve.plots._prediction import CVScoresDisplay
from infosieve.plots._selection import PathDisplay, RelevanceDisplay
from infosieve.plots._shared import CHANCE as CHANCE
from infosieve.plots._shared import FOUND as FOUND
from infosieve.plots._shared import REFUSED as REFUSED

__all__ = [
    "CVScoresDisplay",
    "CurvesDisplay",
    "DendrogramDisplay",
    "KChoiceDisplay",
    "PathDisplay",
    "RelevanceDisplay",
]
