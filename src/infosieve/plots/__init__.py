"""Pictures of results, in the manner of scikit-learn's Display classes, on matplotlib."""

from infosieve.plots._displays import CHANCE as CHANCE
from infosieve.plots._displays import FOUND as FOUND
from infosieve.plots._displays import REFUSED as REFUSED
from infosieve.plots._displays import (
    CurvesDisplay,
    DendrogramDisplay,
    FalseNeighborsDisplay,
    InformationDisplay,
    KChoiceDisplay,
    PathDisplay,
    RelevanceDisplay,
)

__all__ = [
    "CurvesDisplay",
    "DendrogramDisplay",
    "FalseNeighborsDisplay",
    "InformationDisplay",
    "KChoiceDisplay",
    "PathDisplay",
    "RelevanceDisplay",
]
