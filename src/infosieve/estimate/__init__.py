"""Estimators of information, and the baselines that show why they are needed."""

from typing import TYPE_CHECKING

from infosieve._lazy import lazy

if TYPE_CHECKING:
    from infosieve.estimate.baselines import histogram, parzen, three_entropies
    from infosieve.estimate.information import mutual_information, relevance
    from infosieve.estimate.kozachenko import entropy

__all__ = [
    "entropy",
    "histogram",
    "mutual_information",
    "parzen",
    "relevance",
    "three_entropies",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "entropy": "kozachenko",
        "histogram": "baselines",
        "mutual_information": "information",
        "parzen": "baselines",
        "relevance": "information",
        "three_entropies": "baselines",
    },
)
