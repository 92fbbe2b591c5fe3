"""Estimators of information, and the baselines that show why they are needed."""

from infosieve.estimate.baselines import histogram, parzen, three_entropies
from infosieve.estimate.entropy import entropy
from infosieve.estimate.information import mutual_information, relevance

__all__ = [
    "entropy",
    "histogram",
    "mutual_information",
    "parzen",
    "relevance",
    "three_entropies",
]
