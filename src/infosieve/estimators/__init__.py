"""Estimators of information, the choice of K, and baselines that show why they are needed."""

from typing import TYPE_CHECKING

from infosieve._core.lazy import lazy

if TYPE_CHECKING:
    from infosieve.estimators._baselines import histogram, parzen, three_entropies
    from infosieve.estimators._choice_of_k import choose_k
    from infosieve.estimators._entropy import entropy
    from infosieve.estimators._information import mutual_information, relevance

__all__ = [
    "choose_k",
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
        "_baselines": ["histogram", "parzen", "three_entropies"],
        "_choice_of_k": ["choose_k"],
        "_entropy": ["entropy"],
        "_information": ["mutual_information", "relevance"],
    },
)
